/** The room of one recording: its steps, and the text of one of them. */
import {
  type Content,
  type PayloadSummary,
  payloadUrl,
  type RecordingDetail,
  type RecordingSummary,
  type StepSummary,
} from "./api";
import { element, named, setText, sync } from "./dom";
import { bytes, count, duration, plural } from "./format";
import { statusChip, timeElement } from "./home";
import { format } from "./route";

/** Kinds that people want first; of others, the first that the step has. */
const PREFERRED = ["listing", "assembly", "code"];
/** More than this of JSON is no text that anybody reads: it is offered for download. */
const MAX_JSON_CHARS = 1_000_000;

/** What the address says of where in the recording the user is. */
export interface Place {
  step: number | null;
  kind: string | null;
}

/** What is shown where the address names no step or no kind. */
export interface Choice {
  step: StepSummary;
  payload: PayloadSummary | null;
}

/** The step and payload to show at `place`, null where the recording has no such step or kind. */
export function choose(detail: RecordingDetail, place: Place): Choice | null {
  const step = place.step === null ? firstStep(detail) : stepAt(detail.steps, place.step);
  if (!step) return null;
  const payload = payloadOf(step, place);
  return payload === undefined ? null : { step, payload };
}

function payloadOf(step: StepSummary, place: Place): PayloadSummary | null | undefined {
  const kinds = place.kind === null ? PREFERRED : [place.kind];
  const found = kinds
    .map((kind) => step.payloads.find((payload) => payload.kind === kind))
    .find((payload) => payload !== undefined);
  if (found || place.kind === null) return found ?? step.payloads[0] ?? null;
  return undefined;
}

function stepAt(steps: readonly StepSummary[], index: number): StepSummary | undefined {
  return steps.find((step) => step.index === index);
}

/** A failed render is about its last step, any other begins with its first. */
function firstStep(detail: RecordingDetail): StepSummary | undefined {
  const present = detail.steps.filter((step) => !step.missing);
  const wanted = detail.recording.status === "failed" ? present.at(-1) : present[0];
  return wanted ?? detail.steps[0];
}

export class RecordingRoom {
  readonly root: HTMLElement;
  private readonly heading = element("h1", { tabindex: "-1" });
  private readonly facts = element("dl", { class: "facts" });
  private readonly failureText = element("pre", { tabindex: "0", "aria-label": "Error" });
  private readonly failure = element(
    "section",
    { class: "failure", hidden: true },
    element("h2", {}, "The render failed"),
    this.failureText,
  );
  private readonly problems = element("ul", { class: "problems", hidden: true });
  private readonly steps = element("ol", { class: "steps" });
  private readonly title = element("h2");
  private readonly note = element("p", { class: "hint" });
  private readonly tabs = element("nav", { class: "tabs", "aria-label": "Payloads" });
  private readonly body = element("div", { class: "body" });
  private readonly status = element("p", { role: "status" }, "Reading the recording…");

  constructor(private readonly id: string) {
    const nav = element("nav", { "aria-label": "Steps" }, element("h2", {}, "Steps"), this.steps);
    const pane = element("section", {}, this.title, this.note, this.tabs, this.body);
    const columns = element("div", { class: "columns" }, nav, pane);
    this.root = element(
      "article",
      {},
      this.heading,
      this.status,
      this.failure,
      this.problems,
      this.facts,
      columns,
    );
    this.root.classList.add("loading");
  }

  show(detail: RecordingDetail, choice: Choice | null): void {
    const { recording } = detail;
    this.root.classList.remove("loading");
    if (this.heading.textContent !== recording.name) {
      this.heading.replaceChildren(named(recording.name || recording.id));
    }
    setText(this.status, plural(recording.steps, "step"));
    this.showFailure(recording);
    sync(this.problems, recording.problems, String, (text) => element("li", {}, named(text)));
    this.problems.hidden = recording.problems.length === 0;
    this.facts.replaceChildren(...facts(recording));
    const kind = choice?.payload?.kind ?? null;
    const items = detail.steps.map((step) => ({
      step,
      current: step.index === choice?.step.index,
      kind: step.payloads.some((payload) => payload.kind === kind) ? kind : null,
    }));
    keepingFocus(this.root, () => {
      sync(
        this.steps,
        items,
        ({ step }) => String(step.index),
        (item) => this.stepRow(item),
      );
      this.showStep(choice);
    });
    this.steps.querySelector("[aria-current]")?.scrollIntoView?.({ block: "nearest" });
  }

  /** Shows that the payload is on its way; what is shown meanwhile is not another one's. */
  wait(): void {
    this.body.replaceChildren(element("p", { class: "hint" }, "Reading…"));
    this.body.setAttribute("aria-busy", "true");
  }

