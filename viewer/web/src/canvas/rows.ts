/** Owns the list beside a canvas: only the rows that can be seen exist, and the active one. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface Wanted {
  count: number;
  /** Height of a row in pixels. */
  height: number;
  active: number;
  /** Whether the active row is brought into view; it is when it changes, too. */
  follows: boolean;
  /** Rows that are kept in view around the active one. */
  around: number;
}

interface Rows {
  list: RefObject<HTMLDivElement | null>;
  onScroll: () => void;
  shown: number[];
}

/** Rows that are made above and below those in view. */
const SPARE = 10;

export function useRows({ count, height, active, follows, around }: Wanted): Rows {
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [room, setRoom] = useState(480);

  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setRoom(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const element = list.current;
    if (!element || !follows) return;
    const at = active * height;
    const margin = around * height;
    if (at < element.scrollTop) element.scrollTop = at - margin;
    else if (at + height > element.scrollTop + element.clientHeight) {
      element.scrollTop = at + height + margin - element.clientHeight;
    }
  }, [active, follows, height, around]);

  const first = Math.max(0, Math.floor(top / height) - SPARE);
  const last = Math.min(count, Math.ceil((top + room) / height) + SPARE);
  const shown: number[] = [];
  for (let row = first; row < last; row++) shown.push(row);
  // The active row must exist for aria-activedescendant, wherever the list is scrolled to.
  if (count > 0 && (active < first || active >= last)) shown.push(active);
  return { list, onScroll: () => setTop(list.current?.scrollTop ?? 0), shown };
}
