import { describe, expect, it } from "vitest";
import { beginning, READABLE, ROOM } from "./place";
import type { Scene } from "./request";

/** A scene of boxes of this size, at their left upper corners. */
function sceneOf(corners: [number, number][], w: number, h: number): Scene {
  return {
    count: corners.length,
    x: Float64Array.from(corners, ([x]) => x),
    y: Float64Array.from(corners, ([, y]) => y),
    w: new Float64Array(corners.length).fill(w),
    h: new Float64Array(corners.length).fill(h),
    width: Math.max(...corners.map(([x]) => x)) + w,
    height: Math.max(...corners.map(([, y]) => y)) + h,
  } as unknown as Scene;
}

const CANVAS = { width: 800, height: 600 };

describe("the beginning of a scene", () => {
  it("is all of it where that can be read", () => {
    const { x, y, scale } = beginning(sceneOf([[0, 0]], 400, 200), CANVAS);
    expect([x, y, scale]).toEqual([200, 200, 1]);
  });

  it("is its whole width where only its height is too much", () => {
    const scene = sceneOf(
      [
        [200, 0],
        [0, 5_000],
      ],
      1_000,
      300,
    );
    const { x, y, scale } = beginning(scene, CANVAS);
    expect(x).toBeCloseTo(ROOM);
    expect(x + scene.width * scale).toBeCloseTo(CANVAS.width - ROOM);
    expect(y).toBe(ROOM);
  });

  it("is the first box in the corner where the rest would be too small, wherever that stands", () => {
    const scene = sceneOf(
      [
        [0, 3_000],
        [1_500, 0],
        [2_000, 0],
      ],
      400,
      300,
    );
    const { x, y, scale } = beginning(scene, CANVAS);
    expect(scale).toBe(READABLE);
    expect([x + 1_500 * scale, y]).toEqual([ROOM, ROOM]);
  });
});
