/** Owns the graph off the page's thread: fetches it, and answers what the page asks, the latest first. */

import { getJson } from "../api";
import type { GraphColumns, Outline } from "../schema";
import { Cancelled } from "./layered";
import { Columns, Model } from "./model";
import type { Answers, Ask, FromWorker, Given, ToWorker } from "./request";
import { sceneSteps } from "./scene";

/** So long a message waits at most, in milliseconds. */
const SLICE = 25;

let model: Model | null = null;
let loading: AbortController | null = null;
let loadingId = -1;
const serving = new Set<number>();
const cancelled = new Set<number>();
const channel = new MessageChannel();
let wake: (() => void) | null = null;
channel.port1.onmessage = () => wake?.();

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.ask === "cancel") {
    if (serving.has(data.of)) cancelled.add(data.of);
    if (loading && loadingId === data.of) loading.abort();
    return;
  }
  void serve(data.id, data);
};

async function serve(id: number, ask: Ask): Promise<void> {
  serving.add(id);
  try {
    reply({ id, answer: await answer(id, ask) });
  } catch (error) {
    const isCancelled = error instanceof Cancelled || cancelled.has(id);
    const text = error instanceof Error ? error.message : String(error);
    reply({ id, error: text, cancelled: isCancelled });
  } finally {
    serving.delete(id);
    cancelled.delete(id);
  }
}

async function answer(id: number, ask: Ask): Promise<Answers[keyof Answers]> {
  if (ask.ask === "load") return load(id, ask.url, ask.given);
  if (!model) throw new Error("no graph is loaded");
  switch (ask.ask) {
    case "scene":
      return stepped(id, sceneSteps(model, ask.request));
    case "search":
      return model.search(ask.text);
    case "entry":
      return model.detail(ask.entry);
    case "way":
      return model.way(ask.entry);
    case "find":
      return model.outline.nodes.id.indexOf(ask.key);
  }
}

async function load(id: number, url: string, given: Given | null): Promise<Answers["load"]> {
  loading?.abort();
  loading = new AbortController();
  loadingId = id;
  model = null;
  const { signal } = loading;
  const outline = given?.outline ?? (await fetched<Outline>(`${url}/outline`, signal));
  const made = new Model(outline);
  model = made;
  // Enough to draw with; the nodes of statements come later.
  void (given ? later(given.columns) : fetched<GraphColumns>(`${url}/graph`, signal))
    .then((columns) => {
      made.columns = new Columns(columns);
      if (model === made) reply({ id, progress: "nodes" });
    })
    .catch((error: unknown) => {
      if (!signal.aborted)
        reply({ id, progress: error instanceof Error ? error.message : "failed" });
    });
  return made.summary();
}

/** Told after the answer that it belongs to. */
function later<T>(value: T): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value)));
}

async function fetched<T>(url: string, signal: AbortSignal): Promise<T> {
  try {
    return await getJson<T>(url, signal);
  } catch (error) {
    throw signal.aborted ? new Cancelled() : error;
  }
}

/** Runs `steps`, and looks for messages every now and then. */
async function stepped<T>(id: number, steps: Generator<void, T>): Promise<T> {
  let since = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() - since > SLICE) {
      await turn();
      since = performance.now();
    }
    if (cancelled.has(id)) throw new Cancelled();
  }
}

/** Lets waiting messages in. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    const before = wake;
    wake = () => {
      wake = null;
      before?.();
      resolve();
    };
    channel.port2.postMessage(null);
  });
}

function reply(message: FromWorker): void {
  self.postMessage(message);
}
