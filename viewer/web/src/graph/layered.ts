/** Places boxes in layers: what feeds stands above what is fed, neighbors near each other. */

export interface LayerInput {
  /** Sizes of the boxes. */
  width: ArrayLike<number>;
  height: ArrayLike<number>;
  /** Edge i leads from box `from[i]` to box `to[i]`. */
  from: ArrayLike<number>;
  to: ArrayLike<number>;
}

export interface Layers {
  /** Left upper corners of the boxes. */
  x: Float64Array;
  y: Float64Array;
  width: number;
  height: number;
  /** The layer of each box, from 0; boxes without edges stand in a block above all layers, in -1. */
  rank: Int32Array;
  /** 1 for the edges that close a circle: only these may lead upward. */
  turned: Uint8Array;
}

const GAP_X = 20;
const GAP_ROW = 14;
const SWEEPS = 4;
/** Wider than high, as screens are; where there is room, nothing is made narrower than this. */
const ASPECT = 1.9;
export const NARROWEST = 1_160;

/** Thrown out of a layout that is no longer wanted. */
export class Cancelled extends Error {}

/** Lays out at once; `isCancelled` is asked between the phases. */
export function layered(input: LayerInput, isCancelled: () => boolean = () => false): Layers {
  const steps = layeredSteps(input);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (isCancelled()) throw new Cancelled();
  }
}

/** The same in steps, between which a worker can look for messages. */
export function* layeredSteps(input: LayerInput, narrowest = NARROWEST): Generator<void, Layers> {
  const graph = new Arrows(input);
  yield;
  const rank = ranks(graph);
  yield;
  let rows = rowsOf(rank);
  let best = crossings(graph, rank, rows);
  let current = rows;
  for (let sweep = 0; sweep < SWEEPS && best > 0; sweep++) {
    current = swept(graph, rank, current, sweep % 2 === 0);
    const count = crossings(graph, rank, current);
    if (count < best) {
      best = count;
      rows = current;
    }
    yield;
  }
  return placed(input, graph, rank, rows, widthLimit(input, narrowest));
}

/** The edges as lists of neighbors; edges that close a circle are turned around. */
class Arrows {
  readonly count: number;
  readonly turned: Uint8Array;
  readonly up: number[][];
  readonly down: number[][];

  constructor(readonly input: LayerInput) {
    this.count = input.width.length;
    this.turned = circles(this.count, input);
    this.up = Array.from({ length: this.count }, () => []);
    this.down = Array.from({ length: this.count }, () => []);
    for (let i = 0; i < input.from.length; i++) {
      const [from, to] = this.edge(i);
      if (from === to) continue;
      at(this.down, from).push(to);
      at(this.up, to).push(from);
    }
  }

  /** Where edge `i` begins and ends, downward. */
  edge(i: number): [number, number] {
    const from = at(this.input.from, i);
    const to = at(this.input.to, i);
    return this.turned[i] ? [to, from] : [from, to];
  }
}

function at<T>(list: ArrayLike<T>, i: number): T {
  return list[i] as T;
}

/** Marks the edges that lead back to a box on the way to them, depth first in the order of the boxes. */
function circles(count: number, input: LayerInput): Uint8Array {
  const turned = new Uint8Array(input.from.length);
  const leaving: number[][] = Array.from({ length: count }, () => []);
  for (let i = 0; i < input.from.length; i++) at(leaving, at(input.from, i)).push(i);
  const state = new Uint8Array(count); // 1: on the way, 2: done
  const next = new Int32Array(count);
  for (let start = 0; start < count; start++) {
    const way = state[start] ? [] : [start];
    if (way.length) state[start] = 1;
    while (way.length) {
      const box = at(way, way.length - 1);
      const edges = at(leaving, box);
      const position = at(next, box);
      if (position === edges.length) {
        state[box] = 2;
        way.pop();
        continue;
      }
      next[box] = position + 1;
      const edge = at(edges, position);
      const to = at(input.to, edge);
      if (state[to] === 1) turned[edge] = to === box ? 0 : 1;
      else if (!state[to]) {
        state[to] = 1;
        way.push(to);
      }
    }
  }
  return turned;
}

