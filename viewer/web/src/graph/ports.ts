/** Owns where edges touch boxes: side by side in the order of their other ends, so that they do not cross there. */
import type { Scene } from "./request";

export interface Ports {
  /** Where edge i begins and ends, in the scene's coordinates. */
  x1: Float64Array;
  y1: Float64Array;
  x2: Float64Array;
  y2: Float64Array;
  /** Edges by box, both directions: for what hangs on a box. */
  of: number[][];
}

const WIDEST_STEP = 26;
const MARGIN = 10;

const known = new WeakMap<Scene, Ports>();

/** The ports of a scene, which are found once. */
export function portsOf(scene: Scene): Ports {
  const ports = known.get(scene) ?? find(scene);
  known.set(scene, ports);
  return ports;
}

function find(scene: Scene): Ports {
  const count = scene.from.length;
  const ports: Ports = {
    x1: new Float64Array(count),
    y1: new Float64Array(count),
    x2: new Float64Array(count),
    y2: new Float64Array(count),
    of: Array.from({ length: scene.count }, () => []),
  };
  const leaving: number[][] = Array.from({ length: scene.count }, () => []);
  const arriving: number[][] = Array.from({ length: scene.count }, () => []);
  for (let edge = 0; edge < count; edge++) {
    const from = scene.from[edge] as number;
    const to = scene.to[edge] as number;
    leaving[from]?.push(edge);
    arriving[to]?.push(edge);
    ports.of[from]?.push(edge);
    ports.of[to]?.push(edge);
    ports.y1[edge] = (scene.y[from] as number) + (scene.h[from] as number);
    ports.y2[edge] = scene.y[to] as number;
  }
  for (let box = 0; box < scene.count; box++) {
    spread(scene, box, leaving[box] as number[], scene.to, ports.x1);
    spread(scene, box, arriving[box] as number[], scene.from, ports.x2);
  }
  return ports;
}

function spread(
  scene: Scene,
  box: number,
  edges: number[],
  others: Int32Array,
  x: Float64Array,
): void {
  if (!edges.length) return;
  const middle = (edge: number): number => {
    const other = others[edge] as number;
    return (scene.x[other] as number) + (scene.w[other] as number) / 2;
  };
  edges.sort((a, b) => middle(a) - middle(b) || a - b);
  const width = (scene.w[box] as number) - 2 * MARGIN;
  const step = Math.min(WIDEST_STEP, width / edges.length);
  const center = (scene.x[box] as number) + (scene.w[box] as number) / 2;
  edges.forEach((edge, i) => {
    x[edge] = center + (i - (edges.length - 1) / 2) * step;
  });
}
