/** A pane of text as a component, and two of them that scroll as one. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { type Listener, type Sight, TextPane } from "./editor";
import type { Heat } from "./gutters";
import type { Overlay } from "./marks";

interface PaneProps {
  sight: Sight;
  overlay: Overlay;
  heat: ReadonlyMap<number, Heat> | null;
  isWrapped: boolean;
  /** Where the bar to find with goes. */
  bars: { current: HTMLElement | null };
  listener: Listener;
  /** Told the pane when there is one, and null when it is gone. */
  made: (pane: TextPane | null) => void;
}

export function Pane({ sight, overlay, heat, isWrapped, bars, listener, made }: PaneProps) {
  const host = useRef<HTMLDivElement>(null);
  const pane = useRef<TextPane | null>(null);
  const told = useRef(listener);
  told.current = listener;
  useLayoutEffect(() => {
    if (!host.current) return;
    const listens: Listener = {
      picked: (line, column, isLeft) => told.current.picked(line, column, isLeft),
      chosen: (line) => told.current.chosen(line),
      pointed: (line) => told.current.pointed(line),
      revealed: (stretch) => told.current.revealed(stretch),
      followedMove: (row) => told.current.followedMove(row),
    };
    const view = new TextPane(host.current, bars.current, listens);
    pane.current = view;
    made(view);
    return () => {
      made(null);
      view.destroy();
    };
  }, []);
  useLayoutEffect(() => pane.current?.wrap(isWrapped), [isWrapped]);
  useLayoutEffect(() => pane.current?.show(sight, overlay), [sight, overlay]);
  useEffect(() => {
    if (heat) pane.current?.heat(heat);
  }, [sight, heat]);
  return <div class="pane" ref={host} />;
}

/** Lets two panes scroll as one; returns what ends it. */
export function scrollTogether(a: TextPane, b: TextPane): () => void {
  const stop = new AbortController();
  const [left, right] = [a.view.scrollDOM, b.view.scrollDOM];
  const led = new Set<HTMLElement>();
  const follow = (from: HTMLElement, to: HTMLElement) => (): void => {
    // Who was led does not lead: its lines may be shorter, as far as they are drawn.
    if (led.delete(from)) return;
    const { scrollTop, scrollLeft } = to;
    if (scrollTop !== from.scrollTop) to.scrollTop = from.scrollTop;
    if (scrollLeft !== from.scrollLeft) to.scrollLeft = from.scrollLeft;
    if (to.scrollTop !== scrollTop || to.scrollLeft !== scrollLeft) led.add(to);
  };
  left.addEventListener("scroll", follow(left, right), { signal: stop.signal, passive: true });
  right.addEventListener("scroll", follow(right, left), { signal: stop.signal, passive: true });
  return () => stop.abort();
}
