/** Watches one address of the API: asks again and again, and tells what is new. */
import { ApiError, getIfChanged } from "./api";

export const INTERVAL_MS = 2000;

export interface Watcher<T> {
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

  async function ask(): Promise<void> {
    if (asking) return;
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
    } finally {
      asking = false;
      plan();
    }
  }

  function plan(): void {
    clearTimeout(timer);
    if (!signal.aborted && !document.hidden) timer = setTimeout(ask, INTERVAL_MS);
  }

  function looked(): void {
    if (document.hidden) clearTimeout(timer);
    else void ask();
  }

  document.addEventListener("visibilitychange", looked, { signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
  void ask();
}
