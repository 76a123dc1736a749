/** Which lines of two texts correspond, put together from what the exporter settled for neighbors. */
import type { StepSummary } from "../schema";
import type { Kept } from "./kept";
import { notFollowed, type Texts, textsOf } from "./names";

interface Place {
  step: StepSummary;
  kind: string;
}

/** Lines that correspond to each line. */
type LineMap = Map<number, number[]>;

export async function lines(kept: Kept, params: URLSearchParams): Promise<{ lines: number[] }> {
  const texts = textsOf(kept);
  const from = placeOf(kept, params.get("step"), params.get("kind"));
  const to = placeOf(kept, params.get("to_step"), params.get("to_kind"));
  const found = await corresponding(texts, from, Number(params.get("line")), to);
  return { lines: [...new Set(found)].sort((a, b) => a - b) };
}

function placeOf(kept: Kept, index: string | null, kind: string | null): Place {
  const step = kept.step(index ?? "");
  kept.payload(step, kind ?? "");
  return { step, kind: kind ?? "" };
}

async function corresponding(texts: Texts, from: Place, line: number, to: Place) {
  let found = [line];
  let { kind } = from;
  const { step } = from;
  const isSame = step === to.step && kind === to.kind;
  // From a listing by way of its assembly, from which the other texts are made.
  if (kind === "listing" && texts.has(step, "assembly") && !isSame) {
    const numbers = await listing(texts, step);
    found = found.flatMap((each) => numbers[each - 1] ?? []);
    kind = "assembly";
  }
  const target = to.kind === "listing" && texts.has(to.step, "assembly") ? "assembly" : to.kind;
  const isLowered = [step, to.step].some(({ dialect }) => dialect === "expr");
  if (isLowered && step.dialect !== to.step.dialect) {
    found = await throughLowering(texts, { step, kind }, found, { step: to.step, kind: target });
  } else if (kind === target && texts.has(to.step, kind) && texts.has(step, kind)) {
    found = await between(texts, step, to.step, kind, found);
  } else if (target === "code" && kind === "assembly") {
    found = await toCode(texts, step, found, to.step);
  } else if (kind === "code" && target === "assembly") {
    found = await fromCode(texts, step, found, to.step);
  } else {
    found = [];
  }
  if (target === to.kind) return found;
  const numbers = await listing(texts, to.step);
  return found.map((each) => numbers.indexOf(each) + 1).filter((each) => each > 0);
}

/** The line of the assembly of each line of a step's listing. */
async function listing(texts: Texts, step: StepSummary): Promise<number[]> {
  const digests = `${texts.digest(step, "listing")} ${texts.digest(step, "assembly")}`;
  const found = (await texts.block()).answer(`listing ${digests}`);
  return (found ?? []) as number[];
}

/** Follows lines from one text to the next other one, up to `to`, or back. */
async function between(
  texts: Texts,
  from: StepSummary,
  to: StepSummary,
  kind: string,
  given: number[],
): Promise<number[]> {
  const [low, high] = [Math.min(from.index, to.index), Math.max(from.index, to.index)];
  const chain: StepSummary[] = [];
  for (const each of texts.steps) {
    const isBetween = low <= each.index && each.index <= high && each.dialect === from.dialect;
    if (isBetween && (await texts.scanned(each, kind))) chain.push(each);
  }
  if (!chain.includes(from) || !chain.includes(to)) return [];
  if (from.index > to.index) chain.reverse();
  const block = await texts.block();
  let found = given;
  for (const [i, other] of chain.slice(1).entries()) {
    const [ours, theirs] = [texts.digest(chain[i] as StepSummary, kind), texts.digest(other, kind)];
    if (ours === theirs) continue;
    const partners = block.answer(`partners ${ours} ${theirs} ${kind}`) as number[] | undefined;
    if (!partners) throw notFollowed();
    found = found.map((line) => partners[line - 1] ?? 0).filter((line) => line > 0);
  }
  return found;
}

/** Follows lines between an expression and a later text, by way of the first program. */
async function throughLowering(
  texts: Texts,
  from: Place,
  given: number[],
  to: Place,
): Promise<number[]> {
  const first = texts.steps.find((step) => step.dialect === "prog" && texts.has(step, "assembly"));
  const expression = from.step.dialect === "expr" ? from.step : to.step;
  if (!first || !texts.has(expression, "assembly")) return [];
  if (expression === from.step) {
    const alone = await normalized(texts, expression, given);
    const lowered = await map(texts, `lowered ${(alone ?? expression).index}`);
    const lines = alone ? await between(texts, expression, alone, "assembly", given) : given;
    const found = mapped(lowered, lines);
    return to.kind === "code"
      ? toCode(texts, first, found, to.step)
      : between(texts, first, to.step, "assembly", found);
  }
  let found = given;
  if (from.kind === "code") found = await fromCode(texts, from.step, given, first);
  else if (from.step !== first) {
    found = await between(texts, from.step, first, "assembly", given);
  }
  return mapped(await map(texts, `raised ${expression.index}`), found);
}

/** The step whose text shows the function of the lines as it was lowered, if that is another one. */
async function normalized(texts: Texts, expression: StepSummary, given: number[]) {
  const text = await texts.scanned(expression, "assembly");
  const names = new Set(given.map((line) => `normalized:${text?.scopeAt(line).name ?? ""}`));
  if (names.size !== 1 || names.has(expression.name)) return undefined;
  return texts.steps.find((step) => names.has(step.name));
}

async function map(texts: Texts, key: string): Promise<LineMap> {
  const found = ((await texts.block()).answer(key) ?? []) as number[][];
  return new Map(found.map(([line = 0, ...there]) => [line, there]));
}

function mapped(lines: LineMap, given: number[]): number[] {
  return [...new Set(given.flatMap((line) => lines.get(line) ?? []))].sort((a, b) => a - b);
}

/** The step whose assembly the source was printed from. */
function lastProgram(texts: Texts, code: StepSummary): StepSummary | undefined {
  return texts.steps.filter((s) => s.index < code.index && texts.has(s, "assembly")).at(-1);
}

async function toCode(texts: Texts, step: StepSummary, given: number[], code: StepSummary) {
  const last = lastProgram(texts, code);
  if (!last) return [];
  const found = await between(texts, step, last, "assembly", given);
  return mapped(await map(texts, `code ${code.index}`), found);
}

async function fromCode(texts: Texts, code: StepSummary, given: number[], step: StepSummary) {
  const last = lastProgram(texts, code);
  if (!last) return [];
  const found = mapped(await map(texts, `program ${code.index}`), given);
  return between(texts, last, step, "assembly", found);
}
