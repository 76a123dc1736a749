/** Owns a step's graph in the worker: its outline and its nodes, indexed for the questions of a page. */
import type { Pin } from "../canvas/props";
import type { GraphColumns, Outline } from "../schema";
import type { EntryDetail, Hit, Hits, Link, Summary } from "./request";

const CALLABLE = new Set(["procedure", "function"]);
const MOST_HITS = 5_000;
const MOST_LINKS = 60;
const MOST_NEIGHBORS = 3_000;

/** Edges by one of their ends: those of entry e are `edges[offsets[e]]` up to `edges[offsets[e + 1]]`. */
interface Adjacency {
  offsets: Int32Array;
  edges: Int32Array;
}

export class Model {
  readonly count: number;
  readonly parent: Int32Array;
  /** The entries of e and below are e up to `end[e]`. */
  readonly end: Int32Array;
  readonly depth: Int32Array;
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly leaving: Adjacency;
  readonly arriving: Adjacency;
  columns: Columns | null = null;
  private lower: string[] | null = null;

  constructor(readonly outline: Outline) {
    const { nodes, edges } = outline;
    this.count = nodes.id.length;
    this.parent = Int32Array.from(nodes.parent);
    this.depth = new Int32Array(this.count);
    this.end = new Int32Array(this.count);
    for (let i = 0; i < this.count; i++) {
      const parent = this.parent[i] as number;
      this.depth[i] = parent < 0 ? 0 : (this.depth[parent] as number) + 1;
      this.end[i] = i + 1;
    }
    for (let i = this.count - 1; i > 0; i--) {
      const parent = this.parent[i] as number;
      if (parent >= 0)
        this.end[parent] = Math.max(this.end[parent] as number, this.end[i] as number);
    }
    this.source = Int32Array.from(edges.source);
    this.target = Int32Array.from(edges.target);
    this.leaving = adjacency(this.count, this.source);
    this.arriving = adjacency(this.count, this.target);
  }

  summary(): Summary {
    const { outline } = this;
    return {
      step: outline.step,
      dialect: outline.dialect,
      against: outline.against,
      nodes: outline.nodes_total,
      edges: outline.edges_total,
      entries: this.count,
      changed: outline.nodes.changed_count[0] ?? 0,
      removed: outline.removed,
      omitted: outline.edges.omitted,
      problems: outline.problems,
      hasNodes: this.columns !== null,
    };
  }

  /** The direct members of a group, in reading order. */
  children(entry: number): number[] {
    const found: number[] = [];
    const end = this.end[entry] as number;
    for (let i = entry + 1; i < end; i = this.end[i] as number) found.push(i);
    return found;
  }

  isGroup(entry: number): boolean {
    return (this.end[entry] as number) > entry + 1;
  }

  /** The procedure or function that an entry is in, or is. */
  scope(entry: number): string {
    for (let i = entry; i >= 0; i = this.parent[i] as number) {
      const kind = this.outline.nodes.kind[i];
      if (CALLABLE.has(kind ?? "")) return this.outline.nodes.name[i] ?? "";
    }
    return "";
  }

  private pinOf(entry: number): Pin | null {
    const { kind, name, title } = this.outline.nodes;
    if (!name[entry] || kind[entry] === "run") return null;
    const isCall = kind[entry] === "statement" && (title[entry]?.startsWith("call ") ?? false);
    const isCallable = CALLABLE.has(kind[entry] ?? "") || isCall;
    return { name: name[entry], scope: isCallable ? "" : this.scope(entry) };
  }

  /** Entries that declare or write what is pinned, and the edges by which others read it. */
  pinned(pin: Pin): { entries: Set<number>; edges: Set<number> } {
    const { nodes, edges } = this.outline;
    const entries = new Set<number>();
    const found = new Set<number>();
    const inScope = (entry: number): boolean => pin.scope === "" || this.scope(entry) === pin.scope;
    nodes.name.forEach((name, entry) => {
      if (name === pin.name && nodes.kind[entry] !== "run" && inScope(entry)) entries.add(entry);
    });
    const label = edges.labels.indexOf(pin.name);
    if (label >= 0) {
      edges.label.forEach((each, edge) => {
        if (each === label && inScope(this.target[edge] as number)) found.add(edge);
      });
    }
    return { entries, edges: found };
  }

  /** All leaves within `hops` edges of `entry` and what is in it, calls included, up to some thousand. */
  neighborhood(starts: Iterable<number>, hops: number): Set<number> {
    const found = new Set<number>();
    for (const start of starts) {
      const end = Math.min(this.end[start] as number, start + MOST_NEIGHBORS);
      for (let i = start; i < end; i++) if (!this.isGroup(i)) found.add(i);
      found.add(start);
    }
    let front = [...found];
    const calls = this.outline.edges.calls;
    for (let hop = 0; hop < hops && front.length && found.size < MOST_NEIGHBORS; hop++) {
      const next: number[] = [];
      const reach = (entry: number): void => {
        if (found.has(entry) || found.size >= MOST_NEIGHBORS) return;
        found.add(entry);
        next.push(entry);
      };
      const edge = new Set(front);
      for (const entry of front) {
        this.each(this.leaving, entry, (i) => reach(this.target[i] as number));
        this.each(this.arriving, entry, (i) => reach(this.source[i] as number));
      }
      for (const [caller, callee] of calls) {
        if (edge.has(caller)) reach(callee);
        if (edge.has(callee)) reach(caller);
      }
      front = next;
    }
    return found;
  }

  each(adjacency: Adjacency, entry: number, visit: (edge: number) => void): void {
    const end = adjacency.offsets[entry + 1] as number;
    for (let i = adjacency.offsets[entry] as number; i < end; i++) {
      visit(adjacency.edges[i] as number);
    }
  }

