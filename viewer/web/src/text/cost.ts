/** What each line and loop of a text costs, as numbers for the gutter. */
import { useMemo } from "preact/hooks";
import { recordingUrl } from "../api";
import { useJson } from "../fetching";
import { bytes, compact, count, plural } from "../format";
import type { Cost, CostLine, PayloadSummary, StepSummary } from "../wire";
import type { Heat } from "./gutters";

export interface CostView {
  lines: ReadonlyMap<number, Heat> | null;
  cost: Cost | null;
  isPossible: boolean;
}

/** Kinds that the static cost can be worked out for. */
const COUNTED = new Set(["listing", "assembly", "code"]);

export function useCost(
  id: string,
  step: StepSummary,
  payload: PayloadSummary,
  heat: string,
): CostView {
  const isPossible = COUNTED.has(payload.kind) && step.dialect !== "expr" && payload.error === null;
  const url =
    heat !== "" && isPossible
      ? recordingUrl(id, `/steps/${step.index}/cost/${encodeURIComponent(payload.kind)}`)
      : null;
  const { value } = useJson<Cost>(url && payload.digest ? `${url}#${payload.digest}` : url);
  const lines = useMemo(() => (value ? heatOf(value, heat) : null), [value, heat]);
  return { lines, cost: value, isPossible };
}

/** The share of each line that costs something; loops show what is inside them. */
export function heatOf(cost: Cost, heat: string): Map<number, Heat> {
  const isBytes = heat === "bytes";
  const amount = (line: Pick<CostLine, "flops_total" | "bytes_total">): number =>
    isBytes ? line.bytes_total : line.flops_total;
  const show = (value: number): string => (isBytes ? bytes(value) : `${compact(value)} F`);
  const loops = new Map(cost.loops.map((loop) => [loop.line, loop]));
  const top = Math.max(...cost.lines.map(amount), ...cost.loops.map(amount), 1);
  const found = new Map<number, Heat>();
  for (const line of cost.lines) {
    const value = amount(line);
    if (value <= 0) continue;
    found.set(line.line, { share: value / top, label: show(value), title: titleOf(line) });
  }
  for (const [number, loop] of loops) {
    const value = amount(loop);
    if (value <= 0) continue;
    const trips = loop.trips === null ? "an unknown number of times" : plural(loop.trips, "time");
    const title = `Loop to line ${loop.end}, runs ${trips}: ${count(loop.flops_total)} flops, ${bytes(loop.bytes_total)} in all`;
    found.set(number, { share: value / top, label: `Σ ${show(value)}`, title });
  }
  return found;
}

function titleOf(line: CostLine): string {
  const once = `${plural(line.flops, "flop")}, ${plural(line.loads, "load")}, ${plural(line.stores, "store")}`;
  const all = `${count(line.flops_total)} flops, ${bytes(line.bytes_total)}`;
  return `Once: ${once}; ${plural(line.trips, "time")}: ${all}`;
}
