/** Owns where each buffer stands in the map: statements to the right, bytes or rows downward. */
import type { WorkspaceProcedure } from "../schema";

type BarKind = "slot" | "tenant" | "alias" | "call" | "row";

/** A rectangle of the map: from statement `first` to the end of `last`, from `top` to `bottom`. */
export interface Bar {
  kind: BarKind;
  /** Its buffer among those of the procedure, -1 for a call. */
  buffer: number;
  call: number;
  label: string;
  first: number;
  last: number;
  top: number;
  bottom: number;
  bytes: number;
}

/** A part of the map: `w[]` by addresses, or buffers without addresses in rows. */
export interface Section {
  kind: "workspace" | "private" | "unpacked";
  bars: Bar[];
  /** Bytes of `w[]`, or the number of rows. */
  extent: number;
}

export interface Plan {
  sections: Section[];
  statements: number;
}

/** More rows than these are not drawn: the biggest buffers are. */
export const MOST_ROWS = 1_000;

export function planOf(procedure: WorkspaceProcedure): Plan {
  const sections: Section[] = [];
  const window = workspaceBars(procedure);
  if (window.length) {
    sections.push({ kind: "workspace", bars: window, extent: procedure.window_bytes ?? 0 });
  }
  for (const kind of ["private", "unpacked"] as const) {
    const rows = rowBars(procedure, kind);
    if (rows.length) {
      const extent = rows.reduce((most, bar) => Math.max(most, bar.bottom), 0);
      sections.push({ kind, bars: rows, extent });
    }
  }
  return { sections, statements: Math.max(1, procedure.statements) };
}

function workspaceBars(procedure: WorkspaceProcedure): Bar[] {
  const bars: Bar[] = [];
  procedure.buffers.forEach((buffer, index) => {
    if (buffer.offset === null || buffer.alias_of !== null) return;
    const at = { buffer: index, call: -1 };
    bars.push({
      ...at,
      kind: "slot",
      label: buffer.name,
      first: 0,
      last: Math.max(0, procedure.statements - 1),
      top: buffer.offset,
      bottom: buffer.offset + buffer.bytes,
      bytes: buffer.bytes,
    });
    const lives = buffer.tenants.length ? buffer.tenants : [buffer];
    for (const each of lives) {
      if (each.first < 0) continue;
      bars.push({
        ...at,
        kind: "tenant",
        label: each.name,
        first: each.first,
        last: each.last,
        top: buffer.offset,
        bottom: buffer.offset + each.bytes,
        bytes: each.bytes,
      });
    }
  });
  procedure.buffers.forEach((buffer, index) => {
    if (buffer.offset === null || buffer.alias_of === null || buffer.first < 0) return;
    bars.push({
      kind: "alias",
      buffer: index,
      call: -1,
      label: buffer.name,
      first: buffer.first,
      last: buffer.last,
      top: buffer.offset,
      bottom: buffer.offset + buffer.bytes,
      bytes: buffer.bytes,
    });
  });
  procedure.calls.forEach((call, index) => {
    bars.push({
      kind: "call",
      buffer: -1,
      call: index,
      label: call.callee,
      first: call.statement,
      last: call.statement,
      top: call.offset,
      bottom: call.offset + call.bytes,
      bytes: call.bytes,
    });
  });
  return bars;
}

/** Buffers outside `w[]`, each in a row of its own, the first used first. */
function rowBars(procedure: WorkspaceProcedure, place: "private" | "unpacked"): Bar[] {
  const indexes = procedure.buffers
    .map((_, index) => index)
    .filter((index) => {
      const buffer = procedure.buffers[index];
      return buffer?.place === place && buffer.alias_of === null && buffer.first >= 0;
    });
  const size = (index: number): number => procedure.buffers[index]?.bytes ?? 0;
  const first = (index: number): number => procedure.buffers[index]?.first ?? 0;
  const kept = [...indexes].sort((a, b) => size(b) - size(a) || a - b).slice(0, MOST_ROWS);
  kept.sort((a, b) => first(a) - first(b) || a - b);
  const bars: Bar[] = [];
  kept.forEach((index, row) => {
    const buffer = procedure.buffers[index];
    if (!buffer) return;
    const lives = buffer.tenants.length ? buffer.tenants : [buffer];
    for (const each of lives) {
      bars.push({
        kind: "row",
        buffer: index,
        call: -1,
        label: each.name,
        first: each.first,
        last: each.last,
        top: row,
        bottom: row + 1,
        bytes: each.bytes,
      });
    }
  });
  return bars;
}

/** How many buffers of a place are left out of the map because there are too many. */
export function leftOut(procedure: WorkspaceProcedure, place: "private" | "unpacked"): number {
  const all = procedure.buffers.filter(
    (buffer) => buffer.place === place && buffer.alias_of === null && buffer.first >= 0,
  );
  return Math.max(0, all.length - MOST_ROWS);
}

/** Bytes of the buffers that share slots, and of the slots: what reuse spares. */
export function reuseOf(procedure: WorkspaceProcedure): { tenants: number; slots: number } {
  let tenants = 0;
  let slots = 0;
  for (const buffer of procedure.buffers) {
    if (buffer.alias_of !== null || !buffer.tenants.length) continue;
    slots += buffer.bytes;
    for (const each of buffer.tenants) tenants += each.bytes;
  }
  return { tenants, slots };
}

/** The procedure to begin with: the entry that needs most, else the one with most memory. */
export function firstProcedure(
  procedures: WorkspaceProcedure[],
  entries: string[],
): WorkspaceProcedure | null {
  const weight = (each: WorkspaceProcedure): number =>
    (each.window_bytes ?? 0) + each.private_bytes;
  const known = procedures.filter((each) => entries.includes(each.name) && weight(each) > 0);
  const from = known.length ? known : procedures;
  return from.reduce<WorkspaceProcedure | null>(
    (best, each) => (best === null || weight(each) > weight(best) ? each : best),
    null,
  );
}

const UNITS = ["B", "kB", "MB", "GB"];

/** A size with three digits and its unit: 24.2 kB. */
export function sized(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit++;
  }
  const text = unit === 0 ? value.toLocaleString("en-US") : value.toPrecision(3);
  return `${text} ${UNITS[unit]}`;
}

/** Round steps for an axis: 1, 2 or 5 times a power of ten, or of two for bytes of doubles. */
export function ticks(from: number, to: number, most: number): number[] {
  const span = to - from;
  if (!(span > 0) || most < 1) return [];
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const whole = Math.max(1, step);
  const found: number[] = [];
  for (let at = Math.ceil(from / whole) * whole; at <= to; at += whole) found.push(at);
  return found;
}
