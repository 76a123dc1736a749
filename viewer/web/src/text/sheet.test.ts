// @vitest-environment node
import { expect, test } from "vitest";
import { quietStretches } from "./context";
import { type Chunk, changeStarts, linesOf, Mark, plain, rowOf, split, unified } from "./sheet";

function chunk(left: [number, number], right: [number, number], op = "replace"): Chunk {
  return { left, right, op, move: null };
}

function rows(sheet: { doc: { toString(): string } }): string[] {
  return sheet.doc.toString().split("\n");
}

const LEFT = ["a", "b", "c", "d"];
const RIGHT = ["a", "B", "B2", "c", "d"];
const CHANGED = [chunk([2, 3], [2, 4])];

test("lines are broken as editors do", () => {
  expect(linesOf("a\r\nb\rc\n")).toEqual(["a", "b", "c", ""]);
  expect(linesOf("")).toEqual([""]);
});

test("a text alone keeps its lines and numbers", () => {
  const sheet = plain(["a", "b"]);
  expect(rows(sheet)).toEqual(["a", "b"]);
  expect([...sheet.numbers]).toEqual([1, 2]);
});

test("side by side, equal lines share a row, and what has no counterpart a filler", () => {
  const [left, right] = split(LEFT, RIGHT, CHANGED);
  expect(rows(left)).toEqual(["a", "b", "", "c", "d"]);
  expect(rows(right)).toEqual(["a", "B", "B2", "c", "d"]);
  expect([...left.numbers]).toEqual([1, 2, 0, 3, 4]);
  expect([...left.marks]).toEqual([
    Mark.equal,
    Mark.changedFrom,
    Mark.filler,
    Mark.equal,
    Mark.equal,
  ]);
  expect(right.partners.get(1)).toBe("b");
  expect(right.partners.has(2)).toBe(false);
});

test("in one column, what was stands before what is, with both numbers", () => {
  const sheet = unified(LEFT, RIGHT, CHANGED);
  expect(rows(sheet)).toEqual(["a", "b", "B", "B2", "c", "d"]);
  expect([...sheet.numbers]).toEqual([1, 0, 2, 3, 4, 5]);
  expect([...(sheet.others ?? [])]).toEqual([1, 2, 0, 0, 3, 4]);
  expect(rowOf(sheet, 3)).toBe(3);
  expect(rowOf(sheet, 2, "other")).toBe(1);
});

test("lines that only got other numbers are shown once, as they are now", () => {
  const sheet = unified(["t1 = x"], ["t0 = x"], [chunk([1, 2], [1, 2], "renumber")]);
  expect(rows(sheet)).toEqual(["t0 = x"]);
  expect([...sheet.marks]).toEqual([Mark.renumbered]);
  expect(changeStarts(sheet.marks)).toEqual([]);
});

test("a move has two ends of one number", () => {
  const moved = { op: "move", move: 1 };
  const [left, right] = split(
    ["m", "a", "b"],
    ["a", "b", "m"],
    [
      { left: [1, 2], right: [1, 1], ...moved },
      { left: [4, 4], right: [3, 4], ...moved },
    ],
  );
  expect([...left.moves]).toEqual([1, 0, 0, 0]);
  expect([...right.moves]).toEqual([0, 0, 0, 1]);
  expect([...right.marks]).toEqual([Mark.filler, Mark.equal, Mark.equal, Mark.movedTo]);
});

test("an insertion at the end and a deletion at the start need no neighbor", () => {
  const [left, right] = split(
    ["x", "a"],
    ["a", "y"],
    [chunk([1, 2], [1, 1], "delete"), chunk([3, 3], [2, 3], "insert")],
  );
  expect(rows(left)).toEqual(["x", "a", ""]);
  expect(rows(right)).toEqual(["", "a", "y"]);
});

test("long equal stretches are hidden but for three lines around a difference", () => {
  const marks = new Uint8Array(40);
  marks[20] = Mark.added;
  expect(quietStretches(marks)).toEqual([
    { from: 0, to: 17 },
    { from: 24, to: 40 },
  ]);
  expect(quietStretches(new Uint8Array(40))).toEqual([]);
});
