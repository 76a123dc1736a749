/** Where else the chosen line is: in the step before and after, in its other texts, in the C. */
import { recordingUrl } from "../api";
import { HAS } from "../features";
import { useJson } from "../fetching";
import { count } from "../format";
import { Name } from "../names";
import { atStep, payloadOf, shortName } from "../recording/choose";
import { neighbor } from "../recording/rail";
import { format, type RecordingParams } from "../route";
import type { RecordingDetail, StepSummary } from "../schema";

interface Props {
  detail: RecordingDetail;
  params: RecordingParams;
  step: StepSummary;
  kind: string;
}

interface Target {
  step: StepSummary;
  kind: string;
}

const KINDS = ["listing", "assembly", "code"];

export function LineLinks(props: Props) {
  const { params, kind } = props;
  if (params.line === "" || !HAS.lines || !KINDS.includes(kind)) return null;
  return (
    <section class="line-links">
      <h3>
        Line {params.line} <span class="quiet">corresponds to</span>
      </h3>
      <ul>
        {targetsOf(props).map((target) => (
          <TargetLines key={`${target.step.index} ${target.kind}`} {...props} target={target} />
        ))}
      </ul>
    </section>
  );
}

/** The texts in which a reader would look for the line. */
function targetsOf({ detail, step, kind }: Props): Target[] {
  const { steps } = detail;
  const around = [neighbor(steps, step.index, -1, false), neighbor(steps, step.index, 1, false)];
  const last = (wanted: string) => [...steps].reverse().find((each) => payloadOf(each, wanted));
  const code = last("code");
  // The C stands in a step of its own: what it was made from is the last program.
  const program = KINDS.filter((each) => each !== "code").flatMap((each) => {
    const made = kind === "code" ? last(each) : undefined;
    return made ? [{ step: made, kind: each }] : [];
  });
  const wanted: Target[] = [
    ...around.flatMap((each) => (each ? [{ step: each, kind }] : [])),
    ...KINDS.filter((each) => each !== kind).map((each) => ({ step, kind: each })),
    ...(code ? [{ step: code, kind: "code" }] : []),
    ...program,
  ];
  const seen = new Set([`${step.index} ${kind}`]);
  return wanted.filter((target) => {
    const name = `${target.step.index} ${target.kind}`;
    const isNew = !seen.has(name) && payloadOf(target.step, target.kind)?.error === null;
    seen.add(name);
    return isNew;
  });
}

function TargetLines({ detail, params, step, kind, target }: Props & { target: Target }) {
  const { id } = detail.recording;
  const { value } = useJson<{ lines: number[] }>(
    recordingUrl(id, "/lines", {
      step: step.index,
      kind,
      line: params.line,
      to_step: target.step.index,
      to_kind: target.kind,
    }),
  );
  if (!value || value.lines.length === 0) return null;
  const to = (line: number): string =>
    format(atStep({ id, params }, target.step, { kind: target.kind, line: String(line) }));
  return (
    <li>
      <span class="quiet">
        {target.step.index} <Name text={shortName(target.step)} /> {target.kind}
      </span>{" "}
      {value.lines.slice(0, 8).map((line) => (
        <a key={line} class="mono" href={to(line)}>
          {count(line)}{" "}
        </a>
      ))}
    </li>
  );
}
