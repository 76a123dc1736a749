/** The first room: a table of recordings. */
import type { RecordingList, RecordingSummary, SourceSummary } from "./api";
import { element, named, setText, sync } from "./dom";
import { bytes, count, duration, NONE, plural, time } from "./format";
import { format } from "./route";

const COLUMNS = [
  "Recording",
  "Function",
  "Status",
  "Started",
  "Render",
  "Steps",
  "Nodes",
  "C code",
];
const CLASSES = ["wide", "wide", false, "time"]; // of the first columns; the others are figures
/** Rows that are drawn at once; a thousand take half a second. */
const FIRST_ROWS = 100;

const EXAMPLE = `import scaly, scaly_viz

scaly_viz.visualize(f)                # f: a function of scaly
scaly.codegen.aot.render_c_source(f)  # or call f: every compile is recorded
`;

const SIGNS: Record<string, string> = { ok: "✓", failed: "✗", incomplete: "…" };

export class Home {
  readonly root: HTMLElement;
  private readonly status = element("p", { role: "status" }, "Reading the recordings…");
  private readonly rows = element("tbody");
  private list: RecordingSummary[] = [];
  private readonly table = table(this.rows);
  private readonly more = element("button", { type: "button", hidden: true });
  private readonly empty = emptyNote();
  private readonly problems = element("ul");
  private readonly remarks = element("summary");
  private readonly details = element(
    "details",
    { class: "problems", hidden: true },
    this.remarks,
    this.problems,
  );

  constructor(showMore: () => void) {
    this.more.addEventListener("click", showMore);
    this.root = element(
      "section",
      { class: "home" },
      element("h1", { tabindex: "-1" }, "Recordings"),
      this.status,
      this.details,
      this.table,
      this.more,
      this.empty,
    );
    this.table.hidden = true;
    this.empty.hidden = true;
  }

  show(list: RecordingList): void {
    const rest = list.total - list.recordings.length;
    setText(this.status, plural(list.total, "recording"));
    this.list = list.recordings;
    this.drawRows();
    this.table.hidden = list.total === 0;
    this.empty.hidden = list.total > 0;
    this.more.hidden = rest <= 0;
    setText(this.more, `Show ${plural(rest, "older recording")}`);
  }

  private drawRows(): void {
    const isFirst = this.rows.childElementCount === 0;
    const shown = isFirst ? this.list.slice(0, FIRST_ROWS) : this.list;
    sync(this.rows, shown, (recording) => recording.id, row);
    if (shown.length < this.list.length) {
      // The frame after the next one: the first rows are painted by then.
      requestAnimationFrame(() => requestAnimationFrame(() => this.drawRows()));
    }
  }

  showSources(sources: readonly SourceSummary[]): void {
    const problems = [...new Set(sources.flatMap((source) => source.problems))];
    sync(this.problems, problems, String, (problem) => element("li", {}, named(problem)));
    setText(this.remarks, `${plural(problems.length, "remark")} on the files that were read`);
    this.details.hidden = problems.length === 0;
  }
}

export function statusChip(status: string): HTMLElement {
  const sign = element("span", { "aria-hidden": "true" }, SIGNS[status] ?? "?");
  return element("span", { class: "status", "data-status": status }, sign, ` ${status}`);
}

export function timeElement(seconds: number | null): HTMLElement {
  const point = time(seconds);
  return point ? element("time", { datetime: point.iso }, point.shown) : element("span", {}, NONE);
}

function table(rows: HTMLElement): HTMLElement {
  const heads = COLUMNS.map((title, i) =>
    element("th", { scope: "col", class: CLASSES[i] ?? "figure" }, title),
  );
  const caption = element("caption", {}, "Recordings, newest first");
  return element(
    "div",
    { class: "scroll" },
    element("table", {}, caption, element("thead", {}, element("tr", {}, ...heads)), rows),
  );
}

function row(recording: RecordingSummary): HTMLElement {
  const href = format({ room: "recording", id: recording.id, step: null, kind: null });
  const link = element("a", { href }, named(recording.name || recording.id));
  const figures = [
    duration(recording.duration_s),
    count(recording.steps),
    count(recording.nodes),
    bytes(recording.code_bytes),
  ];
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, link),
    element("td", {}, named(recording.function)),
    element("td", {}, statusChip(recording.status)),
    element("td", { class: "time" }, timeElement(recording.started_at)),
    ...figures.map((figure) => element("td", { class: "figure" }, figure)),
  );
}

function emptyNote(): HTMLElement {
  return element(
    "section",
    { class: "empty" },
    element("h2", {}, "No recordings yet"),
    element("p", {}, "Mark a function and compile it; it will appear here by itself."),
    element("pre", { tabindex: "0", "aria-label": "Example" }, EXAMPLE),
  );
}
