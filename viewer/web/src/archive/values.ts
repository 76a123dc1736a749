/** The life of a value, put together from what the exporter settled; the server's is analysis/values.py. */
import { ApiError } from "../api";
import type { Life, Place, Related, StepSummary, TextCost, Value } from "../schema";
import { followed, type Known, runOf } from "./following";
import type { Kept } from "./kept";
import { type Name, type NamedText, READ, type Texts, textsOf, type Use } from "./names";

const MAX_RELATED = 200;
const MAX_LINES = 1_000;
const MAX_PLACES = 10_000;
const EXCERPT = 300;
const [LISTING, ASSEMBLY] = ["listing", "assembly"];

/** What of a value is in one text. */
interface Found {
  step: StepSummary;
  kind: string;
  text: NamedText;
  uses: Use[];
}

export async function value(kept: Kept, params: URLSearchParams): Promise<Value> {
  const texts = textsOf(kept);
  const found = params.has("name") ? await named(texts, params) : await pointed(texts, params);
  if (!found) throw new ApiError(404, "value_not_found", "There is no such name.");
  return found;
}

async function pointed(texts: Texts, params: URLSearchParams): Promise<Value | null> {
  const step = texts.kept.step(params.get("step") ?? "");
  const kind = params.get("kind") ?? "";
  const text = await texts.scanned(step, kind);
  const names = text?.names(Number(params.get("line"))) ?? [];
  const given = params.get("column");
  const column = Number(given);
  // Without a column it is the name that the line declares or gives its content.
  const use =
    given === null
      ? (names.find((each) => each.access !== READ) ?? names[0])
      : names.find((each) => each.column <= column && column <= each.end);
  if (!text || !use) return null;
  const { name, isProcedure } = use;
  const scope = isProcedure ? "" : text.scopeAt(use.line).name;
  return told(texts, step, kind, { name, scope, isProcedure });
}

async function named(texts: Texts, params: URLSearchParams): Promise<Value | null> {
  const index = params.get("step");
  const wanted = params.get("kind");
  const [word, scope] = [params.get("name") ?? "", params.get("scope") ?? ""];
  const other: Name = { name: word, scope, isProcedure: false };
  const procedure = { ...other, isProcedure: true };
  // Procedures belong to no other, and neither does a word of a language that nobody knows.
  const either = scope === "" ? [procedure, other] : [other];
  const names = params.get("role") === "procedure" ? [procedure] : either;
  const steps = index === null ? texts.steps : [texts.kept.step(index)];
  for (const name of names) {
    for (const step of steps) {
      for (const kind of texts.kinds(step)) {
        if (wanted !== null && wanted !== kind) continue;
        const found = await told(texts, step, kind, name);
        if (found) return found;
      }
    }
  }
  return null;
}

async function told(
  texts: Texts,
  step: StepSummary,
  kind: string,
  name: Name,
): Promise<Value | null> {
  const text = await texts.scanned(step, kind);
  const uses = text?.uses(name) ?? [];
  if (!text || uses.length === 0) return null;
  const own = { step, kind, text, uses };
  const names = await followed(texts, step, kind, name);
  const found = await foundOf(texts, names);
  const [producers, consumers] = related(own, name);
  const said = declared(own, name);
  const isUntold = kind === LISTING && said.role === "word" && said.type === "";
  return {
    name: name.name,
    scope: name.scope,
    ...said,
    ...(isUntold && (await declaredInAssembly(texts, step, name))),
    life: [...lifeOf(found)],
    producers,
    consumers,
    code: found
      .filter((each) => each.kind === "code")
      .flatMap((each) => each.uses.map((use) => placeOf(each, use)))
      .slice(0, MAX_PLACES),
    cost: await costOf(texts, own, name),
    note: await noteOf(texts, own, name, names),
  };
}

function placeOf({ step, kind }: Found, { line, column, end }: Use): Place {
  return { step: step.index, kind, line, column, end_column: end };
}

function declared(own: Found, name: Name): Pick<Value, "role" | "type" | "definition"> {
  const written = own.uses.filter((use) => use.access !== READ);
  const defining = written.length > 0 ? written : own.uses.slice(0, 1);
  const saying = name.isProcedure ? undefined : defining.find((use) => use.declared !== null);
  const [role, type] = saying?.declared ?? [name.isProcedure ? "procedure" : "word", ""];
  const use = saying ?? defining[0];
  return { role, type, definition: use ? placeOf(own, use) : null };
}

