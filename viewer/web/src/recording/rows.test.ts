// @vitest-environment node
import { expect, test } from "vitest";
import { step } from "../testing";
import { figureOf, read, signed } from "./figures";
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

test("a step of a recording without times has none", () => {
  expect(read(figureOf("time"), step({ duration_s: 0 }), null, "listing").value).toBeNull();
  expect(read(figureOf("time"), step({ duration_s: 0.25 }), null, "listing").value).toBe(0.25);
});

test("a change has its sign, and none is nothing", () => {
  expect(signed(1204, String)).toBe("+1204");
  expect(signed(-3, String)).toBe("−3");
  expect(signed(0, String)).toBe("");
  expect(signed(null, String)).toBe("");
});

test("spans lie below what they belong to, and none covers another", () => {
  const span = (name: string, depth: number, start_s: number, duration_s: number) => {
    return { name, recording: "r", step: null, status: "ok", start_s, duration_s, depth };
  };
  const lanes = lanesOf([
    span("render", 0, 0, 10),
    span("a", 1, 0, 4),
    span("inner", 2, 1, 5),
    span("other", 2, 2, 1),
    span("b", 1, 4, 6),
  ]);
  expect(lanes.map((lane) => lane.map(({ name }) => name))).toEqual([
    ["render"],
    ["a", "b"],
    ["inner"],
    ["other"],
  ]);
});
