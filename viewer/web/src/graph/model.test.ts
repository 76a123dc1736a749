import { describe, expect, it } from "vitest";
import type { GraphColumns, Outline } from "../schema";
import { choose, MOST_BOXES } from "./chosen";
import { Columns, Model } from "./model";
import { FOLDED, LEAF, NODE, OPEN, type Scene, type SceneRequest } from "./request";
import { sceneSteps } from "./scene";
import { escaped } from "./svg";
import { placesOf, step } from "./tree";
import { formatChoices, parseChoices, START } from "./viewstate";

type Line = [
  parent: number,
  kind: string,
  title: string,
  options?: { name?: string; changed?: number; node?: number },
];

function outline(
  lines: Line[],
  edges: [number, number, string][] = [],
  calls: [number, number][] = [],
): Outline {
  const labels = [...new Set(edges.map(([, , label]) => label))];
  return {
    step: 3,
    dialect: "prog",
    against: 2,
    nodes_total: lines.length,
    edges_total: 0,
    removed: 0,
    problems: [],
    nodes: {
      id: lines.map(([parent, , title], i) => `${parent}/${title}:${i}`),
      parent: lines.map(([parent]) => parent),
      title: lines.map(([, , title]) => title),
      name: lines.map(([, , title, options]) => options?.name ?? title),
      kind: lines.map(([, kind]) => kind),
      children: countsOf(lines),
      node_count: lines.map(() => 1),
      changed: lines.map(([, , , options]) => options?.changed ?? 0),
      changed_count: lines.map(([, , , options]) => options?.changed ?? 0),
      node: lines.map(([, , , options]) => options?.node ?? -1),
      line: lines.map((_, i) => i + 1),
      trips: lines.map(() => -1),
    },
    edges: {
      source: edges.map(([source]) => source),
      target: edges.map(([, target]) => target),
      label: edges.map(([, , label]) => labels.indexOf(label)),
      labels,
      calls,
      omitted: 0,
    },
  };
}

function countsOf(lines: Line[]): number[] {
  const counts = lines.map(() => 0);
  for (const [parent] of lines) if (parent >= 0) counts[parent] = (counts[parent] ?? 0) + 1;
  return counts;
}

const REQUEST: SceneRequest = {
  opened: [],
  closed: [],
  mode: "all",
  around: -1,
  hops: 1,
  pin: null,
  declarations: false,
  selected: "",
  budget: 45,
  even: true,
  folded: false,
  room: 2_000,
};

/** Two procedures: f loops over two statements and calls g. */
const PROGRAM = outline(
  [
    [-1, "program", "program"],
    [0, "procedure", "f"],
    [1, "input", "x"],
    [1, "buffer", "t"],
    [1, "loop", "i"],
    [4, "statement", "t[i]", { name: "t", node: 4 }],
    [4, "statement", "u[i]", { name: "u", changed: 1 }],
    [1, "statement", "call g", { name: "g" }],
    [0, "procedure", "g"],
    [8, "statement", "y[0]", { name: "y" }],
  ],
  [
    [2, 5, "x"],
    [5, 6, "t"],
    [6, 7, "u"],
  ],
  [[7, 8]],
);

