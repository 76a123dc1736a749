/** Undoes what the exporter packed: standalone/packing.py says how. */

const MARK = "\0";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

interface Written {
  rows: Json[];
  lists: number[][];
  answers: Record<string, Json>;
}

/** A value that was packed; which of the others it has, its mark says. */
interface Packed {
  keys: string[];
  grows: boolean[];
  at: number;
  rest: Json;
  items: [string, Json][];
}

/** Answers that were packed together. */
export class Block {
  private readonly rows: Json[];
  private readonly lists: number[][];
  readonly answers: Map<string, Json>;

  constructor(text: string) {
    const { rows, lists, answers } = JSON.parse(text) as Written;
    this.rows = rows;
    this.lists = lists;
    this.answers = new Map(Object.entries(answers));
  }

  /** The answer of this key, undefined where there is none. */
  answer(key: string): Json | undefined {
    const packed = this.answers.get(key);
    return packed === undefined ? undefined : this.unpacked(packed);
  }

  /** A list of whole numbers, kept as differences. */
  numbers(at: number): number[] {
    return sums(this.lists[at] ?? []);
  }

  row(number: number): Json {
    return this.rows[number] ?? null;
  }

  unpacked(value: Json): Json {
    if (Array.isArray(value)) return value.map((each) => this.unpacked(each));
    if (value === null || typeof value !== "object") return value;
    const packed = value as unknown as Packed;
    switch (value[MARK]) {
      case undefined:
        return this.object(Object.entries(value));
      case "numbers":
        return this.numbers(packed.at);
      case "object":
        return this.object(packed.items);
      case "columns":
        return {
          ...Object.fromEntries(this.columns(packed)),
          ...(this.unpacked(packed.rest) as Record<string, Json>),
        };
      default:
        return objectsOf(this.columns(packed));
    }
  }

  private object(entries: [string, Json][]): Json {
    return Object.fromEntries(entries.map(([key, each]) => [key, this.unpacked(each)]));
  }

  private columns({ keys, grows, at }: Packed): [string, Json[]][] {
    const rows = this.numbers(at).map((number) => this.rows[number] as Json[]);
    return keys.map((key, i) => {
      const column = rows.map((row) => row[i] ?? null);
      return [key, grows[i] ? sums(column as number[]) : column];
    });
  }
}

function sums(differences: readonly number[]): number[] {
  let sum = 0;
  return differences.map((each) => {
    sum += each;
    return sum;
  });
}

function objectsOf(columns: [string, Json[]][]): Json[] {
  const length = columns[0]?.[1].length ?? 0;
  return Array.from({ length }, (_, i) =>
    Object.fromEntries(columns.map(([key, column]) => [key, column[i] ?? null])),
  );
}
