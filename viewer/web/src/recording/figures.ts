/** The figures that a step has: what each is called, its unit, and where it comes from. */
import { bytes, count, duration } from "../format";
import type { Changes, StepSummary, TextChange } from "../schema";

export interface Figure {
  id: string;
  label: string;
  /** What stands at the head of a narrow column. */
  short?: string;
  /** What exactly is counted. */
  meaning: string;
  /** The attribute key; the others are worked out from the step. */
  key?: string;
  show: (value: number | null | undefined) => string;
}

export interface Reading {
  value: number | null;
  change: number | null;
}

const program = "scaly.program.";

export const FIGURES: readonly Figure[] = [
  {
    id: "time",
    label: "Time",
    meaning: "Compiler time of the step",
    show: (value) => duration(value ?? null),
  },
  { id: "lines", label: "Lines", meaning: "Lines of the text that is shown", show: count },
  figure("nodes", "Nodes", "Distinct nodes of the graph", "scaly.graph.nodes"),
  figure("flops", "Flops", "Floating-point operations in one run", `${program}flops`),
  {
    ...figure("traffic", "Traffic", "Bytes loaded and stored in one run", ""),
    key: `${program}memory_traffic`,
    show: (value) => bytes(value ?? null),
  },
  figure("loads", "Loads", "Scalar loads in one run", `${program}loads`),
  figure("stores", "Stores", "Scalar stores in one run", `${program}stores`),
  figure("calls", "Calls", "Procedure calls in one run", `${program}calls`),
  figure("loops", "Loops", "Loops in the text", `${program}loops`),
  figure("buffers", "Buffers", "Buffers declared in the text", `${program}buffers`),
  {
    ...figure("workspace", "Workspace", "Bytes of w[] that the entry needs", ""),
    short: "w[]",
    key: `${program}workspace_bytes`,
    show: (value) => bytes(value ?? null),
  },
  {
    ...figure("private", "Local", "Bytes of local buffers", ""),
    key: `${program}private_bytes`,
    show: (value) => bytes(value ?? null),
  },
  {
    ...figure("code", "C code", "Size of the generated source", ""),
    key: "scaly.code.bytes",
    show: (value) => bytes(value ?? null),
  },
];

function figure(id: string, label: string, meaning: string, key: string): Figure {
  return { id, label, meaning, key, show: count };
}

export function figureOf(id: string): Figure {
  return FIGURES.find((each) => each.id === id) ?? (FIGURES[0] as Figure);
}

/** The figures that any of `steps` has. */
export function figuresOf(steps: readonly StepSummary[], changes: Changes | null): Figure[] {
  return FIGURES.filter(({ id, key }) => {
    if (id === "lines") return changes !== null;
    return key === undefined || steps.some((step) => step.figures[key] !== undefined);
  });
}

/** The value of `figure` at `step`, and its difference to the step before that has it. */
export function read(
  figure: Figure,
  step: StepSummary,
  texts: Record<string, TextChange> | null,
  kind: string,
): Reading {
  if (step.missing) return { value: null, change: null };
  // A step takes some time; 0 is what a recording without times has.
  if (figure.id === "time") return { value: step.duration_s || null, change: null };
  if (figure.id === "lines") {
    const text = texts?.[kind] ?? Object.values(texts ?? {})[0];
    return text
      ? { value: text.lines, change: text.added - text.removed }
      : { value: null, change: null };
  }
  const key = figure.key ?? "";
  return { value: step.figures[key] ?? null, change: step.changes[key] ?? null };
}

/** A difference as people read it: with its sign, nothing where there is none. */
export function signed(change: number | null, show: (value: number) => string): string {
  if (change === null || change === 0) return "";
  return change > 0 ? `+${show(change)}` : `−${show(-change)}`;
}

export function textsAt(changes: Changes | null, step: number): Record<string, TextChange> | null {
  return changes?.steps.find(({ index }) => index === step)?.texts ?? null;
}
