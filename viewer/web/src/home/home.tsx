/** The first page: what was compiled, when, for whom, and how it went. */
import { useEffect, useState } from "preact/hooks";
import { apiUrl, SOURCES_URL } from "../api";
import { HAS } from "../features";
import { useWatched } from "../fetching";
import { count, plural } from "../format";
import { Name, Skeleton } from "../names";
import { go } from "../navigation";
import { Notice } from "../notice";
import { type HomeParams, home } from "../route";
import type { RecordingList, SourceList } from "../schema";
import { EmptyNote } from "./empty";
import { FilterBox } from "./filter";
import { Groups } from "./groups";
import { useGrowing } from "./growing";
import { Table } from "./table";

const PAGE_SIZE = 1000;

export function Home({ params }: { params: HomeParams }) {
  const limit = PAGE_SIZE * (1 + Math.max(0, Number.parseInt(params.more, 10) || 0));
  const { q, sort, order } = params;
  const url = apiUrl("recordings", {
    limit,
    q,
    sort: sort === "started" ? "" : sort,
    order,
  });
  const { value, error } = useWatched<RecordingList>(url);
  const change = (changes: Partial<HomeParams>, how: "push" | "replace" = "push"): void =>
    go(home({ ...params, ...changes }), how);
  const list = useLast(value);
  const problem = error?.status === 400 && q !== "" ? error.message : null;
  const isEmpty = list?.total === 0;
  return (
    <section class="home page">
      <Notice error={problem === null ? error : null} />
      <div class="home-head">
        <h1 tabIndex={-1}>Recordings</h1>
        <p role="status">
          {list ? told(list.total, q) : problem === null ? "Reading the recordings…" : ""}
        </p>
        {HAS.filters && (
          <>
            <FilterBox
              q={q}
              problem={problem}
              changed={(text) => change({ q: text, more: "" }, "replace")}
            />
            <button
              type="button"
              aria-pressed={params.group === "function"}
              onClick={() => change({ group: params.group === "function" ? "" : "function" })}
            >
              Group by function
            </button>
          </>
        )}
      </div>
      <Sources />
      {params.pick !== "" && list && <Picked params={params} list={list} change={change} />}
      {params.group === "function" ? (
        <Groups q={q} />
      ) : (
        <Rows list={list} params={params} change={change} isWaiting={problem === null} />
      )}
      {problem !== null && !list && <Unclear clear={() => change({ q: "" })} />}
      {isEmpty && q === "" && <EmptyNote />}
      {isEmpty && q !== "" && <NoMatch clear={() => change({ q: "" })} />}
    </section>
  );
}

function told(total: number, q: string): string {
  return q === "" ? plural(total, "recording") : `${plural(total, "recording")} found`;
}

/** What was shown stays until the answer to a changed question is there. */
function useLast<T>(value: T | null): T | null {
  const [last, setLast] = useState(value);
  useEffect(() => {
    if (value !== null) setLast(value);
  }, [value]);
  return value ?? last;
}

interface RowsProps {
  list: RecordingList | null;
  params: HomeParams;
  change: (changes: Partial<HomeParams>, how?: "push" | "replace") => void;
}

function Rows({ list, params, change, isWaiting }: RowsProps & { isWaiting: boolean }) {
  const { drawn, end } = useGrowing(
    list?.recordings ?? [],
    `${params.q} ${params.sort} ${params.order}`,
  );
  if (!list) return isWaiting ? <Skeleton rows={12} /> : null;
  if (list.total === 0) return null;
  const rest = list.total - list.recordings.length;
  const isByAge = params.sort === "started" && params.order !== "asc";
  return (
    <>
      <Table rows={drawn} total={list.total} params={params} change={change} />
      {end}
      {rest > 0 && drawn.length === list.recordings.length && (
        <button
          type="button"
          class="more"
          onClick={() => change({ more: String(1 + (Number.parseInt(params.more, 10) || 0)) })}
        >
          Show{" "}
          {plural(Math.min(rest, PAGE_SIZE), isByAge ? "older recording" : "further recording")}
        </button>
      )}
    </>
  );
}

function Picked({ params, list, change }: RowsProps & { list: RecordingList }) {
  const picked = list.recordings.find((recording) => recording.id === params.pick);
  return (
    <p class="picked" role="status">
      Comparing <Name text={picked?.name || params.pick} /> with… choose the other one.{" "}
      <button type="button" onClick={() => change({ pick: "" })}>
        Cancel
      </button>
    </p>
  );
}

function Unclear({ clear }: { clear: () => void }) {
  return (
    <section class="empty">
      <h2>The filter cannot be understood</h2>
      <p>Its box says why; in it, all words are listed.</p>
      <button type="button" onClick={clear}>
        Clear the filter
      </button>
    </section>
  );
}

function NoMatch({ clear }: { clear: () => void }) {
  return (
    <section class="empty">
      <h2>No recording matches</h2>
      <p>Every word of the filter has to be met.</p>
      <button type="button" onClick={clear}>
        Clear the filter
      </button>
    </section>
  );
}

/** Where the recordings come from, and what of it cannot be read. */
function Sources() {
  const { value } = useWatched<SourceList>(SOURCES_URL);
  const sources = value?.sources ?? [];
  const problems = [...new Set(sources.flatMap((source) => source.problems))];
  if (sources.length === 0) return null;
  return (
    <div class="sources">
      <ul aria-label="Sources">
        {sources.map((source) => (
          <li key={source.path} title={source.path}>
            <Name text={source.name} /> <span class="quiet">{count(source.recordings)}</span>
          </li>
        ))}
      </ul>
      {problems.length > 0 && (
        <details class="problems">
          <summary>{plural(problems.length, "remark")} on the files that were read</summary>
          <ul>
            {problems.map((problem) => (
              <li key={problem}>
                <Name text={problem} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
