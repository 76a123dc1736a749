/** Owns the choice of what is drawn of an outline: which groups are open, what is hidden and why. */
import type { Model } from "./model";
import type { Hidden, SceneRequest } from "./request";

/** More boxes than this are never drawn at once. */
export const MOST_BOXES = 3_000;
/** More nodes of one statement are not drawn: those next to its result are. */
const MOST_NODES = 300;

const MOST_MEMBERS = 120;

export interface Chosen {
  /** Entries that are drawn, in reading order. */
  entries: number[];
  open: Set<number>;
  /** The nodes that are drawn in an open statement, arguments first. */
  nodes: Map<number, number[]>;
  pinnedEntries: Set<number>;
  pinnedEdges: Set<number>;
  hidden: Hidden;
}

export function choose(model: Model, request: SceneRequest): Chosen {
  return new Chooser(model, request).choose();
}

class Chooser {
  private readonly opened: Set<string>;
  private readonly closed: Set<string>;
  private readonly pinned: { entries: Set<number>; edges: Set<number> };
  /** 1 where an entry is wanted, 2 where only something in it is; null where all are. */
  private readonly kept: Uint8Array | null;
  private readonly open = new Set<number>();
  private readonly nodes = new Map<number, number[]>();
  private readonly hidden: Hidden = { folded: 0, filtered: 0, declarations: 0, unopened: 0 };
  private total = 0;

  constructor(
    private readonly model: Model,
    private readonly request: SceneRequest,
  ) {
    this.opened = new Set(request.opened);
    this.closed = new Set(request.closed);
    this.pinned = request.pin
      ? model.pinned(request.pin)
      : { entries: new Set(), edges: new Set() };
    this.kept = this.wanted();
  }

  choose(): Chosen {
    if (this.model.count) this.openUp();
    const entries: number[] = [];
    const { end } = this.model;
    const stack = this.model.count ? [0] : [];
    while (stack.length) {
      const entry = stack.pop() as number;
      entries.push(entry);
      if (this.open.has(entry)) {
        const inside = this.members(entry);
        for (let i = inside.length - 1; i >= 0; i--) stack.push(inside[i] as number);
        this.count(entry);
      } else {
        this.hidden.folded += (end[entry] as number) - entry - 1;
      }
    }
    return {
      entries,
      open: this.open,
      nodes: this.nodes,
      pinnedEntries: this.pinned.entries,
      pinnedEdges: this.pinned.edges,
      hidden: this.hidden,
    };
  }

  private wanted(): Uint8Array | null {
    const { model, request } = this;
    const marks = new Uint8Array(model.count);
    const changed = model.outline.nodes.changed;
    if (request.mode === "all") return null;
    if (request.mode === "changed") {
      for (let i = 0; i < model.count; i++) {
        if (changed[i] && !model.isGroup(i)) marks[i] = 1;
      }
    } else {
      for (const each of model.neighborhood(this.starts(), request.hops)) marks[each] = 1;
    }
    for (let i = model.count - 1; i > 0; i--) {
      const parent = model.parent[i] as number;
      if (marks[i] && parent >= 0 && !marks[parent]) marks[parent] = 2;
    }
    return marks;
  }

  private starts(): Set<number> {
    const { model, request } = this;
    const { kind, name } = model.outline.nodes;
    const isAround = request.mode === "around";
    if (isAround && kind[request.around] !== "buffer") return new Set([request.around]);
    // Nothing leads to a declaration: near it is what writes and reads the buffer.
    const buffer = { name: name[request.around] ?? "", scope: model.scope(request.around) };
    const { entries, edges } = isAround ? model.pinned(buffer) : this.pinned;
    const starts = new Set(entries);
    for (const edge of edges) {
      starts.add(model.source[edge] as number);
      starts.add(model.target[edge] as number);
    }
    return starts;
  }

  /** Opens groups level by level, as long as there is room; unasked a whole level or none of it. */
  private openUp(): void {
    let level = [0];
    while (level.length) {
      const next: number[] = [];
      const room = this.total + this.sizeOf(level);
      const isRoomy = this.kept !== null || !this.request.even || room <= this.request.budget;
      const isAuto = isRoomy && !this.request.folded;
      for (const entry of level) {
        if (!this.shouldOpen(entry, isAuto)) continue;
        const inside = this.members(entry);
        this.open.add(entry);
        this.total += inside.length;
        for (const each of inside) next.push(each);
      }
      level = next;
    }
  }

