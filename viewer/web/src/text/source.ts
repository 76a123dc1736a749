/** What the text room shows: the text of a step, what it is set against, and how they differ. */
import { useMemo } from "preact/hooks";
import { apiUrl, type Content, payloadUrl, recordingUrl } from "../api";
import {
  type Loaded,
  prefetchContent,
  prefetchJson,
  useContent,
  useJson,
  useLatest,
} from "../fetching";
import { payloadOf, stepAt } from "../recording/choose";
import type { DiffAnswer, DiffSide, PayloadSummary, RecordingDetail, StepSummary } from "../schema";

/** A text of a recording: which one, and where its content is. */
export interface Side {
  recording: string;
  step: number;
  kind: string;
  url: string;
}

/** What the address sets a text against: nothing, the previous change, a step, or another kind. */
export type Against =
  | { type: "none" }
  | { type: "diff"; left: string }
  | { type: "beside"; side: Side };

export function sideOf(id: string, step: StepSummary, payload: PayloadSummary): Side {
  const url = payloadUrl(id, step.index, payload);
  return { recording: id, step: step.index, kind: payload.kind, url };
}

export function isText(payload: PayloadSummary): boolean {
  return payload.media_type.trim().toLowerCase().startsWith("text/");
}

/** Whether `against` of the address names a text that the recording has not. */
export function isAgainstNothing(
  against: string,
  { steps }: RecordingDetail,
  kind: string,
): boolean {
  if (against === "prev" || against === "none") return false;
  const match = AGAINST.exec(against);
  const other = match && stepAt(steps, Number(match[1]));
  return !other || !payloadOf(other, match[2] ?? kind);
}

const AGAINST = /^(\d+)(?:\.(.+))?$/s;

/** Reads `against` of the address: prev, none, 7 (a step), 7.code (another kind of a step). */
export function againstOf(
  against: string,
  detail: RecordingDetail,
  step: StepSummary,
  payload: PayloadSummary,
): Against {
  if (!isText(payload)) return { type: "none" };
  const { id } = detail.recording;
  const match = AGAINST.exec(against);
  if (match && !isAgainstNothing(against, detail, payload.kind)) {
    const other = stepAt(detail.steps, Number(match[1]));
    const kind = match[2] ?? payload.kind;
    const found = other && payloadOf(other, kind);
    if (!other || !found) return { type: "none" };
    if (kind !== payload.kind) return { type: "beside", side: sideOf(id, other, found) };
    if (other.index === step.index) return { type: "none" };
    return { type: "diff", left: placeName(id, other.index, kind) };
  }
  return against === "none" ? { type: "none" } : { type: "diff", left: "" };
}

export function placeName(id: string, step: number, kind: string): string {
  return `${id}/${step}/${kind}`;
}

function diffUrl(left: string, right: Side, numbering: string): string {
  const place = placeName(right.recording, right.step, right.kind);
  return apiUrl("diff", { left, right: place, numbering: numbering === "exact" ? "exact" : "" });
}

function contentUrl({ recording, step, kind, digest }: DiffSide): string {
  return recordingUrl(recording, `/steps/${step}/payloads/${encodeURIComponent(kind)}`, { digest });
}

/** All that is needed to draw: it changes as a whole, so that no text is shown against a wrong one. */
export interface Texts {
  key: string;
  side: Side;
  right: Content;
  left: { side: Side; content: Content } | null;
  diff: DiffAnswer | null;
  /** Whether a difference was asked for, and there is no text before this one. */
  isFirst: boolean;
}

export interface Asked {
  texts: Loaded<Texts>;
  /** Why there is no difference to see, where one was asked for. */
  diffError: Error | null;
}

export function useTexts(side: Side | null, against: Against, numbering: string): Asked {
  const right = useContent(side?.url ?? null);
  const wanted = side && against.type === "diff" ? diffUrl(against.left, side, numbering) : null;
  const diff = useJson<DiffAnswer>(wanted);
  const place = diff.value?.left ?? null;
  const besideSide = against.type === "beside" ? against.side : null;
  const leftSide: Side | null = place
    ? { recording: place.recording, step: place.step, kind: place.kind, url: contentUrl(place) }
    : besideSide;
  const left = useContent(leftSide?.url ?? null);
  const key = `${side?.url} ${wanted} ${leftSide?.url}`;
  const isDiffKnown = wanted === null || diff.value !== null || diff.error !== null;
  const isLeftKnown = leftSide === null || left.value !== null || left.error !== null;
  const isKnown = side !== null && right.value !== null && isDiffKnown && isLeftKnown;
  const made = useMemo<Texts | null>(() => {
    if (!isKnown || !side || !right.value) return null;
    const other =
      leftSide && left.value?.text != null ? { side: leftSide, content: left.value } : null;
    const isFirst = diff.value !== null && diff.value.left === null;
    return {
      key,
      side,
      right: right.value,
      left: other,
      diff: other ? diff.value : null,
      isFirst,
    };
  }, [key, isKnown]);
  const texts = useLatest<Texts>({ url: side ? key : null, value: made, error: right.error });
  return { texts, diffError: wanted === null ? null : (diff.error ?? left.error) };
}

/** Fetches what a step will need, so that going there is immediate. */
export async function prefetchTexts(
  side: Side,
  against: Against,
  numbering: string,
): Promise<void> {
  void prefetchContent(side.url);
  if (against.type === "beside") void prefetchContent(against.side.url);
  if (against.type !== "diff") return;
  const diff = await prefetchJson<DiffAnswer>(diffUrl(against.left, side, numbering));
  if (diff?.left) void prefetchContent(contentUrl(diff.left));
}
