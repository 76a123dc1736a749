/** Components ask for answers of the server: once and kept, or watched as long as they are shown. */
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, type Content, getContent, getJson } from "./api";
import { Cache } from "./cache";
import { watch } from "./poll";

const cache = new Cache();
/** What is asked for in advance is never cancelled; what is shown may be. */
const never = new AbortController().signal;

/** An answer: a value, an error, or neither while it is on its way; `url` says which one it is. */
export interface Loaded<T> {
  url: string | null;
  value: T | null;
  error: Error | null;
}

/** What an answer is taken to weigh: to weigh it, it would have to be written again. */
const JSON_SIZE = 50_000;

const NOTHING: Loaded<never> = { url: null, value: null, error: null };

/** The JSON at `url`, kept for as long as the page lives; null asks for nothing. */
export function useJson<T>(url: string | null): Loaded<T> {
  return useLoaded<T>(url, loadJson);
}

/** The decoded payload at `url`. */
export function useContent(url: string | null): Loaded<Content> {
  return useLoaded<Content>(url, loadContent);
}

/** Fetches what will be needed soon; null where it cannot be had. */
export async function prefetchJson<T>(url: string): Promise<T | null> {
  await inAdvance(url, loadJson);
  return cache.peek<T>(url)?.value ?? null;
}

/** What failed in advance is asked for again when it is needed. */
async function inAdvance(url: string, load: (url: string) => Promise<void>): Promise<void> {
  await load(url);
  if (cache.peek(url)?.error) cache.forget(url);
}

export function prefetchContent(url: string): Promise<void> {
  return inAdvance(url, loadContent);
}

/** Asks again for what failed. */
export function retry(url: string): void {
  cache.forget(url);
}

function loadJson(url: string): Promise<void> {
  return cache.load(
    url,
    () => getJson<unknown>(url, never),
    () => JSON_SIZE,
  );
}

function loadContent(url: string): Promise<void> {
  return cache.load(
    url,
    () => getContent(url, never),
    (content) => content.text?.length ?? 0,
  );
}

function useLoaded<T>(url: string | null, load: (url: string) => Promise<void>): Loaded<T> {
  const [, redraw] = useState(0);
  const known = url === null ? undefined : cache.peek<T>(url);
  const isKnown = known !== undefined;
  useEffect(() => {
    if (url === null || isKnown) return;
    let shown = true;
    void load(url).then(() => shown && redraw((n) => n + 1));
    return () => {
      shown = false;
    };
  }, [url, isKnown, load]);
  if (url === null) return NOTHING;
  return { url, value: known?.value ?? null, error: known?.error ?? null };
}

/** The last answer that was there, so that what is shown stays until the next one comes. */
export function useLatest<T>(loaded: Loaded<T>): Loaded<T> {
  const latest = useRef<Loaded<T>>(loaded);
  if (loaded.value !== null || loaded.error !== null || loaded.url === null) {
    latest.current = loaded;
  }
  return latest.current;
}

/** What is at `url`, brought up to date as it changes. */
export function useWatched<T>(url: string): { value: T | null; error: ApiError | null } {
  const [state, setState] = useState<{ url: string; value: T | null; error: ApiError | null }>({
    url,
    value: null,
    error: null,
  });
  useEffect(() => {
    const stop = new AbortController();
    watch<T>(
      url,
      {
        changed: (value) => setState({ url, value, error: null }),
        failed: (error) => setState((before) => ({ ...before, url, error })),
      },
      stop.signal,
    );
    return () => stop.abort();
  }, [url]);
  return state;
}

/** True once `waiting` has lasted long enough for a person to wonder. */
export function useSlow(waiting: boolean, afterMs = 300): boolean {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    setSlow(false);
    if (!waiting) return;
    const timer = setTimeout(() => setSlow(true), afterMs);
    return () => clearTimeout(timer);
  }, [waiting, afterMs]);
  return waiting && slow;
}
