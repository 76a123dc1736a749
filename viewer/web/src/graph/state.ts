/** What the graph's room knows, and how it is said. */
import type { NodeDetail } from "../schema";
import { type EntryDetail, type Hits, OPEN, type Scene, type Summary } from "./request";
import { canToggle } from "./stage";
import { type Choices, START } from "./viewstate";

export interface State {
  summary: Summary | null;
  scene: Scene | null;
  choices: Choices;
  /** What is waited for, in words, null for nothing. */
  waiting: string | null;
  error: string | null;
  /** The nodes of statements are there, so that statements can be opened. */
  hasNodes: boolean;
  detail: EntryDetail | null;
  node: NodeDetail | null;
  query: string;
  hits: Hits | null;
  hit: number;
  /** For people who listen instead of look. */
  said: string;
}

export const NOTHING: State = {
  summary: null,
  scene: null,
  choices: START,
  waiting: null,
  error: null,
  hasNodes: false,
  detail: null,
  node: null,
  query: "",
  hits: null,
  hit: -1,
  said: "",
};

const STATES = ["", ", new", ", changed"];

/** A box in words, for people who listen instead of look. */
export function spoken(scene: Scene, box: number): string {
  const note = scene.note[box] ? `, ${scene.note[box]}` : "";
  const kind = scene.kind[box] === "node" ? "node" : scene.kind[box];
  const open = canToggle(scene, box) ? (scene.shape[box] === OPEN ? ", open" : ", closed") : "";
  return `${scene.title[box]}, ${kind}${note}${STATES[scene.state[box] as number] ?? ""}${open}`;
}
