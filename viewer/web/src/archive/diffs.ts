/** Differences of two texts, of which the file has those that were worked out when it was made. */
import { ApiError } from "../api";
import type { Changes, Chunk, DiffAnswer, DiffSide, StepSummary } from "../schema";
import { block } from "./blocks";
import { head, Kept } from "./kept";

/** A difference without the places of its texts. */
interface Stored {
  left_lines: number;
  right_lines: number;
  chunks: Chunk[];
  added: number;
  removed: number;
  moved: number;
  renumbered: number;
  identical: boolean;
}

interface Text {
  kept: Kept;
  step: StepSummary;
  kind: string;
  digest: string;
}

export async function diff(params: URLSearchParams): Promise<DiffAnswer> {
  const right = await named(params.get("right") ?? "");
  const asked = params.get("left") ?? "prev";
  const left = asked === "prev" ? await before(right) : await named(asked);
  const found = await stored(left ?? right, right, params.get("numbering") ?? "ignore");
  const { left_lines, right_lines, ...rest } = found;
  return {
    left: left && sideOf(left, left_lines),
    right: sideOf(right, right_lines),
    ...rest,
  };
}

async function named(place: string): Promise<Text> {
  const [id = "", index = "", ...kind] = place.split("/");
  const kept = await Kept.open(id);
  return textOf(kept, kept.step(index), kind.join("/"));
}

function textOf(kept: Kept, step: StepSummary, kind: string): Text {
  return { kept, step, kind, digest: kept.payload(step, kind).digest };
}

/** The text that is compared with where none is named: the one that the changes count against. */
async function before({ kept, step, kind }: Text): Promise<Text | null> {
  const changes = (await head()).answer(`${kept.path}/changes`) as unknown as Changes | undefined;
  const change = changes?.steps.find(({ index }) => index === step.index)?.texts[kind];
  if (change?.error) throw new ApiError(422, "payload_unreadable", change.error);
  const index = change?.against ?? null;
  return index === null ? null : textOf(kept, kept.step(index), kind);
}

function sideOf({ kept, step, kind, digest }: Text, lines: number): DiffSide {
  return { recording: kept.id, step: step.index, kind, digest, lines };
}

async function stored(left: Text, right: Text, numbering: string): Promise<Stored> {
  if (left.digest === right.digest) return same(await lineCount(right));
  const names = [`${left.digest} ${right.digest} ${numbering}`];
  names.push(`${right.digest} ${left.digest} ${numbering}`);
  const block = await blockOf(left, right);
  const found = block?.answer(names[0] ?? "") as unknown as Stored | undefined;
  if (found) return found;
  const other = block?.answer(names[1] ?? "") as unknown as Stored | undefined;
  if (other) return mirrored(other);
  await right.kept.text(right.step, right.kind);
  await left.kept.text(left.step, left.kind);
  throw new ApiError(
    404,
    "not_exported",
    "This file does not have the difference of these two texts; scaly-viz serve shows it.",
  );
}

function blockOf(left: Text, right: Text) {
  return left.kept.id === right.kept.id ? left.kept.block("diffs") : block("compared");
}

async function lineCount({ kept, step, kind }: Text): Promise<number> {
  return (await kept.text(step, kind)).split(/\r\n?|\n/).length;
}

function same(lines: number): Stored {
  const none = { added: 0, removed: 0, moved: 0, renumbered: 0 };
  return { left_lines: lines, right_lines: lines, chunks: [], ...none, identical: true };
}

const OTHER_WAY: Record<string, Chunk["op"]> = { insert: "delete", delete: "insert" };

/** The same difference seen from the other side. */
export function mirrored(stored: Stored): Stored {
  return {
    ...stored,
    left_lines: stored.right_lines,
    right_lines: stored.left_lines,
    added: stored.removed,
    removed: stored.added,
    chunks: stored.chunks.map(({ left, right, op, move }) => ({
      left: right,
      right: left,
      op: OTHER_WAY[op] ?? op,
      move,
    })),
  };
}
