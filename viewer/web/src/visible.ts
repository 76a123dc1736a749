/** Characters that cannot be seen, or that steer what stands around them: as the command line shows them. */

/** Controls, marks of writing direction, characters of no width, separators of lines, lone surrogates. */
const HIDDEN = /([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])/u;
const HIDDEN_IN_TEXT = /((?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])/u;
/** A name with more of them is none that anybody reads: it is shown as escapes altogether. */
const MAX_PARTS = 1000;

/** `text` in parts: every other one, from the second, is a hidden character. */
export function partsOf(text: string, isText: boolean): string[] {
  const pattern = isText ? HIDDEN_IN_TEXT : HIDDEN;
  if (!pattern.test(text)) return [text];
  const parts = text.split(pattern);
  return parts.length > MAX_PARTS ? [visible(text)] : parts;
}

/** `text` with every hidden character as its escape. */
export function visible(text: string): string {
  return HIDDEN.test(text) ? text.split(HIDDEN).map(escaped).join("") : text;
}

const SHORT: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escaped(part: string, i: number): string {
  if (i % 2 === 0) return part;
  const code = part.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x100) return SHORT[part] ?? `\\x${hex.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
