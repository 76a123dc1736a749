/** What is drawn over the visible rows: words, differences, the pinned value, lines that correspond. */
import { presentableDiff } from "@codemirror/merge";
import {
  type EditorState,
  type Extension,
  Facet,
  type Range,
  StateEffect,
  StateField,
} from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import { Mark, type Sheet } from "./sheet";
import { bare, isName, tokensOf } from "./tokens";

/** What lies over a text, by its own line numbers. */
export interface Overlay {
  /** The pinned value as this text calls it; `lines` null where it is not known which lines say it. */
  pin: { name: string; lines: ReadonlySet<number> | null } | null;
  /** In one column for two texts: the same of the left one, by its line numbers. */
  was?: Overlay["pin"];
  /** Lines that correspond to the one under the pointer, or to the chosen one. */
  lit: ReadonlySet<number>;
  /** The line that the address names. */
  target: number | null;
}

export const NO_OVERLAY: Overlay = { pin: null, lit: new Set(), target: null };

export const setOverlay = StateEffect.define<Overlay>();

export const overlayField = StateField.define<Overlay>({
  create: () => NO_OVERLAY,
  update: (overlay, transaction) => {
    const effect = transaction.effects.find((each) => each.is(setOverlay));
    return effect ? (effect.value as Overlay) : overlay;
  },
});

export interface Shown {
  sheet: Sheet;
  kind: string;
}

export const shown = Facet.define<Shown, Shown | null>({ combine: (values) => values[0] ?? null });

/** Whether lines wrap. */
export const wraps = Facet.define<boolean, boolean>({ combine: (values) => values[0] ?? false });

const ROW_CLASSES: Record<number, string> = {
  [Mark.added]: "cm-added",
  [Mark.removed]: "cm-removed",
  [Mark.changedTo]: "cm-added",
  [Mark.changedFrom]: "cm-removed",
  [Mark.movedTo]: "cm-moved",
  [Mark.movedFrom]: "cm-moved cm-moved-from",
  [Mark.renumbered]: "cm-renumbered",
  [Mark.filler]: "cm-filler",
};

/** Longer lines are compared as a whole. */
const MAX_COMPARED = 2_000;

const words = new Map<string, Decoration>();

function word(name: string): Decoration {
  let made = words.get(name);
  if (!made) {
    made = Decoration.mark({ class: name });
    words.set(name, made);
  }
  return made;
}

const rows = new Map<string, Decoration>();

function row(name: string): Decoration {
  let made = rows.get(name);
  if (!made) {
    made = Decoration.line({ class: name });
    rows.set(name, made);
  }
  return made;
}

/** A line that wraps goes on below its own text, not below its indentation. */
function hanging(text: string): Decoration {
  const indent = Math.min(text.search(/\S|$/), MAX_HANGING) + 4;
  const isOneWord = /\S{200}/.test(text);
  const key = `hanging ${indent} ${isOneWord}`;
  let made = rows.get(key);
  if (!made) {
    const hangs = `padding-left: calc(4px + ${indent}ch); text-indent: -${indent}ch`;
    const style = isOneWord ? `${hangs}; word-break: break-all` : hangs;
    made = Decoration.line({ attributes: { style } });
    rows.set(key, made);
  }
  return made;
}

const MAX_HANGING = 24;

class Drawing {
  decorations: DecorationSet;

  constructor(view: EditorView) {
    this.decorations = draw(view);
  }

  update(update: ViewUpdate): void {
    const isOver = update.startState.field(overlayField) !== update.state.field(overlayField);
    const isWrap = update.startState.facet(wraps) !== update.state.facet(wraps);
    if (update.docChanged || update.viewportChanged || isOver || isWrap)
      this.decorations = draw(update.view);
  }
}

function draw(view: EditorView): DecorationSet {
  const { state } = view;
  const given = state.facet(shown);
  if (!given) return Decoration.none;
  const overlay = state.field(overlayField);
  const found: Range<Decoration>[] = [];
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to; ) {
      const line = state.doc.lineAt(at);
      drawRow(state, given, overlay, line.number - 1, found);
      if (state.facet(wraps)) found.push(hanging(line.text).range(line.from));
      at = line.to + 1;
    }
  }
  return Decoration.set(found, true);
}

function drawRow(
  state: EditorState,
  { sheet, kind }: Shown,
  { pin: own, was = null, lit, target }: Overlay,
  index: number,
  found: Range<Decoration>[],
): void {
  const line = state.doc.line(index + 1);
  const mark = sheet.marks[index] ?? Mark.equal;
  const number = sheet.numbers[index] ?? 0;
  const classes = [ROW_CLASSES[mark]];
  if (number > 0 && lit.has(number)) classes.push("cm-lit");
  if (number > 0 && number === target) classes.push("cm-target");
  // What is gone has its number in the left text alone.
  const [pin, pinLine] = number > 0 ? [own, number] : [was, sheet.others?.[index] ?? 0];
  const isPinned = pin !== null && (pin.lines === null || pin.lines.has(pinLine));
  if (isPinned && pin?.lines) classes.push("cm-pinned-row");
  const name = classes.filter(Boolean).join(" ");
  if (name !== "") found.push(row(name).range(line.from));
  for (const token of tokensOf(kind, line.text)) {
    const text = line.text.slice(token.from, token.to);
    const range = [line.from + token.from, line.from + token.to] as const;
    if (kind !== "code" || token.class !== "name") {
      found.push(word(`tok-${token.class}`).range(...range));
    }
    if (isPinned && isName(token) && bare(text) === bare(pin?.name ?? "")) {
      found.push(word("tok-pinned").range(...range));
    }
  }
  const partner = sheet.partners.get(index);
  if (partner !== undefined && mark !== Mark.renumbered) {
    const isNew = mark === Mark.changedTo;
    for (const [from, to] of changedWords(partner, line.text)) {
      const drawn = word(isNew ? "cm-added-word" : "cm-removed-word");
      found.push(drawn.range(line.from + from, line.from + to));
    }
  }
}

/** Where more of a line is new than this, it is another line: to mark its words would be noise. */
const MAX_NEW = 0.7;

/** The parts of `line` that `partner` does not have; none where they have little in common. */
function changedWords(partner: string, line: string): [number, number][] {
  if (Math.max(partner.length, line.length) > MAX_COMPARED) return [];
  const parts = presentableDiff(partner, line)
    .filter(({ fromB, toB }) => toB > fromB)
    .map(({ fromB, toB }): [number, number] => [fromB, toB]);
  const changed = parts.reduce((sum, [from, to]) => sum + to - from, 0);
  return changed > line.trim().length * MAX_NEW ? [] : parts;
}

export function marks(): Extension {
  return ViewPlugin.fromClass(Drawing, { decorations: (drawing) => drawing.decorations });
}
