/** Where a string is in all steps of a recording. */
import { recordingUrl } from "../api";
import { useJson, useLatest, useSlow } from "../fetching";
import { count, plural } from "../format";
import { Failed, Name, Skeleton } from "../names";
import { FigureChart } from "../recording/chart";
import { atStep, shortName, stepAt } from "../recording/choose";
import { format, type RecordingParams } from "../route";
import type { RecordingDetail, SearchResult, StepHits } from "../schema";
import { SearchControls } from "./controls";
import { HitLine } from "./hits";

interface Props {
  detail: RecordingDetail;
  params: RecordingParams;
  change: (changes: Partial<RecordingParams>, how?: "push" | "replace") => void;
}

export function SearchRoom({ detail, params, change }: Props) {
  const { id, steps, status } = detail.recording;
  const { q, regex } = params;
  const asked = recordingUrl(id, "/search", { q, regex, case: params.case });
  const loaded = useJson<SearchResult>(q === "" ? null : `${asked}#${steps}${status}`);
  const latest = useLatest(loaded);
  const isSlow = useSlow(q !== "" && loaded.value === null && loaded.error === null);
  return (
    <div class="search-room">
      <SearchControls params={params} label="Search all steps of this recording" change={change} />
      <div class={isSlow ? "results slow" : "results"} aria-busy={isSlow}>
        {q === "" ? (
          <p class="hint">Type what to look for in every text of every step.</p>
        ) : latest.error ? (
          <Failed what="This cannot be searched for:" error={latest.error} />
        ) : latest.value ? (
          <Results answer={latest.value} detail={detail} params={params} />
        ) : (
          <Skeleton rows={12} />
        )}
      </div>
    </div>
  );
}

function Results(props: {
  answer: SearchResult;
  detail: RecordingDetail;
  params: RecordingParams;
}) {
  const { answer, detail, params } = props;
  const { id } = detail.recording;
  const found = answer.steps.filter((each) => each.count > 0);
  const top = Math.max(...found.map((each) => each.count), 1);
  if (answer.count === 0) {
    return (
      <p class="hint" role="status">
        Found nowhere.
      </p>
    );
  }
  const counts = detail.steps.map((step) =>
    answer.steps.reduce((sum, each) => sum + (each.index === step.index ? each.count : 0), 0),
  );
  return (
    <>
      <p class="hint" role="status">
        {plural(answer.count, "hit")} in {plural(found.length, "text")}
        {answer.truncated ? "; the search took too long and was ended" : ""}
      </p>
      <FigureChart
        height={88}
        title="Hits by step"
        steps={detail.steps}
        values={counts}
        show={(value) => count(value)}
        current={null}
        href={(step) => format(atStep({ id, params }, step, { room: "text" }))}
      />
      {answer.skipped.map((text) => (
        <p class="hint" key={text}>
          Not searched: <Name text={text} />
        </p>
      ))}
      {found.map((each) => {
        const step = stepAt(detail.steps, each.index);
        if (!step) return null;
        const to = (line: number): string =>
          format(
            atStep({ id, params }, step, { room: "text", kind: each.kind, line: String(line) }),
          );
        return (
          <Found
            key={`${each.index} ${each.kind}`}
            found={each}
            name={`${each.index} ${shortName(step)}`}
            share={each.count / top}
            to={to}
          />
        );
      })}
    </>
  );
}

interface FoundProps {
  found: StepHits;
  name: string;
  share: number;
  to: (line: number) => string;
}

/** The hits in one text, under its name and how many they are. */
export function Found({ found, name, share, to }: FoundProps) {
  const rest = found.count - found.hits.length;
  if (found.same_as !== null) {
    return (
      <p class="found same">
        <Name text={name} />{" "}
        <span>
          {found.kind}, the same text as of step {found.same_as}
        </span>
        <span class="value">{plural(found.count, "hit")}</span>
      </p>
    );
  }
  return (
    <details class="found" open>
      <summary>
        <span class="bar-fill" style={{ width: `${share * 100}%` }} />
        <Name text={name} /> <span class="quiet">{found.kind}</span>
        <span class="value">{plural(found.count, "hit")}</span>
      </summary>
      <ol>
        {found.hits.map((hit) => (
          <li key={`${hit.line} ${hit.column}`}>
            <HitLine hit={hit} href={to(hit.line)} />
          </li>
        ))}
        {rest > 0 && <li class="quiet rest">and {count(rest)} more in this text</li>}
      </ol>
    </details>
  );
}