function sceneOf(model: Model, request: Partial<SceneRequest> = {}): Scene {
  const steps = sceneSteps(model, { ...REQUEST, ...request });
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

function titles(scene: Scene): string[] {
  return scene.title;
}

function edges(scene: Scene): [string, string, string][] {
  return Array.from(scene.from, (from, i): [string, string, string] => [
    scene.title[from] as string,
    scene.title[scene.to[i] as number] as string,
    scene.edgeLabel[i] as string,
  ]);
}

describe("a scene", () => {
  it("opens whole levels as long as there is room", () => {
    const model = new Model(PROGRAM);
    expect(titles(sceneOf(model, { budget: 2 }))).toEqual(["f", "g"]);
    expect(titles(sceneOf(model, { budget: 6 }))).toEqual(["f", "g"]);
    expect(sceneOf(model, { budget: 8 }).count).toBe(8);
  });

  it("is made no wider than can be read on a narrow canvas", () => {
    const many = outline([
      [-1, "program", "program"],
      ...Array.from({ length: 20 }, (_, i): Line => [0, "procedure", `procedure_${i}`]),
    ]);
    const wide = sceneOf(new Model(many), { room: 2_000 });
    const narrow = sceneOf(new Model(many), { room: 700 });
    expect(wide.width).toBeGreaterThan(700);
    expect(narrow.width).toBeLessThanOrEqual(700);
    expect(narrow.count).toBe(wide.count);
  });

  it("opens nothing but what was opened by hand once all was closed", () => {
    const model = new Model(PROGRAM);
    expect(titles(sceneOf(model, { budget: 100, folded: true }))).toEqual(["f", "g"]);
    const scene = sceneOf(model, { budget: 100, folded: true, opened: ["0/f:1"] });
    expect(titles(scene)).toContain("f");
    expect(scene.shape[0]).toBe(OPEN);
    expect(scene.shape[scene.count - 1]).toBe(FOLDED);
  });

  it("has what was opened by hand, with what is hidden and why", () => {
    const model = new Model(PROGRAM);
    const scene = sceneOf(model, { budget: 2, opened: ["0/f:1"] });
    expect(titles(scene)).toEqual(["f", "x", "i", "call g", "g"]);
    expect([...scene.shape]).toEqual([OPEN, LEAF, FOLDED, LEAF, FOLDED]);
    expect(scene.hidden).toEqual({ folded: 3, filtered: 0, declarations: 1, unopened: 0 });
  });

  it("leads edges to the group in which their end is folded away", () => {
    const model = new Model(PROGRAM);
    expect(edges(sceneOf(model, { budget: 2, opened: ["0/f:1"] }))).toEqual([
      ["x", "i", "x"],
      ["i", "call g", "u"],
      ["call g", "g", "calls"],
    ]);
    expect(edges(sceneOf(model, { budget: 2 }))).toEqual([["f", "g", "calls"]]);
  });

  it("keeps each group around what is in it", () => {
    const scene = sceneOf(new Model(PROGRAM), { budget: 100 });
    for (let box = 0; box < scene.count; box++) {
      const parent = scene.parent[box] as number;
      if (parent < 0) continue;
      for (const [at, size] of [
        [scene.x, scene.w],
        [scene.y, scene.h],
      ] as const) {
        expect(at[box]).toBeGreaterThanOrEqual(at[parent] as number);
        expect((at[box] as number) + (size[box] as number)).toBeLessThanOrEqual(
          (at[parent] as number) + (size[parent] as number),
        );
      }
    }
  });

  it("leads no edge upward", () => {
    const scene = sceneOf(new Model(PROGRAM), { budget: 100 });
    scene.from.forEach((from, i) => {
      const to = scene.to[i] as number;
      expect((scene.y[from] as number) + (scene.h[from] as number)).toBeLessThan(
        scene.y[to] as number,
      );
    });
  });

  it("can be reduced to what has changed", () => {
    const scene = sceneOf(new Model(PROGRAM), { mode: "changed", budget: 400 });
    expect(titles(scene)).toEqual(["f", "i", "u[i]"]);
    expect(scene.hidden.filtered).toBe(6);
  });

  it("can be reduced to what is near the pinned value", () => {
    const model = new Model(PROGRAM);
    const pin = { name: "x", scope: "f" };
    expect(titles(sceneOf(model, { mode: "pin", pin, budget: 400 }))).toEqual([
      "f",
      "x",
      "i",
      "t[i]",
      "u[i]",
    ]);
    const elsewhere = { name: "x", scope: "g" };
    expect(sceneOf(model, { mode: "pin", pin: elsewhere }).count).toBe(0);
  });

  it("marks the pinned value and the edges by which it is read", () => {
    const scene = sceneOf(new Model(PROGRAM), { budget: 100, pin: { name: "t", scope: "f" } });
    expect(scene.title.filter((_, box) => scene.pinned[box])).toEqual(["t", "t[i]"]);
    expect(edges(scene).filter((_, edge) => scene.edgePinned[edge])).toEqual([
      ["t[i]", "u[i]", "t"],
    ]);
  });

  it("can be reduced to a neighborhood of some hops", () => {
    const model = new Model(PROGRAM);
    expect(titles(sceneOf(model, { mode: "around", around: 7, hops: 1, budget: 400 }))).toEqual([
      "f",
      "i",
      "u[i]",
      "call g",
      "g",
    ]);
  });

  it("has what reads and writes a buffer near its declaration", () => {
    const model = new Model(PROGRAM);
    expect(titles(sceneOf(model, { mode: "around", around: 3, hops: 1, budget: 400 }))).toEqual([
      "f",
      "x",
      "t",
      "i",
      "t[i]",
      "u[i]",
      "call g",
    ]);
  });

  it("has the nodes of a statement that was opened", () => {
    const model = new Model(PROGRAM);
    model.columns = new Columns(COLUMNS);
    const scene = sceneOf(model, { budget: 100, opened: ["4/t[i]:5"] });
    const nodes = scene.title.filter((_, box) => scene.shape[box] === NODE);
    expect(nodes).toEqual(["load x", "2", "mul", "store"]);
    expect(edges(scene).filter(([, , label]) => label === "")).toEqual([
      ["load x", "mul", ""],
      ["2", "mul", ""],
      ["mul", "store", ""],
    ]);
  });

  it("never has more boxes than can be drawn, and says so", () => {
    const lines: Line[] = [[-1, "program", "program"]];
    for (let group = 0; group < 100; group++) {
      const parent = lines.length;
      lines.push([0, "procedure", `p${group}`]);
      for (let i = 0; i < 100; i++) lines.push([parent, "statement", `s${i}`]);
    }
    const model = new Model(outline(lines));
    const opened = model.outline.nodes.id.filter((_, i) => model.isGroup(i));
    const chosen = choose(model, { ...REQUEST, opened });
    expect(chosen.entries.length).toBeLessThanOrEqual(MOST_BOXES + 1);
    expect(chosen.hidden.unopened).toBe(71);
  });

  it("is empty where the outline is", () => {
    expect(sceneOf(new Model(outline([]))).count).toBe(0);
  });

  it("stops between its steps", () => {
    const steps = sceneSteps(new Model(PROGRAM), REQUEST);
    expect(steps.next().done).toBe(false);
    expect(steps.return({} as Scene).done).toBe(true);
  });
});

const COLUMNS: GraphColumns = {
  step: 3,
  count: 5,
  titles: ["LOAD", "CONST_INT", "MUL", "STORE"],
  labels: ["load x", "2", "mul", "store", "elsewhere"],
  details: ["float64", "int64"],
  names: [],
  title: [0, 0, 1, 2, 3],
  label: [4, 0, 1, 2, 3],
  detail: [0, 0, 1, 0, 0],
  name: [-1, -1, -1, -1, -1],
  row: [0, 1, 2, 3, 4],
  arg_offsets: [0, 0, 0, 0, 2, 3],
  args: [1, 2, 3],
  group: [9, 5, 5, 5, 5],
  state: [0, 0, 0, 0, 0],
  roots: [4],
};

describe("a search", () => {
  it("finds titles and names, whatever their case", () => {
    const model = new Model(PROGRAM);
    expect(model.search("U[").hits).toEqual([{ entry: 6, node: -1 }]);
    expect(model.search("")).toEqual({ hits: [], total: 0 });
  });

  it("finds nodes in statements, in reading order", () => {
    const model = new Model(PROGRAM);
    model.columns = new Columns(COLUMNS);
    expect(model.search("int64").hits).toEqual([{ entry: 5, node: 2 }]);
    expect(model.search("elsewhere").hits).toEqual([{ entry: 9, node: 0 }]);
  });
});

describe("what is known of an entry", () => {
  it("has what feeds it, what it feeds, and who calls it", () => {
    const model = new Model(PROGRAM);
    const detail = model.detail(4);
    expect(detail?.fedBy.map((link) => [link.title, link.label])).toEqual([["x", "x"]]);
    expect(detail?.feeds.map((link) => [link.title, link.label])).toEqual([["call g", "u"]]);
    expect(model.detail(8)?.calledBy.map((link) => link.title)).toEqual(["call g"]);
    expect(model.detail(5)?.scope).toBe("f");
    expect(model.detail(5)?.pin).toEqual({ name: "t", scope: "f" });
    expect(model.detail(8)?.pin).toEqual({ name: "g", scope: "" });
    expect(model.detail(7)?.pin).toEqual({ name: "g", scope: "" });
    expect(model.detail(99)).toBeNull();
  });

  it("has the way to it", () => {
    expect(new Model(PROGRAM).way(5)).toEqual(["-1/program:0", "0/f:1", "1/i:4", "4/t[i]:5"]);
  });
});

describe("the tree", () => {
  const scene = sceneOf(new Model(PROGRAM), { budget: 2, opened: ["0/f:1"] });

  it("numbers rows among their siblings", () => {
    expect(placesOf(scene)).toEqual([
      [1, 2],
      [1, 3],
      [2, 3],
      [3, 3],
      [2, 2],
    ]);
  });

  it("follows the keys of the tree pattern", () => {
    expect(step(scene, 0, "ArrowDown")).toBe(1);
    expect(step(scene, 0, "ArrowUp")).toBe(0);
    expect(step(scene, 0, "ArrowRight")).toBe(1);
    expect(step(scene, 2, "ArrowRight")).toBe("toggle");
    expect(step(scene, 0, "ArrowLeft")).toBe("toggle");
    expect(step(scene, 1, "ArrowLeft")).toBe(0);
    expect(step(scene, 4, "Enter")).toBe("toggle");
    expect(step(scene, 0, "End")).toBe(4);
    expect(step(scene, 0, "q")).toBeNull();
  });
});

describe("choices", () => {
  it("are the same after the way through an address", () => {
    const choices = {
      ...START,
      opened: new Set(["f/i", "g & h"]),
      closed: new Set(["f"]),
      mode: "around" as const,
      around: "f/t",
      hops: 3,
      declarations: true,
      selected: "f/t#7",
    };
    expect(parseChoices(formatChoices(choices))).toEqual(choices);
    expect(formatChoices(START)).toBe("");
    expect(parseChoices("m=wrong&k=1e9")).toEqual(START);
  });

  it("never make an address too long", () => {
    const opened = new Set(Array.from({ length: 500 }, (_, i) => `procedure/loop_${i}`));
    expect(formatChoices({ ...START, opened }).length).toBeLessThan(1_800);
  });
});

describe("text in a picture", () => {
  it("is never markup, nor what XML forbids", () => {
    expect(escaped("<b>&\"'\u0000\u001b\ud800😀\u202e")).toBe(
      "&lt;b&gt;&amp;&quot;&#39;\uFFFD\uFFFD\uFFFD😀\u202e",
    );
  });
});
