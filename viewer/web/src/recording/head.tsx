/** The head of a recording: its name, how the render went, and where it came from. */

import { HAS } from "../features";
import { plural, renderTime, titleOf } from "../format";
import { Name, Pre, Status, Time } from "../names";
import { format, home, type Route, recording } from "../route";
import type { RecordingDetail, RecordingSummary } from "../schema";
import type { Room } from "./tabs";

interface Props {
  detail: RecordingDetail;
  route: Extract<Route, { page: "recording" }>;
  room: Room;
}

export function Head({ detail, route, room }: Props) {
  const { recording: summary } = detail;
  const { params } = route;
  return (
    <header class="recording-head">
      <div class="headline">
        <h1 tabIndex={-1}>
          <Name text={titleOf(summary)} />
        </h1>
        <Status status={summary.status} />
        <span class="quiet" role="status">
          {plural(summary.steps, "step")}
        </span>
        <span class="spacer" />
        {HAS.compare && (
          <a class="button" href={format(home({ pick: summary.id }))}>
            Compare with…
          </a>
        )}
        <Facts summary={summary} />
      </div>
      {summary.status === "failed" && summary.error !== null && room !== "failure" && (
        <section class="failure" aria-label="The render failed">
          <h2>The render failed</h2>
          <Pre label="Error">{summary.error}</Pre>
          {HAS.failure && (
            <a href={format(recording(summary.id, route.step, { ...params, room: "failure" }))}>
              Why it failed
            </a>
          )}
        </section>
      )}
      {summary.problems.length > 0 && (
        <ul class="problems">
          {summary.problems.map((problem) => (
            <li key={problem}>
              <Name text={problem} />
            </li>
          ))}
        </ul>
      )}
    </header>
  );
}

function Facts({ summary }: { summary: RecordingSummary }) {
  const { line, file } = summary;
  const short = file.split(/[\\/]/).at(-1) ?? "";
  const place = line === null || short === "" ? short : `${short}:${line}`;
  const process = summary.process === null ? "" : `${summary.process} on ${summary.host}`;
  const facts: [string, string, string?][] = [
    ["function", summary.function],
    ["asked for at", place, line === null ? file : `${file}:${line}`],
    ["scaly", summary.compiler_version],
    ["process", process],
    ["source", summary.source ?? ""],
  ];
  return (
    <dl class="facts inline">
      <div>
        <dt>started</dt>
        <dd>
          <Time seconds={summary.started_at} />
        </dd>
      </div>
      <div>
        <dt>render</dt>
        <dd>{renderTime(summary.duration_s)}</dd>
      </div>
      {facts
        .filter(([, value]) => value !== "")
        .map(([term, value, title]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>
              <Name text={value} title={title} />
            </dd>
          </div>
        ))}
    </dl>
  );
}
