/** Why a render failed: the pass, the exception, and the last good step beside it. */
import { useEffect } from "preact/hooks";
import { recordingUrl } from "../api";
import { CopyButton } from "../copy";
import { HAS } from "../features";
import { useJson } from "../fetching";
import type { PinState } from "../inspector/pin";
import { Failed, Name, Pre, Skeleton } from "../names";
import { format, type RecordingParams } from "../route";
import type { FailureReport, Place, RecordingDetail, StepSummary } from "../schema";
import { TextRoom } from "../text/room";
import { atStep, choose, shortName, stepAt } from "./choose";

interface Props {
  detail: RecordingDetail;
  params: RecordingParams;
  change: (changes: Partial<RecordingParams>, how?: "push" | "replace") => void;
  pin: PinState;
  neighbors: StepSummary[];
}

function failureUrl({ recording: { id, steps, status } }: RecordingDetail): string | null {
  return status === "failed" ? `${recordingUrl(id, "/failure")}#${steps}` : null;
}

/** The pass that a render failed in, "" where that is not known, null where it did not fail. */
export function useFailedPass(detail: RecordingDetail): string | null {
  const url = HAS.failure ? failureUrl(detail) : null;
  const { value } = useJson<FailureReport>(url);
  return url === null ? null : (value?.failed_pass ?? "");
}

export function FailureRoom(props: Props) {
  const { detail, params } = props;
  const { id } = detail.recording;
  const url = failureUrl(detail);
  const { value, error } = useJson<FailureReport>(url);
  usePinned(id, value?.place ?? null, props);
  if (url === null) return <p class="hint">This render did not fail.</p>;
  if (error) return <Failed what="What is known of the failure cannot be read:" error={error} />;
  if (!value) return <Skeleton rows={12} />;
  const last = value.last_step === null ? undefined : stepAt(detail.steps, value.last_step);
  const place = value.place ?? null;
  const kind = place && place.step === last?.index ? place.kind : "";
  const choice = last ? choose(detail, last.index, kind) : null;
  const line = place ? String(place.line) : "";
  return (
    <div class="failure-room">
      <section class="exception" aria-label="Exception">
        <h2>
          {value.failed_pass === null ? (
            "The render failed"
          ) : (
            <>
              Failed in <Name text={value.failed_pass} />
            </>
          )}
        </h2>
        <p class="message">
          <span class="mono">
            <Name text={value.type} />
          </span>
          <br />
          <Name text={value.message} isText />
        </p>
        <div class="row">
          <h3>Stack trace</h3>
          <CopyButton text={() => value.stacktrace} />
        </div>
        <Pre label="Stack trace">{value.stacktrace || "none was recorded"}</Pre>
      </section>
      {last && choice?.payload && (
        <section class="last-good" aria-label="Last good step">
          <h2>
            Last good step{" "}
            <a href={format(atStep({ id, params }, last, { room: "text", line }))}>
              {last.index} <Name text={shortName(last)} />
            </a>
            {place && <span class="quiet"> · the message names line {place.line}</span>}
          </h2>
          <TextRoom
            {...props}
            params={{
              ...params,
              against: place ? "none" : params.against,
              line: params.line || line,
            }}
            step={last}
            payload={choice.payload}
          />
        </section>
      )}
    </div>
  );
}

/** Recordings whose named value was pinned once: who unpins it has seen it. */
const pinned = new Set<string>();

/** Pins what the line makes that the message names. */
function usePinned(id: string, place: Place | null, { params, pin }: Props): void {
  useEffect(() => {
    if (!place || params.pin !== "" || pinned.has(id)) return;
    pinned.add(id);
    pin.pick(place.step, place.kind, place.line, null, "replace");
  }, [id, place, params.pin]);
}
