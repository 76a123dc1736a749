/** Answers what a server would, out of the page itself; the addresses are those of the API. */
import { ApiError, type Content } from "../api";
import type { RecordingDetail, RecordingList } from "../schema";
import { diff } from "./diffs";
import { columnsOf, nodeOf } from "./graphs";
import { head, Kept, refuse } from "./kept";
import { lines } from "./lines";
import { searchAll, searchRecording } from "./search";
import type { Json } from "./unpack";
import { value } from "./values";

const BASE = "/api/v1/";
const HITS = 50;

interface Asked {
  /** The address as it is written, without what all have and without parameters. */
  path: string;
  parts: string[];
  params: URLSearchParams;
  query: string;
}

function asked(url: string): Asked {
  const [address = ""] = url.split("#");
  const [path = "", query = ""] = address.slice(BASE.length).split("?");
  const parts = path.split("/").map(decodeURIComponent);
  return { path, parts, params: new URLSearchParams(query), query };
}

/** The JSON that a server would answer at `url`. */
export async function answerOf<T>(url: string): Promise<T> {
  return (await answer(asked(url))) as T;
}

/** The payload that a server would answer at `url`. */
export async function contentOf(url: string): Promise<Content> {
  const { parts } = asked(url);
  const [, id = "", , step = "", , ...kind] = parts;
  const kept = await Kept.open(id);
  const [mediaType, lines] = await kept.content(kept.step(step), kind.join("/"));
  return { text: lines?.join("\n") ?? null, mediaType };
}

async function answer(asked: Asked): Promise<unknown> {
  const { path, parts, params, query } = asked;
  switch (parts[0]) {
    case "recordings":
      return parts.length === 1 ? list(params) : ofRecording(asked);
    case "sources":
      return ofHead("sources");
    case "compare":
      return ofHead(`${path}?${query}`);
    case "diff":
      return diff(params);
    case "search":
      return searchAll(params);
    default:
      throw new ApiError(404, "not_exported", "This file does not have it.");
  }
}

async function ofHead(key: string): Promise<Json> {
  await refuse(key);
  const found = (await head()).answer(key);
  if (found === undefined) throw new ApiError(404, "not_exported", "This file does not have it.");
  return found;
}

async function list(params: URLSearchParams): Promise<RecordingList> {
  const order = `${params.get("sort") ?? "started"} ${params.get("order") ?? "desc"}`;
  const block = await head();
  const ids = (block.answer("orders") as Record<string, string[]>)[order] ?? [];
  const recordings = ids.map((id) => {
    const detail = block.answer(`recordings/${encodeURIComponent(id)}`);
    return (detail as unknown as RecordingDetail).recording;
  });
  return { recordings, total: ids.length, offset: 0, limit: ids.length };
}

async function ofRecording({ path, parts, params }: Asked): Promise<unknown> {
  const [, id = "", what = "", index = "", part = "", ...rest] = parts;
  const kept = await Kept.open(id);
  switch (what) {
    case "search":
      return searchRecording(kept, params, HITS);
    case "values":
      return value(kept, params);
    case "lines":
      return lines(kept, params);
    case "steps":
      return ofStep(kept, path, index, part, rest);
    default:
      return ofHead(path);
  }
}

async function ofStep(
  kept: Kept,
  path: string,
  index: string,
  part: string,
  rest: string[],
): Promise<unknown> {
  const step = kept.step(index);
  switch (part) {
    case "cost": {
      const kind = rest.join("/");
      const { digest } = kept.payload(step, kind);
      return kept.answer("costs", path, `${kind} ${digest} ${step.dialect}`);
    }
    case "outline":
      return kept.answer("outlines", path);
    case "graph":
      return rest.length === 0
        ? columnsOf(kept, path)
        : nodeOf(kept, `${kept.path}/steps/${index}/graph`, Number(rest[1]));
    default:
      return kept.answer("memory", path);
  }
}
