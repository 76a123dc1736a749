// @vitest-environment node
import { expect, test } from "vitest";
import { step } from "../testing";
import { signed } from "./figures";
import { neighbor } from "./rail";
import { type Row, rowsOf } from "./rows";
import { lanesOf } from "./timeline";

const STEPS = [
  step({ index: 0 }),
  ...[1, 2, 3, 4].map((index) => step({ index, name: `normalized:f${index}` })),
  step({ index: 5, name: "lowered" }),
  ...[6, 7, 8].map((index) => step({ index, name: `pass:p${index}`, changed: false })),
  step({ index: 9, name: "pass:last" }),
];

function shown(rows: Row[]): string[] {
  return rows.map((row) =>
    row.type === "step" ? String(row.step.index) : `${row.type} ${row.steps.length}`,
  );
}

test("unchanged steps and normalized functions are folded", () => {
  expect(shown(rowsOf(STEPS, 0, true))).toEqual(["0", "group 4", "5", "same 3", "9"]);
  expect(shown(rowsOf(STEPS, 0, false))).toHaveLength(10);
});

test("the current step is never folded away", () => {
  expect(shown(rowsOf(STEPS, 7, true))).toEqual([
    "0",
    "group 4",
    "5",
    "same 1",
    "7",
    "same 1",
    "9",
  ]);
  expect(shown(rowsOf(STEPS, 2, true))).toEqual(["0", "1", "2", "3", "4", "5", "same 3", "9"]);
});

test("arrow keys skip what changed nothing, unless it is shown", () => {
  expect(neighbor(STEPS, 5, 1, false)?.index).toBe(9);
  expect(neighbor(STEPS, 5, 1, true)?.index).toBe(6);
  expect(neighbor(STEPS, 9, -1, false)?.index).toBe(5);
  expect(neighbor(STEPS, 0, -1, false)).toBeNull();
});

test("a change has its sign, and none is nothing", () => {
  expect(signed(1204, String)).toBe("+1204");
  expect(signed(-3, String)).toBe("−3");
  expect(signed(0, String)).toBe("");
  expect(signed(null, String)).toBe("");
});

test("spans lie below their parents, and a circle of parents does no harm", () => {
  const span = (id: string, parent: string | null) => ({
    id,
    parent,
    name: id,
    recording: "r",
    step: null,
    start_s: 0,
    duration_s: 1,
    kind: "step",
  });
  const lanes = lanesOf([span("a", null), span("b", "a"), span("c", "b"), span("d", "gone")]);
  expect(lanes.map((lane) => lane.map(({ id }) => id))).toEqual([["a", "d"], ["b"], ["c"]]);
  expect(lanesOf([span("a", "b"), span("b", "a")]).flat()).toHaveLength(2);
});
