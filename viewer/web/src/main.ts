/** Starts the page, and follows its address. */
import {
  type ApiError,
  getContent,
  listUrl,
  payloadUrl,
  type RecordingDetail,
  type RecordingList,
  recordingUrl,
  SOURCES_URL,
  type SourceList,
} from "./api";
import { element, setText } from "./dom";
import { Home } from "./home";
import { watch } from "./poll";
import { type Choice, choose, type Place, RecordingRoom } from "./recording";
import { parse, type Route } from "./route";

const PAGE_SIZE = 1000;
const TITLE = "scaly-viz";

/** A room that is being shown; `stop` ends what it still waits for. */
interface Visit {
  /** Goes to another place in this room; false where the place is in another one. */
  follow(route: Route): boolean;
  stop(): void;
}

class Page {
  private visit: Visit | null = null;

  constructor(
    private readonly root: HTMLElement,
    private readonly notice: HTMLElement,
  ) {}

  go(route: Route, moveFocus: boolean): void {
    if (this.visit?.follow(route)) return;
    this.visit?.stop();
    this.notify(null);
    document.title = TITLE;
    this.visit = this.enter(route);
    if (!moveFocus) return;
    this.root.focus({ preventScroll: true });
    document.documentElement.scrollTop = 0;
  }

  private enter(route: Route): Visit {
    if (route.room === "home") return this.enterHome();
    if (route.room === "recording") return this.enterRecording(route.id, route);
    this.showMessage("There is nothing at this address.");
    return { follow: () => false, stop: () => {} };
  }

  private enterHome(): Visit {
    const stop = new AbortController();
    let paging = new AbortController();
    let limit = PAGE_SIZE;
    const home = new Home(() => {
      limit += PAGE_SIZE;
      paging.abort();
      list();
    });
    const list = (): void => {
      paging = new AbortController();
      stop.signal.addEventListener("abort", () => paging.abort());
      const changed = (value: RecordingList): void => home.show(value);
      const failed = (error: ApiError | null): void => this.notify(error);
      watch<RecordingList>(listUrl(limit), { changed, failed }, paging.signal);
    };
    this.root.replaceChildren(home.root);
    list();
    const changed = ({ sources }: SourceList): void => home.showSources(sources);
    watch<SourceList>(SOURCES_URL, { changed, failed: () => {} }, stop.signal);
    return { follow: (route) => route.room === "home", stop: () => stop.abort() };
  }

  private enterRecording(id: string, start: Place): Visit {
    const stop = new AbortController();
    const room = new RecordingRoom(id);
    const payloads = new PayloadLoader(id, room);
    let place = start;
    let detail: RecordingDetail | null = null;
    const show = (): void => {
      if (!detail) return;
      const choice = choose(detail, place);
      room.show(detail, choice);
      payloads.show(choice);
      document.title = `${detail.recording.name} – ${TITLE}`;
    };
    const changed = (value: RecordingDetail): void => {
      if (!detail) this.root.replaceChildren(room.root);
      detail = value;
      show();
    };
    const failed = (error: ApiError | null): void => {
      if (error?.status === 404) {
        detail = null;
        this.showMessage("This recording does not exist, or is no longer there.");
      }
      this.notify(error?.status === 404 ? null : error);
    };
    this.root.replaceChildren(room.root);
    watch<RecordingDetail>(recordingUrl(id), { changed, failed }, stop.signal);
    const follow = (route: Route): boolean => {
      if (route.room !== "recording" || route.id !== id) return false;
      place = route;
      show();
      return true;
    };
    const end = (): void => {
      stop.abort();
      payloads.stop();
    };
    return { follow, stop: end };
  }

  private showMessage(text: string): void {
    const back = element("a", { href: "/" }, "All recordings");
    this.root.replaceChildren(
      element("section", { class: "empty" }, element("h1", {}, text), element("p", {}, back)),
    );
  }

  private notify(error: ApiError | null): void {
    this.notice.hidden = error === null;
    setText(this.notice, error ? `${error.message} Trying again…` : "");
  }
}

/** Fetches the payload that is shown, once as long as it stays the same. */
class PayloadLoader {
  private fetching = new AbortController();
  private shown = "";

  constructor(
    private readonly id: string,
    private readonly room: RecordingRoom,
  ) {}

  show(choice: Choice | null): void {
    const payload = choice?.payload;
    const url = choice && payload ? payloadUrl(this.id, choice.step.index, payload) : "";
    if (url === this.shown) return;
    this.stop();
    this.shown = url;
    if (!choice || !payload) return;
    if (payload.error === null) void this.load(choice, url);
    else this.room.showError(payload.error);
  }

  stop(): void {
    this.fetching.abort();
    this.fetching = new AbortController();
    this.shown = "";
  }

  private async load(choice: Choice, url: string): Promise<void> {
    const { signal } = this.fetching;
    this.room.wait();
    try {
      this.room.showContent(choice, await getContent(url, signal));
    } catch (error) {
      if (signal.aborted) return;
      this.room.showError(error instanceof Error ? error.message : String(error));
      this.shown = "";
    }
  }
}

/** The address that a plain click leads to inside the page, null where the browser shall follow. */
export function insideLink(event: MouseEvent): string | null {
  if (event.defaultPrevented || event.button !== 0) return null;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.hasAttribute("download") || link.origin !== location.origin) return null;
  return link.href;
}

export function start(root: HTMLElement, notice: HTMLElement): void {
  const page = new Page(root, notice);
  document.addEventListener("click", (event) => {
    const href = insideLink(event);
    if (href === null) return;
    event.preventDefault();
    if (href !== location.href) history.pushState(null, "", href);
    page.go(parse(new URL(href)), true);
  });
  window.addEventListener("popstate", () => page.go(parse(new URL(location.href)), true));
  page.go(parse(new URL(location.href)), false);
}

const root = document.getElementById("app");
const notice = document.getElementById("notice");
if (root && notice) start(root, notice);
