/** What the page asks the worker for, and what it gets. */
import type { Pin } from "../canvas/props";
import type { GraphColumns, Outline } from "../schema";

export type FilterMode = "all" | "changed" | "pin" | "around";

export interface SceneRequest {
  /** Groups that were opened or closed by hand, by the keys that they have in every step. */
  opened: string[];
  closed: string[];
  mode: FilterMode;
  /** The entry whose neighborhood is shown, for `around`. */
  around: number;
  /** How many edges far a neighborhood reaches. */
  hops: number;
  pin: Pin | null;
  /** Whether declarations that nothing leads to or from are drawn. */
  declarations: boolean;
  /** The key of an entry that is drawn even if it is such a declaration. */
  selected: string;
  /** How many boxes may be opened without being asked to. */
  budget: number;
  /** Whether a level is opened as a whole or not at all, so that the picture is even. */
  even: boolean;
  /** Whether nothing is opened without being asked to. */
  folded: boolean;
  /** How wide a picture can be read as a whole: boxes side by side are broken there, if not before. */
  room: number;
}

/** What a box is. */
export const FOLDED = 0;
export const OPEN = 1;
export const LEAF = 2;
export const NODE = 3;

/** What an edge means. */
export const FLOW = 0;
export const CALL = 1;
export const ARGUMENT = 2;

/** What is drawn: boxes in reading order, a group before what is in it; edges between boxes. */
export interface Scene {
  count: number;
  key: string[];
  title: string[];
  note: string[];
  kind: string[];
  shape: Uint8Array;
  entry: Int32Array;
  node: Int32Array;
  parent: Int32Array;
  depth: Int32Array;
  state: Uint8Array;
  pinned: Uint8Array;
  x: Float64Array;
  y: Float64Array;
  w: Float64Array;
  h: Float64Array;
  from: Int32Array;
  to: Int32Array;
  edgeKind: Uint8Array;
  edgeLabel: string[];
  edgePinned: Uint8Array;
  width: number;
  height: number;
  hidden: Hidden;
}

/** What of the outline is not drawn, and why. */
export interface Hidden {
  folded: number;
  filtered: number;
  declarations: number;
  /** Groups that would have been opened, had there been room. */
  unopened: number;
}

/** What is known of a graph as soon as it is there. */
export interface Summary {
  step: number;
  dialect: string;
  against: number | null;
  nodes: number;
  edges: number;
  entries: number;
  changed: number;
  removed: number;
  omitted: number;
  problems: string[];
  /** The nodes of statements are there, too. */
  hasNodes: boolean;
}

export interface Hit {
  entry: number;
  /** The node that was found inside of the entry, -1 for the entry itself. */
  node: number;
}

export interface Hits {
  hits: Hit[];
  total: number;
}

export interface Link {
  entry: number;
  title: string;
  label: string;
}

/** What the outline knows of an entry. */
export interface EntryDetail {
  entry: number;
  key: string;
  title: string;
  kind: string;
  name: string;
  scope: string;
  /** What is pinned where this is: nothing where it has no name. Procedures belong to no other. */
  pin: Pin | null;
  line: number;
  trips: number;
  node: number;
  nodes: number;
  children: number;
  state: number;
  changed: number;
  fedBy: Link[];
  feeds: Link[];
  calls: Link[];
  calledBy: Link[];
}

/** A graph that need not be asked for. */
export interface Given {
  outline: Outline;
  columns: GraphColumns;
}

/** A graph: what it is, which another state of the recording does not share, and where. */
export interface Wanted {
  key: string;
  url: string;
}

export type Ask =
  | { ask: "load"; what: Wanted; given: Given | null }
  /** Whether a graph need not be given again. */
  | { ask: "know"; key: string }
  /** Fetches and arranges what will be asked for next, as long as nothing else is to do. */
  | { ask: "prepare"; what: Wanted[]; request: SceneRequest }
  | { ask: "scene"; request: SceneRequest }
  | { ask: "search"; text: string }
  | { ask: "entry"; entry: number }
  | { ask: "way"; entry: number }
  | { ask: "find"; key: string };

export interface Answers {
  load: Summary;
  know: boolean;
  prepare: null;
  scene: Scene;
  search: Hits;
  entry: EntryDetail | null;
  /** The keys of all groups around an entry, and its own. */
  way: string[];
  /** The entry that has a key, -1 for none. */
  find: number;
}

export type ToWorker = { id: number } & (Ask | { ask: "cancel"; of: number });
export type FromWorker =
  | { id: number; answer: Answers[keyof Answers] }
  | { id: number; progress: string }
  | { id: number; error: string; cancelled: boolean };
