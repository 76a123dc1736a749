/** Owns the scene: boxes for what was chosen of an outline, their edges, and where all of it stands. */
import { type Chosen, choose } from "./chosen";
import { layeredSteps, NARROWEST } from "./layered";
import type { Model } from "./model";
import {
  ARGUMENT,
  CALL,
  FLOW,
  FOLDED,
  LEAF,
  NODE,
  OPEN,
  type Scene,
  type SceneRequest,
} from "./request";

/** Width of a character of the boxes' font, 12 px monospace. */
export const CHARACTER = 7.23;
const LONGEST_TITLE = 40;
const SIDE = 11;
const LEAF_HEIGHT = 26;
const GROUP_HEIGHT = 44;
export const HEADER = 28;
const PADDING = 16;

/** Builds a scene in steps, between which a worker can look for messages. */
export function* sceneSteps(model: Model, request: SceneRequest): Generator<void, Scene> {
  const chosen = choose(model, request);
  yield;
  const scene = boxes(model, chosen);
  yield;
  connect(model, chosen, scene);
  yield;
  yield* arrange(scene, request.room);
  return scene;
}

function boxes(model: Model, chosen: Chosen): Scene {
  const drawn: Draft[] = [];
  const shapeOf = new Map<number, number>();
  for (const entry of chosen.entries) {
    // The program itself is the paper.
    if (entry === 0 && model.isGroup(0) && model.outline.nodes.kind[0] === "program") continue;
    const parent = shapeOf.get(model.parent[entry] as number) ?? -1;
    shapeOf.set(entry, drawn.length);
    drawn.push(entryBox(model, chosen, entry, parent));
    for (const node of chosen.nodes.get(entry) ?? []) {
      drawn.push(nodeBox(model, entry, node, shapeOf.get(entry) as number));
    }
  }
  const depth = new Int32Array(drawn.length);
  drawn.forEach((each, i) => {
    depth[i] = each.parent < 0 ? 0 : (depth[each.parent] as number) + 1;
  });
  return {
    count: drawn.length,
    key: drawn.map((each) => each.key),
    title: drawn.map((each) => each.title),
    note: drawn.map((each) => each.note),
    kind: drawn.map((each) => each.kind),
    shape: Uint8Array.from(drawn, (each) => each.shape),
    entry: Int32Array.from(drawn, (each) => each.entry),
    node: Int32Array.from(drawn, (each) => each.node),
    parent: Int32Array.from(drawn, (each) => each.parent),
    depth,
    state: Uint8Array.from(drawn, (each) => each.state),
    pinned: Uint8Array.from(drawn, (each) => (each.pinned ? 1 : 0)),
    x: new Float64Array(drawn.length),
    y: new Float64Array(drawn.length),
    w: Float64Array.from(drawn, (each) => each.width),
    h: Float64Array.from(drawn, (each) => each.height),
    from: new Int32Array(0),
    to: new Int32Array(0),
    edgeKind: new Uint8Array(0),
    edgeLabel: [],
    edgePinned: new Uint8Array(0),
    width: 0,
    height: 0,
    hidden: chosen.hidden,
  };
}

interface Draft {
  key: string;
  title: string;
  note: string;
  kind: string;
  shape: number;
  entry: number;
  node: number;
  parent: number;
  state: number;
  pinned: boolean;
  width: number;
  height: number;
}

function entryBox(model: Model, chosen: Chosen, entry: number, parent: number): Draft {
  const { nodes } = model.outline;
  const isOpen = chosen.open.has(entry);
  const isGroup = model.isGroup(entry);
  const state = nodes.changed[entry] ?? 0;
  const title = nodes.title[entry] ?? "";
  const note = isGroup || isOpen ? noteOf(model, entry) : "";
  const lines = Math.max(title.length, isGroup && !isOpen ? note.length * 0.92 : 0);
  const marks = (isGroup ? 18 : 0) + (state ? 16 : 0);
  return {
    key: nodes.id[entry] ?? "",
    title,
    note,
    kind: nodes.kind[entry] ?? "",
    shape: isOpen ? OPEN : isGroup ? FOLDED : LEAF,
    entry,
    node: -1,
    parent,
    state,
    pinned: chosen.pinnedEntries.has(entry),
    width: 2 * SIDE + marks + CHARACTER * Math.min(Math.max(lines, 3), LONGEST_TITLE),
    height: isGroup && !isOpen ? GROUP_HEIGHT : LEAF_HEIGHT,
  };
}

