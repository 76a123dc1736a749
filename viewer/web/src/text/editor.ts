/** One pane of text: a CodeMirror that shows a sheet, read only. */
import { cpp } from "@codemirror/lang-cpp";
import { codeFolding, foldGutter, foldKeymap } from "@codemirror/language";
import { openSearchPanel, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightSpecialChars, keymap, panels } from "@codemirror/view";
import { hiddenRows, hiding, reveal, type Stretch } from "./context";
import { finding } from "./find";
import { indentFolding } from "./folding";
import { type Heat, heatGutter, numbersAndSigns, setHeat } from "./gutters";
import { marks, NO_OVERLAY, type Overlay, overlayField, setOverlay, shown, wraps } from "./marks";
import { rowOf, type Sheet } from "./sheet";
import { theme } from "./theme";
import { nameAt } from "./tokens";
import { wrappedBeside } from "./wrapping";

export interface Sight {
  sheet: Sheet;
  kind: string;
  label: string;
  stretches: readonly Stretch[];
  hasHeat: boolean;
  /** Whether a click on a name does something. */
  canPin: boolean;
}

export interface Listener {
  /** A name was clicked: line and column of the text itself, or of the left one in a column for both. */
  picked(line: number, column: number, isLeft: boolean): void;
  /** A line number was clicked. */
  chosen(line: number): void;
  /** The pointer is on a line, or on none. */
  pointed(line: number | null): void;
  revealed(stretch: Stretch): void;
  followedMove(row: number): void;
}

export class TextPane {
  readonly view: EditorView;
  private sight: Sight | null = null;
  private drawn: Overlay = NO_OVERLAY;
  private pointedLine: number | null = null;
  private isWrapped = false;
  private readonly wrapping = new Compartment();
  /** Who is told that rows may have other heights, and that the pane was moved on purpose. */
  onMoved: { lead(): void; changed(): void } | null = null;
  /** Kept, as asking the element would make the browser lay out the page. */
  private scrolled = { top: 0, left: 0 };

  constructor(
    host: HTMLElement,
    private readonly bars: HTMLElement | null,
    private readonly listener: Listener,
  ) {
    // In a shadow tree CodeMirror adopts its style sheet; in the document it would insert a
    // <style>, which the Content-Security-Policy refuses.
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    this.view = new EditorView({ root, parent: root });
    this.view.scrollDOM.addEventListener("scroll", () => this.noteScroll(), { passive: true });
  }

  /** Shows another text, at the place where this one was. */
  show(sight: Sight, overlay: Overlay = NO_OVERLAY): void {
    if (this.sight === sight) {
      this.overlay(overlay);
      return;
    }
    const { top, left } = this.scrolled;
    this.sight = sight;
    this.drawn = overlay;
    this.pointedLine = null;
    const extensions = [this.extensions(sight), overlayField.init(() => overlay)];
    this.view.setState(EditorState.create({ doc: sight.sheet.doc, extensions }));
    // Setting it, even to what it is, would make the browser lay out the page at once.
    if (top > 0 || left > 0) this.view.scrollDOM.scrollTo({ top, left });
  }

  /** Lets long lines go on in the next row, or not; the line on top stays there. */
  wrap(isWrapped: boolean): void {
    if (this.isWrapped === isWrapped) return;
    this.isWrapped = isWrapped;
    if (!this.sight) return;
    const { view } = this;
    const { from } = view.lineBlockAtHeight(view.scrollDOM.scrollTop);
    const { top } = this.scrolled;
    view.dispatch({
      effects: [
        this.wrapping.reconfigure(this.wrapped()),
        ...(top > 0 ? [EditorView.scrollIntoView(from, { y: "start", x: "start" })] : []),
      ],
    });
  }

  private wrapped(): Extension {
    if (!this.isWrapped) return [];
    return [EditorView.lineWrapping, wraps.of(true), wrappedBeside(() => this.onMoved?.changed())];
  }

  private overlay(overlay: Overlay): void {
    if (this.drawn === overlay) return;
    this.drawn = overlay;
    this.view.dispatch({ effects: setOverlay.of(overlay) });
  }

  heat(lines: ReadonlyMap<number, Heat>): void {
    if (!this.sight?.hasHeat) return;
    this.view.dispatch({ effects: setHeat.of({ sheet: this.sight.sheet, lines }) });
  }

