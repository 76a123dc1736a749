/** Which lines of one text correspond to a line of another. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { recordingUrl } from "../api";
import { prefetchJson, useJson } from "../fetching";
import type { Side } from "./source";

/** The pointer passes many lines on its way. */
const REST_MS = 60;

interface LinePlace {
  side: Pick<Side, "step" | "kind">;
  line: number;
}

const NONE: ReadonlySet<number> = new Set();

function linesUrl(id: string, from: LinePlace, to: Pick<Side, "step" | "kind">): string {
  return recordingUrl(id, "/lines", {
    step: from.side.step,
    kind: from.side.kind,
    line: from.line,
    to_step: to.step,
    to_kind: to.kind,
  });
}

/** The first line of `to` that corresponds to `from`, null where there is none. */
export async function firstCorresponding(
  id: string,
  from: LinePlace,
  to: Pick<Side, "step" | "kind">,
): Promise<number | null> {
  const answer = await prefetchJson<{ lines: number[] }>(linesUrl(id, from, to));
  return answer?.lines[0] ?? null;
}

/** The lines of `to` that correspond to `from`; empty while that is not known. */
export function useCorresponding(
  id: string,
  from: LinePlace | null,
  to: Pick<Side, "step" | "kind"> | null,
): ReadonlySet<number> {
  const url = from && to ? linesUrl(id, from, to) : null;
  const [rested, rest] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => rest(url), REST_MS);
    return () => clearTimeout(timer);
  }, [url]);
  const { value } = useJson<{ lines: number[] }>(rested === url ? url : null);
  return useMemo(() => (value ? new Set(value.lines) : NONE), [value]);
}
