/** What to show where the address leaves it open: which step, which of its payloads. */
import { type RecordingParams, type Route, recording } from "../route";
import type { PayloadSummary, RecordingDetail, StepSummary } from "../schema";

/** Kinds that people want first; of others, the first that the step has. */
const PREFERRED = ["listing", "assembly", "code"];

export interface Choice {
  step: StepSummary;
  payload: PayloadSummary | null;
}

/** The step and payload to show: null where the recording has no such step, or the step no such kind. */
export function choose(detail: RecordingDetail, step: number | null, kind: string): Choice | null {
  const chosen = step === null ? firstStep(detail) : stepAt(detail.steps, step);
  if (!chosen) return null;
  if (kind !== "") {
    return { step: chosen, payload: payloadOf(chosen, kind) ?? null };
  }
  const found = PREFERRED.map((name) => payloadOf(chosen, name)).find(Boolean);
  return { step: chosen, payload: found ?? chosen.payloads[0] ?? null };
}

export function payloadOf(step: StepSummary, kind: string): PayloadSummary | undefined {
  return step.payloads.find((payload) => payload.kind === kind);
}

export function stepAt(steps: readonly StepSummary[], index: number): StepSummary | undefined {
  return steps.find((step) => step.index === index);
}

/** A failed render is about its last step, any other begins with its first. */
function firstStep(detail: RecordingDetail): StepSummary | undefined {
  const present = detail.steps.filter((step) => !step.missing);
  const wanted = detail.recording.status === "failed" ? present.at(-1) : present[0];
  return wanted ?? detail.steps[0];
}

/** The kind that was asked for last: steps that lack it in between do not make one lose it. */
let wantedKind = "";

export function rememberKind(kind: string): void {
  if (kind !== "") wantedKind = kind;
}

/** The place of another step, seen in the same way. */
export function atStep(
  from: { id: string; params: RecordingParams },
  step: StepSummary,
  changes: Partial<RecordingParams> = {},
): Route {
  const wanted = from.params.kind || wantedKind;
  const kind = wanted !== "" && payloadOf(step, wanted) ? wanted : "";
  const params = { ...from.params, kind, line: "", ...changes };
  return recording(from.id, step.index, params);
}

/** The name of a step without what its phase says anyway. */
export function shortName(step: { name: string }): string {
  const match = /^(?:pass|normalized):(.+)$/s.exec(step.name);
  return match?.[1] ?? step.name;
}
