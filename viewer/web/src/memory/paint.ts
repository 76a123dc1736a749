/** Owns how the map is drawn: the bytes in use over the statements, `w[]` by addresses, all else in rows. */
import type { Palette } from "../canvas/palette";
import type { WorkspaceProcedure } from "../schema";
import type { Pen } from "./pen";
import { type Bar, type Plan, type Section, sized, ticks } from "./plan";

export interface Frame {
  width: number;
  height: number;
  /** How the map is moved and zoomed: along the statements, and downward. */
  x: number;
  y: number;
  scale: number;
}

export interface Shown {
  hovered: Bar | null;
  /** The buffer that is chosen or pinned, by its name. */
  pinned: string | null;
  chosen: number;
}

/** A section of a plan as it stands in a frame. */
interface Placed {
  section: Section;
  top: number;
  height: number;
}

const LEFT = 84;
const RIGHT = 16;
const PROFILE_TOP = 24;
const PROFILE = 64;
const TOP = 128;
const CAPTION = 22;
const GAP = 20;
const ROW = 18;
const BOTTOM = 28;
const LETTER = 6.62;

export class Chart {
  constructor(
    private readonly procedure: WorkspaceProcedure,
    private readonly plan: Plan,
    private readonly palette: Palette,
    private readonly frame: Frame,
  ) {}

  /** The height at which all can be seen unzoomed: a map by addresses takes any, rows need their own. */
  static naturalHeight(plan: Plan, height: number): number {
    let needed = TOP + BOTTOM;
    for (const section of plan.sections) {
      needed += CAPTION + GAP + (section.kind === "workspace" ? 180 : section.extent * ROW);
    }
    return Math.max(height, needed);
  }

  draw(pen: Pen, shown: Shown): void {
    const { frame, palette } = this;
    pen.rectangle(0, 0, frame.width, frame.height, { fill: palette.ground });
    this.profile(pen);
    pen.clip(0, TOP - CAPTION, frame.width, frame.height - TOP + CAPTION - BOTTOM);
    for (const placed of this.placed()) this.section(pen, placed, shown);
    pen.release();
    this.statements(pen);
  }

  /** The bar at a point, the last drawn first. */
  barAt(x: number, y: number): Bar | null {
    if (x < LEFT || y < TOP - CAPTION) return null;
    for (const placed of this.placed()) {
      for (let i = placed.section.bars.length - 1; i >= 0; i--) {
        const bar = placed.section.bars[i] as Bar;
        const [left, top, w, h] = this.rectangle(placed, bar);
        if (bar.kind !== "slot" && x >= left && x <= left + w && y >= top && y <= top + h)
          return bar;
      }
    }
    return null;
  }

  private placed(): Placed[] {
    const { frame, plan } = this;
    const rows = plan.sections.filter((section) => section.kind !== "workspace");
    const fixed = rows.reduce((sum, section) => sum + section.extent * ROW, 0);
    const space = frame.height - TOP - BOTTOM - plan.sections.length * (CAPTION + GAP) - fixed;
    let top = TOP;
    return plan.sections.map((section) => {
      const height = section.kind === "workspace" ? Math.max(160, space) : section.extent * ROW;
      const placed = {
        section,
        top: TOP - CAPTION + (top - TOP + CAPTION) * frame.scale + frame.y,
        height: height * frame.scale,
      };
      top += height + CAPTION + GAP;
      return placed;
    });
  }

  private at(statement: number): number {
    const { frame, plan } = this;
    const width = (frame.width - LEFT - RIGHT) * frame.scale;
    return LEFT + frame.x + (statement / plan.statements) * width;
  }

  private rectangle(placed: Placed, bar: Bar): [number, number, number, number] {
    const { section, top, height } = placed;
    const left = this.at(bar.first);
    const width = Math.max(2, this.at(bar.last + 1) - left);
    const from = top + (bar.top / Math.max(section.extent, 1)) * height;
    const to = top + (bar.bottom / Math.max(section.extent, 1)) * height;
    const inset = section.kind === "workspace" ? 0 : 2 * this.frame.scale;
    return [left, from + inset, width, Math.max(2, to - from - 2 * inset)];
  }

