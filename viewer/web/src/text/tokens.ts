/** The words of a line, by kind of text; lines can be read apart, so only visible ones ever are. */

interface Token {
  from: number;
  to: number;
  /** How it is drawn; "name" is what can be pinned. */
  class: string;
}

interface Grammar {
  pattern: RegExp;
  /** A class for each group of the pattern, in order. */
  classes: string[];
}

/** Longer lines are data that nobody reads word by word. */
const MAX_LINE = 5_000;

function grammar(rules: [string, string][]): Grammar {
  return {
    pattern: new RegExp(rules.map(([, source]) => `(${source})`).join("|"), "gu"),
    classes: rules.map(([name]) => name),
  };
}

const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
const NUMBER = String.raw`(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])`;
const SCALAR = String.raw`\b(?:float|int|uint|bool|complex)\d*\b`;

const ASSEMBLY = grammar([
  ["string", STRING],
  ["name", String.raw`%[\w.$-]+`],
  ["symbol", String.raw`@[\w.$-]+`],
  ["keyword", String.raw`\b(?:expr|prog)\.(?:module|func|proc|for|call|return|buffer|alias)\b`],
  ["operation", String.raw`\b[a-z]+\.[a-z_]\w*`],
  ["type", String.raw`\b(?:tensor|memref)<[^>]*>|${SCALAR}`],
  ["attribute", String.raw`\b\w+(?==)`],
  ["number", NUMBER],
  ["keyword", String.raw`\b(?:to|step|offset)\b`],
  ["constant", String.raw`\b(?:True|False|None)\b`],
]);

const LISTING = grammar([
  ["string", STRING],
  ["comment", "#.*$"],
  ["keyword", String.raw`\b(?:program|proc|for|in|step|call|if|else|while|return|buffer|alias)\b`],
  ["type", SCALAR],
  ["attribute", String.raw`\b\w+(?==[^=])`],
  ["symbol", String.raw`\b(?<=proc |call )[A-Za-z_]\w*`],
  ["operation", String.raw`\b[A-Za-z_]\w*(?=\()`],
  ["name", String.raw`\b[A-Za-z_]\w*`],
  ["number", NUMBER],
  ["keyword", "<-"],
]);

/** C is colored by its parser; here only what can be pinned. */
const C_NAMES = grammar([
  ["", String.raw`"(?:[^"\\]|\\.)*"|//.*$|/\*.*?\*/`],
  ["name", String.raw`\b[A-Za-z_]\w*`],
]);

const C_WORDS = new Set(
  `auto break case char const continue default do double else enum extern float for goto if inline
  int long register restrict return short signed sizeof static struct switch typedef union unsigned
  void volatile while`.split(/\s+/),
);

const GRAMMARS: Record<string, Grammar> = {
  assembly: ASSEMBLY,
  listing: LISTING,
  code: C_NAMES,
};

export function tokensOf(kind: string, line: string): Token[] {
  const grammar = GRAMMARS[kind];
  if (!grammar || line.length > MAX_LINE) return [];
  const tokens: Token[] = [];
  for (const match of line.matchAll(grammar.pattern)) {
    const group = match.findIndex((value, i) => i > 0 && value !== undefined);
    const name = grammar.classes[group - 1] ?? "";
    if (name === "" || (kind === "code" && C_WORDS.has(match[0]))) continue;
    tokens.push({ from: match.index, to: match.index + match[0].length, class: name });
  }
  return tokens;
}

/** Values and procedures can be pinned. */
export function isName(token: Token): boolean {
  return token.class === "name" || token.class === "symbol";
}

/** The name that can be pinned at `column` of a line, null where there is none. */
export function nameAt(kind: string, line: string, column: number): string | null {
  const token = tokensOf(kind, line).find(
    (each) => isName(each) && each.from <= column && column <= each.to,
  );
  return token ? line.slice(token.from, token.to) : null;
}

/** A name without the sign that its kind of text puts before it. */
export function bare(name: string): string {
  return name.replace(/^[%@]/, "");
}
