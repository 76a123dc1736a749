/** A text of one recording against that of the other. */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { CopyButton } from "../copy";
import { useSlow } from "../fetching";
import { count } from "../format";
import { useKeys } from "../keys";
import { Failed, Name, Skeleton } from "../names";
import { choose, payloadOf, shortName, stepAt } from "../recording/choose";
import type { CompareParams } from "../route";
import type { ComparedStep, RecordingDetail, StepSummary } from "../schema";
import { NO_OVERLAY, type Overlay } from "../text/marks";
import { Panes, type PanesHandle } from "../text/panes";
import { type Against, isText, placeName, sideOf, useTexts } from "../text/source";
import { DiffToggles, viewKeys, WrapToggle } from "../text/view";

interface Props {
  params: CompareParams;
  step: ComparedStep;
  pair: [number | null, number | null];
  left: RecordingDetail;
  right: RecordingDetail;
  change: (changes: Partial<CompareParams>, how?: "push" | "replace") => void;
}

const SPLIT_WIDTH = 800;

export function CompareText({ params, step, pair, left, right, change }: Props) {
  const a = pair[0] === null ? undefined : stepAt(left.steps, pair[0]);
  const b = pair[1] === null ? undefined : stepAt(right.steps, pair[1]);
  const [detail, shown] = b ? [right, b] : [left, a];
  const kinds = (shown?.payloads ?? []).filter(isText).map(({ kind }) => kind);
  const kind = kinds.includes(params.kind)
    ? params.kind
    : (kinds.find((each) => step.kinds.includes(each) && each === "listing") ??
      kinds.find((each) => step.kinds.includes(each)) ??
      (shown && choose(detail, shown.index, "")?.payload?.kind) ??
      "");
  const payload = shown ? payloadOf(shown, kind) : undefined;
  const side =
    shown && payload && isText(payload) ? sideOf(detail.recording.id, shown, payload) : null;
  const isPair = a !== undefined && b !== undefined && payloadOf(a, kind) !== undefined;
  const against: Against = isPair
    ? { type: "diff", left: placeName(left.recording.id, a.index, kind) }
    : { type: "none" };
  const { texts, diffError } = useTexts(side, against, params.numbering);
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(1200);
  useLayoutEffect(() => setWidth(host.current?.clientWidth ?? 1200), []);
  const panes = useRef<PanesHandle | null>(null);
  const isSplit = params.view === "split" || (params.view !== "inline" && width >= SPLIT_WIDTH);
  const target = Number.parseInt(params.line, 10) || null;
  const overlays = useMemo<[Overlay, Overlay]>(
    () => [NO_OVERLAY, { ...NO_OVERLAY, target }],
    [target],
  );
  const scroll = useMemo(() => ({ line: target, isForced: true }), [target, texts.value]);
  const isWaiting = side !== null && texts.value?.side.url !== side.url && texts.error === null;
  const isSlow = useSlow(isWaiting, 200);
  useKeys(viewKeys({ params, change, isSplit }, panes));
  const text = texts.value?.right.text ?? null;
  const diff = texts.value?.diff ?? null;
  return (
    <div class={isSlow ? "text-room body slow" : "text-room body"} ref={host} aria-busy={isWaiting}>
      <div class="controls">
        <div class="tabs">
          {kinds.map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === kind}
              onClick={() => change({ kind: each, line: "" })}
            >
              <Name text={each} />
            </button>
          ))}
        </div>
        <DiffToggles params={params} change={change} isSplit={isSplit} />
        <WrapToggle params={params} change={change} />
        {diff && (
          <span class="note">
            {diff.added + diff.removed + diff.moved === 0 ? (
              "no difference"
            ) : (
              <>
                <span class="added">+{count(diff.added)}</span>
                <span class="removed">−{count(diff.removed)}</span>
                {diff.moved > 0 && <span class="moved">⇥{count(diff.moved)} moved</span>}
              </>
            )}
          </span>
        )}
        <OneSided step={step} a={a} b={b} />
        {diffError && <span class="note">{diffError.message}</span>}
        <span class="spacer" />
        {text !== null && <CopyButton text={() => text} />}
      </div>
      {!side ? (
        <p class="hint">There is no text of this step.</p>
      ) : texts.error ? (
        <Failed what="This payload cannot be shown:" error={texts.error} />
      ) : !texts.value ? (
        <Skeleton rows={16} />
      ) : (
        <Panes
          texts={texts.value}
          isSplit={isSplit}
          isFolded={params.context !== "all"}
          isWrapped={params.wrap === "1"}
          hasHeat={false}
          heat={null}
          overlays={overlays}
          scrollTo={scroll}
          handle={panes}
          picked={null}
          chosen={(_, line) => change({ line: target === line ? "" : String(line) }, "replace")}
          pointed={() => {}}
        />
      )}
    </div>
  );
}

/** Says that only one recording has the step, and what of the other one it stands against. */
function OneSided(props: {
  step: ComparedStep;
  a: StepSummary | undefined;
  b: StepSummary | undefined;
}) {
  const { step, a, b } = props;
  if (step.left !== null && step.right !== null) return null;
  const [side, other] = step.left === null ? ["right", a] : ["left", b];
  return (
    <span class="note">
      only in the {side} one
      {other && (
        <>
          , against {other.index} <Name text={shortName(other)} />
        </>
      )}
    </span>
  );
}
