/** The recordings of an exported page: what is known of each, and its texts. */
import { ApiError } from "../api";
import type { PayloadSummary, RecordingDetail, StepSummary } from "../schema";
import { block } from "./blocks";
import type { Block, Json } from "./unpack";

type Refusal = [status: number, code: string, message: string];

/** The block about all recordings. */
export async function head(): Promise<Block> {
  const found = await block("head");
  if (!found) throw new ApiError(0, "damaged", "This file is damaged: its first block is missing.");
  return found;
}

/** Fails as the server failed when the file was made, where it did. */
export async function refuse(path: string): Promise<void> {
  const refused = (await head()).answer("refused") as Record<string, Refusal>;
  const found = refused[path];
  if (found) throw new ApiError(...found);
}

export async function keys(): Promise<string[]> {
  return (await head()).answer("keys") as string[];
}

export class Kept {
  private constructor(
    readonly path: string,
    readonly detail: RecordingDetail,
    private readonly number: number,
  ) {}

  private static readonly opened = new Map<string, Promise<Kept>>();

  /** The recording of this id, always the same object. */
  static open(id: string): Promise<Kept> {
    const found = Kept.opened.get(id) ?? Kept.find(id);
    Kept.opened.set(id, found);
    return found;
  }

  private static async find(id: string): Promise<Kept> {
    const number = (await keys()).indexOf(id);
    const path = `recordings/${encodeURIComponent(id)}`;
    const detail = (await head()).answer(path);
    if (number < 0 || detail === undefined) {
      throw new ApiError(404, "recording_not_found", "This file has no such recording.");
    }
    return new Kept(path, detail as unknown as RecordingDetail, number);
  }

  get id(): string {
    return this.detail.recording.id;
  }

  get steps(): StepSummary[] {
    return this.detail.steps;
  }

  step(index: string | number): StepSummary {
    const found = this.steps.find((step) => step.index === Number(index));
    if (!found) throw new ApiError(404, "step_not_found", "The recording has no such step.");
    return found;
  }

  payload(step: StepSummary, kind: string): PayloadSummary {
    const found = step.payloads.find((payload) => payload.kind === kind);
    if (!found) throw new ApiError(404, "payload_not_found", "The step has no such payload.");
    return found;
  }

  async block(name: string): Promise<Block> {
    const found = await block(`${this.number}/${name}`);
    if (!found) throw new ApiError(404, "not_exported", "This file does not have it.");
    return found;
  }

  /** What a block has under `key`; fails as the server did at `path`, else because the file lacks it. */
  async answer(name: string, path: string, key = path): Promise<Json> {
    await refuse(path);
    const found = (await this.block(name)).answer(key);
    if (found === undefined) throw new ApiError(404, "not_exported", "This file does not have it.");
    return found;
  }

  /** A payload's media type, and its lines; null where they are no text. */
  async content(step: StepSummary, kind: string): Promise<[string, string[] | null]> {
    const payload = this.payload(step, kind);
    const path = `${this.path}/steps/${step.index}/payloads/${encodeURIComponent(kind)}`;
    const key = `${kind} ${payload.digest}`;
    const [mediaType, at] = (await this.answer("texts", path, key)) as [string, number];
    const texts = await this.block("texts");
    const lines = at < 0 ? null : texts.numbers(at).map((number) => texts.row(number) as string);
    return [mediaType, lines];
  }

  async text(step: StepSummary, kind: string): Promise<string> {
    const [, lines] = await this.content(step, kind);
    return (lines ?? []).join("\n");
  }
}
