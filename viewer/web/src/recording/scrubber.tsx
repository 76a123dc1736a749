/** The way through the steps: a track with a tick a step, and where one is on it. */
import { renderTime } from "../format";
import { Name } from "../names";
import type { RecordingDetail, StepSummary } from "../schema";
import { visible } from "../visible";
import { shortName } from "./choose";

interface Props {
  detail: RecordingDetail;
  current: StepSummary | null;
  before: StepSummary | null;
  after: StepSummary | null;
  to: (step: StepSummary | null) => void;
  lifeOf: (step: number) => string | undefined;
}

/** How a recording says that its end has not been seen; one that lacks steps may have ended. */
const RUNNING = "the render is still running";

export function Scrubber({ detail, current, before, after, to, lifeOf }: Props) {
  const { steps, recording } = detail;
  const at = current === null ? -1 : steps.indexOf(current);
  const isLive = recording.problems.some((problem) => problem.startsWith(RUNNING));
  return (
    <footer class="scrubber">
      <button
        type="button"
        aria-label="Previous change"
        disabled={!before}
        onClick={() => to(before)}
      >
        ‹
      </button>
      <button type="button" aria-label="Next change" disabled={!after} onClick={() => to(after)}>
        ›
      </button>
      <span class="where">
        {current ? (
          <>
            {current.index} of {steps.at(-1)?.index ?? 0} <Name text={shortName(current)} />
          </>
        ) : (
          "no step"
        )}
      </span>
      <div class="track" aria-hidden="true">
        {steps.map((step, i) => (
          <button
            key={step.index}
            type="button"
            tabIndex={-1}
            class={step.changed || step.missing ? undefined : "same"}
            data-life={lifeOf(step.index)}
            data-current={i === at ? "" : undefined}
            title={visible(`${step.index} ${step.name}`)}
            onClick={() => to(step)}
          >
            <span />
          </button>
        ))}
      </div>
      <span class="quiet">{renderTime(recording.duration_s)}</span>
      {isLive && (
        <span class="quiet">
          <span class="live-dot" aria-hidden="true" /> live
        </span>
      )}
    </footer>
  );
}
