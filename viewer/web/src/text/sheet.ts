/** Texts as rows: one text as it is, or two set against each other, side by side or in one column. */
import { Text } from "@codemirror/state";

/** Where two texts differ: half-open ranges of lines, counted from 1; what lies between is equal. */
export interface Chunk {
  left: [number, number];
  right: [number, number];
  op: string;
  move: number | null;
}

/** What a row is. */
export const Mark = {
  equal: 0,
  added: 1,
  removed: 2,
  changedTo: 3,
  changedFrom: 4,
  movedTo: 5,
  movedFrom: 6,
  renumbered: 7,
  filler: 8,
} as const;

/** A column of rows: `numbers` has each row's line in its text, 0 where the row is a filler. */
export interface Sheet {
  doc: Text;
  numbers: Int32Array;
  /** In one column for two texts: the line in the left one; a row can have both. */
  others: Int32Array | null;
  marks: Uint8Array;
  /** The number of the move that a row belongs to, 0 where it did not move. */
  moves: Int32Array;
  /** What a changed row was, or became: to tell which words differ. */
  partners: Map<number, string>;
}

/** Lines as the server counts them, and as editors do: the last one may be empty. */
export function linesOf(text: string): string[] {
  return text.split(/\r\n?|\n/);
}

class SheetBuilder {
  private readonly lines: string[] = [];
  private readonly numbers: number[] = [];
  private readonly others: number[] = [];
  private readonly marks: number[] = [];
  private readonly moves: number[] = [];
  private readonly partners = new Map<number, string>();

  add(line: string, number: number, other: number, mark: number, move = 0, partner?: string): void {
    if (partner !== undefined) this.partners.set(this.lines.length, partner);
    this.lines.push(line);
    this.numbers.push(number);
    this.others.push(other);
    this.marks.push(mark);
    this.moves.push(move);
  }

  build(isUnified: boolean): Sheet {
    return {
      doc: Text.of(this.lines.length === 0 ? [""] : this.lines),
      numbers: Int32Array.from(this.numbers),
      others: isUnified ? Int32Array.from(this.others) : null,
      marks: Uint8Array.from(this.marks),
      moves: Int32Array.from(this.moves),
      partners: this.partners,
    };
  }
}

/** One text, as it is. */
export function plain(lines: readonly string[]): Sheet {
  return {
    doc: Text.of(lines.length === 0 ? [""] : lines),
    numbers: Int32Array.from(lines, (_, i) => i + 1),
    others: null,
    marks: new Uint8Array(lines.length),
    moves: new Int32Array(lines.length),
    partners: new Map(),
  };
}

/** Two texts beside each other: both sheets have as many rows, equal lines in the same row. */
export function split(
  left: readonly string[],
  right: readonly string[],
  chunks: readonly Chunk[],
): [Sheet, Sheet] {
  const a = new SheetBuilder();
  const b = new SheetBuilder();
  walk(left, right, chunks, {
    equal(i, j) {
      a.add(left[i] ?? "", i + 1, 0, Mark.equal);
      b.add(right[j] ?? "", j + 1, 0, Mark.equal);
    },
    chunk({ left: [l0, l1], right: [r0, r1], op, move }) {
      const [from, to] = marksOf(op, l1 > l0 && r1 > r0);
      for (let k = 0; k < Math.max(l1 - l0, r1 - r0); k++) {
        const i = l0 + k < l1 ? l0 + k : 0;
        const j = r0 + k < r1 ? r0 + k : 0;
        const isPair = i > 0 && j > 0 && op !== "move";
        const [was, is] = [left[i - 1] ?? "", right[j - 1] ?? ""];
        if (i > 0) a.add(was, i, 0, from, move ?? 0, isPair ? is : undefined);
        else a.add("", 0, 0, Mark.filler);
        if (j > 0) b.add(is, j, 0, to, move ?? 0, isPair ? was : undefined);
        else b.add("", 0, 0, Mark.filler);
      }
    },
  });
  return [a.build(false), b.build(false)];
}

/** Two texts in one column: what was, then what is. */
export function unified(
  left: readonly string[],
  right: readonly string[],
  chunks: readonly Chunk[],
): Sheet {
  const rows = new SheetBuilder();
  walk(left, right, chunks, {
    equal(i, j) {
      rows.add(right[j] ?? "", j + 1, i + 1, Mark.equal);
    },
    chunk({ left: [l0, l1], right: [r0, r1], op, move }) {
      if (op === "renumber" && l1 - l0 === r1 - r0) {
        for (let j = r0; j < r1; j++) {
          rows.add(right[j - 1] ?? "", j, l0 + j - r0, Mark.renumbered, 0, left[l0 + j - r0 - 1]);
        }
        return;
      }
      const [from, to] = marksOf(op, l1 > l0 && r1 > r0);
      const isPair = op !== "move";
      for (let i = l0; i < l1; i++) {
        const partner = isPair && r0 + i - l0 < r1 ? right[r0 + i - l0 - 1] : undefined;
        rows.add(left[i - 1] ?? "", 0, i, from, move ?? 0, partner);
      }
      for (let j = r0; j < r1; j++) {
        const partner = isPair && l0 + j - r0 < l1 ? left[l0 + j - r0 - 1] : undefined;
        rows.add(right[j - 1] ?? "", j, 0, to, move ?? 0, partner);
      }
    },
  });
  return rows.build(true);
}

interface Visitor {
  /** Two equal lines, counted from 0. */
  equal(left: number, right: number): void;
  chunk(chunk: Chunk): void;
}

function walk(
  left: readonly string[],
  right: readonly string[],
  chunks: readonly Chunk[],
  visitor: Visitor,
): void {
  let i = 0;
  let j = 0;
  const equalUntil = (leftEnd: number): void => {
    while (i < leftEnd && j < right.length) visitor.equal(i++, j++);
  };
  for (const chunk of chunks) {
    equalUntil(chunk.left[0] - 1);
    visitor.chunk(chunk);
    i = chunk.left[1] - 1;
    j = chunk.right[1] - 1;
  }
  equalUntil(left.length);
}

/** What the rows of a chunk are, left and right. */
function marksOf(op: string, isBoth: boolean): [number, number] {
  if (op === "move") return [Mark.movedFrom, Mark.movedTo];
  if (op === "renumber") return [Mark.renumbered, Mark.renumbered];
  return isBoth ? [Mark.changedFrom, Mark.changedTo] : [Mark.removed, Mark.added];
}

/** The first row that shows line `line` of the (right) text, or of the left one; -1 for none. */
export function rowOf(sheet: Sheet, line: number, side: "own" | "other" = "own"): number {
  const numbers = side === "own" ? sheet.numbers : sheet.others;
  return numbers?.indexOf(line) ?? -1;
}

/** The first rows of the places where something differs. */
export function changeStarts(marks: Uint8Array): number[] {
  const starts: number[] = [];
  const differs = (mark: number | undefined): boolean =>
    mark !== undefined && mark !== Mark.equal && mark !== Mark.renumbered;
  marks.forEach((mark, row) => {
    if (differs(mark) && (row === 0 || !differs(marks[row - 1]))) starts.push(row);
  });
  return starts;
}