  private profile(pen: Pen): void {
    const { frame, palette, procedure } = this;
    const most = Math.max(procedure.window_bytes ?? 0, procedure.peak_bytes, 1);
    const bottom = PROFILE_TOP + PROFILE;
    if (procedure.peak_bytes === 0 && !procedure.window_bytes) {
      pen.text(LEFT, 10, "nothing of w[] is in use", { color: palette.quiet });
      return;
    }
    const y = (bytes: number): number => bottom - (bytes / most) * PROFILE;
    pen.text(8, 10, "bytes in use at each statement", { color: palette.quiet });
    pen.text(LEFT - 8, y(0), "0", { color: palette.quiet, align: "end" });
    pen.text(LEFT - 8, y(most) + 2, sized(most), { color: palette.quiet, align: "end" });
    pen.clip(LEFT, 0, frame.width - LEFT - RIGHT + 1, bottom + 2);
    const points: [number, number][] = [[this.at(0), bottom]];
    procedure.live.forEach((bytes, i) => {
      points.push([this.at(i), y(bytes)], [this.at(i + 1), y(bytes)]);
    });
    points.push([this.at(procedure.live.length), bottom]);
    pen.line(points, { fill: palette.bar, stroke: palette.accent });
    if (procedure.window_bytes) {
      const top = y(procedure.window_bytes);
      pen.line(
        [
          [LEFT, top],
          [frame.width - RIGHT, top],
        ],
        { stroke: palette.quiet, dash: [5, 4] },
      );
    }
    if (procedure.peak_statement >= 0) {
      const x = (this.at(procedure.peak_statement) + this.at(procedure.peak_statement + 1)) / 2;
      pen.line(
        [
          [x, y(procedure.peak_bytes)],
          [x, bottom],
        ],
        { stroke: palette.error, width: 1.5 },
      );
      const label = `▲ peak ${sized(procedure.peak_bytes)}`;
      const isRight = x + label.length * LETTER > frame.width - RIGHT;
      pen.text(x + (isRight ? -4 : 4), y(procedure.peak_bytes / 2), label, {
        color: palette.error,
        bold: true,
        align: isRight ? "end" : "start",
      });
    }
    pen.release();
  }

  private section(pen: Pen, placed: Placed, shown: Shown): void {
    const { frame, palette } = this;
    const { section, top, height } = placed;
    pen.text(LEFT, top - 11, CAPTIONS[section.kind], { color: palette.text, bold: true });
    if (section.kind === "workspace") this.addresses(pen, placed);
    pen.clip(LEFT, top - 1, frame.width - LEFT - RIGHT + 2, height + 2);
    for (const bar of section.bars) this.bar(pen, placed, bar, shown);
    pen.release();
    if (section.kind !== "workspace") this.names(pen, placed);
  }

  private addresses(pen: Pen, { section, top, height }: Placed): void {
    const { frame, palette } = this;
    const most = Math.max(2, Math.floor(Math.min(height, frame.height) / 36));
    for (const tick of ticks(0, section.extent, (most * this.frame.scale) | 0 || 1)) {
      const y = top + (tick / section.extent) * height;
      pen.line(
        [
          [LEFT, y],
          [frame.width - RIGHT, y],
        ],
        { stroke: palette.line },
      );
      pen.text(LEFT - 8, y, sized(tick), { color: palette.quiet, align: "end" });
    }
    const end = top + height;
    pen.line(
      [
        [LEFT, end],
        [frame.width - RIGHT, end],
      ],
      { stroke: palette.quiet },
    );
    pen.text(LEFT - 8, end - 1, sized(section.extent), { color: palette.text, align: "end" });
  }

  private names(pen: Pen, placed: Placed): void {
    const { palette, procedure } = this;
    const { section, top, height } = placed;
    const step = height / Math.max(section.extent, 1);
    if (step < 11) return;
    const seen = new Set<number>();
    for (const bar of section.bars) {
      if (seen.has(bar.top)) continue;
      seen.add(bar.top);
      const y = top + (bar.top + 0.5) * step;
      if (y < TOP - CAPTION || y > this.frame.height) continue;
      const name = procedure.buffers[bar.buffer]?.name ?? bar.label;
      pen.text(LEFT - 8, y, cut(name, LEFT - 14), { color: palette.text, align: "end" });
    }
  }

