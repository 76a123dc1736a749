/** Owns the page's end of the worker: questions as promises, and their cancelling. */
import { WORKER_TYPE, workerUrl } from "../archive/blocks";
import type { Answers, Ask, FromWorker, ToWorker } from "./request";

export class AskCancelled extends Error {}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
  progress: ((what: string) => void) | undefined;
  keep: boolean;
}

/** A worker that nobody asks now: it has the graphs that were looked at last. */
let resting: GraphWorker | null = null;

export class GraphWorker {
  private readonly worker: Worker;
  private hasFailed = false;
  private readonly waiting = new Map<number, Waiting>();
  private readonly latest = new Map<string, number>();
  private next = 0;

  /** The worker that rests, or a new one. */
  static take(): GraphWorker {
    const taken = resting ?? new GraphWorker();
    resting = null;
    return taken;
  }

  private constructor(url = workerUrl("graph")) {
    this.worker = new Worker(url, { type: WORKER_TYPE });
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.hasFailed = true;
      for (const each of this.waiting.values()) {
        each.reject(new Error(`The graph's worker failed: ${event.message || "it cannot start"}`));
      }
      this.waiting.clear();
    };
  }

  /** Asks; an earlier question of the same sort is cancelled, because its answer is of no use now. */
  ask<K extends Ask["ask"]>(
    ask: Extract<Ask, { ask: K }>,
    progress?: (what: string) => void,
  ): Promise<Answers[K]> {
    const id = ++this.next;
    this.cancel(ask.ask);
    this.latest.set(ask.ask, id);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, {
        resolve: resolve as (value: unknown) => void,
        reject,
        progress,
        keep: progress !== undefined,
      });
      this.send({ id, ...ask } as ToWorker);
    });
  }

  /** Cancels the question of this sort that waits, if one does. */
  cancel(sort: Ask["ask"]): void {
    const of = this.latest.get(sort);
    const waiting = of === undefined ? undefined : this.waiting.get(of);
    if (of === undefined || !waiting) return;
    this.waiting.delete(of);
    waiting.reject(new AskCancelled());
    this.send({ id: ++this.next, ask: "cancel", of });
  }

  /** Ends all that is asked; what was fetched stays for whoever is next. */
  end(): void {
    for (const [of, each] of this.waiting) {
      each.reject(new AskCancelled());
      this.send({ id: ++this.next, ask: "cancel", of });
    }
    this.waiting.clear();
    if (resting || this.hasFailed) this.worker.terminate();
    else resting = this;
  }

  private send(message: ToWorker): void {
    this.worker.postMessage(message);
  }

  private receive(message: FromWorker): void {
    const waiting = this.waiting.get(message.id);
    if (!waiting) return;
    if ("progress" in message) {
      waiting.progress?.(message.progress);
      return;
    }
    if (!waiting.keep) this.waiting.delete(message.id);
    if ("answer" in message) waiting.resolve(message.answer);
    else waiting.reject(message.cancelled ? new AskCancelled() : new Error(message.error));
  }
}