  /** What contains `text` in its title, name, or in a node of it; upper and lower case are the same. */
  search(text: string): Hits {
    const wanted = text.toLowerCase();
    if (!wanted) return { hits: [], total: 0 };
    const { nodes } = this.outline;
    this.lower ??= nodes.title.map((title, i) => `${title}\n${nodes.name[i]}`.toLowerCase());
    const hits: Hit[] = [];
    const found = new Set<number>();
    this.lower.forEach((title, entry) => {
      if (nodes.kind[entry] !== "run" && title.includes(wanted)) {
        found.add(entry);
        hits.push({ entry, node: -1 });
      }
    });
    this.columns?.search(wanted, (entry, node) => {
      if (found.has(entry)) return;
      found.add(entry);
      hits.push({ entry, node });
    });
    hits.sort((a, b) => a.entry - b.entry);
    return { hits: hits.slice(0, MOST_HITS), total: hits.length };
  }

  detail(entry: number): EntryDetail | null {
    const { nodes, edges } = this.outline;
    if (!(entry >= 0 && entry < this.count)) return null;
    const fedBy: Link[] = [];
    const feeds: Link[] = [];
    const add = (links: Link[], other: number, edge: number): void => {
      if (links.length >= MOST_LINKS) return;
      const label = edges.labels[edges.label[edge] as number] ?? "";
      if (links.some((link) => link.entry === other && link.label === label)) return;
      links.push({ entry: other, title: nodes.title[other] ?? "", label });
    };
    const end = this.end[entry] as number;
    const inside = (other: number): boolean => other >= entry && other < end;
    const last = Math.min(end, entry + MOST_NEIGHBORS);
    for (let i = entry; i < last; i++) {
      this.each(this.arriving, i, (edge) => {
        const other = this.source[edge] as number;
        if (!inside(other)) add(fedBy, other, edge);
      });
      this.each(this.leaving, i, (edge) => {
        const other = this.target[edge] as number;
        if (!inside(other)) add(feeds, other, edge);
      });
    }
    const links = (others: number[]): Link[] =>
      [...new Set(others)]
        .slice(0, MOST_LINKS)
        .map((other) => ({ entry: other, title: nodes.title[other] ?? "", label: "" }));
    return {
      entry,
      key: nodes.id[entry] ?? "",
      title: nodes.title[entry] ?? "",
      kind: nodes.kind[entry] ?? "",
      name: nodes.name[entry] ?? "",
      scope: this.scope(entry),
      pin: this.pinOf(entry),
      line: nodes.line[entry] ?? 0,
      trips: nodes.trips[entry] ?? -1,
      node: nodes.node[entry] ?? -1,
      nodes: nodes.node_count[entry] ?? 0,
      children: nodes.children[entry] ?? 0,
      state: nodes.changed[entry] ?? 0,
      changed: nodes.changed_count[entry] ?? 0,
      fedBy,
      feeds,
      calls: links(edges.calls.filter(([caller]) => inside(caller)).map(([, callee]) => callee)),
      calledBy: links(
        edges.calls.filter(([, callee]) => callee === entry).map(([caller]) => caller),
      ),
    };
  }

  /** The keys of the groups around `entry`, outermost first, and its own. */
  way(entry: number): string[] {
    const keys: string[] = [];
    for (let i = entry; i >= 0; i = this.parent[i] as number) {
      keys.unshift(this.outline.nodes.id[i] ?? "");
    }
    return keys;
  }
}

/** The nodes of a graph in typed arrays. */
export class Columns {
  readonly offsets: Int32Array;
  readonly args: Int32Array;
  readonly state: Uint8Array;
  private readonly label: Int32Array;
  private readonly detail: Int32Array;
  private readonly group: Int32Array;

  constructor(private readonly from: GraphColumns) {
    this.offsets = Int32Array.from(from.arg_offsets);
    this.args = Int32Array.from(from.args);
    this.state = Uint8Array.from(from.state);
    this.label = Int32Array.from(from.label);
    this.detail = Int32Array.from(from.detail);
    this.group = Int32Array.from(from.group);
  }

  labelOf(node: number): string {
    return this.from.labels[this.label[node] as number] ?? "";
  }

  detailOf(node: number): string {
    return (this.from.details[this.detail[node] as number] ?? "").replaceAll("\n", " ");
  }

  argsOf(node: number): Int32Array {
    return this.args.subarray(this.offsets[node] as number, this.offsets[node + 1] as number);
  }

  search(wanted: string, found: (entry: number, node: number) => void): void {
    const labels = matches(this.from.labels, wanted);
    const details = matches(this.from.details, wanted);
    for (let node = 0; node < this.group.length; node++) {
      const entry = this.group[node] as number;
      if (entry < 0) continue;
      if (labels[this.label[node] as number] || details[this.detail[node] as number]) {
        found(entry, node);
      }
    }
  }
}

function matches(texts: string[], wanted: string): boolean[] {
  return texts.map((text) => text.toLowerCase().includes(wanted));
}

function adjacency(count: number, ends: Int32Array): Adjacency {
  const offsets = new Int32Array(count + 1);
  for (const end of ends) offsets[end + 1] = (offsets[end + 1] as number) + 1;
  for (let i = 0; i < count; i++) {
    offsets[i + 1] = (offsets[i + 1] as number) + (offsets[i] as number);
  }
  const next = offsets.slice();
  const edges = new Int32Array(ends.length);
  ends.forEach((end, edge) => {
    edges[next[end] as number] = edge;
    next[end] = (next[end] as number) + 1;
  });
  return { offsets, edges };
}
