/** Long stretches without a difference are folded to one row that says how many lines it hides. */
import { type EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import { count } from "../format";
import { Mark } from "./sheet";

/** Lines that stay visible before and after a difference. */
const AROUND = 3;
/** Fewer are not worth a row that stands for them. */
const MIN_HIDDEN = 4;

/** Rows, half open. */
export interface Stretch {
  from: number;
  to: number;
}

/** The stretches of `marks` that can be hidden; none where nothing differs. */
export function quietStretches(marks: Uint8Array): Stretch[] {
  const isQuiet = (mark: number | undefined): boolean =>
    mark === Mark.equal || mark === Mark.renumbered;
  const found: Stretch[] = [];
  let start = 0;
  for (let row = 0; row <= marks.length; row++) {
    if (row < marks.length && isQuiet(marks[row])) continue;
    const from = start === 0 ? 0 : start + AROUND;
    const to = row === marks.length ? row : row - AROUND;
    if (to - from >= MIN_HIDDEN) found.push({ from, to });
    start = row + 1;
  }
  return marks.every(isQuiet) ? [] : found;
}

export const reveal = StateEffect.define<Stretch>();

class HiddenRows extends WidgetType {
  constructor(
    private readonly stretch: Stretch,
    private readonly revealed: (stretch: Stretch) => void,
  ) {
    super();
  }

  override eq(other: HiddenRows): boolean {
    return other.stretch.from === this.stretch.from && other.stretch.to === this.stretch.to;
  }

  override toDOM(): HTMLElement {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "cm-hidden-rows";
    button.textContent = `⋯ ${count(this.stretch.to - this.stretch.from)} equal lines`;
    button.addEventListener("click", () => this.revealed(this.stretch));
    return button;
  }

  override ignoreEvent(): boolean {
    return true;
  }

  override get estimatedHeight(): number {
    return 20;
  }
}

/** Hides `stretches`; `revealed` is told which one a person wants to see. */
export function hiddenRows(
  stretches: readonly Stretch[],
  revealed: (stretch: Stretch) => void,
): Extension {
  const field = StateField.define<DecorationSet>({
    create: (state) => {
      const ranges = stretches.map((stretch) => {
        const { from, to } = positions(state, stretch);
        const widget = new HiddenRows(stretch, revealed);
        return Decoration.replace({ widget, block: true }).range(from, to);
      });
      return Decoration.set(ranges);
    },
    update: (hidden, transaction) => {
      for (const effect of transaction.effects) {
        if (!effect.is(reveal)) continue;
        const { from, to } = positions(transaction.state, effect.value);
        return hidden.update({ filter: (a, b) => b < from || a > to });
      }
      return hidden;
    },
    provide: (self) => EditorView.decorations.from(self),
  });
  return field;
}

/** Which of `stretches` hides `row`. */
export function hiding(stretches: readonly Stretch[], row: number): Stretch | undefined {
  return stretches.find(({ from, to }) => from <= row && row < to);
}

function positions(state: EditorState, { from, to }: Stretch): { from: number; to: number } {
  return { from: state.doc.line(from + 1).from, to: state.doc.line(to).to };
}