/** Role and type of a name that a listing leaves out: its buffers are declared without name or type. */
async function declaredInAssembly(
  texts: Texts,
  step: StepSummary,
  name: Name,
): Promise<Pick<Value, "role" | "type"> | null> {
  const text = texts.has(step, ASSEMBLY) ? await texts.scanned(step, ASSEMBLY) : null;
  const uses = text?.uses(name) ?? [];
  if (!text || uses.length === 0) return null;
  const { role, type } = declared({ step, kind: ASSEMBLY, text, uses }, name);
  return { role, type };
}

async function foundOf(texts: Texts, names: Map<number, Known>): Promise<Found[]> {
  const all: Found[] = [];
  let program: { text: NamedText; name: Name } | null = null;
  for (const step of texts.steps) {
    const known = names.get(step.index);
    for (const kind of texts.kinds(step)) {
      const text = await texts.scanned(step, kind);
      if (!text) continue;
      let uses: Use[] = [];
      if (known && kind === "code" && program) {
        uses = await usesInCode(texts, step, text, program.text, program.name);
      } else if (known) {
        uses = text.uses(known.name);
      }
      if (known && kind === known.kind && kind !== "code") program = { text, name: known.name };
      all.push({ step, kind, text, uses });
    }
  }
  return all;
}

async function usesInCode(
  texts: Texts,
  step: StepSummary,
  code: NamedText,
  program: NamedText,
  { name, scope, isProcedure }: Name,
): Promise<Use[]> {
  type Written = [Record<string, string[]>, string[]];
  const facts = (await texts.block()).answer(`functions ${step.index}`);
  const [functions, suffixes] = (facts ?? [{}, [""]]) as Written;
  if (isProcedure) {
    const whole = code.whole();
    return suffixes.flatMap((each) => code.usesIn(whole, name + each, true)).sort(byPlace);
  }
  const made = functions[scope] ?? [];
  const inEntry = program.entries[scope]?.[name];
  return code.scopes
    .filter((each) => made.includes(each.name))
    .flatMap((each) => {
      const own = code.usesIn(each, name, false);
      const isEntry = each.name === scope && inEntry !== undefined;
      return isEntry ? [...own, ...code.usesIn(each, inEntry, false)] : own;
    })
    .sort(byPlace);
}

function byPlace(a: Use, b: Use): number {
  return a.line - b.line || a.column - b.column;
}

function* lifeOf(found: Found[]): Generator<Life> {
  const there = found.filter((each) => each.uses.length > 0).map((each) => each.step.index);
  const [first, last] = [Math.min(...there), Math.max(...there)];
  const after = found.find((each) => each.step.index > last)?.step.index;
  const before = new Map<string, string>();
  for (const each of found) {
    const { step, kind, text, uses } = each;
    const place = { step: step.index, kind };
    const use = uses.find(({ access }) => access !== READ) ?? uses[0];
    if (!use) {
      const state = there.length > 0 && step.index === after ? "gone" : "absent";
      yield { ...place, state, name: "", scope: "", lines: [], definition: null, text: "" };
      continue;
    }
    const key = `${step.dialect} ${kind}`;
    const shown = shownOf(each);
    const isChanged = (before.get(key) ?? shown) !== shown;
    before.set(key, shown);
    yield {
      ...place,
      state: isChanged ? "changed" : step.index === first ? "born" : "present",
      name: use.name,
      scope: text.scopeAt(use.line).name,
      lines: [...new Set(uses.map(({ line }) => line))].slice(0, MAX_LINES),
      definition: placeOf(each, use),
      text: (text.lines[use.line - 1] ?? "").trim().slice(0, EXCERPT),
    };
  }
}

/** The lines that have the value, apart from its name and their indentation; all of a procedure. */
function shownOf({ text, uses }: Found): string {
  const lines = [...new Set(uses.map(({ line }) => line))].map((number) => {
    const line = text.lines[number - 1] ?? "";
    const found = uses.filter((use) => use.line === number);
    const ends = [0, ...found.map(({ end }) => end)];
    return ends
      .map((end, i) => line.slice(end, found[i]?.column))
      .join("\0")
      .trim();
  });
  return [...lines, ...uses.flatMap((use) => bodyOf(text, use))].join("\n");
}

