/** Search in an exported page: as the server's, but for the expressions, which are JavaScript's. */
import { ApiError } from "../api";
import type { FoundRecordings, Hit, SearchResult, StepHits, StepSummary } from "../schema";
import { Kept, keys } from "./kept";

const EXCERPT = 240;
const BEFORE = 60;
const SECONDS = 5;

export async function searchRecording(
  kept: Kept,
  params: URLSearchParams,
  first: number,
): Promise<SearchResult> {
  const pattern = patternOf(params);
  const kinds = (params.get("kinds") ?? "").split(",").filter((kind) => kind !== "");
  const end = performance.now() + SECONDS * 1000;
  const known = new Map<string, StepHits>();
  const steps: StepHits[] = [];
  const skipped: string[] = [];
  let truncated = false;
  for (const [{ index, name }, kind, digest, text] of textsOf(kept, kinds)) {
    if (performance.now() > end) {
      truncated = true;
      break;
    }
    const before = known.get(`${kind} ${digest}`);
    let found: StepHits;
    if (before) {
      found = { index, kind, count: before.count, hits: [], same_as: before.index, name };
    } else {
      try {
        found = { index, kind, ...hitsOf(await text(), pattern, first), same_as: null, name };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        skipped.push(`${kind} of step ${index}: ${error.message}`);
        continue;
      }
      known.set(`${kind} ${digest}`, found);
    }
    if (found.count > 0) steps.push(found);
  }
  const count = steps.reduce((sum, each) => sum + each.count, 0);
  return { steps, count, truncated, skipped };
}

/** One recording a request, so that progress is seen. */
export async function searchAll(params: URLSearchParams): Promise<FoundRecordings> {
  const ids = await keys();
  const at = Math.max(0, ids.indexOf(params.get("cursor") ?? ""));
  const id = ids[at];
  if (id === undefined) {
    return { recordings: [], searched: 0, total: 0, cursor: null, skipped: [] };
  }
  const kept = await Kept.open(id);
  const { steps, count, skipped } = await searchRecording(kept, params, 3);
  const { name } = kept.detail.recording;
  return {
    recordings: count > 0 ? [{ id, name, count, steps }] : [],
    searched: at + 1,
    total: ids.length,
    cursor: ids[at + 1] ?? null,
    skipped: skipped.map((reason) => `${name}: ${reason}`),
  };
}

function patternOf(params: URLSearchParams): RegExp {
  const text = params.get("q") ?? "";
  const source = params.get("regex") === "1" ? text : text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  try {
    return new RegExp(source, params.get("case") === "1" ? "gmu" : "gimu");
  } catch {
    try {
      return new RegExp(source, params.get("case") === "1" ? "gm" : "gim");
    } catch {
      throw new ApiError(400, "bad_parameter", `q: ${text} is no regular expression`);
    }
  }
}

function* textsOf(
  kept: Kept,
  kinds: string[],
): Generator<[StepSummary, string, string, () => Promise<string>]> {
  for (const step of kept.steps) {
    for (const { kind, digest, media_type } of step.payloads) {
      const isText = media_type.trim().toLowerCase().startsWith("text/");
      if (!isText || (kinds.length > 0 && !kinds.includes(kind))) continue;
      yield [step, kind, digest, () => kept.text(step, kind)];
    }
  }
}

function hitsOf(given: string, pattern: RegExp, first: number): { count: number; hits: Hit[] } {
  const text = given.replace(/\r\n?/g, "\n");
  const hits: Hit[] = [];
  let count = 0;
  let line = 1;
  let start = 0;
  for (const match of text.matchAll(pattern)) {
    if (match[0] === "") continue;
    count += 1;
    if (hits.length >= first) continue;
    for (;;) {
      const next = text.indexOf("\n", start);
      if (next < 0 || next >= match.index) break;
      line += 1;
      start = next + 1;
    }
    hits.push(hitAt(text, line, start, match.index, match.index + match[0].length));
  }
  return { count, hits };
}

/** The line of a hit, or the part of a long one around it. */
function hitAt(text: string, line: number, start: number, begin: number, end: number): Hit {
  const next = text.indexOf("\n", start);
  const stop = next < 0 ? text.length : next;
  const isLong = stop - start > EXCERPT;
  const shown = isLong ? Math.max(start, Math.min(begin - BEFORE, stop - EXCERPT)) : start;
  return {
    line,
    column: begin - start,
    end_column: Math.min(end, stop) - start,
    text: text.slice(shown, Math.min(stop, shown + EXCERPT)),
    text_column: shown - start,
  };
}
