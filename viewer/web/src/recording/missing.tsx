/** What stands in the place of a step or a text that the address names and that is not there: what there is instead. */
import { type ComponentChildren, Fragment } from "preact";
import { Name } from "../names";
import { format, type RecordingParams, recording } from "../route";
import type { RecordingDetail, StepSummary } from "../schema";
import { atStep, shortName } from "./choose";

interface Props {
  detail: RecordingDetail;
  params: RecordingParams;
}

export function NoStep({ detail, params, asked }: Props & { asked: number | null }) {
  const { id } = detail.recording;
  const last = detail.steps.at(-1);
  if (!last) {
    return (
      <Missing title="This recording has no step" {...{ detail, params }}>
        {null}
      </Missing>
    );
  }
  return (
    <Missing title={`This recording has no step ${asked ?? ""}`} {...{ detail, params }}>
      <p>
        The last one is{" "}
        <a href={format(atStep({ id, params }, last))}>
          {last.index} <Name text={shortName(last)} />
        </a>
        .
      </p>
    </Missing>
  );
}

export function NoPayload({ detail, params, step }: Props & { step: StepSummary }) {
  const { id } = detail.recording;
  const { payloads } = step;
  if (payloads.length === 0 || params.kind === "") return <p class="hint">{emptyNote(step)}</p>;
  return (
    <Missing
      title={
        <>
          Step {step.index} <Name text={shortName(step)} /> has no payload “
          <Name text={params.kind} />”
        </>
      }
      {...{ detail, params }}
    >
      <p>
        It has{" "}
        {payloads.map(({ kind }, i) => (
          <Fragment key={kind}>
            {i > 0 && (i === payloads.length - 1 ? " and " : ", ")}
            <a href={format(recording(id, step.index, { ...params, kind, line: "" }))}>
              <Name text={kind} />
            </a>
          </Fragment>
        ))}
        .
      </p>
    </Missing>
  );
}

function emptyNote(step: StepSummary): string {
  return step.missing
    ? "This step is missing: its span was lost, or has not arrived yet."
    : "This step has no payload.";
}

interface MissingProps extends Props {
  title: ComponentChildren;
  children: ComponentChildren;
}

function Missing({ title, detail, params, children }: MissingProps) {
  const overview = recording(detail.recording.id, null, { ...params, room: "overview", kind: "" });
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
      <p>
        <a href={format(overview)}>Overview of all steps</a>
      </p>
    </div>
  );
}
