/** The columns beside a text: line numbers, signs of what changed, and where its cost lies. */
import {
  type Extension,
  RangeSet,
  RangeSetBuilder,
  StateEffect,
  StateField,
} from "@codemirror/state";
import { type EditorView, GutterMarker, gutter, lineNumbers } from "@codemirror/view";
import { Mark, type Sheet } from "./sheet";

const SIGNS: Record<number, [string, string]> = {
  [Mark.added]: ["+", "added"],
  [Mark.removed]: ["−", "removed"],
  [Mark.changedTo]: ["+", "changed to"],
  [Mark.changedFrom]: ["−", "changed from"],
  [Mark.movedTo]: ["⇥", "moved here"],
  [Mark.movedFrom]: ["↷", "moved away"],
  [Mark.renumbered]: ["≈", "renumbered"],
};

class Sign extends GutterMarker {
  constructor(
    private readonly mark: number,
    private readonly move: number,
  ) {
    super();
  }

  override eq(other: Sign): boolean {
    return other.mark === this.mark && other.move === this.move;
  }

  override toDOM(): HTMLElement {
    const [sign, meaning] = SIGNS[this.mark] ?? ["", ""];
    const made = document.createElement("span");
    made.className = this.move > 0 ? "cm-sign cm-sign-move" : "cm-sign";
    made.textContent = sign;
    made.title =
      this.move > 0 ? `${meaning} (move ${this.move}); click to see the other end` : meaning;
    return made;
  }
}

interface GutterListener {
  chosen(line: number): void;
  followedMove(row: number): void;
}

/** Line numbers, and the signs of what changed. */
export function numbersAndSigns(sheet: Sheet, listener: GutterListener): Extension {
  const { numbers, others } = sheet;
  const width = String(Math.max(...sampled(numbers), ...(others ? sampled(others) : []), 1)).length;
  const shown = (number: number | undefined): string =>
    (number ? String(number) : "").padStart(width);
  const column = lineNumbers({
    formatNumber: (row) =>
      others ? `${shown(others[row - 1])} ${shown(numbers[row - 1])}` : shown(numbers[row - 1]),
    domEventHandlers: {
      click: (view, block) => {
        const number = numbers[view.state.doc.lineAt(block.from).number - 1] ?? 0;
        if (number > 0) listener.chosen(number);
        return number > 0;
      },
    },
  });
  const isChanged = sheet.marks.some((mark) => mark !== Mark.equal);
  if (!isChanged) return column;
  const signs = gutter({
    class: "cm-signs",
    lineMarker: (view, block) => {
      const row = view.state.doc.lineAt(block.from).number - 1;
      const mark = sheet.marks[row] ?? Mark.equal;
      if (mark === Mark.equal || mark === Mark.filler) return null;
      return new Sign(mark, sheet.moves[row] ?? 0);
    },
    domEventHandlers: {
      click: (view, block) => {
        const row = view.state.doc.lineAt(block.from).number - 1;
        if (!sheet.moves[row]) return false;
        listener.followedMove(row);
        return true;
      },
    },
  });
  return [column, signs];
}

/** Numbers rise, so that the last ones are enough to know the widest. */
function sampled(numbers: Int32Array): number[] {
  return [...numbers.slice(-2_000)];
}

/** What a line costs, as its gutter shows it. */
export interface Heat {
  /** Share of the whole, 0 to 1. */
  share: number;
  label: string;
  title: string;
}

class HeatMarker extends GutterMarker {
  constructor(private readonly heat: Heat) {
    super();
  }

  override eq(other: HeatMarker): boolean {
    return other.heat.title === this.heat.title && other.heat.share === this.heat.share;
  }

  override toDOM(): HTMLElement {
    const made = document.createElement("span");
    made.className = "cm-heat";
    made.title = this.heat.title;
    const bar = document.createElement("span");
    bar.className = "cm-heat-bar";
    // By the style object, which the Content-Security-Policy allows; by attribute it would not.
    bar.style.width = `${Math.max(2, Math.round(this.heat.share * 100))}%`;
    const label = document.createElement("span");
    label.className = "cm-heat-label";
    label.textContent = this.heat.label;
    made.append(bar, label);
    return made;
  }
}

export const setHeat = StateEffect.define<{ sheet: Sheet; lines: ReadonlyMap<number, Heat> }>();

const heatField = StateField.define<RangeSet<GutterMarker>>({
  create: () => RangeSet.empty,
  update: (markers, transaction) => {
    const effect = transaction.effects.find((each) => each.is(setHeat));
    if (!effect) return markers;
    const { sheet, lines } = effect.value as { sheet: Sheet; lines: ReadonlyMap<number, Heat> };
    const builder = new RangeSetBuilder<GutterMarker>();
    sheet.numbers.forEach((number, row) => {
      const heat = lines.get(number);
      if (!heat) return;
      const { from } = transaction.state.doc.line(row + 1);
      builder.add(from, from, new HeatMarker(heat));
    });
    return builder.finish();
  },
});

export function heatGutter(): Extension {
  return [
    heatField,
    gutter({ class: "cm-heats", markers: (view: EditorView) => view.state.field(heatField) }),
  ];
}