  reveal(stretch: Stretch): void {
    this.view.dispatch({ effects: reveal.of(stretch) });
  }

  /** Brings line `line` of the text into view, if it is not. */
  scrollToLine(line: number): void {
    if (!this.sight) return;
    const row = rowOf(this.sight.sheet, line);
    if (row >= 0) this.scrollToRow(row);
  }

  scrollToRow(row: number): void {
    const { sight, view } = this;
    if (!sight || row >= view.state.doc.lines) return;
    const hidden = hiding(sight.stretches, row);
    if (hidden) this.listener.revealed(hidden);
    const { from, text } = view.state.doc.line(row + 1);
    const partner = sight.sheet.partners.get(row);
    const x = partner === undefined ? "start" : "nearest";
    const at = from + (partner === undefined ? 0 : firstDifference(text, partner));
    this.onMoved?.lead();
    view.dispatch({ effects: EditorView.scrollIntoView(at, { y: "center", x, xMargin: 120 }) });
  }

  /** The first row that can be seen. */
  topRow(): number {
    const { view } = this;
    const block = view.lineBlockAtHeight(view.scrollDOM.scrollTop);
    return view.state.doc.lineAt(block.from).number - 1;
  }

  openSearch(): void {
    openSearchPanel(this.view);
  }

  destroy(): void {
    this.view.destroy();
  }

  private noteScroll(): void {
    const { scrollTop, scrollLeft } = this.view.scrollDOM;
    this.scrolled = { top: scrollTop, left: scrollLeft };
  }

  private extensions(sight: Sight): Extension {
    const { sheet, kind, label, stretches, hasHeat, canPin } = sight;
    return [
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.contentAttributes.of({ tabindex: "0", "aria-label": label, dir: "ltr" }),
      canPin ? EditorView.editorAttributes.of({ class: "cm-can-pin" }) : [],
      EditorState.tabSize.of(4),
      shown.of({ sheet, kind }),
      hasHeat ? heatGutter() : [],
      numbersAndSigns(sheet, {
        chosen: (line) => this.listener.chosen(line),
        followedMove: (row) => this.listener.followedMove(row),
      }),
      foldGutter({ openText: "▾", closedText: "▸" }),
      codeFolding(),
      indentFolding,
      kind === "code" ? cpp() : [],
      marks(),
      hiddenRows(stretches, (stretch) => this.listener.revealed(stretch)),
      highlightSpecialChars(),
      finding(stretches, (stretch) => this.listener.revealed(stretch)),
      this.bars ? panels({ topContainer: this.bars }) : [],
      keymap.of([...searchKeymap, ...foldKeymap]),
      theme,
      this.wrapping.of(this.wrapped()),
      this.pointing(),
    ];
  }

  private pointing(): Extension {
    return EditorView.domEventHandlers({
      click: (event, view) => {
        const position = view.posAtCoords({ x: event.clientX, y: event.clientY });
        if (position === null || isSelecting(view)) return false;
        const line = view.state.doc.lineAt(position);
        const { numbers, others } = this.sight?.sheet ?? {};
        const own = numbers?.[line.number - 1] ?? 0;
        const number = own || (others?.[line.number - 1] ?? 0);
        const column = position - line.from;
        if (number === 0 || nameAt(this.sight?.kind ?? "", line.text, column) === null)
          return false;
        this.listener.picked(number, column, own === 0);
        return true;
      },
      mousemove: (event, view) => {
        const { from } = view.lineBlockAtHeight(event.clientY - view.documentTop);
        const row = view.state.doc.lineAt(from).number - 1;
        this.point(this.sight?.sheet.numbers[row] || null);
        return false;
      },
      mouseleave: () => {
        this.point(null);
        return false;
      },
    });
  }

  private point(line: number | null): void {
    if (line === this.pointedLine) return;
    this.pointedLine = line;
    this.listener.pointed(line);
  }
}

/** Where two lines begin to differ. */
function firstDifference(line: string, other: string): number {
  let at = 0;
  while (at < line.length && line[at] === other[at]) at++;
  return at;
}

/** A click that ends a selection of text is none on a name. */
function isSelecting(view: EditorView): boolean {
  const { root } = view;
  const selection =
    "getSelection" in root && typeof root.getSelection === "function"
      ? (root.getSelection as () => Selection | null)()
      : document.getSelection();
  return selection?.type === "Range";
}
