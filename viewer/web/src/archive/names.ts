/** The texts of a recording with their names, as the exporter found them: standalone/names.py. */
import { ApiError } from "../api";
import type { StepSummary } from "../schema";
import type { Kept } from "./kept";
import type { Block } from "./unpack";

export const READ = 0;
const ACCESS = 3;
const PROCEDURE = 4;

export interface Scope {
  name: string;
  line: number;
  end: number;
}

/** A name in the procedure `scope`; that of a procedure itself is in the whole text, scope "". */
export interface Name {
  name: string;
  scope: string;
  isProcedure: boolean;
}

export interface Use {
  line: number;
  column: number;
  end: number;
  name: string;
  access: number;
  isProcedure: boolean;
  /** Role and type, where the line says them. */
  declared: [string, string] | null;
}

/** Distance, length and use of each name of a line; at the end what some stand for. */
type Facts = (number | Record<string, string[]>)[];

export class NamedText {
  private all: { names: Name[]; numbers: Map<string, number> } | null = null;

  constructor(
    readonly lines: string[],
    readonly scopes: Scope[],
    /** What inputs and outputs of a procedure are called in its C function. */
    readonly entries: Record<string, Record<string, string>>,
    private readonly facts: Map<string, Facts>,
  ) {}

  names(line: number): Use[] {
    const text = this.lines[line - 1] ?? "";
    const facts = this.facts.get(text) ?? [];
    const last = facts.at(-1);
    const more = typeof last === "object" ? last : {};
    const found: Use[] = [];
    let end = 0;
    for (let i = 0; typeof facts[i] === "number"; i += 3) {
      const [gap = 0, length = 0, what = 0] = facts.slice(i, i + 3) as number[];
      const column = end + gap;
      end = column + length;
      const at = found.length;
      found.push({
        line,
        column,
        end,
        name: more[`name ${at}`]?.[0] ?? text.slice(column, end),
        access: what & ACCESS,
        isProcedure: (what & PROCEDURE) !== 0,
        declared: (more[String(at)] as [string, string] | undefined) ?? null,
      });
    }
    return found;
  }

  scopeAt(line: number): Scope {
    const found = this.scopes.findLast((scope) => scope.line <= line);
    return found && line <= found.end ? found : this.whole();
  }

  named(scope: string): Scope[] {
    return scope === "" ? [this.whole()] : this.scopes.filter(({ name }) => name === scope);
  }

  whole(): Scope {
    return { name: "", line: 1, end: this.lines.length };
  }

  uses({ name, scope, isProcedure }: Name): Use[] {
    return this.named(scope).flatMap((each) => this.usesIn(each, name, isProcedure));
  }

  usesIn(scope: Scope, name: string, isProcedure: boolean): Use[] {
    const found: Use[] = [];
    for (let line = scope.line; line <= scope.end; line++) {
      if (!this.lines[line - 1]?.includes(name)) continue;
      for (const use of this.names(line)) {
        if (use.name === name && use.isProcedure === isProcedure) found.push(use);
      }
    }
    return found;
  }

  /** The number of a name in the order in which the text has them, undefined where it has it not. */
  numberOf(name: Name): number | undefined {
    return this.numbered().numbers.get(keyOf(name));
  }

  nameOf(number: number): Name | undefined {
    return this.numbered().names[number];
  }

  private numbered() {
    if (this.all) return this.all;
    const names: Name[] = [];
    const numbers = new Map<string, number>();
    for (let line = 1; line <= this.lines.length; line++) {
      const uses = this.names(line);
      const scope = uses.length > 0 ? this.scopeAt(line).name : "";
      for (const { name, isProcedure } of uses) {
        const each = { name, scope: isProcedure ? "" : scope, isProcedure };
        const key = keyOf(each);
        if (numbers.has(key)) continue;
        numbers.set(key, names.length);
        names.push(each);
      }
    }
    this.all = { names, numbers };
    return this.all;
  }
}

function keyOf({ name, scope, isProcedure }: Name): string {
  return `${isProcedure ? "p" : "v"} ${scope}\0${name}`;
}

/** The texts of one recording, each made once. */
export class Texts {
  private readonly made = new Map<string, Promise<NamedText | null>>();
  private readonly facts = new Map<string, Map<string, Facts>>();
  readonly steps: StepSummary[];

  constructor(readonly kept: Kept) {
    this.steps = kept.steps.filter((step) => !step.missing);
  }

  block(): Promise<Block> {
    return this.kept.block("names");
  }

  has(step: StepSummary, kind: string): boolean {
    return step.payloads.some((payload) => payload.kind === kind);
  }

  digest(step: StepSummary, kind: string): string {
    return step.payloads.find((payload) => payload.kind === kind)?.digest ?? "";
  }

  kinds(step: StepSummary): string[] {
    return step.payloads
      .filter(({ media_type }) => media_type.trim().toLowerCase().startsWith("text/"))
      .map(({ kind }) => kind);
  }

  /** The text, null where it cannot be read. */
  scanned(step: StepSummary, kind: string): Promise<NamedText | null> {
    const key = `${this.digest(step, kind)} ${step.dialect} ${kind}`;
    let found = this.made.get(key);
    if (!found) {
      found = this.make(step, kind, key);
      this.made.set(key, found);
    }
    return found;
  }

  private async make(step: StepSummary, kind: string, key: string): Promise<NamedText | null> {
    if (!this.has(step, kind)) return null;
    const block = await this.block();
    type Written = [[string, number, number][], Record<string, Record<string, string>>];
    const known = block.answer(`text ${key}`) as unknown as Written | undefined;
    if (!known) return null;
    const text = await this.kept.text(step, kind);
    const scopes = known[0].map(([name, line, end]) => ({ name, line, end }));
    const facts = await this.factsOf(block, `lines ${step.dialect} ${kind}`);
    return new NamedText(text.split(/\r\n?|\n/), scopes, known[1], facts);
  }

  private async factsOf(block: Block, key: string): Promise<Map<string, Facts>> {
    let found = this.facts.get(key);
    if (!found) {
      const [lines, facts] = (block.answers.get(key) ?? [0, 0]) as [number, number];
      const numbers = block.numbers(facts);
      found = new Map(
        block
          .numbers(lines)
          .map((row, i) => [block.row(row) as string, block.row(numbers[i] ?? 0) as Facts]),
      );
      this.facts.set(key, found);
    }
    return found;
  }
}

const made = new Map<string, Texts>();

export function textsOf(kept: Kept): Texts {
  const found = made.get(kept.id) ?? new Texts(kept);
  made.set(kept.id, found);
  return found;
}

export function notFollowed(): ApiError {
  return new ApiError(
    404,
    "not_exported",
    "This file does not follow the names of this step: there were too many. scaly-viz serve does.",
  );
}
