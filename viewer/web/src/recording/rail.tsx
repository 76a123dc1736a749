/** The pipeline: a row a step, whose bar is the chosen figure. */
import { useEffect, useRef } from "preact/hooks";
import { count, plural } from "../format";
import { Dialect, Name } from "../names";
import { format, type RecordingParams, recording } from "../route";
import type { Changes, StepSummary } from "../schema";
import { atStep, shortName } from "./choose";
import { type Figure, figureOf, figuresOf, read, signed, textsAt } from "./figures";
import { type Row, rowsOf } from "./rows";

interface RailProps {
  id: string;
  params: RecordingParams;
  steps: readonly StepSummary[];
  current: StepSummary | null;
  changes: Changes | null;
  change: (changes: Partial<RecordingParams>) => void;
  lifeOf: (step: number) => string | undefined;
  /** The room that a step opens in. */
  room: string;
  /** The pass that the render failed in, "" where that is not known; null where it did not fail. */
  failedPass: string | null;
}

export function Rail(props: RailProps) {
  const { params, steps, current, changes, change } = props;
  const list = useRef<HTMLOListElement>(null);
  const figure = figureOf(params.figure);
  const kind = params.kind || "listing";
  const top = Math.max(
    ...steps.map((step) => read(figure, step, textsAt(changes, step.index), kind).value ?? 0),
    0,
  );
  const isFolded = params.rows !== "all";
  const rows = rowsOf(steps, current?.index ?? null, isFolded);
  const canFold = rowsOf(steps, null, true).length < steps.length;
  useEffect(() => {
    const row = list.current?.querySelector("[aria-current]");
    if (current) row?.scrollIntoView?.({ block: "nearest" });
  }, [current?.index, isFolded]);
  return (
    <nav class="rail" aria-label="Steps">
      <div class="rail-head">
        <h2>Pipeline</h2>
        <label>
          <span class="hidden">Figure of the bars</span>
          <select
            value={figure.id}
            title={figure.meaning}
            onChange={(event) => change({ figure: event.currentTarget.value })}
          >
            {figuresOf(steps, changes).map((each) => (
              <option key={each.id} value={each.id}>
                {each.label}
              </option>
            ))}
          </select>
        </label>
        {canFold && (
          <button
            type="button"
            class="plain link"
            aria-pressed={!isFolded}
            onClick={() => change({ rows: isFolded ? "all" : "folded" })}
          >
            {isFolded ? `all ${count(steps.length)}` : "fold"}
          </button>
        )}
      </div>
      <ol class="steps" ref={list}>
        {rows.map((row) => (
          <RowItem key={keyOf(row)} row={row} top={top} figure={figure} {...props} />
        ))}
        {props.failedPass !== null && <FailedRow {...props} pass={props.failedPass} />}
      </ol>
    </nav>
  );
}

function keyOf(row: Row): string {
  return row.type === "step" ? `s${row.step.index}` : `${row.type}${row.steps[0]?.index}`;
}

function RowItem(props: RailProps & { row: Row; top: number; figure: Figure }) {
  const { row, change } = props;
  if (row.type === "step") return <StepRow {...props} step={row.step} />;
  const names = row.steps.map(shortName).join(", ");
  const isSame = row.type === "same";
  const isOne = row.steps.length === 1;
  const what = isOne ? names : `${count(row.steps.length)}`;
  return (
    <li class="folded">
      <button type="button" class="plain" title={names} onClick={() => change({ rows: "all" })}>
        <span aria-hidden="true">{isSame ? "·" : "▸"}</span>
        <Name text={what} />
        {isSame ? "unchanged" : "normalized functions"}
      </button>
    </li>
  );
}

/** What came after the last step: the pass that failed, which leads to why. */
function FailedRow({ id, params, steps, current, pass }: RailProps & { pass: string }) {
  const target = recording(id, current?.index ?? null, { ...params, room: "failure" });
  return (
    <li class="failed">
      <a href={format(target)} title="Why it failed">
        <span class="index">{(steps.at(-1)?.index ?? -1) + 1}</span>
        <span aria-hidden="true">✗</span>
        <span class="step-name">
          <Name text={pass === "" ? "the render" : shortName({ name: pass })} title={pass} />
        </span>
        <span class="state">failed</span>
      </a>
    </li>
  );
}

function StepRow(props: RailProps & { step: StepSummary; top: number; figure: Figure }) {
  const { id, params, step, current, changes, figure, top, lifeOf } = props;
  const texts = textsAt(changes, step.index);
  const { value, change } = read(figure, step, texts, params.kind || "listing");
  const isCurrent = step.index === current?.index;
  const state = step.missing ? "missing" : step.changed ? "" : "same";
  const life = lifeOf(step.index);
  return (
    <li class={step.changed && !step.missing ? undefined : "quiet"}>
      <a
        href={format(atStep({ id, params }, step, { room: props.room }))}
        aria-current={isCurrent ? "step" : undefined}
        title={titleOf(step, texts)}
        data-life={life}
      >
        <span class="bar-fill" style={{ width: `${top > 0 ? ((value ?? 0) / top) * 100 : 0}%` }} />
        <span class="index">{step.index}</span>
        <Dialect name={step.dialect} />
        <span class="step-name">
          <Name text={shortName(step)} title={step.name} />
        </span>
        {life !== undefined && <LifeMark life={life} />}
        <span class="state">{state}</span>
        <span class="value">{figure.show(value)}</span>
        <span class="change">{signed(change, figure.show)}</span>
      </a>
    </li>
  );
}

/** What became of the pinned value in a step. */
export const LIFE_SIGNS: Record<string, string> = {
  born: "◆",
  changed: "●",
  present: "•",
  gone: "×",
};

function LifeMark({ life }: { life: string }) {
  return (
    <span class="life-mark" data-life={life} title={`The pinned value: ${life}`}>
      <span aria-hidden="true">{LIFE_SIGNS[life] ?? ""}</span>
      <span class="hidden">pinned value {life}</span>
    </span>
  );
}

function titleOf(
  step: StepSummary,
  texts: Record<string, { added: number; removed: number }> | null,
) {
  const parts = [step.name, step.phase];
  for (const [kind, { added, removed }] of Object.entries(texts ?? {})) {
    if (added + removed > 0) parts.push(`${kind}: +${count(added)} −${plural(removed, "line")}`);
  }
  return parts.filter(Boolean).join("\n");
}

/** Whether a step lies on the way of the arrow keys. */
function isStop(step: StepSummary): boolean {
  return step.changed || step.missing;
}

/** The step that an arrow key leads to: the next one that changed something. */
export function neighbor(
  steps: readonly StepSummary[],
  current: number,
  direction: 1 | -1,
  all: boolean,
): StepSummary | null {
  const sorted = direction === 1 ? steps : [...steps].reverse();
  const beyond = sorted.filter((step) => (step.index - current) * direction > 0);
  return beyond.find((step) => all || isStop(step)) ?? null;
}
