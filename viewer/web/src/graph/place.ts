/** Where a scene is put on a canvas: screen = scene * scale + offset. */
import { rectangle } from "./paint";
import type { Scene } from "./request";

export interface Place {
  x: number;
  y: number;
  scale: number;
}

interface Size {
  width: number;
  height: number;
}

/** Below this scale letters are hard to read. */
export const READABLE = 0.65;
/** Below this one they cannot be read at all. */
const LEGIBLE = 0.5;
/** What is left free around a scene, in pixels. */
export const ROOM = 28;

/** All of a scene in the middle of a canvas. */
export function whole(scene: Scene, canvas: Size): Place {
  const { wide, high } = scales(scene, canvas);
  const scale = Math.min(1, wide, high);
  return {
    x: (canvas.width - scene.width * scale) / 2,
    y: Math.max(ROOM, (canvas.height - scene.height * scale) / 2),
    scale,
  };
}

/** All of a scene where that can be read, else its whole width, else its first box in the corner. */
export function beginning(scene: Scene, canvas: Size): Place {
  const { wide, high } = scales(scene, canvas);
  if (Math.min(wide, high) >= READABLE) return whole(scene, canvas);
  if (wide >= LEGIBLE) {
    const scale = Math.min(1, wide);
    return { x: (canvas.width - scene.width * scale) / 2, y: ROOM, scale };
  }
  const [x, y] = rectangle(scene, firstOf(scene));
  return { x: ROOM - x * READABLE, y: ROOM - y * READABLE, scale: READABLE };
}

/** How large the width and the height may be drawn. */
function scales(scene: Scene, canvas: Size): { wide: number; high: number } {
  return {
    wide: (canvas.width - 2 * ROOM) / Math.max(scene.width, 1),
    high: (canvas.height - 2 * ROOM) / Math.max(scene.height, 1),
  };
}

/** The box that stands highest, and farthest left of those. */
function firstOf(scene: Scene): number {
  let first = 0;
  for (let box = 1; box < scene.count; box++) {
    const [x, y] = rectangle(scene, box);
    const [firstX, firstY] = rectangle(scene, first);
    if (y < firstY || (y === firstY && x < firstX)) first = box;
  }
  return first;
}
