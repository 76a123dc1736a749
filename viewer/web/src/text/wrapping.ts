/** Two panes whose long lines wrap: rows stay beside each other, as the shorter of two gets room below it. */
import { type EditorState, type Extension, StateEffect, StateField } from "@codemirror/state";
import {
  type BlockInfo,
  Decoration,
  type DecorationSet,
  EditorView,
  WidgetType,
} from "@codemirror/view";
import type { TextPane } from "./editor";

/** Pixels of room below a row, by row. */
type Rooms = ReadonlyMap<number, number>;

const setRooms = StateEffect.define<Rooms>();
/** Heights of fonts are no whole numbers. */
const SLACK = 0.5;

class Room extends WidgetType {
  constructor(private readonly height: number) {
    super();
  }

  override eq(other: Room): boolean {
    return other.height === this.height;
  }

  override toDOM(): HTMLElement {
    const made = document.createElement("div");
    made.className = "cm-filler";
    made.style.height = `${this.height}px`;
    return made;
  }

  override get estimatedHeight(): number {
    return this.height;
  }
}

const roomField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (shown, transaction) => {
    const effect = transaction.effects.find((each) => each.is(setRooms));
    return effect ? drawn(transaction.state, effect.value as Rooms) : shown;
  },
  provide: (self) => EditorView.decorations.from(self),
});

function drawn(state: EditorState, rooms: Rooms): DecorationSet {
  const ranges = [...rooms].map(([row, height]) => {
    const { to } = state.doc.line(row + 1);
    return Decoration.widget({ widget: new Room(height), block: true, side: 1 }).range(to);
  });
  return Decoration.set(ranges, true);
}

/** What a pane needs to be set beside another one. */
export function wrappedBeside(changed: () => void): Extension {
  return [
    roomField,
    EditorView.updateListener.of((update) => {
      if (update.geometryChanged || update.viewportChanged) changed();
    }),
  ];
}

/** Keeps the rows of two panes at one height, and lets them scroll as one; returns what ends it. */
export function alignRows(a: TextPane, b: TextPane): () => void {
  const stop = new AbortController();
  const panes = [a, b] as const;
  const rooms = [new Map<number, number>(), new Map<number, number>()] as const;
  let [leader, follower] = [b, a];
  let waiting = 0;
  const follow = (): void => scrollToRowOf(leader, follower);
  const align = (): void => {
    waiting = 0;
    const heights = panes.map(({ view }, i) => heightsOf(view, rooms[i] as Rooms));
    const isNew = [false, false];
    for (const [row, height] of heights[0] as Map<number, number>) {
      const other = heights[1]?.get(row);
      if (other === undefined) continue;
      for (const [i, missing] of [other - height, height - other].entries()) {
        const known = rooms[i] as Map<number, number>;
        const wanted = missing > SLACK ? missing : 0;
        if (Math.abs((known.get(row) ?? 0) - wanted) <= SLACK) continue;
        isNew[i] = true;
        if (wanted > 0) known.set(row, wanted);
        else known.delete(row);
      }
    }
    panes.forEach(({ view }, i) => {
      if (isNew[i]) view.dispatch({ effects: setRooms.of(new Map(rooms[i])) });
    });
    follow();
  };
  const changed = (): void => {
    waiting ||= requestAnimationFrame(align);
  };
  for (const [pane, other] of [panes, [b, a] as const]) {
    const lead = (): void => {
      [leader, follower] = [pane, other];
    };
    pane.onMoved = { lead, changed };
    const { dom, scrollDOM } = pane.view;
    for (const type of ["pointerenter", "pointerdown", "wheel", "touchstart", "focusin"]) {
      dom.addEventListener(type, lead, { signal: stop.signal, passive: true });
    }
    const scrolled = (): void => {
      if (pane === leader) follow();
    };
    scrollDOM.addEventListener("scroll", scrolled, { signal: stop.signal, passive: true });
  }
  changed();
  return () => {
    stop.abort();
    cancelAnimationFrame(waiting);
    for (const pane of panes) pane.onMoved = null;
  };
}

/** The heights of the rows that are drawn, without the room below them. */
function heightsOf(view: EditorView, rooms: Rooms): Map<number, number> {
  const row = ({ from }: BlockInfo): number => view.state.doc.lineAt(from).number - 1;
  return new Map(
    view.viewportLineBlocks.map((block) => [
      row(block),
      block.height - (rooms.get(row(block)) ?? 0),
    ]),
  );
}

/** Brings the row at the top of one pane to the top of the other. */
function scrollToRowOf({ view: leader }: TextPane, { view: follower }: TextPane): void {
  const top = leader.scrollDOM.scrollTop;
  const block = leader.lineBlockAtHeight(top);
  const { number } = leader.state.doc.lineAt(block.from);
  if (number > follower.state.doc.lines) return;
  const other = follower.lineBlockAt(follower.state.doc.line(number).from);
  const target = other.top + Math.min(top - block.top, other.height);
  if (Math.abs(follower.scrollDOM.scrollTop - target) > SLACK) {
    follower.scrollDOM.scrollTop = target;
  }
}
