/** Watches one address of the API: asks again and again, and tells what is new. */
import { ApiError, getIfChanged } from "./api";
import { IS_FILE } from "./archive/blocks";
import { HAS } from "./features";
import { isTold, listen } from "./live";

export const INTERVAL_MS = 2000;
/** While the server tells of changes, asking is only for what it may have missed. */
const TOLD_INTERVAL_MS = 30_000;

interface Watcher<T> {
  changed(value: T): void;
  /** Called with null when the server answers again. */
  failed(error: ApiError | null): void;
}

/** Starts at once and goes on until `signal` is aborted; rests while nobody looks at the page. */
export function watch<T>(url: string, watcher: Watcher<T>, signal: AbortSignal): void {
  let tag: string | null = null;
  let failing = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking = false;
  let stopped = false;
  let isStale = false;

  async function ask(): Promise<void> {
    if (asking || stopped) {
      isStale = asking;
      return;
    }
    isStale = false;
    asking = true;
    try {
      const answer = await getIfChanged<T>(url, tag, signal);
      if (failing) watcher.failed(null);
      failing = false;
      if (answer) {
        tag = answer.tag;
        watcher.changed(answer.value);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      failing = true;
      tag = null;
      watcher.failed(error);
      // What cannot be understood will not be understood later either.
      if (error.status === 400) stopped = true;
    } finally {
      asking = false;
      plan();
    }
  }

  function plan(): void {
    clearTimeout(timer);
    if (signal.aborted || stopped || document.hidden || (IS_FILE && !failing)) return;
    timer = setTimeout(ask, isStale ? 0 : isTold() && !failing ? TOLD_INTERVAL_MS : INTERVAL_MS);
  }

  function looked(): void {
    if (document.hidden) clearTimeout(timer);
    else void ask();
  }

  document.addEventListener("visibilitychange", looked, { signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
  if (HAS.events) listen(ask, signal);
  void ask();
}