  private shouldOpen(entry: number, isAuto: boolean): boolean {
    const { model } = this;
    const key = model.outline.nodes.id[entry] ?? "";
    if (!model.isGroup(entry)) return this.openStatement(entry, key);
    if (this.closed.has(key)) return false;
    if (this.isPaper(entry)) return true;
    if ((entry === 0 || (entry === 1 && this.isOwnFunction())) && !this.request.folded) return true;
    const room = this.total + this.members(entry).length;
    const parent = model.parent[entry] as number;
    const asked = this.opened.has(key) || (this.isOnlyMember(entry) && this.wasOpened(parent));
    if (!asked && !isAuto) return false;
    if (room <= (asked ? MOST_BOXES : this.request.budget)) return true;
    if (asked || this.kept || !this.request.even) this.hidden.unopened++;
    return false;
  }

  /** The program itself, which is drawn as no box that could be opened. */
  private isPaper(entry: number): boolean {
    return entry === 0 && this.model.outline.nodes.kind[0] === "program";
  }

  /** How many boxes the groups of a level hold. */
  private sizeOf(level: number[]): number {
    let size = 0;
    for (const entry of level) {
      size += this.model.outline.nodes.children[entry] ?? 0;
      if (size > MOST_BOXES) break;
    }
    return size;
  }

  /** The function that the step is about is the first; its callees are read behind it. */
  private isOwnFunction(): boolean {
    const { nodes } = this.model.outline;
    return nodes.kind[1] === "function" && !this.kept && this.members(1).length <= MOST_MEMBERS;
  }

  private wasOpened(entry: number): boolean {
    const key = this.model.outline.nodes.id[entry] ?? "";
    if (this.opened.has(key)) return true;
    const parent = this.model.parent[entry] as number;
    return parent >= 0 && this.isOnlyMember(entry) && this.wasOpened(parent);
  }

  private isOnlyMember(entry: number): boolean {
    const parent = this.model.parent[entry] as number;
    return parent >= 0 && this.members(parent).length === 1;
  }

  private openStatement(entry: number, key: string): boolean {
    const { model } = this;
    const node = model.outline.nodes.node[entry] ?? -1;
    const kind = model.outline.nodes.kind[entry];
    if (kind !== "statement" || node < 0 || !model.columns || !this.opened.has(key)) return false;
    const nodes = interior(model, node);
    if (this.total + nodes.length > MOST_BOXES) {
      this.hidden.unopened++;
      return false;
    }
    this.total += nodes.length;
    this.nodes.set(entry, nodes);
    return true;
  }

  private members(entry: number): number[] {
    return this.model.children(entry).filter((each) => this.isDrawn(each));
  }

  private isDrawn(entry: number): boolean {
    if (this.kept) return this.kept[entry] !== 0;
    if (!this.isIdle(entry) || this.request.declarations) return true;
    const key = this.model.outline.nodes.id[entry];
    return this.pinned.entries.has(entry) || key === this.request.selected;
  }

  /** A declaration that nothing leads to or from. */
  private isIdle(entry: number): boolean {
    const { leaving, arriving, outline } = this.model;
    return (
      outline.nodes.kind[entry] === "buffer" &&
      leaving.offsets[entry] === leaving.offsets[entry + 1] &&
      arriving.offsets[entry] === arriving.offsets[entry + 1]
    );
  }

  private count(entry: number): void {
    for (const each of this.model.children(entry)) {
      if (this.isDrawn(each)) continue;
      const size = (this.model.end[each] as number) - each;
      if (this.kept) this.hidden.filtered += size;
      else this.hidden.declarations += size;
    }
  }
}

/** The nodes that a statement is made of, those next to its result first to be kept. */
function interior(model: Model, root: number): number[] {
  const { columns, outline } = model;
  if (!columns) return [];
  const standing = standingNodes(outline.nodes.node);
  const found = new Set([root]);
  const queue = [root];
  for (let i = 0; i < queue.length && found.size < MOST_NODES; i++) {
    for (const arg of columns.argsOf(queue[i] as number)) {
      if (found.has(arg) || found.size >= MOST_NODES) continue;
      if (standing.has(arg) && arg !== root) continue;
      found.add(arg);
      queue.push(arg);
    }
  }
  return [...found].sort((a, b) => a - b);
}

const standingOf = new WeakMap<number[], Set<number>>();

/** Nodes that are entries of their own, such as buffers and statements. */
function standingNodes(nodes: number[]): Set<number> {
  let found = standingOf.get(nodes);
  if (!found) {
    found = new Set(nodes);
    standingOf.set(nodes, found);
  }
  return found;
}
