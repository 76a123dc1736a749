/** What each line and loop of a text costs, as numbers for the gutter. */
import { useMemo } from "preact/hooks";
import { recordingUrl } from "../api";
import { useJson } from "../fetching";
import { bytes, flops, plural } from "../format";
import type {
  LineCost,
  LoopCost,
  PayloadSummary,
  ProcedureCost,
  StepSummary,
  TextCost,
  Totals,
} from "../schema";
import type { Heat } from "./gutters";

export interface CostView {
  lines: ReadonlyMap<number, Heat> | null;
  cost: TextCost | null;
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
  const { value } = useJson<TextCost>(url && payload.digest ? `${url}#${payload.digest}` : url);
  const lines = useMemo(() => (value ? heatOf(value, heat) : null), [value, heat]);
  return { lines, cost: value, isPossible };
}

/** What each line, loop and procedure costs in one run of the whole program, and its share of it. */
function heatOf(cost: TextCost, heat: string): Map<number, Heat> {
  const isBytes = heat === "bytes";
  const amount = (totals: Totals): number => (isBytes ? totals.bytes : totals.flops);
  const show = (value: number): string => (isBytes ? bytes(value) : flops(value));
  const whole = Math.max(amount(cost.totals), 1);
  const found = new Map<number, Heat>();
  const add = (line: number, value: number, sign: string, title: string): void => {
    if (value <= 0) return;
    found.set(line, { share: Math.min(value / whole, 1), label: `${sign}${show(value)}`, title });
  };
  for (const line of cost.lines) {
    if (line.total === null) {
      add(line.line, amount(line), "≥ ", `${each(line)}; how often it runs only a run knows`);
      continue;
    }
    const { runs, per_element } = procedureAt(cost, line.line);
    const times = often((line.trips ?? 1) * runs, per_element);
    add(
      line.line,
      amount(line.total) * runs,
      "",
      `${each(line)}; ${times}: ${all(line.total, runs)}`,
    );
  }
  for (const loop of cost.loops) {
    if (loop.total === null) continue;
    const { runs } = procedureAt(cost, loop.line);
    const trips = loop.trips === null ? "" : `, ${tripsOf(loop, loop.trips)}`;
    const title = `Loop ${loop.name} to line ${loop.end}${trips}: ${all(loop.total, runs)}`;
    add(loop.line, amount(loop.total) * runs, "Σ ", title);
  }
  for (const { name, line, end, runs, total, per_element } of cost.procedures) {
    const title = `${name} to line ${end}, run ${often(runs, per_element)}: ${all(total, runs)}`;
    add(line, amount(total) * runs, "Σ ", title);
  }
  return found;
}

const ONCE = { runs: 1, per_element: false };

function procedureAt(cost: TextCost, line: number): Pick<ProcedureCost, "runs" | "per_element"> {
  return cost.procedures.find((each) => each.line <= line && line <= each.end) ?? ONCE;
}

/** Lanes of vectors take several elements at once, as many as only the C compiler knows. */
function often(count: number, isPerElement: boolean): string {
  return isPerElement ? `for ${plural(count, "element")}` : plural(count, "time");
}

function tripsOf({ per_element }: LoopCost, trips: number): string {
  if (!per_element) return `${plural(trips, "trip")} each time`;
  return trips === 1 ? "a trip for each lane" : `${plural(trips, "element")} in chunks of lanes`;
}

function each(line: LineCost): string {
  const moved = `${plural(line.loads, "load")}, ${plural(line.stores, "store")}`;
  return `Each time ${plural(line.flops, "flop")}, ${moved}`;
}

function all(totals: Totals, runs: number): string {
  return `${plural(totals.flops * runs, "flop")}, ${bytes(totals.bytes * runs)} in all`;
}
