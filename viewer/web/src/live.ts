/** The server tells what has changed; while it does, nobody needs to ask every two seconds. */
import { apiUrl } from "./api";

const listeners = new Set<() => void>();
let stream: EventSource | null = null;
let isOpen = false;

export function isTold(): boolean {
  return isOpen;
}

/** Calls `told` at each change until `signal` is aborted. */
export function listen(told: () => void, signal: AbortSignal): void {
  listeners.add(told);
  open();
  signal.addEventListener("abort", () => {
    listeners.delete(told);
    if (listeners.size === 0) close();
  });
}

function open(): void {
  if (stream !== null || typeof EventSource === "undefined") return;
  stream = new EventSource(apiUrl("events"));
  stream.addEventListener("open", () => {
    isOpen = true;
  });
  stream.addEventListener("change", () => {
    for (const told of [...listeners]) told();
  });
  stream.addEventListener("error", () => {
    isOpen = false;
  });
}

function close(): void {
  stream?.close();
  stream = null;
  isOpen = false;
}