  showContent(choice: Choice, content: Content): void {
    const payload = choice.payload;
    if (!payload) return;
    const tooLong = content.mediaType.startsWith("application/json")
      ? (content.text?.length ?? 0) > MAX_JSON_CHARS
      : false;
    if (content.text !== null && !tooLong) {
      const label = `${payload.kind} of step ${choice.step.index}`;
      this.fill(element("pre", { tabindex: "0", "aria-label": label, dir: "ltr" }, content.text));
      return;
    }
    const what = content.text === null ? "Binary data" : "A long JSON text";
    const note = `${what} of type ${payload.media_type}, ${bytes(payload.size)}: `;
    const href = payloadUrl(this.id, choice.step.index, payload);
    const download = `step-${choice.step.index}-${payload.kind}`;
    this.fill(element("p", {}, named(note), element("a", { href, download }, "download it")));
  }

  showError(message: string): void {
    const text = element("p", {}, named(message));
    this.fill(
      element("div", { class: "failure" }, element("p", {}, "This payload cannot be shown:"), text),
    );
  }

  private fill(content: HTMLElement): void {
    this.body.removeAttribute("aria-busy");
    this.body.replaceChildren(content);
  }

  private showFailure({ status, error }: RecordingSummary): void {
    this.failure.hidden = status !== "failed" || error === null;
    if (error !== null) setText(this.failureText, error);
  }

  private showStep(choice: Choice | null): void {
    if (!choice) {
      this.title.replaceChildren("Nothing here");
      this.note.replaceChildren("This recording has no such step, or the step no such payload.");
      this.tabs.replaceChildren();
      this.body.replaceChildren();
      return;
    }
    const { step, payload } = choice;
    this.title.replaceChildren(`Step ${step.index}: `, named(step.name));
    this.note.replaceChildren(...stepNote(step));
    this.tabs.replaceChildren(
      ...step.payloads.map((each) => this.tab(step.index, each, each === payload)),
    );
    if (!payload) this.fill(element("p", { class: "hint" }, emptyNote(step)));
  }

  private tab(step: number, payload: PayloadSummary, current: boolean): HTMLElement {
    const place = { step, kind: payload.kind };
    return element(
      "a",
      {
        href: format({ room: "recording", id: this.id, ...place }),
        "aria-current": current ? "true" : false,
        "data-link": `tab ${payload.kind}`,
        class: payload.error === null ? false : "damaged",
      },
      named(payload.kind),
      payload.error === null ? null : " (damaged)",
    );
  }

  private stepRow(item: { step: StepSummary; current: boolean; kind: string | null }): HTMLElement {
    const { step, current, kind } = item;
    const href = format({ room: "recording", id: this.id, step: step.index, kind });
    const state = step.missing ? "missing" : step.changed ? "" : "same";
    const link = element(
      "a",
      { href, "aria-current": current ? "step" : false, "data-link": `step ${step.index}` },
      element("span", { class: "index" }, String(step.index)),
      named(step.name),
      element("span", { class: "state" }, state),
    );
    return element("li", { class: step.changed && !step.missing ? false : "quiet" }, link);
  }
}

/** Lets `draw` replace links inside `root`, and gives the focus to the link that replaced its holder. */
function keepingFocus(root: HTMLElement, draw: () => void): void {
  const link = (): HTMLElement | null =>
    root.contains(document.activeElement) ? (document.activeElement as HTMLElement) : null;
  const before = link()?.getAttribute("data-link");
  draw();
  if (!before || link()) return;
  const links = [...root.querySelectorAll<HTMLElement>("[data-link]")];
  links.find((each) => each.getAttribute("data-link") === before)?.focus({ preventScroll: true });
}

function facts(recording: RecordingSummary): HTMLElement[] {
  const place = recording.line === null ? recording.file : `${recording.file}:${recording.line}`;
  const rows: [string, string | HTMLElement][] = [
    ["Status", statusChip(recording.status)],
    ["Function", recording.function],
    ["Started", timeElement(recording.started_at)],
    ["Render", duration(recording.duration_s)],
    ["Asked for at", place],
    ["Process", recording.process === null ? "" : `${recording.process} on ${recording.host}`],
    ["scaly", recording.compiler_version],
    ["Trace", recording.trace_id],
  ];
  return rows
    .filter(([, value]) => value !== "")
    .map(([term, value]) => {
      const shown = typeof value === "string" ? named(value) : value;
      return element("div", {}, element("dt", {}, term), element("dd", {}, shown));
    });
}

function stepNote(step: StepSummary): (HTMLElement | string)[] {
  const names = [step.phase, step.dialect].filter((name) => name !== "").map(named);
  const figures = Object.entries(step.figures)
    .filter(([key]) => key === "scaly.graph.nodes" || key === "scaly.code.lines")
    .map(([key, value]) => `${count(value)} ${key.endsWith("nodes") ? "nodes" : "lines"}`);
  const parts = [...names, duration(step.duration_s), ...figures];
  return parts.flatMap((part, i) => (i === 0 ? [part] : [" · ", part]));
}

function emptyNote(step: StepSummary): string {
  return step.missing
    ? "This step is missing: its span was lost, or has not arrived yet."
    : "This step has no payload.";
}
