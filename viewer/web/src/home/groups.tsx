/** The recordings of each function as one row: how its code and its render time went. */
import { apiUrl } from "../api";
import { useWatched } from "../fetching";
import { bytes, count, renderTime, titleOf } from "../format";
import { Name, Skeleton, Status, Time } from "../names";
import { format, home, recording } from "../route";
import type { FunctionList } from "../schema";
import { Spark } from "../spark";

export function Groups({ q }: { q: string }) {
  const { value } = useWatched<FunctionList>(apiUrl("functions", { q }));
  if (!value) return <Skeleton rows={8} />;
  if (value.functions.length === 0) return null;
  return (
    <div class="scroll">
      <table class="groups">
        <caption>Functions</caption>
        <thead>
          <tr>
            <th scope="col">Function</th>
            <th scope="col" class="figure">
              Recordings
            </th>
            <th scope="col" class="figure">
              Failed
            </th>
            <th scope="col">Newest</th>
            <th scope="col">Status</th>
            <th scope="col" class="time">
              Started
            </th>
            <th scope="col" class="figure">
              C code
            </th>
            <th scope="col">Its course</th>
            <th scope="col" class="figure">
              Render
            </th>
            <th scope="col">Its course</th>
          </tr>
        </thead>
        <tbody>
          {value.functions.map((group) => {
            const { newest } = group;
            return (
              <tr key={group.function}>
                <th scope="row">
                  <a href={format(home({ q: `fn:${quoted(group.function)}` }))}>
                    <Name text={group.function} />
                  </a>
                </th>
                <td class="figure">{count(group.count)}</td>
                <td class="figure">{count(group.failed)}</td>
                <td>
                  <a href={format(recording(newest.id))}>
                    <Name text={titleOf(newest)} />
                  </a>
                </td>
                <td>
                  <Status status={newest.status} />
                </td>
                <td class="time">
                  <Time seconds={newest.started_at} />
                </td>
                <td class="figure">{bytes(newest.code_bytes)}</td>
                <td>
                  <Spark values={group.code_bytes} label={`C code of ${group.function}`} />
                </td>
                <td class="figure">{renderTime(newest.duration_s)}</td>
                <td>
                  <Spark values={group.duration_s} label={`Render time of ${group.function}`} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function quoted(name: string): string {
  return /[\s"]/.test(name) ? `"${name.replaceAll('"', "")}"` : name;
}
