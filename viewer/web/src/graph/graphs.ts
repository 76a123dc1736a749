/** Owns the graphs that the worker has fetched: steps are walked to and fro, and what was seen stays at hand. */

import type { GraphColumns, Outline } from "../schema";
import { Columns, Model } from "./model";
import type { Given, Scene, SceneRequest } from "./request";

/** What graphs may weigh together, in bytes, as far as that can be told from their sizes. */
const MOST_BYTES = 128_000_000;
const BYTES_OF_ENTRY = 400;
const BYTES_OF_EDGE = 48;
const BYTES_OF_NODE = 64;
/** So many pictures of a graph are kept. */
const MOST_SCENES = 4;

type Fetch = <T>(url: string, signal: AbortSignal) => Promise<T>;

/** A graph of which more and more is there. */
export class Graph {
  model: Model | null = null;
  /** Pictures by what was asked for, the latest last. */
  private readonly scenes = new Map<string, Scene>();
  private stopping = new AbortController();
  private outline: Promise<Model> | null = null;
  private columns: Promise<void> | null = null;

  constructor(
    private readonly url: string,
    private readonly fetch: Fetch,
    private readonly given: Given | null,
  ) {}

  get isWhole(): boolean {
    return !!this.model?.columns;
  }

  /** Settles when there is enough to draw with. */
  opened(): Promise<Model> {
    if (this.outline) return this.outline;
    const reading = this.read();
    this.outline = reading;
    // What failed is asked for again when it is needed.
    reading.catch(() => {
      if (this.outline === reading) this.outline = null;
    });
    return reading;
  }

  /** Settles when the nodes of statements are there, too. */
  filled(): Promise<void> {
    if (this.columns) return this.columns;
    const filling = this.fill();
    this.columns = filling;
    filling.catch(() => {
      if (this.columns === filling) this.columns = null;
    });
    return filling;
  }

  /** Ends what is on its way; what is there stays. */
  stop(): void {
    if (this.isWhole) return;
    this.stopping.abort();
    this.stopping = new AbortController();
    this.columns = null;
    if (!this.model) this.outline = null;
  }

  scene(request: SceneRequest): Scene | null {
    const key = this.keyOf(request);
    const found = this.scenes.get(key);
    if (!found) return null;
    this.scenes.delete(key);
    this.scenes.set(key, found);
    return found;
  }

  keep(request: SceneRequest, scene: Scene): void {
    this.scenes.set(this.keyOf(request), scene);
    for (const key of this.scenes.keys()) {
      if (this.scenes.size <= MOST_SCENES) return;
      this.scenes.delete(key);
    }
  }

  get bytes(): number {
    const { model } = this;
    if (!model) return 0;
    let bytes = model.count * BYTES_OF_ENTRY + model.source.length * BYTES_OF_EDGE;
    if (model.columns) {
      bytes += model.columns.state.length * BYTES_OF_NODE;
      bytes += model.columns.args.length * BYTES_OF_EDGE;
    }
    for (const scene of this.scenes.values()) {
      bytes += scene.count * BYTES_OF_ENTRY + scene.from.length * BYTES_OF_EDGE;
    }
    return bytes;
  }

  /** Open statements are drawn as soon as their nodes are there. */
  private keyOf(request: SceneRequest): string {
    return `${this.isWhole} ${JSON.stringify(request)}`;
  }

  private async read(): Promise<Model> {
    const outline =
      this.given?.outline ??
      (await this.fetch<Outline>(`${this.url}/outline`, this.stopping.signal));
    this.model = new Model(outline);
    return this.model;
  }

  private async fill(): Promise<void> {
    const { signal } = this.stopping;
    const model = await this.opened();
    const columns =
      this.given?.columns ?? (await this.fetch<GraphColumns>(`${this.url}/graph`, signal));
    model.columns = new Columns(columns);
  }
}

export class Graphs {
  /** By what they are, the latest last. */
  private readonly known = new Map<string, Graph>();

  constructor(
    private readonly fetch: Fetch,
    private readonly mostBytes = MOST_BYTES,
  ) {}

  has(key: string): boolean {
    return this.known.get(key)?.isWhole ?? false;
  }

  /** The graph `key`, which is kept or begun. */
  graph(key: string, url: string, given: Given | null): Graph {
    const found = this.known.get(key) ?? new Graph(url, this.fetch, given);
    this.known.delete(key);
    this.known.set(key, found);
    return found;
  }

  /** Ends all that is on its way, but for the graph `key`. */
  stopOthers(key: string): void {
    for (const [other, graph] of this.known) if (other !== key) graph.stop();
  }

  /** Whether `count` more graphs of the size of `graph` can be kept beside it. */
  hasRoomFor(graph: Graph, count: number): boolean {
    return graph.bytes * (count + 1) <= this.mostBytes;
  }

  /** Drops the graphs that were not looked at for longest; the latest is kept. */
  shrink(): void {
    let bytes = 0;
    for (const graph of this.known.values()) bytes += graph.bytes;
    for (const [key, graph] of this.known) {
      if (bytes <= this.mostBytes || this.known.size === 1) return;
      bytes -= graph.bytes;
      graph.stop();
      this.known.delete(key);
    }
  }
}
