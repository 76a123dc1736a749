/** The map of a program's memory, in any element of a page. */
import { h, render } from "preact";
import type { Mounted, Props } from "../canvas/props";
import { type MemoryProps, MemoryRoom } from "./room";

export type { MemoryProps } from "./room";

/** Fills `host`, which should have a size of its own, with the memory map of a step. */
export function mountMemory(host: HTMLElement, props: MemoryProps): Mounted {
  const draw = (current: Props): void => render(h(MemoryRoom, { props: current }), host);
  draw(props);
  return { update: draw, press: () => false, destroy: () => render(null, host) };
}
