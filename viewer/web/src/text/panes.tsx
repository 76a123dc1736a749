/** One text, or two set against each other, in one or two panes. */
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { quietStretches, type Stretch } from "./context";
import type { Listener, Sight, TextPane } from "./editor";
import type { Heat } from "./gutters";
import type { Overlay } from "./marks";
import { Pane, scrollTogether } from "./pane";
import { Ruler } from "./ruler";
import { changeStarts, linesOf, plain, type Sheet, split, unified } from "./sheet";
import type { Side, Texts } from "./source";
import { alignRows } from "./wrapping";

export interface PanesHandle {
  /** Goes to the next or the previous difference. */
  next(direction: 1 | -1): void;
  find(): void;
}

interface PanesProps {
  texts: Texts;
  isSplit: boolean;
  isFolded: boolean;
  isWrapped: boolean;
  hasHeat: boolean;
  heat: ReadonlyMap<number, Heat> | null;
  overlays: [Overlay, Overlay];
  scrollTo: { line: number | null; isForced: boolean };
  /** A line of the left text to bring into view. */
  leftLine?: number | null;
  handle: { current: PanesHandle | null };
  /** Null where names are not to be clicked. */
  picked: ((side: Side, line: number, column: number) => void) | null;
  chosen: (side: Side, line: number) => void;
  pointed: (side: Side, line: number | null) => void;
}

interface Sights {
  left: Sight | null;
  right: Sight;
  stretches: readonly Stretch[];
}

export function Panes(props: PanesProps) {
  const { texts, isSplit, isFolded, isWrapped, hasHeat, overlays, scrollTo, handle } = props;
  const canPin = props.picked !== null;
  const sights = useMemo(
    () => sightsOf(texts, isSplit, isFolded, hasHeat, canPin),
    [texts, isSplit, isFolded, hasHeat, canPin],
  );
  const left = useRef<TextPane | null>(null);
  const right = useRef<TextPane | null>(null);
  const bars = useRef<HTMLDivElement>(null);
  const isPair = sights.left !== null;
  const [was, is] = overlays;
  const shown = useMemo(() => (isPair ? is : { ...is, was: was.pin }), [isPair, was, is]);
  useEffect(() => {
    if (!isPair || !texts.diff || !left.current || !right.current) return;
    const together = isWrapped ? alignRows : scrollTogether;
    return together(left.current, right.current);
  }, [isPair, isWrapped, texts.diff !== null, sights]);
  useEffect(() => {
    const { line } = scrollTo;
    if (line !== null) right.current?.scrollToLine(line);
  }, [scrollTo, sights]);
  const { leftLine = null } = props;
  useEffect(() => {
    if (leftLine !== null) left.current?.scrollToLine(leftLine);
  }, [leftLine, sights]);
  // With what is drawn, not after it: a key may follow at once.
  useLayoutEffect(() => {
    let all: number[] | null = null;
    let at = -1;
    handle.current = {
      next: (direction) => {
        all ??= startsOf(sights);
        at = (at + direction + all.length) % Math.max(all.length, 1);
        const row = all[at];
        if (row !== undefined) right.current?.scrollToRow(row);
      },
      find: () => right.current?.openSearch(),
    };
    return () => {
      handle.current = null;
    };
  }, [sights]);
  const revealed = (stretch: Stretch): void => {
    for (const pane of [left.current, right.current]) pane?.reveal(stretch);
  };
  const followedMove = (sheet: Sheet) => (row: number) => {
    const move = sheet.moves[row];
    const find = (other: Sheet): number =>
      other.moves.findIndex((each, i) => each === move && (other !== sheet || i !== row));
    const [own, other] =
      sheet === sights.left?.sheet ? [left, right] : [right, sights.left ? left : right];
    const target = sheet === sights.left?.sheet ? sights.right.sheet : sights.left?.sheet;
    const found = target ? find(target) : farEnd(sheet, row);
    if (found >= 0) (other.current ?? own.current)?.scrollToRow(found);
  };
  const listener = (side: Side, sheet: Sheet): Listener => ({
    picked: (line, column, isLeft) =>
      props.picked?.(isLeft && texts.left ? texts.left.side : side, line, column),
    chosen: (line) => props.chosen(side, line),
    pointed: (line) => props.pointed(side, line),
    revealed,
    followedMove: followedMove(sheet),
  });
  return (
    <>
      <div class="find-bars" ref={bars} />
      <div class="panes" data-panes={isPair ? "2" : "1"}>
        {sights.left && texts.left && (
          <Pane
            key="left"
            sight={sights.left}
            overlay={was}
            heat={null}
            isWrapped={isWrapped}
            bars={bars}
            listener={listener(texts.left.side, sights.left.sheet)}
            made={(pane) => {
              left.current = pane;
            }}
          />
        )}
        <Pane
          key="right"
          sight={sights.right}
          overlay={shown}
          heat={props.heat}
          isWrapped={isWrapped}
          bars={bars}
          listener={listener(texts.side, sights.right.sheet)}
          made={(pane) => {
            right.current = pane;
          }}
        />
        <Ruler sights={[sights.left, sights.right]} go={(row) => right.current?.scrollToRow(row)} />
      </div>
    </>
  );
}

/** The rows at which a difference begins, on either side. */
function startsOf({ left, right }: Sights): number[] {
  const starts = [left, right].flatMap((sight) => (sight ? changeStarts(sight.sheet.marks) : []));
  return [...new Set(starts)].sort((a, b) => a - b);
}

function sightsOf(
  texts: Texts,
  isSplit: boolean,
  isFolded: boolean,
  hasHeat: boolean,
  canPin: boolean,
): Sights {
  const right = linesOf(texts.right.text ?? "");
  const { left, diff, side } = texts;
  const sight = (of: Side, sheet: Sheet, stretches: readonly Stretch[], heat: boolean): Sight => ({
    sheet,
    kind: of.kind,
    label: `${of.kind} of step ${of.step}`,
    stretches,
    hasHeat: heat,
    canPin,
  });
  if (!left) return { left: null, right: sight(side, plain(right), [], hasHeat), stretches: [] };
  const was = linesOf(left.content.text ?? "");
  if (!diff) {
    const other = sight(left.side, plain(was), [], false);
    return { left: other, right: sight(side, plain(right), [], hasHeat), stretches: [] };
  }
  const isEqual = diff.chunks.every(({ op }) => op === "renumber");
  if (isSplit && !isEqual) {
    const [a, b] = split(was, right, diff.chunks);
    const stretches = isFolded ? quietStretches(b.marks) : [];
    return {
      left: sight(left.side, a, stretches, false),
      right: sight(side, b, stretches, hasHeat),
      stretches,
    };
  }
  const sheet = isEqual ? plain(right) : unified(was, right, diff.chunks);
  const stretches = isFolded ? quietStretches(sheet.marks) : [];
  return { left: null, right: sight(side, sheet, stretches, hasHeat), stretches };
}

/** The other end of a move in a sheet that has both: the first row that is not next to `row`. */
function farEnd(sheet: Sheet, row: number): number {
  const move = sheet.moves[row];
  const mark = sheet.marks[row];
  return sheet.moves.findIndex((each, i) => each === move && sheet.marks[i] !== mark);
}
