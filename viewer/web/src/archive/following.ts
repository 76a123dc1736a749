/** Follows a value through the steps, by what the exporter settled; the server's is analysis/value_steps.py. */
import type { StepSummary } from "../schema";
import { type Name, notFollowed, type Texts } from "./names";
import type { Json } from "./unpack";

/** What a value is called in the main text of a step. */
export interface Known {
  step: StepSummary;
  kind: string;
  name: Name;
}

/** What the value is called in each step that has it. */
export async function followed(
  texts: Texts,
  step: StepSummary,
  kind: string,
  name: Name,
): Promise<Map<number, Known>> {
  const main = kind === "listing" && texts.has(step, "assembly") ? "assembly" : kind;
  const found = new Map([[step.index, { step, kind: main, name }]]);
  for (const way of [1, 2]) {
    let known: Known | null = { step, kind: main, name };
    while (known) {
      const here: Known = known;
      const run = runOf(texts, here);
      for (const each of way === 1 ? run : run.reverse()) {
        const isOnTheWay = way === 1 ? each.index > step.index : each.index < step.index;
        if (isOnTheWay) found.set(each.index, { ...here, step: each });
      }
      known = (await next(texts, here, way)) ?? (await crossed(texts, here, way, found));
    }
  }
  keepInCode(texts, step, found);
  return found;
}

/** The neighbors of a step that have the same text. */
export function runOf(texts: Texts, { step, kind }: Known): StepSummary[] {
  const { steps } = texts;
  const isSame = (other: StepSummary | undefined): boolean =>
    other !== undefined &&
    other.dialect === step.dialect &&
    texts.has(other, kind) &&
    texts.digest(other, kind) === texts.digest(step, kind);
  let first = steps.indexOf(step);
  let last = first;
  while (isSame(steps[first - 1])) first -= 1;
  while (isSame(steps[last + 1])) last += 1;
  return steps.slice(first, last + 1);
}

/** The next other text that has the name; `way` is 1 for later ones, 2 for earlier ones. */
async function next(texts: Texts, known: Known, way: number): Promise<Known | null> {
  const [first = known.step] = runOf(texts, known);
  const block = await texts.block();
  const chain = block.answers.get(`chain ${first.index} ${known.kind}`) as Json[] | undefined;
  if (!chain) throw notFollowed();
  const text = await texts.scanned(known.step, known.kind);
  const number = text?.numberOf(known.name);
  if (number === undefined) return null;
  type Pointers = [step: number, kind: string, at: number, others: Json];
  const [usualStep, usualKind, at] = chain[way] as unknown as Pointers;
  const others = block.unpacked((chain[way] as Json[])[3] ?? []) as [
    number,
    number,
    string,
    number,
  ][];
  const other = others.find(([i]) => i === number);
  const [, step, kind, called] = other ?? [
    number,
    usualStep,
    usualKind,
    block.numbers(at)[number] ?? -1,
  ];
  if (called < 0) return null;
  const there = texts.kept.step(step);
  const name = (await texts.scanned(there, kind))?.nameOf(called);
  return name ? { step: there, kind, name } : null;
}

/** What an expression's value is called in the program made of it, or the other way round. */
async function crossed(
  texts: Texts,
  known: Known,
  way: number,
  found: Map<number, Known>,
): Promise<Known | null> {
  const isExpression = known.step.dialect === "expr";
  if (isExpression !== (way === 1)) return null;
  // A function is lowered as the step shows it that has it alone.
  const alone = [...found.values()].find(
    ({ step }) => step.name === `normalized:${known.name.scope}`,
  );
  const from = isExpression ? (alone ?? known) : known;
  const [first = from.step] = runOf(texts, from);
  const block = await texts.block();
  const chain = block.answers.get(`chain ${first.index} ${from.kind}`) as Json[] | undefined;
  const number = (await texts.scanned(from.step, from.kind))?.numberOf(from.name);
  const crossing = block.unpacked(chain?.[3] ?? []) as ([number, number] | null)[];
  const [step, called] = crossing[number ?? -1] ?? [-1, -1];
  if (called < 0) return null;
  const there = texts.kept.step(step);
  const name = (await texts.scanned(there, "assembly"))?.nameOf(called);
  return name ? { step: there, kind: "assembly", name } : null;
}

/** In the source a name stays what it was called last. */
function keepInCode(texts: Texts, start: StepSummary, found: Map<number, Known>): void {
  for (const step of texts.steps) {
    const isCode = texts.has(step, "code") && !texts.has(step, "assembly");
    if (!isCode || found.has(step.index) || step.index < start.index) continue;
    const before = [...found.values()]
      .filter((each) => each.step.index < step.index)
      .sort((a, b) => b.step.index - a.step.index)[0];
    if (before) found.set(step.index, { ...before, step, kind: "code" });
  }
}
