/** The server tells what has changed; while it does, nobody needs to ask every two seconds. */
import { apiUrl } from "./api";

const REOPEN_MS = 30_000;
/** Told by the browser, where the stream may only seem to be open. */
const NETWORK = ["offline", "online"];

const listeners = new Set<() => void>();
let stream: EventSource | null = null;
let isOpen = false;
let reopening: ReturnType<typeof setTimeout> | undefined;

export function isTold(): boolean {
  return isOpen;
}

/** Calls `told` at each change until `signal` is aborted. */
export function listen(told: () => void, signal: AbortSignal): void {
  if (listeners.size === 0) {
    document.addEventListener("visibilitychange", looked);
    for (const name of NETWORK) window.addEventListener(name, tell);
  }
  listeners.add(told);
  open();
  signal.addEventListener("abort", () => {
    listeners.delete(told);
    if (listeners.size > 0) return;
    document.removeEventListener("visibilitychange", looked);
    for (const name of NETWORK) window.removeEventListener(name, tell);
    close();
  });
}

/** A browser has six connections to a server, for all pages: who is not looked at needs none. */
function looked(): void {
  if (document.hidden) close();
  else open();
}

function open(): void {
  if (stream !== null || document.hidden || typeof EventSource === "undefined") return;
  const opened = new EventSource(apiUrl("events"));
  stream = opened;
  opened.addEventListener("open", () => {
    isOpen = true;
    // Something may have changed between the last answer and now.
    tell();
  });
  opened.addEventListener("change", tell);
  opened.addEventListener("error", () => {
    const wasOpen = isOpen;
    isOpen = false;
    if (opened.readyState === EventSource.CLOSED && stream === opened) {
      // It was refused: another page may leave its place later on.
      stream = null;
      reopening = setTimeout(open, REOPEN_MS);
    }
    if (wasOpen) tell();
  });
}

function tell(): void {
  for (const told of [...listeners]) told();
}

function close(): void {
  clearTimeout(reopening);
  stream?.close();
  stream = null;
  isOpen = false;
}
