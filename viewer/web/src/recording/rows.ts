/** The rows of the pipeline: a step each, but what says little is folded together. */
import type { StepSummary } from "../schema";

export type Row =
  | { type: "step"; step: StepSummary }
  | { type: "same"; steps: StepSummary[] }
  | { type: "group"; steps: StepSummary[] };

const NORMALIZED = /^normalized:/;
/** A group of fewer is no longer than the row that would stand for it. */
const MIN_GROUP = 4;

/** Folds unchanged steps, and normalized functions, into one row each; never the step `current`. */
export function rowsOf(
  steps: readonly StepSummary[],
  current: number | null,
  isFolded: boolean,
): Row[] {
  if (!isFolded) return steps.map((step) => ({ type: "step", step }));
  const rows: Row[] = [];
  for (const run of runs(steps)) {
    const [first] = run;
    if (!first) continue;
    const kind = kindOf(first);
    const isOpen = run.some((step) => step.index === current);
    if (kind === "group" && run.length >= MIN_GROUP && !isOpen) {
      rows.push({ type: "group", steps: run });
    } else if (kind === "same") {
      rows.push(...around(run, current));
    } else {
      rows.push(...run.map((step): Row => ({ type: "step", step })));
    }
  }
  return rows;
}

function kindOf(step: StepSummary): "step" | "same" | "group" {
  if (!step.changed && !step.missing) return "same";
  return NORMALIZED.test(step.name) ? "group" : "step";
}

function runs(steps: readonly StepSummary[]): StepSummary[][] {
  const found: StepSummary[][] = [];
  for (const step of steps) {
    const last = found.at(-1);
    const kind = kindOf(step);
    if (last?.[0] && kind !== "step" && kindOf(last[0]) === kind) last.push(step);
    else found.push([step]);
  }
  return found;
}

/** Unchanged steps in one row, but for the current one. */
function around(run: StepSummary[], current: number | null): Row[] {
  const at = run.findIndex((step) => step.index === current);
  if (at < 0) return [{ type: "same", steps: run }];
  const parts: Row[] = [];
  if (at > 0) parts.push({ type: "same", steps: run.slice(0, at) });
  parts.push({ type: "step", step: run[at] as StepSummary });
  if (at + 1 < run.length) parts.push({ type: "same", steps: run.slice(at + 1) });
  return parts;
}
