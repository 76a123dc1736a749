/** The graph of a step, in any element of a page. */
import { h, render } from "preact";
import type { Mounted } from "../canvas/props";
import type { GraphProps } from "./controller";
import { type Keys, Room } from "./room";

export type { GraphProps } from "./controller";

/** The keys that mean something wherever the focus is, with what they do. */
export const GRAPH_KEYS: [string, string][] = [
  ["/", "Search the graph"],
  ["n", "Next hit"],
  ["p", "Previous hit"],
  ["a", "Everything"],
  ["c", "Only what changed"],
  ["w", "Only what is near the pinned value"],
  ["h", "Only what is near the chosen box"],
  ["e", "Open all groups"],
  ["x", "Close all groups"],
  ["f", "Bring everything into view"],
  ["+", "Zoom in"],
  ["-", "Zoom out"],
  ["l", "Show the line of the chosen box"],
];

/** Fills `host`, which should have a size of its own, with the graph of a step. */
export function mountGraph(host: HTMLElement, props: GraphProps): Mounted {
  const keys: Keys = { press: () => false };
  const draw = (current: GraphProps): void => render(h(Room, { props: current, keys }), host);
  draw(props);
  return { update: draw, press: (key) => keys.press(key), destroy: () => render(null, host) };
}