  private bar(pen: Pen, placed: Placed, bar: Bar, shown: Shown): void {
    const { palette, frame, procedure } = this;
    const [x, y, w, h] = this.rectangle(placed, bar);
    if (x > frame.width || x + w < LEFT || y > frame.height || y + h < 0) return;
    const name = procedure.buffers[bar.buffer]?.name;
    const isPinned = name !== undefined && name === shown.pinned;
    const isChosen = bar.buffer >= 0 && bar.buffer === shown.chosen;
    const isHovered = bar === shown.hovered;
    const strong = isPinned ? palette.pinned : isChosen || isHovered ? palette.accent : "";
    if (bar.kind === "slot") {
      pen.rectangle(x, y, w, h, { fill: palette.raised, stroke: palette.line });
      return;
    }
    const fills: Record<string, string> = {
      tenant: palette.bar,
      row: palette.bar,
      alias: palette.heat,
      call: palette.sunken,
    };
    pen.rectangle(x + 0.5, y + 0.5, Math.max(1, w - 1), Math.max(1, h - 1), {
      fill: isPinned ? palette["pinned-ground"] : (fills[bar.kind] ?? palette.bar),
      stroke: strong || (bar.kind === "call" ? palette.quiet : palette.faint),
      width: strong ? 2 : 1,
      radius: 2,
      ...(bar.kind === "call" || bar.kind === "alias" ? { dash: [4, 3] } : {}),
      ...(bar.kind === "alias" ? { opacity: 0.85 } : {}),
    });
    if (h < 12) return;
    const sign = isPinned ? "◆ " : bar.kind === "call" ? "call " : "";
    const slot = name === undefined || name === bar.label ? "" : ` in ${name}`;
    const label = `${sign}${bar.label}${slot}`;
    const left = Math.max(x, LEFT) + 5;
    const room = x + w - left - 4;
    const middle = h > 34 ? y + 12 : y + h / 2;
    const withSize = `${label}  ${sized(bar.bytes)}`;
    const text = withSize.length * LETTER <= room ? withSize : cut(label, room);
    if (text) pen.text(left, middle, text, { color: palette.text, bold: bar.kind !== "alias" });
  }

  private statements(pen: Pen): void {
    const { frame, palette, plan } = this;
    const y = frame.height - BOTTOM;
    pen.rectangle(0, y, frame.width, BOTTOM, { fill: palette.ground });
    pen.line(
      [
        [LEFT, y],
        [frame.width - RIGHT, y],
      ],
      { stroke: palette.line },
    );
    pen.text(8, y + 14, "statement", { color: palette.quiet });
    const first = Math.max(0, this.statementAt(LEFT));
    const last = Math.min(plan.statements - 1, this.statementAt(frame.width - RIGHT));
    const most = Math.max(2, Math.floor((frame.width - LEFT) / 72));
    for (const tick of ticks(first, last + 0.001, most)) {
      const x = (this.at(tick) + this.at(tick + 1)) / 2;
      if (x < LEFT || x > frame.width - RIGHT) continue;
      pen.line(
        [
          [x, y],
          [x, y + 4],
        ],
        { stroke: palette.faint },
      );
      pen.text(x, y + 14, tick.toLocaleString("en-US"), { color: palette.quiet, align: "center" });
    }
  }

  private statementAt(x: number): number {
    const { frame, plan } = this;
    const width = (frame.width - LEFT - RIGHT) * frame.scale;
    return ((x - LEFT - frame.x) / width) * plan.statements;
  }
}

const CAPTIONS: Record<Section["kind"], string> = {
  workspace: "w[] of this procedure, by offset",
  private: "private, on the C stack: the C compiler decides where",
  unpacked: "not packed yet: sizes and lives, no addresses",
};

function cut(text: string, room: number): string {
  const letters = Math.floor(room / LETTER);
  if (text.length <= letters) return text;
  return letters < 2 ? "" : `${text.slice(0, letters - 1)}…`;
}
