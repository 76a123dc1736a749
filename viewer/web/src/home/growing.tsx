/** Draws a long list as far as it is scrolled, as a thousand rows take the browser a second. */
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const FIRST = 100;
const STEP = 200;
/** How far below the window the next rows are made ready. */
const AHEAD = "2000px";

interface Place {
  drawn: number;
  top: number;
}

/** Where each list was left, so that Back returns to the place. */
const places = new Map<string, Place>();

/** The part of `rows` that is drawn, and what has to stand below it to have more drawn. */
export function useGrowing<T>(rows: T[], list: string): { drawn: T[]; end: JSX.Element } {
  const [, redraw] = useState(0);
  const end = useRef<HTMLDivElement>(null);
  const place = places.get(list) ?? { drawn: FIRST, top: 0 };
  places.set(list, place);
  const isThere = rows.length > 0;
  const isCut = rows.length > place.drawn;

  useLayoutEffect(() => {
    const scroller = end.current?.closest(".page");
    if (!isThere || !scroller) return;
    scroller.scrollTop = place.top;
    return () => {
      place.top = scroller.scrollTop;
    };
  }, [isThere, place]);

  useEffect(() => {
    const element = end.current;
    if (!isCut || !element) return;
    const watch = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        place.drawn += STEP;
        redraw((count) => count + 1);
      },
      { root: element.closest(".page"), rootMargin: AHEAD },
    );
    watch.observe(element);
    return () => watch.disconnect();
  }, [isCut, place, place.drawn]);

  return {
    drawn: isCut ? rows.slice(0, place.drawn) : rows,
    end: <div ref={end} aria-hidden="true" />,
  };
}