function nodeBox(model: Model, entry: number, node: number, parent: number): Draft {
  const title = model.columns?.labelOf(node) ?? "";
  const state = model.columns?.state[node] ?? 0;
  return {
    key: `${model.outline.nodes.id[entry]}#${node}`,
    title,
    note: model.columns?.detailOf(node) ?? "",
    kind: "node",
    shape: NODE,
    entry,
    node,
    parent,
    state,
    pinned: false,
    width:
      2 * SIDE + (state ? 16 : 0) + CHARACTER * Math.min(Math.max(title.length, 2), LONGEST_TITLE),
    height: LEAF_HEIGHT,
  };
}

/** How much is in a group: passes, members, nodes, and what is new of these. */
function noteOf(model: Model, entry: number): string {
  const { nodes } = model.outline;
  const trips = nodes.trips[entry] ?? -1;
  const count = nodes.node_count[entry] ?? 0;
  const changed = nodes.changed_count[entry] ?? 0;
  const parts: string[] = [];
  if (trips >= 0) parts.push(`×${formatted(trips)}`);
  // Each node counts where it is first used: a loop that stands twice has them at its first place.
  parts.push(count ? `${formatted(count)} ${count === 1 ? "node" : "nodes"}` : "shared");
  if (changed) parts.push(`${formatted(changed)} changed`);
  return parts.join(" · ");
}

function formatted(count: number): string {
  return count.toLocaleString("en-US");
}

/** Leads each edge to the boxes in which its ends are shown; those between the same two are one. */
function connect(model: Model, chosen: Chosen, scene: Scene): void {
  const shown = new Int32Array(model.count).fill(-1);
  for (let i = scene.count - 1; i >= 0; i--) {
    if (scene.node[i] !== -1) continue;
    const entry = scene.entry[i] as number;
    const end = scene.shape[i] === OPEN ? entry + 1 : (model.end[entry] as number);
    shown.fill(i, entry, end);
  }
  const edges = new Edges(scene);
  const { source, target, outline } = model;
  for (let edge = 0; edge < source.length; edge++) {
    const label = outline.edges.labels[outline.edges.label[edge] as number] ?? "";
    const isPinned = chosen.pinnedEdges.has(edge);
    const from = shown[source[edge] as number] as number;
    edges.add(from, shown[target[edge] as number] as number, FLOW, label, isPinned);
  }
  for (const [caller, callee] of outline.edges.calls) {
    edges.add(shown[caller] as number, shown[callee] as number, CALL, "calls", false);
  }
  for (const [entry, nodes] of chosen.nodes) {
    const first = (shown[entry] as number) + 1;
    const place = new Map(nodes.map((node, i) => [node, first + i]));
    for (const node of nodes) {
      for (const arg of model.columns?.argsOf(node) ?? []) {
        edges.add(place.get(arg) ?? -1, place.get(node) as number, ARGUMENT, "", false);
      }
    }
  }
  edges.store();
}

class Edges {
  private readonly known = new Map<number, number>();
  private readonly from: number[] = [];
  private readonly to: number[] = [];
  private readonly kind: number[] = [];
  private readonly pinned: number[] = [];
  private readonly labels: Set<string>[] = [];

  constructor(private readonly scene: Scene) {}

