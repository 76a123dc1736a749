/** A narrow map of the whole text beside its scroll bar: where it differs. */
import { useEffect, useRef } from "preact/hooks";
import type { Sight } from "./editor";
import { Mark } from "./sheet";
import { LINE_HEIGHT } from "./theme";

const COLORS: Record<number, string> = {
  [Mark.added]: "--added",
  [Mark.changedTo]: "--added",
  [Mark.removed]: "--removed",
  [Mark.changedFrom]: "--removed",
  [Mark.movedTo]: "--moved",
  [Mark.movedFrom]: "--moved",
};

export function Ruler({ sights, go }: { sights: (Sight | null)[]; go: (row: number) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const going = useRef(go);
  going.current = go;
  const rows = sights.at(-1)?.sheet.marks.length ?? 0;
  const isNeeded = sights.some((sight) => sight?.sheet.marks.some((mark) => mark > 0));
  useEffect(() => {
    const target = canvas.current;
    if (!target || !isNeeded) return;
    const draw = (): void => paint(target, sights);
    draw();
    const stop = new AbortController();
    const click = (event: MouseEvent): void => {
      const { top, height } = target.getBoundingClientRect();
      going.current(Math.floor((event.clientY - top) / rowHeight(height, rows)));
    };
    target.addEventListener("click", click, { signal: stop.signal });
    const observer = new ResizeObserver(draw);
    observer.observe(target);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw, { signal: stop.signal });
    return () => {
      observer.disconnect();
      stop.abort();
    };
  }, [sights, isNeeded, rows]);
  if (!isNeeded) return null;
  return (
    <div class="ruler" aria-hidden="true">
      <canvas ref={canvas} />
    </div>
  );
}

/** A short text does not fill the ruler: its rows stand where the text has them. */
function rowHeight(height: number, rows: number): number {
  return Math.min(height / Math.max(rows, 1), LINE_HEIGHT);
}

function paint(canvas: HTMLCanvasElement, sights: (Sight | null)[]): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const { clientWidth, clientHeight } = canvas;
  canvas.width = clientWidth * devicePixelRatio;
  canvas.height = clientHeight * devicePixelRatio;
  const style = getComputedStyle(canvas);
  const columns = sights.filter((sight) => sight !== null);
  columns.forEach(({ sheet: { marks } }, column) => {
    const width = canvas.width / columns.length;
    const scale = rowHeight(clientHeight, marks.length) * devicePixelRatio;
    marks.forEach((mark, row) => {
      const color = COLORS[mark];
      if (!color) return;
      // Through the element's style a color follows light and dark.
      context.fillStyle = resolved(style, color);
      context.fillRect(column * width, row * scale, width - 1, Math.max(scale, 2));
    });
  });
}

function resolved(style: CSSStyleDeclaration, name: string): string {
  const value = style.getPropertyValue(name).trim();
  const match = /^light-dark\((.+?),\s*(.+)\)$/.exec(value);
  if (!match) return value;
  return (matchMedia("(prefers-color-scheme: dark)").matches ? match[2] : match[1]) ?? value;
}