/** The longest path to each box; what only feeds is moved down to what it feeds. */
function ranks(graph: Arrows): Int32Array {
  const { count, up, down } = graph;
  const rank = new Int32Array(count);
  const missing = Int32Array.from(up, (list) => list.length);
  const ready: number[] = [];
  for (let box = 0; box < count; box++) if (!missing[box]) ready.push(box);
  for (let i = 0; i < ready.length; i++) {
    const box = at(ready, i);
    for (const below of at(down, box)) {
      rank[below] = Math.max(at(rank, below), at(rank, box) + 1);
      missing[below] = at(missing, below) - 1;
      if (!missing[below]) ready.push(below);
    }
  }
  for (let box = 0; box < count; box++) {
    const fed = at(down, box);
    if (at(up, box).length) continue;
    rank[box] = fed.length ? lowest(fed, rank) - 1 : -1;
  }
  return rank;
}

function lowest(boxes: number[], rank: Int32Array): number {
  let least = at(rank, at(boxes, 0));
  for (const box of boxes) least = Math.min(least, at(rank, box));
  return least;
}

function rowsOf(rank: Int32Array): number[][] {
  let highest = -1;
  for (const each of rank) highest = Math.max(highest, each);
  const rows: number[][] = Array.from({ length: highest + 1 }, () => []);
  rank.forEach((each, box) => {
    if (each >= 0) at(rows, each).push(box);
  });
  return rows;
}

/** Orders each row by the mean place of its neighbors in the rows before it; ties keep their order. */
function swept(graph: Arrows, rank: Int32Array, rows: number[][], downward: boolean): number[][] {
  const place = new Float64Array(rank.length);
  for (const row of rows) spread(row, place);
  const result = rows.map((row) => row);
  const order = rows.map((_, i) => (downward ? i : rows.length - 1 - i));
  for (const i of order) {
    const row = at(result, i);
    const wanted = row.map((box) => mean(at(downward ? graph.up : graph.down, box), place, box));
    const sorted = row.map((_, k) => k);
    sorted.sort((a, b) => at(wanted, a) - at(wanted, b) || a - b);
    result[i] = sorted.map((k) => at(row, k));
    spread(at(result, i), place);
  }
  return result;
}

/** Places are counted in parts of a row, so that rows of any length compare. */
function spread(row: number[], place: Float64Array): void {
  row.forEach((box, i) => {
    place[box] = (i + 0.5) / row.length;
  });
}

function mean(neighbors: number[], place: Float64Array, box: number): number {
  if (!neighbors.length) return at(place, box);
  let sum = 0;
  for (const each of neighbors) sum += at(place, each);
  return sum / neighbors.length;
}

/** How many pairs of edges between the same two rows cross. */
function crossings(graph: Arrows, rank: Int32Array, rows: number[][]): number {
  const place = new Int32Array(rank.length);
  for (const row of rows) {
    row.forEach((box, i) => {
      place[box] = i;
    });
  }
  const bundles = new Map<number, [number, number][]>();
  for (let i = 0; i < graph.input.from.length; i++) {
    const [from, to] = graph.edge(i);
    if (from === to) continue;
    const key = at(rank, from) * rows.length + at(rank, to);
    const bundle = bundles.get(key);
    const edge: [number, number] = [at(place, from), at(place, to)];
    if (bundle) bundle.push(edge);
    else bundles.set(key, [edge]);
  }
  let count = 0;
  for (const bundle of bundles.values()) count += inversions(bundle);
  return count;
}

function inversions(edges: [number, number][]): number {
  edges.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let widest = 0;
  for (const [, to] of edges) widest = Math.max(widest, to);
  const tree = new Int32Array(widest + 2);
  let count = 0;
  edges.forEach(([, to], seen) => {
    let before = 0;
    for (let i = to + 1; i > 0; i -= i & -i) before += at(tree, i);
    count += seen - before;
    for (let i = to + 1; i < tree.length; i += i & -i) tree[i] = at(tree, i) + 1;
  });
  return count;
}

