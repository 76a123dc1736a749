/** Where a string is in all recordings, the newest first, as far as they have been searched. */
import { useEffect, useState } from "preact/hooks";
import { ApiError, apiUrl, getJson } from "../api";
import { count, plural } from "../format";
import { Failed, Name } from "../names";
import { go } from "../navigation";
import { shortName } from "../recording/choose";
import { format, recording, type SearchParams, search } from "../route";
import type { FoundRecordings } from "../schema";
import { SearchControls } from "./controls";
import { Found } from "./room";

interface Progress {
  recordings: FoundRecordings["recordings"];
  searched: number;
  total: number;
  state: "running" | "done" | "cancelled" | Error;
}

const START: Progress = { recordings: [], searched: 0, total: 0, state: "running" };

/** Asks part after part, so that hits are there early and the search can be given up. */
function useSearch({ q, regex, case: isCase }: SearchParams): [Progress, () => void] {
  const [progress, setProgress] = useState(START);
  const [stop, setStop] = useState<AbortController | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    setStop(controller);
    setProgress(START);
    void run(controller.signal);
    return () => controller.abort();

    async function run(signal: AbortSignal): Promise<void> {
      let cursor: string | null = "";
      try {
        while (cursor !== null && q !== "") {
          const url: string = apiUrl("search", { q, regex, case: isCase, cursor });
          const answer: FoundRecordings = await getJson<FoundRecordings>(url, signal);
          if (signal.aborted) return;
          cursor = answer.cursor;
          setProgress((before) => ({
            recordings: [...before.recordings, ...answer.recordings],
            searched: answer.searched,
            total: answer.total,
            state: answer.cursor === null ? "done" : "running",
          }));
        }
      } catch (error) {
        if (signal.aborted) return;
        const failure = error instanceof Error ? error : new Error(String(error));
        setProgress((before) => ({ ...before, state: failure }));
      }
    }
  }, [q, regex, isCase]);
  const cancel = (): void => {
    stop?.abort();
    setProgress((before) => ({ ...before, state: "cancelled" }));
  };
  return [progress, cancel];
}

export function SearchPage({ params }: { params: SearchParams }) {
  const [progress, cancel] = useSearch(params);
  const { recordings, searched, total, state } = progress;
  const change = (changes: Partial<SearchParams>, how: "push" | "replace"): void =>
    go(search({ ...params, ...changes }), how);
  const isUnclear = state instanceof ApiError && state.status === 400;
  const hits = recordings.reduce((sum, each) => sum + each.count, 0);
  return (
    <section class="page search-page">
      <h1 tabIndex={-1}>Search</h1>
      <SearchControls params={params} label="Search all recordings" change={change} />
      {params.q === "" ? (
        <p class="hint">Type what to look for in every text of every recording.</p>
      ) : (
        <>
          {!isUnclear && (
            <p class="row progress-row">
              <progress
                value={searched}
                max={Math.max(total, 1)}
                aria-label="Recordings searched"
              />
              <span role="status">
                {plural(hits, "hit")} in {plural(recordings.length, "recording")}; {count(searched)}{" "}
                of {count(total)} searched
                {state === "cancelled" ? ", cancelled" : ""}
              </span>
              {state === "running" && (
                <button type="button" onClick={cancel}>
                  Cancel
                </button>
              )}
            </p>
          )}
          {state instanceof Error && (
            <Failed
              what={isUnclear ? "This cannot be searched for:" : "The search failed:"}
              error={state}
            />
          )}
          {state === "done" && hits === 0 && <p class="hint">Found nowhere.</p>}
          {recordings.map((each) => (
            <section class="found-in" key={each.id}>
              <h2>
                <a href={format(recording(each.id))}>
                  <Name text={each.name || each.id} />
                </a>{" "}
                <span class="quiet">{plural(each.count, "hit")}</span>
              </h2>
              {each.steps
                .filter((step) => step.same_as === null)
                .map((step) => (
                  <Found
                    key={`${step.index} ${step.kind}`}
                    found={step}
                    name={`${step.index} ${shortName(step)}`}
                    share={step.count / Math.max(each.count, 1)}
                    to={(line) =>
                      format(
                        recording(each.id, step.index, { kind: step.kind, line: String(line) }),
                      )
                    }
                  />
                ))}
            </section>
          ))}
        </>
      )}
    </section>
  );
}