  add(from: number, to: number, kind: number, label: string, pinned: boolean): void {
    if (from < 0 || to < 0 || from === to) return;
    if (this.encloses(from, to) || this.encloses(to, from)) return;
    const key = (from * this.scene.count + to) * 3 + kind;
    let edge = this.known.get(key);
    if (edge === undefined) {
      edge = this.from.length;
      this.known.set(key, edge);
      this.from.push(from);
      this.to.push(to);
      this.kind.push(kind);
      this.pinned.push(0);
      this.labels.push(new Set());
    }
    if (label) this.labels[edge]?.add(label);
    if (pinned) this.pinned[edge] = 1;
  }

  store(): void {
    this.scene.from = Int32Array.from(this.from);
    this.scene.to = Int32Array.from(this.to);
    this.scene.edgeKind = Uint8Array.from(this.kind);
    this.scene.edgePinned = Uint8Array.from(this.pinned);
    this.scene.edgeLabel = this.labels.map(named);
  }

  private encloses(outer: number, inner: number): boolean {
    for (let i = inner; i >= 0; i = this.scene.parent[i] as number) if (i === outer) return true;
    return false;
  }
}

function named(labels: Set<string>): string {
  const [first = "", ...others] = labels;
  return others.length ? `${first} +${formatted(others.length)}` : first;
}

/** Lays out each group after the groups in it, then moves all to their places on the paper. */
function* arrange(scene: Scene, room: number): Generator<void, void> {
  const inside: number[][] = Array.from({ length: scene.count + 1 }, () => []);
  for (let i = 0; i < scene.count; i++) inside[(scene.parent[i] as number) + 1]?.push(i);
  const lifted = liftedEdges(scene);
  for (let group = scene.count - 1; group >= -1; group--) {
    const members = inside[group + 1] as number[];
    if (!members.length) continue;
    const place = new Map(members.map((box, i) => [box, i]));
    const edges = lifted.get(group) ?? [];
    const input = {
      width: members.map((box) => scene.w[box] as number),
      height: members.map((box) => scene.h[box] as number),
      from: edges.map(([from]) => place.get(from) as number),
      to: edges.map(([, to]) => place.get(to) as number),
    };
    const layers = yield* layeredSteps(input, Math.min(NARROWEST, room));
    const left = group < 0 ? 0 : PADDING;
    const top = group < 0 ? 0 : HEADER + PADDING / 2;
    const spare = group < 0 ? 0 : Math.max(0, (scene.w[group] as number) - layers.width - 2 * left);
    members.forEach((box, i) => {
      scene.x[box] = left + spare / 2 + (layers.x[i] as number);
      scene.y[box] = top + (layers.y[i] as number);
    });
    if (group < 0) {
      scene.width = layers.width;
      scene.height = layers.height;
    } else {
      scene.w[group] = Math.max(scene.w[group] as number, layers.width + 2 * left);
      scene.h[group] = top + layers.height + PADDING;
    }
  }
  for (let i = 0; i < scene.count; i++) {
    const parent = scene.parent[i] as number;
    if (parent < 0) continue;
    scene.x[i] = (scene.x[i] as number) + (scene.x[parent] as number);
    scene.y[i] = (scene.y[i] as number) + (scene.y[parent] as number);
  }
}

/** The edges between the members of each group, of which one may hold the end of an edge. */
function liftedEdges(scene: Scene): Map<number, [number, number][]> {
  const found = new Map<number, [number, number][]>();
  const seen = new Set<number>();
  for (let edge = 0; edge < scene.from.length; edge++) {
    let from = scene.from[edge] as number;
    let to = scene.to[edge] as number;
    while ((scene.depth[from] as number) > (scene.depth[to] as number)) {
      from = scene.parent[from] as number;
    }
    while ((scene.depth[to] as number) > (scene.depth[from] as number)) {
      to = scene.parent[to] as number;
    }
    while (scene.parent[from] !== scene.parent[to]) {
      from = scene.parent[from] as number;
      to = scene.parent[to] as number;
    }
    const key = from * scene.count + to;
    if (from === to || seen.has(key)) continue;
    seen.add(key);
    const group = scene.parent[from] as number;
    const edges = found.get(group);
    if (edges) edges.push([from, to]);
    else found.set(group, [[from, to]]);
  }
  return found;
}
