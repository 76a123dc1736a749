/** Finding in a text: a bar that says which hit of how many one is at, and hits that come out of what is folded. */
import {
  closeSearchPanel,
  findNext,
  findPrevious,
  getSearchQuery,
  SearchQuery,
  search,
  setSearchQuery,
} from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, type Panel, runScopeHandlers, type ViewUpdate } from "@codemirror/view";
import { count, plural } from "../format";
import { hiding, reveal, type Stretch } from "./context";

/** More hits than these are not counted: a person reads none of them. */
const MAX_COUNTED = 10_000;

/** Finding in a text of which `stretches` are hidden; `revealed` is told which of them a hit is in. */
export function finding(
  stretches: readonly Stretch[],
  revealed: (stretch: Stretch) => void,
): Extension {
  return [
    search({
      top: true,
      createPanel: (view) => new FindBar(view),
      scrollToMatch: (range) => EditorView.scrollIntoView(range, { y: "center" }),
    }),
    // With the hit in one transaction: the place to scroll to is that of a row that can be seen.
    EditorState.transactionExtender.of((transaction) => {
      if (!transaction.isUserEvent("select.search") || !transaction.selection) return null;
      const row = transaction.newDoc.lineAt(transaction.selection.main.head).number - 1;
      const hidden = hiding(stretches, row);
      return hidden ? { effects: reveal.of(hidden) } : null;
    }),
    EditorView.updateListener.of(({ transactions }) => {
      for (const transaction of transactions) {
        if (!transaction.isUserEvent("select.search")) continue;
        for (const effect of transaction.effects) if (effect.is(reveal)) revealed(effect.value);
      }
    }),
  ];
}

class FindBar implements Panel {
  readonly dom = document.createElement("search");
  readonly top = true;
  private readonly field = document.createElement("input");
  private readonly told = document.createElement("output");
  private readonly regexp: HTMLButtonElement;
  private readonly isCase: HTMLButtonElement;
  private readonly words: HTMLButtonElement;
  /** Where the hits begin, for the query and the text that they were looked for. */
  private hits: number[] = [];

  constructor(private readonly view: EditorView) {
    this.dom.className = "find-bar";
    this.dom.setAttribute("aria-label", "Find in the text");
    this.field.type = "search";
    this.field.spellcheck = false;
    this.field.placeholder = "Find in the text";
    this.field.setAttribute("aria-label", "Find in the text");
    // How CodeMirror knows what to focus when the key is pressed again.
    this.field.setAttribute("main-field", "true");
    this.field.addEventListener("input", () => this.commit());
    this.regexp = toggle("Regular expression", () => this.commit());
    this.isCase = toggle("Match case", () => this.commit());
    this.words = toggle("Whole words", () => this.commit());
    const previous = button("Previous", "Previous hit (Shift Enter)", () => findPrevious(view));
    const next = button("Next", "Next hit (Enter)", () => findNext(view));
    const close = button("×", "Close (Esc)", () => this.close());
    close.setAttribute("aria-label", "Close");
    close.className = "close";
    this.dom.append(this.field, this.told, previous, next, this.isCase, this.words, this.regexp);
    this.dom.append(close);
    this.dom.addEventListener("keydown", (event) => this.pressed(event));
    this.take(getSearchQuery(view.state));
    this.count(view.state);
  }

  mount(): void {
    this.field.select();
  }

  update({ state, docChanged, selectionSet, transactions }: ViewUpdate): void {
    const isNew = transactions.some(({ effects }) =>
      effects.some((each) => each.is(setSearchQuery)),
    );
    if (isNew) this.take(getSearchQuery(state));
    if (isNew || docChanged) this.count(state);
    else if (selectionSet) this.tell(state);
  }

  private take(query: SearchQuery): void {
    if (this.field.value !== query.search) this.field.value = query.search;
    press(this.regexp, query.regexp);
    press(this.isCase, query.caseSensitive);
    press(this.words, query.wholeWord);
  }

  private commit(): void {
    const query = new SearchQuery({
      search: this.field.value,
      literal: true,
      regexp: isPressed(this.regexp),
      caseSensitive: isPressed(this.isCase),
      wholeWord: isPressed(this.words),
    });
    this.view.dispatch({ effects: setSearchQuery.of(query) });
  }

  private pressed(event: KeyboardEvent): void {
    const isField = event.target === this.field;
    if (event.key === "Escape") {
      event.preventDefault();
      this.close();
    } else if (runScopeHandlers(this.view, event, "search-panel")) {
      event.preventDefault();
    } else if (event.key === "Enter" && isField) {
      event.preventDefault();
      (event.shiftKey ? findPrevious : findNext)(this.view);
    }
  }

  /** The bar is outside of the editor's shadow tree, where CodeMirror does not look for the focus. */
  private close(): void {
    closeSearchPanel(this.view);
    this.view.focus();
  }

  private count(state: EditorState): void {
    const query = getSearchQuery(state);
    this.hits = [];
    if (query.valid) {
      const cursor = query.getCursor(state);
      for (let at = cursor.next(); !at.done; at = cursor.next()) {
        if (this.hits.push(at.value.from) > MAX_COUNTED) break;
      }
    }
    this.tell(state);
  }

  private tell(state: EditorState): void {
    const { search: text, valid } = getSearchQuery(state);
    const { hits } = this;
    const isMore = hits.length > MAX_COUNTED;
    const { from, empty } = state.selection.main;
    const at = empty ? -1 : hits.indexOf(from);
    const all = isMore ? `more than ${count(MAX_COUNTED)}` : count(hits.length);
    this.told.toggleAttribute("data-problem", text !== "" && hits.length === 0);
    if (text === "") this.told.value = "";
    else if (!valid) this.told.value = "no regular expression";
    else if (hits.length === 0) this.told.value = "no hits";
    else if (at >= 0) this.told.value = `${count(at + 1)} of ${all}`;
    else this.told.value = isMore ? `${all} hits` : plural(hits.length, "hit");
  }
}

function button(label: string, title: string, run: () => void): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.title = title;
  made.addEventListener("click", run);
  return made;
}

function toggle(label: string, run: () => void): HTMLButtonElement {
  const made = button(label, "", () => {
    press(made, !isPressed(made));
    run();
  });
  made.removeAttribute("title");
  made.className = "toggle";
  press(made, false);
  return made;
}

function press(made: HTMLButtonElement, isOn: boolean): void {
  made.setAttribute("aria-pressed", String(isOn));
}

function isPressed(made: HTMLButtonElement): boolean {
  return made.getAttribute("aria-pressed") === "true";
}
