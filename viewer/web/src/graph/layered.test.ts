import { describe, expect, it } from "vitest";
import { Cancelled, type LayerInput, type Layers, layered, layeredSteps } from "./layered";

function graph(boxes: number, edges: [number, number][], width = 100, height = 30): LayerInput {
  return {
    width: new Array(boxes).fill(width),
    height: new Array(boxes).fill(height),
    from: edges.map(([from]) => from),
    to: edges.map(([, to]) => to),
  };
}

/** The same numbers every time: a linear congruential generator. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

function randomGraph(seed: number, boxes: number, edges: number): LayerInput {
  const next = random(seed);
  const pairs = Array.from({ length: edges }, (): [number, number] => {
    const a = Math.floor(next() * boxes);
    const b = Math.floor(next() * boxes);
    return a < b ? [a, b] : [b, a];
  });
  const input = graph(boxes, pairs);
  return { ...input, width: Array.from({ length: boxes }, () => 60 + Math.floor(next() * 200)) };
}

function upward(input: LayerInput, layers: Layers): number[] {
  const found: number[] = [];
  for (let i = 0; i < input.from.length; i++) {
    const from = input.from[i] as number;
    const to = input.to[i] as number;
    if (from === to || layers.turned[i]) continue;
    const bottom = (layers.y[from] as number) + (input.height[from] as number);
    if (bottom >= (layers.y[to] as number)) found.push(i);
  }
  return found;
}

function overlaps(input: LayerInput, layers: Layers): [number, number][] {
  const found: [number, number][] = [];
  for (let a = 0; a < layers.x.length; a++) {
    for (let b = 0; b < a; b++) {
      const apartX =
        (layers.x[a] as number) + (input.width[a] as number) <= (layers.x[b] as number) + 1e-6 ||
        (layers.x[b] as number) + (input.width[b] as number) <= (layers.x[a] as number) + 1e-6;
      const apartY =
        (layers.y[a] as number) + (input.height[a] as number) <= (layers.y[b] as number) ||
        (layers.y[b] as number) + (input.height[b] as number) <= (layers.y[a] as number);
      if (!apartX && !apartY) found.push([a, b]);
    }
  }
  return found;
}

/** Crossings of straight lines between the middles of boxes in the same two layers. */
function crossed(input: LayerInput, rank: ArrayLike<number>, place: ArrayLike<number>): number {
  let count = 0;
  const n = input.from.length;
  for (let a = 0; a < n; a++) {
    for (let b = 0; b < a; b++) {
      const [fa, ta] = [input.from[a] as number, input.to[a] as number];
      const [fb, tb] = [input.from[b] as number, input.to[b] as number];
      if (rank[fa] !== rank[fb] || rank[ta] !== rank[tb]) continue;
      const from = (place[fa] as number) - (place[fb] as number);
      const to = (place[ta] as number) - (place[tb] as number);
      if (from * to < 0) count++;
    }
  }
  return count;
}

describe("layers", () => {
  it("put each box below all that feed it, at the longest path", () => {
    const layers = layered(
      graph(4, [
        [0, 1],
        [1, 2],
        [0, 2],
        [2, 3],
      ]),
    );
    expect([...layers.rank]).toEqual([0, 1, 2, 3]);
  });

  it("put what only feeds directly above what it feeds", () => {
    const layers = layered(
      graph(4, [
        [0, 1],
        [1, 2],
        [3, 2],
      ]),
    );
    expect([...layers.rank]).toEqual([0, 1, 2, 1]);
  });

  it("put boxes without edges into a block above", () => {
    const layers = layered(graph(4, [[0, 1]]));
    expect([...layers.rank]).toEqual([0, 1, -1, -1]);
    expect(layers.y[2]).toBeLessThan(layers.y[0] as number);
  });

  it.each([1, 2, 3, 4])("lead no edge upward and let no boxes overlap (%i)", (seed) => {
    const input = randomGraph(seed, 120, 200);
    const layers = layered(input);
    expect(upward(input, layers)).toEqual([]);
    expect(overlaps(input, layers)).toEqual([]);
  });

  it("are the same each time", () => {
    const input = randomGraph(7, 200, 400);
    expect(layered(input)).toEqual(layered(input));
  });

  it.each([1, 2, 3, 4, 5])("cross no more edges than the given order does (%i)", (seed) => {
    const input = randomGraph(seed, 60, 90);
    // Wide enough for each layer to be one line, so that x is the order in it.
    const narrow = { ...input, width: new Array(60).fill(1) };
    const layers = layered(narrow);
    const given = Array.from({ length: 60 }, (_, i) => i);
    expect(crossed(input, layers.rank, layers.x)).toBeLessThanOrEqual(
      crossed(input, layers.rank, given),
    );
  });

  it("untangle what can be untangled", () => {
    const input = graph(6, [
      [0, 5],
      [1, 4],
      [2, 3],
    ]);
    const layers = layered(input);
    expect(crossed(input, layers.rank, layers.x)).toBe(0);
  });

  it("turn the edges that close a circle, and only these", () => {
    const input = graph(3, [
      [0, 1],
      [1, 2],
      [2, 0],
      [1, 1],
    ]);
    const layers = layered(input);
    expect([...layers.turned]).toEqual([0, 0, 1, 0]);
    expect([...layers.rank]).toEqual([0, 1, 2]);
  });

  it("break rows that are wider than a screen", () => {
    const edges = Array.from({ length: 200 }, (_, i): [number, number] => [0, i + 1]);
    const layers = layered(graph(201, edges));
    expect(layers.width).toBeLessThan(2000);
    expect(upward(graph(201, edges), layers)).toEqual([]);
  });

  it("have no size where there is nothing", () => {
    const layers = layered(graph(0, []));
    expect([layers.width, layers.height]).toEqual([0, 0]);
  });

  it("stop when they are no longer wanted", () => {
    let asked = 0;
    expect(() => layered(randomGraph(1, 100, 300), () => ++asked === 3)).toThrow(Cancelled);
    expect(asked).toBe(3);
  });

  it("can be made in steps, with the same result", () => {
    const input = randomGraph(3, 80, 160);
    const steps = layeredSteps(input);
    let result = steps.next();
    let count = 1;
    while (!result.done) {
      result = steps.next();
      count++;
    }
    expect(result.value).toEqual(layered(input));
    expect(count).toBeGreaterThan(3);
  });

  it("take a chain of 20,000 boxes", () => {
    const edges = Array.from({ length: 19_999 }, (_, i): [number, number] => [i, i + 1]);
    expect(layered(graph(20_000, edges)).rank[19_999]).toBe(19_999);
  });
});
