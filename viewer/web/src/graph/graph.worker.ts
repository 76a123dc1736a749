/** Owns the graph off the page's thread: fetches it, and answers what the page asks, the latest first. */

import { getJson } from "../api";
import { type Graph, Graphs } from "./graphs";
import { Cancelled } from "./layered";
import type {
  Answers,
  Ask,
  FromWorker,
  Given,
  Scene,
  SceneRequest,
  ToWorker,
  Wanted,
} from "./request";
import { sceneSteps } from "./scene";

/** So long a message waits at most, in milliseconds. */
const SLICE = 25;

const graphs = new Graphs(fetched);
let graph: Graph | null = null;
let loading = -1;
let preparing = -1;
const serving = new Set<number>();
const cancelled = new Set<number>();
const channel = new MessageChannel();
let wake: (() => void) | null = null;
channel.port1.onmessage = () => wake?.();

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.ask === "cancel") {
    if (serving.has(data.of)) cancelled.add(data.of);
    if (loading === data.of && !graph) graphs.stopOthers("");
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
  if (ask.ask === "load") return load(id, ask.what, ask.given);
  if (ask.ask === "know") return graphs.has(ask.key);
  if (ask.ask === "prepare") return prepare(id, ask.what, ask.request);
  const model = graph?.model;
  if (!graph || !model) throw new Error("no graph is loaded");
  switch (ask.ask) {
    case "scene":
      return arranged(id, graph, ask.request);
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

async function load(
  id: number,
  { key, url }: Wanted,
  given: Given | null,
): Promise<Answers["load"]> {
  graphs.stopOthers(key);
  if (serving.has(preparing)) cancelled.add(preparing);
  graph = null;
  loading = id;
  const wanted = graphs.graph(key, url, given);
  const model = await wanted.opened();
  if (loading !== id) throw new Cancelled();
  graph = wanted;
  if (!wanted.isWhole) void fill(id, wanted);
  return model.summary();
}

/** Enough to draw with was there; the nodes of statements come later. */
async function fill(id: number, wanted: Graph): Promise<void> {
  // Told after the answer that it belongs to.
  await new Promise((resolve) => setTimeout(resolve));
  try {
    await wanted.filled();
    graphs.shrink();
    if (graph === wanted) reply({ id, progress: "nodes" });
  } catch (error) {
    if (error instanceof Cancelled) return;
    reply({ id, progress: error instanceof Error ? error.message : "failed" });
  }
}

async function arranged(id: number, of: Graph, request: SceneRequest): Promise<Scene> {
  const kept = of.scene(request);
  if (kept) return kept;
  const scene = await stepped(id, sceneSteps(await of.opened(), request));
  of.keep(request, scene);
  return scene;
}

async function prepare(id: number, all: Wanted[], request: SceneRequest): Promise<null> {
  preparing = id;
  await graph?.filled();
  // The steps beside are about as large: what would not stay is not fetched in advance.
  if (graph && !graphs.hasRoomFor(graph, all.length)) return null;
  for (const { key, url } of all) {
    if (cancelled.has(id)) throw new Cancelled();
    const next = graphs.graph(key, url, null);
    await next.opened();
    await arranged(id, next, request);
    await next.filled();
  }
  graphs.shrink();
  return null;
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