function placed(
  input: LayerInput,
  graph: Arrows,
  rank: Int32Array,
  rows: number[][],
  widest: number,
): Layers {
  const alone: number[] = [];
  rank.forEach((each, box) => {
    if (each < 0) alone.push(box);
  });
  const lines: { boxes: number[]; gap: number }[] = [];
  for (const boxes of wrapped(alone, input, widest)) lines.push({ boxes, gap: GAP_ROW });
  const block = lines.length;
  for (const row of rows) {
    const parts = wrapped(row, input, widest);
    parts.forEach((boxes, i) => {
      lines.push({ boxes, gap: i < parts.length - 1 ? GAP_ROW : layerGap(row.length) });
    });
  }
  const x = new Float64Array(input.width.length);
  const y = new Float64Array(input.width.length);
  let top = 0;
  let gap = 0;
  lines.forEach((line, i) => {
    top += i === block && block > 0 ? 2 * gap : gap;
    let tallest = 0;
    for (const box of line.boxes) {
      y[box] = top;
      tallest = Math.max(tallest, at(input.height, box));
    }
    top += tallest;
    gap = line.gap;
  });
  align(
    lines.map((line) => line.boxes),
    block,
    input,
    graph,
    x,
  );
  let left = Number.POSITIVE_INFINITY;
  let right = 0;
  for (let box = 0; box < x.length; box++) left = Math.min(left, at(x, box));
  for (let box = 0; box < x.length; box++) {
    x[box] = at(x, box) - left;
    right = Math.max(right, at(x, box) + at(input.width, box));
  }
  return { x, y, width: right, height: top, rank, turned: graph.turned };
}

/** More edges need more room between the layers to be told apart. */
function layerGap(boxes: number): number {
  return Math.min(72, 30 + 2 * boxes);
}

function widthLimit(input: LayerInput, narrowest: number): number {
  let area = 0;
  let widest = 0;
  for (let box = 0; box < input.width.length; box++) {
    area += (at(input.width, box) + GAP_X) * (at(input.height, box) + GAP_ROW);
    widest = Math.max(widest, at(input.width, box));
  }
  return Math.max(narrowest, widest, Math.sqrt(area * ASPECT));
}

/** Breaks a row that would be wider than a screen can show. */
function wrapped(row: number[], input: LayerInput, widest: number): number[][] {
  const parts: number[][] = [];
  let width = 0;
  for (const box of row) {
    const own = at(input.width, box) + GAP_X;
    const latest = parts[parts.length - 1];
    if (!latest || width + own > widest + GAP_X) {
      parts.push([box]);
      width = own;
    } else {
      latest.push(box);
      width += own;
    }
  }
  return parts;
}

/** Moves the boxes of each line under the middle of what they hang on, order and gaps kept. */
function align(
  lines: number[][],
  block: number,
  input: LayerInput,
  graph: Arrows,
  x: Float64Array,
): void {
  const middle = new Float64Array(x.length);
  const settle = (line: number[], wanted: (box: number, i: number) => number): void => {
    const starts = packed(line, input, wanted);
    line.forEach((box, i) => {
      x[box] = at(starts, i);
      middle[box] = at(starts, i) + at(input.width, box) / 2;
    });
  };
  for (const line of lines) {
    let width = -GAP_X;
    for (const box of line) width += at(input.width, box) + GAP_X;
    let left = -width / 2;
    settle(line, (box) => {
      const wanted = left + at(input.width, box) / 2;
      left += at(input.width, box) + GAP_X;
      return wanted;
    });
  }
  for (let pass = 0; pass < 3; pass++) {
    const neighbors = pass % 2 === 0 ? graph.up : graph.down;
    const moving = lines.slice(block);
    if (pass % 2) moving.reverse();
    for (const line of moving) settle(line, (box) => mean(at(neighbors, box), middle, box));
  }
}

/** The starts nearest to what is wanted (least squares) without overlap: pool adjacent violators. */
function packed(
  line: number[],
  input: LayerInput,
  wanted: (box: number, i: number) => number,
): Float64Array {
  const shift = new Float64Array(line.length);
  const pools: { sum: number; size: number }[] = [];
  let offset = 0;
  line.forEach((box, i) => {
    shift[i] = offset;
    const width = at(input.width, box);
    let pool = { sum: wanted(box, i) - width / 2 - offset, size: 1 };
    offset += width + GAP_X;
    for (;;) {
      const before = pools[pools.length - 1];
      if (!before || before.sum / before.size <= pool.sum / pool.size) break;
      pool = { sum: pool.sum + before.sum, size: pool.size + before.size };
      pools.pop();
    }
    pools.push(pool);
  });
  const starts = new Float64Array(line.length);
  let i = 0;
  for (const pool of pools) {
    for (let k = 0; k < pool.size; k++, i++) starts[i] = pool.sum / pool.size + at(shift, i);
  }
  return starts;
}
