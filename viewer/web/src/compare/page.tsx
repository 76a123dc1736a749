/** Two recordings set against each other: their figures, their steps in line, and their texts. */
import { useEffect } from "preact/hooks";
import { apiUrl, recordingUrl } from "../api";
import { useJson, useWatched } from "../fetching";
import { plural, titleOf } from "../format";
import { useKeys } from "../keys";
import { Failed, Name, Skeleton, Status } from "../names";
import { go } from "../navigation";
import { Notice } from "../notice";
import { type CompareParams, compare, format, home, recording } from "../route";
import type { ComparedStep, Comparison, RecordingDetail, RecordingSummary } from "../schema";
import { AlignedSteps } from "./steps";
import { ComparisonTable } from "./table";
import { CompareText } from "./text";

export function ComparePage({ params }: { params: CompareParams }) {
  const { left, right } = params;
  const a = useWatched<RecordingDetail>(recordingUrl(left));
  const b = useWatched<RecordingDetail>(recordingUrl(right));
  const isThere = a.value !== null && b.value !== null;
  const revision = `${a.value?.recording.steps} ${b.value?.recording.steps}`;
  const url = apiUrl("compare", { left, right });
  const { value, error } = useJson<Comparison>(isThere ? `${url}#${revision}` : null);
  useEffect(() => {
    if (a.value && b.value) {
      const [one, other] = [a.value.recording, b.value.recording];
      document.title = `${one.name} and ${other.name} – scaly-viz`;
    }
  }, [a.value?.recording.name, b.value?.recording.name]);
  const missing = [a, b].find((each) => each.error?.status === 404);
  if (missing) {
    return (
      <section class="page empty">
        <h1 tabIndex={-1}>One of these recordings does not exist, or is no longer there.</h1>
        <p>
          <a href={format(home())}>All recordings</a>
        </p>
      </section>
    );
  }
  return (
    <article class="recording compare">
      <Notice error={a.error ?? b.error} />
      <header class="recording-head">
        <div class="headline">
          <h1 tabIndex={-1}>Comparison</h1>
          <Side title="left" summary={a.value?.recording} />
          <Side title="right" summary={b.value?.recording} />
          {value && (
            <span class="quiet" role="status">
              {outcome(value.steps)}
            </span>
          )}
          <span class="spacer" />
          <a
            class="button"
            href={format(compare({ ...params, left: right, right: left, row: "" }))}
          >
            Swap
          </a>
        </div>
      </header>
      {error ? (
        <Failed what="These recordings cannot be compared:" error={error} />
      ) : value && a.value && b.value ? (
        <Compared params={params} comparison={value} left={a.value} right={b.value} />
      ) : (
        <Skeleton rows={16} />
      )}
    </article>
  );
}

function Side({ title, summary }: { title: string; summary: RecordingSummary | undefined }) {
  if (!summary) return null;
  return (
    <span class="compared">
      <span class="quiet">{title}</span>{" "}
      <a href={format(recording(summary.id))}>
        <Name text={titleOf(summary)} />
      </a>{" "}
      <Status status={summary.status} />
    </span>
  );
}

/** How many steps differ, those that only one side has included. */
function outcome(steps: ComparedStep[]): string {
  const count = steps.filter((step) => !step.same).length;
  if (count > 0)
    return `${plural(count, "step")} of ${steps.length} ${count === 1 ? "differs" : "differ"}`;
  return steps.length === 1
    ? "the only step is the same"
    : `all ${steps.length} steps are the same`;
}

/** The steps to compare: where one side lacks the step, what it had before. */
function pairAt(steps: ComparedStep[], at: number): [number | null, number | null] {
  const until = steps.slice(0, at + 1);
  const last = (side: "left" | "right"): number | null =>
    until.findLast((step) => step[side] !== null)?.[side] ?? null;
  return [last("left"), last("right")];
}

interface ComparedProps {
  params: CompareParams;
  comparison: Comparison;
  left: RecordingDetail;
  right: RecordingDetail;
}

function Compared({ params, comparison, left, right }: ComparedProps) {
  const { steps } = comparison;
  const first = steps.findIndex((step) => step.first_divergence);
  const asked = params.row === "" ? Math.max(first, 0) : Number.parseInt(params.row, 10);
  const at = Math.min(Math.max(asked || 0, 0), Math.max(steps.length - 1, 0));
  const change = (changes: Partial<CompareParams>, how: "push" | "replace" = "push"): void =>
    go(compare({ ...params, ...changes }), how);
  const to = (row: number): void => {
    if (row >= 0 && row < steps.length) change({ row: String(row), line: "" }, "replace");
  };
  const differing = (direction: 1 | -1): number => {
    let row = at + direction;
    while (row >= 0 && row < steps.length && steps[row]?.same) row += direction;
    return row;
  };
  useKeys([
    { keys: ["ArrowRight", "ArrowDown", "j"], what: "Next step", run: () => to(at + 1) },
    { keys: ["ArrowLeft", "ArrowUp", "k"], what: "Previous step", run: () => to(at - 1) },
    { keys: ["Shift+ArrowRight"], what: "Next step that differs", run: () => to(differing(1)) },
    { keys: ["Shift+ArrowLeft"], what: "Previous step that differs", run: () => to(differing(-1)) },
  ]);
  const step = steps[at];
  return (
    <div class="columns">
      <AlignedSteps
        steps={steps}
        at={at}
        href={(row) => format(compare({ ...params, row: String(row), line: "" }))}
      />
      <section class="stage" aria-label="Texts">
        {step ? (
          <CompareText
            params={params}
            step={step}
            pair={pairAt(steps, at)}
            left={left}
            right={right}
            change={change}
          />
        ) : (
          <p class="hint">Neither recording has a step.</p>
        )}
      </section>
      <aside class="inspector" aria-label="Figures">
        <ComparisonTable rows={comparison.rows} />
      </aside>
    </div>
  );
}
