import { describe, expect, it } from "vitest";
import type { GraphColumns, Outline } from "../schema";
import { Graphs } from "./graphs";
import type { Scene, SceneRequest } from "./request";

const OUTLINE: Outline = {
  step: 0,
  dialect: "prog",
  against: null,
  nodes_total: 1,
  edges_total: 0,
  removed: 0,
  problems: [],
  nodes: {
    id: ["program"],
    parent: [-1],
    title: ["program"],
    name: [""],
    kind: ["program"],
    children: [0],
    node_count: [1],
    changed: [0],
    changed_count: [0],
    node: [-1],
    line: [1],
    trips: [-1],
  },
  edges: { source: [], target: [], label: [], labels: [], calls: [], omitted: 0 },
};
const COLUMNS = {
  labels: ["input"],
  details: [""],
  label: [0],
  detail: [0],
  group: [0],
  state: [0],
  arg_offsets: [0, 0],
  args: [],
} as unknown as GraphColumns;

/** A server that notes what it is asked, and answers when it is told to. */
function server(): {
  asked: string[];
  ended: string[];
  fetch: <T>(url: string, signal: AbortSignal) => Promise<T>;
} {
  const asked: string[] = [];
  const ended: string[] = [];
  const fetch = async <T>(url: string, signal: AbortSignal): Promise<T> => {
    asked.push(url);
    await Promise.resolve();
    if (signal.aborted) {
      ended.push(url);
      throw new Error("ended");
    }
    return (url.endsWith("/outline") ? OUTLINE : COLUMNS) as T;
  };
  return { asked, ended, fetch };
}

describe("graphs", () => {
  it("are asked for once, however often one comes back", async () => {
    const { asked, fetch } = server();
    const graphs = new Graphs(fetch);
    for (const step of ["a", "b", "a", "b"]) await graphs.graph(step, step, null).filled();
    expect(asked).toEqual(["a/outline", "a/graph", "b/outline", "b/graph"]);
    expect(graphs.has("a")).toBe(true);
    await graphs.graph("a of later", "a", null).opened();
    expect(asked).toHaveLength(5);
  });

  it("are dropped when they weigh too much, those not looked at for longest first", async () => {
    const graphs = new Graphs(server().fetch, 1_000);
    for (const step of ["a", "b", "c"]) await graphs.graph(step, step, null).filled();
    graphs.graph("a", "a", null);
    graphs.shrink();
    expect(["a", "b", "c"].map((step) => graphs.has(step))).toEqual([true, false, true]);
  });

  it("have room beside them for as many as they are small", async () => {
    const graphs = new Graphs(server().fetch, 1_000);
    const graph = graphs.graph("a", "a", null);
    await graph.filled();
    const most = Math.floor(1_000 / graph.bytes) - 1;
    expect([most, most + 1].map((count) => graphs.hasRoomFor(graph, count))).toEqual([true, false]);
  });

  it("are fetched anew where that was ended, but for what was there", async () => {
    const { asked, ended, fetch } = server();
    const graphs = new Graphs(fetch);
    const graph = graphs.graph("a", "a", null);
    await graph.opened();
    const filling = graph.filled();
    graphs.stopOthers("b");
    await expect(filling).rejects.toThrow("ended");
    expect(ended).toEqual(["a/graph"]);
    await graph.filled();
    expect(asked).toEqual(["a/outline", "a/graph", "a/graph"]);
  });

  it("need nobody to ask where they are given", async () => {
    const { asked, fetch } = server();
    const given = { outline: OUTLINE, columns: COLUMNS };
    await new Graphs(fetch).graph("a", "a", given).filled();
    expect(asked).toEqual([]);
  });

  it("keep the latest pictures, by all that was asked for", async () => {
    const graph = new Graphs(server().fetch).graph("a", "a", null);
    await graph.filled();
    const request = (hops: number) => ({ hops }) as SceneRequest;
    const scene = { count: 1, from: new Int32Array(0) } as Scene;
    for (let hops = 0; hops < 5; hops++) graph.keep(request(hops), scene);
    expect(graph.scene(request(4))).toBe(scene);
    expect(graph.scene(request(0))).toBeNull();
  });
});
