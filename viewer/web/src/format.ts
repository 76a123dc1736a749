/** Figures and times as people read them. */

const INTEGER = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
/** Always three digits, so that what stands below each other in a column lines up. */
const SHORT = new Intl.NumberFormat("en-US", {
  minimumSignificantDigits: 3,
  maximumSignificantDigits: 3,
});

/** Stands where a figure is not known. */
export const NONE = "–";

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? NONE : INTEGER.format(value);
}

export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

export function bytes(value: number | null): string {
  if (value === null) return NONE;
  if (Math.abs(value) < 1000) return `${count(value)} B`;
  if (Math.abs(value) < 1e6) return `${SHORT.format(value / 1e3)} kB`;
  return `${SHORT.format(value / 1e6)} MB`;
}

export function duration(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds)) return NONE;
  if (seconds === 0) return "0 s";
  if (Math.abs(seconds) < 1e-3) return `${SHORT.format(seconds * 1e6)} µs`;
  if (Math.abs(seconds) < 1) return `${SHORT.format(seconds * 1e3)} ms`;
  return `${SHORT.format(seconds)} s`;
}

/** Wall time of a render. Recordings without times, such as those of scaly.viz, have 0. */
export function renderTime(seconds: number): string {
  return duration(seconds || null);
}

/** What a recording is called: a label of spaces alone would leave nothing to see or to click. */
export function titleOf(recording: { name: string; function: string; id: string }): string {
  return recording.name.trim() === "" ? recording.function || recording.id : recording.name;
}

/** A point in time for people and, in ISO form, for machines; null where it is none. */
export function time(seconds: number | null): { shown: string; iso: string } | null {
  const date = new Date((seconds ?? Number.NaN) * 1000);
  if (Number.isNaN(date.getTime())) return null;
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return { shown: `${day} ${clock}`, iso: date.toISOString() };
}

/** A large count in few characters: 12.3 k. */
export function compact(value: number): string {
  if (Math.abs(value) < 1000) return count(value);
  if (Math.abs(value) < 1e6) return `${SHORT.format(value / 1e3)} k`;
  return Math.abs(value) < 1e9
    ? `${SHORT.format(value / 1e6)} M`
    : `${SHORT.format(value / 1e9)} G`;
}

/** Floating-point operations in few characters: 1 flop, 12 flops, 1.28 kflops. */
export function flops(value: number): string {
  return Math.abs(value) < 1000 ? plural(value, "flop") : `${compact(value)}flops`;
}

/** A figure as it stands at an axis, where the values are round: 2 s for 2.00 s, 0 for 0 s. */
export function tick(shown: string): string {
  const [figure = "", ...unit] = shown.split(" ");
  const short = figure.includes(".") ? figure.replace(/\.?0+$/, "") : figure;
  return short === "0" ? short : [short, ...unit].join(" ");
}
