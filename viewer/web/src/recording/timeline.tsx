/** When what ran: the spans of the render, and of renders nested in it, on one axis of time. */
import { scaleLinear } from "d3-scale";
import { recordingUrl } from "../api";
import { useJson } from "../fetching";
import { duration, tick } from "../format";
import { Failed, Name, Skeleton } from "../names";
import { format, type RecordingParams, recording } from "../route";
import type { RecordingDetail, Timeline as TimelineAnswer, TimelineSpan } from "../schema";
import { visible } from "../visible";

interface Props {
  detail: RecordingDetail;
  params: RecordingParams;
}

export function Timeline({ detail, params }: Props) {
  const { id, steps, status } = detail.recording;
  const { value, error } = useJson<TimelineAnswer>(
    `${recordingUrl(id, "/timeline")}#${steps}${status}`,
  );
  return (
    <section aria-label="Timeline">
      <h2>Timeline</h2>
      {error ? (
        <Failed what="The timeline cannot be shown:" error={error} />
      ) : value ? (
        <Lanes spans={value.spans} id={id} params={params} />
      ) : (
        <Skeleton rows={2} />
      )}
    </section>
  );
}

const LANES = ["The render", "Its steps"];
/** Clocks that are read one after the other may overlap by so much. */
const SLACK_S = 1e-6;
const TICKS = 6;
/** Spans narrower than this share of the whole have no room for a name. */
const MIN_NAMED = 0.05;

function Lanes({
  spans,
  id,
  params,
}: {
  spans: TimelineSpan[];
  id: string;
  params: RecordingParams;
}) {
  const start = Math.min(...spans.map((span) => span.start_s));
  const end = Math.max(...spans.map((span) => span.start_s + span.duration_s));
  const whole = end - start || 1;
  const lanes = lanesOf(spans);
  return (
    <div class="timeline">
      <div class="time-axis" aria-hidden="true">
        {scaleLinear([0, whole], [0, 100])
          .ticks(TICKS)
          .map((at) => (
            <span key={at} data-end={at > whole * 0.95} style={{ left: `${(at / whole) * 100}%` }}>
              {tick(duration(at))}
            </span>
          ))}
      </div>
      {lanes.map((lane, depth) => (
        <ol key={depth} class="lane" aria-label={LANES[lane[0]?.depth ?? 0] ?? "Renders meanwhile"}>
          {lane.map((span) => {
            const share = span.duration_s / whole;
            const label = `${visible(span.name)}, ${duration(span.duration_s)}`;
            const target = recording(span.recording, span.step, {
              ...(span.recording === id ? params : {}),
              room: "text",
              kind: "",
              line: "",
            });
            return (
              <li
                key={`${span.recording} ${span.step}`}
                style={{
                  left: `${((span.start_s - start) / whole) * 100}%`,
                  width: `${share * 100}%`,
                }}
              >
                <a href={format(target)} data-status={span.status} title={label} aria-label={label}>
                  {share >= MIN_NAMED && <Name text={span.name} />}
                </a>
              </li>
            );
          })}
        </ol>
      ))}
    </div>
  );
}

/** Spans by depth, each depth in as many lanes as it needs for none to cover another. */
export function lanesOf(spans: readonly TimelineSpan[]): TimelineSpan[][] {
  const depths = new Map<number, TimelineSpan[][]>();
  for (const span of spans) {
    const lanes = depths.get(span.depth) ?? [];
    depths.set(span.depth, lanes);
    const free = lanes.find((lane) => {
      const last = lane.at(-1);
      return last === undefined || last.start_s + last.duration_s <= span.start_s + SLACK_S;
    });
    if (free) free.push(span);
    else lanes.push([span]);
  }
  return [...depths.entries()].sort(([a], [b]) => a - b).flatMap(([, lanes]) => lanes);
}