/** The lines of the procedure that `use` is the head of, without what closes it. */
function bodyOf(text: NamedText, { isProcedure, line }: Use): string[] {
  const scope = isProcedure ? text.scopeAt(line) : null;
  if (scope?.line !== line) return [];
  const body = text.lines.slice(scope.line, scope.end).map((each) => each.trim());
  const last = body.findLastIndex((each) => each !== "" && each !== "}");
  return body.slice(0, last + 1);
}

/** What the value is made of, and what is made of it. */
function related(own: Found, name: Name): [Related[], Related[]] {
  const { text, uses } = own;
  const producers = new Map<string, Related>();
  const consumers = new Map<string, Related>();
  const loops = new Map<number, Map<string, number>>();
  for (const line of new Set(uses.map((use) => use.line))) {
    const scope = text.scopeAt(line);
    if (scope.line === line) continue;
    const known = loops.get(scope.line) ?? loopsOf(text, scope);
    loops.set(scope.line, known);
    const names = text.names(line);
    const isWritten = names.some((each) => each.name === name.name && each.access !== READ);
    const isRead = names.some((each) => each.name === name.name && each.access === READ);
    for (const each of names) {
      if (each.isProcedure || (known.get(each.name) ?? line + 1) <= line) continue;
      const isProducer = each.access === READ;
      const found = isProducer ? producers : consumers;
      if (!(isProducer ? isWritten : isRead) || each.name === name.name) continue;
      if (found.has(each.name) || found.size >= MAX_RELATED) continue;
      found.set(each.name, { name: each.name, scope: name.scope, place: placeOf(own, each) });
    }
  }
  return [[...producers.values()], [...consumers.values()]];
}

/** The variables of a procedure's loops, each with the first line that has such a loop. */
function loopsOf(text: NamedText, scope: { line: number; end: number }): Map<string, number> {
  const found = new Map<string, number>();
  for (let line = scope.line + 1; line <= scope.end; line++) {
    if (!text.lines[line - 1]?.includes("for ")) continue;
    const [use] = text.names(line);
    if (use?.declared?.[0] === "loop" && !found.has(use.name)) found.set(use.name, line);
  }
  return found;
}

/** Why a value of an expression is not known in the program. */
async function noteOf(
  texts: Texts,
  { step, kind, text }: Found,
  name: Name,
  names: Map<number, Known>,
): Promise<string> {
  const program = texts.steps.find(
    (each) => each.dialect === "prog" && texts.has(each, "assembly"),
  );
  if (step.dialect !== "expr" || !program || names.has(program.index)) return "";
  const [first = step] = runOf(texts, { step, kind, name });
  const block = await texts.block();
  const notes = block.answers.get(`notes ${first.index}`) as [number, number] | undefined;
  if (!notes) return "";
  const normalized = `normalized:${name.isProcedure ? name.name : name.scope}`;
  const isLost = texts.steps.some((each) => each.name === normalized && !names.has(each.index));
  const rows = block.numbers(notes[isLost ? 0 : 1]);
  return block.row(rows[text.numberOf(name) ?? -1] ?? -1) as string;
}

async function costOf(
  texts: Texts,
  { step, kind, uses }: Found,
  { name, isProcedure }: Name,
): Promise<Value["cost"]> {
  const { kept } = texts;
  const path = `${kept.path}/steps/${step.index}/cost/${encodeURIComponent(kind)}`;
  const key = `${kind} ${texts.digest(step, kind)} ${step.dialect}`;
  const cost = (await kept.answer("costs", path, key)) as unknown as TextCost;
  if (cost.procedures.length === 0) return null;
  const written = new Set(uses.filter((use) => use.access !== READ).map((use) => use.line));
  const totals = isProcedure
    ? cost.procedures.filter((each) => each.name === name).map(({ total }) => total)
    : cost.lines.filter(({ line }) => written.has(line)).map(({ total }) => total);
  const sum = { flops: 0, loads: 0, stores: 0, bytes: 0 };
  for (const total of totals) {
    if (!total) continue;
    sum.flops += total.flops;
    sum.loads += total.loads;
    sum.stores += total.stores;
    sum.bytes += total.bytes;
  }
  return sum;
}
