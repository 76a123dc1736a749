/** The table of recordings: a row each, sorted by what is clicked. */
import { memo } from "preact/compat";
import { bytes, count, renderTime, titleOf } from "../format";
import { Name, Status, Time } from "../names";
import { go } from "../navigation";
import { compare, format, type HomeParams, recording as recordingRoute } from "../route";
import type { RecordingSummary } from "../schema";
import { visible } from "../visible";

interface Column {
  title: string;
  sort?: string;
  class?: string;
}

const COLUMNS: Column[] = [
  { title: "Recording", sort: "name", class: "wide" },
  { title: "Function" },
  { title: "Status", class: "short" },
  { title: "Started", sort: "started", class: "time" },
  { title: "Render", sort: "duration", class: "figure" },
  { title: "Steps", sort: "steps", class: "figure" },
  { title: "Nodes", sort: "nodes", class: "figure nodes" },
  { title: "C code", sort: "code", class: "figure" },
  { title: "Asked for at", class: "place" },
  { title: "Compare", class: "short" },
];

interface Props {
  rows: RecordingSummary[];
  /** How many there are, those included that are not drawn. */
  total: number;
  params: HomeParams;
  change: (changes: Partial<HomeParams>) => void;
}

export function Table({ rows, total, params, change }: Props) {
  return (
    <div class="scroll">
      <table class="recordings" aria-rowcount={total + 1}>
        <caption>Recordings</caption>
        <thead>
          <tr>
            {COLUMNS.map((column) => (
              <Head key={column.title} column={column} params={params} change={change} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row
              key={row.id}
              row={row}
              isPicked={params.pick === row.id}
              pick={() => pick(row.id, params, change)}
              picking={params.pick !== ""}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Head({ column, params, change }: { column: Column } & Omit<Props, "rows" | "total">) {
  const { title, sort } = column;
  if (!sort) {
    return (
      <th scope="col" class={column.class}>
        {title}
      </th>
    );
  }
  const isChosen = params.sort === sort;
  const isUp = params.order === "asc";
  // Names are read from the top, of figures the largest are wanted first.
  const first = sort === "name" ? "asc" : "";
  const next = isChosen ? (isUp ? "" : "asc") : first;
  return (
    <th
      scope="col"
      class={column.class}
      aria-sort={isChosen ? (isUp ? "ascending" : "descending") : undefined}
    >
      <button type="button" class="plain" onClick={() => change({ sort, order: next })}>
        {title}
        <span aria-hidden="true" class="arrow">
          {isChosen ? (isUp ? "▲" : "▼") : ""}
        </span>
      </button>
    </th>
  );
}

/** Begins or completes the choice of two recordings. */
function pick(id: string, params: HomeParams, change: Props["change"]): void {
  if (params.pick === "" || params.pick === id) change({ pick: params.pick === id ? "" : id });
  else go(compare({ left: params.pick, right: id }));
}

interface RowProps {
  row: RecordingSummary;
  isPicked: boolean;
  picking: boolean;
  pick: () => void;
}

/** Two answers hold different objects for one recording: it is what they say that counts. */
function isSame(before: RowProps, after: RowProps): boolean {
  return (
    before.isPicked === after.isPicked &&
    before.picking === after.picking &&
    (before.row === after.row || JSON.stringify(before.row) === JSON.stringify(after.row))
  );
}

const Row = memo(({ row, isPicked, picking, pick }: RowProps) => {
  const file = row.file.split(/[\\/]/).at(-1) ?? "";
  const place = file === "" || row.line === null ? file : `${file}:${row.line}`;
  return (
    <tr class={isPicked ? "chosen" : undefined}>
      <th scope="row">
        <a href={format(recordingRoute(row.id))}>
          <Name text={titleOf(row)} />
        </a>
      </th>
      <td>
        <Name text={row.function} />
      </td>
      <td>
        <Status status={row.status} />
      </td>
      <td class="time">
        <Time seconds={row.started_at} />
      </td>
      <td class="figure">{renderTime(row.duration_s)}</td>
      <td class="figure">{count(row.steps)}</td>
      <td class="figure nodes">{count(row.nodes)}</td>
      <td class="figure">{bytes(row.code_bytes)}</td>
      <td class="quiet place">
        <Name text={place} title={row.file} />
      </td>
      <td>
        <button
          type="button"
          class="plain link"
          aria-pressed={isPicked}
          aria-label={`Compare ${visible(titleOf(row))}`}
          onClick={pick}
        >
          {isPicked ? "chosen" : picking ? "with this" : "compare"}
        </button>
      </td>
    </tr>
  );
}, isSame);
