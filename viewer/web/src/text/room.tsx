/** The text room: what a step made, against what was there before. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { retry, useSlow } from "../fetching";
import type { PinState } from "../inspector/pin";
import { useKeys } from "../keys";
import { Failed, Skeleton } from "../names";
import { rememberKind } from "../recording/choose";
import type { RecordingParams } from "../route";
import type { PayloadSummary, RecordingDetail, StepSummary } from "../schema";
import { Controls } from "./controls";
import { useCost } from "./cost";
import { DataNote, isShownAsText } from "./data";
import { firstCorresponding, useCorresponding } from "./lines";
import { NO_OVERLAY, type Overlay } from "./marks";
import { Panes, type PanesHandle } from "./panes";
import { againstOf, prefetchTexts, type Side, sideOf, useTexts } from "./source";
import { viewKeys } from "./view";

export interface TextRoomProps {
  detail: RecordingDetail;
  step: StepSummary;
  payload: PayloadSummary;
  params: RecordingParams;
  change: (changes: Partial<RecordingParams>, how?: "push" | "replace") => void;
  pin: PinState;
  /** Steps that the arrow keys lead to: they are fetched in advance. */
  neighbors: StepSummary[];
}

/** Wide enough for two columns of code. */
const SPLIT_WIDTH = 960;

export function TextRoom(props: TextRoomProps) {
  const { detail, step, payload, params, change, pin } = props;
  const { id } = detail.recording;
  useEffect(() => rememberKind(params.kind), [params.kind]);
  const side = payload.error === null ? sideOf(id, step, payload) : null;
  const against = againstOf(params.against, detail, step, payload);
  const { texts, diffError } = useTexts(side, against, params.numbering);
  const stage = useRef<HTMLDivElement>(null);
  const width = useWidth(stage);
  const panes = useRef<PanesHandle | null>(null);
  const isWaiting = side !== null && texts.value?.side.url !== side.url && texts.error === null;
  const isSlow = useSlow(isWaiting, 200);
  const isSplit = params.view === "split" || (params.view !== "inline" && width >= SPLIT_WIDTH);
  const cost = useCost(id, step, payload, params.heat);
  usePrefetch(props, !isWaiting);
  const target = Number.parseInt(params.line, 10) || null;
  const [pointed, point] = useState<{ side: Side; line: number } | null>(null);
  const shown = texts.value;
  const beside = shown?.left && !shown.diff ? shown.left.side : null;
  const chosen = target !== null && side ? { side, line: target } : null;
  const from = beside ? (pointed ?? chosen) : null;
  const to = from && shown && (from.side.url === shown.side.url ? beside : shown.side);
  const lines = useCorresponding(id, from, to ?? null);
  const overlays = useMemo<[Overlay, Overlay]>(() => {
    if (!shown) return [NO_OVERLAY, NO_OVERLAY];
    const over = (each: Side | undefined, isRight: boolean): Overlay => ({
      pin: each ? pin.at(each.recording, each.step, each.kind) : null,
      lit: each && to && each.url === to.url ? lines : new Set(),
      target: isRight ? target : null,
    });
    return [over(shown.left?.side, false), over(shown.side, true)];
  }, [shown, pin.key, lines, target]);
  useKeys([
    {
      keys: ["d"],
      what: "Difference to the previous change, on and off",
      run: () => change({ against: params.against === "none" ? "prev" : "none" }),
    },
    ...viewKeys({ params, change, isSplit }, panes),
  ]);
  const scroll = useScrollTarget(shown?.key ?? "", target, pin.firstLine(side));
  return (
    <div
      class={isSlow ? "text-room body slow" : "text-room body"}
      ref={stage}
      aria-busy={isWaiting ? "true" : undefined}
    >
      <Controls
        {...props}
        texts={shown}
        diffError={diffError}
        isSplit={isSplit}
        find={() => panes.current?.find()}
        cost={cost}
      />
      {payload.error !== null ? (
        <Failed what="This payload cannot be shown:" error={new Error(payload.error)} />
      ) : texts.error ? (
        <Failed
          what="This payload cannot be shown:"
          error={texts.error}
          again={() => {
            if (side) retry(side.url);
            change({}, "replace");
          }}
        />
      ) : !shown ? (
        <Skeleton rows={18} />
      ) : !isShownAsText(shown.right) ? (
        <DataNote id={id} step={step} payload={payload} content={shown.right} />
      ) : (
        <Panes
          texts={shown}
          isSplit={isSplit}
          isFolded={params.context !== "all"}
          isWrapped={params.wrap === "1"}
          hasHeat={params.heat !== ""}
          heat={cost.lines}
          overlays={overlays}
          scrollTo={scroll}
          handle={panes}
          picked={(at, line, column) => pin.pick(at.step, at.kind, line, column)}
          leftLine={beside && !pointed ? ([...lines][0] ?? null) : null}
          chosen={(at, line) => {
            if (at.url === shown.side.url) {
              change({ line: target === line ? "" : String(line) }, "replace");
            } else if (beside) {
              void firstCorresponding(id, { side: at, line }, shown.side).then((found) => {
                if (found !== null) change({ line: String(found) }, "replace");
              });
            }
          }}
          pointed={(at, line) => point(line === null ? null : { side: at, line })}
        />
      )}
    </div>
  );
}

function useWidth(ref: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(1200);
  useLayoutEffect(() => {
    const host = ref.current;
    if (!host || typeof ResizeObserver === "undefined") return;
    setWidth(host.clientWidth);
    const observer = new ResizeObserver(() => setWidth(host.clientWidth));
    observer.observe(host);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** The line to bring into view: the one in the address, else where the pinned value first is. */
function useScrollTarget(key: string, target: number | null, pinned: number | null) {
  return useMemo(
    () => ({ line: target ?? pinned, isForced: target !== null }),
    [key, target, pinned],
  );
}

function usePrefetch({ detail, params, payload, neighbors }: TextRoomProps, isIdle: boolean): void {
  const { id } = detail.recording;
  const wanted = neighbors.map((step) => step.index).join();
  useEffect(() => {
    if (!isIdle) return;
    const timer = setTimeout(() => {
      for (const step of neighbors) {
        const next = step.payloads.find(({ kind }) => kind === payload.kind) ?? step.payloads[0];
        if (!next || next.error !== null) continue;
        const against = againstOf(params.against, detail, step, next);
        void prefetchTexts(sideOf(id, step, next), against, params.numbering);
      }
    }, 30);
    return () => clearTimeout(timer);
  }, [wanted, payload.kind, params.against, params.numbering, isIdle]);
}
