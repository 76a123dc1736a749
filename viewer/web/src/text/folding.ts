/** Folding by indentation, which listing, assembly and generated C all have. */
import { foldService } from "@codemirror/language";
import type { EditorState, Extension, Text } from "@codemirror/state";

const known = new WeakMap<Text, Int32Array>();

/** For each line (from 0) the last line that belongs to the block it opens; itself where none. */
export function blockEnds(lines: Iterable<string>): Int32Array {
  const ends: number[] = [];
  const open: { line: number; indent: number }[] = [];
  let number = 0;
  let last = -1;
  const close = (indent: number): void => {
    for (let top = open.at(-1); top && top.indent >= indent; top = open.at(-1)) {
      ends[top.line] = Math.max(last, top.line);
      open.pop();
    }
  };
  for (const line of lines) {
    const indent = line.search(/\S/);
    ends[number] = number;
    if (indent >= 0) {
      close(indent);
      open.push({ line: number, indent });
      last = number;
    }
    number += 1;
  }
  close(0);
  return Int32Array.from(ends);
}

function endsOf(doc: Text): Int32Array {
  let ends = known.get(doc);
  if (!ends) {
    ends = blockEnds(doc.iterLines());
    known.set(doc, ends);
  }
  return ends;
}

export const indentFolding: Extension = foldService.of(
  (state: EditorState, lineStart: number, lineEnd: number) => {
    const number = state.doc.lineAt(lineStart).number;
    const end = endsOf(state.doc)[number - 1] ?? number - 1;
    if (end <= number - 1) return null;
    return { from: lineEnd, to: state.doc.line(end + 1).to };
  },
);
