// @vitest-environment node
import { expect, test } from "vitest";
import {
  bytes,
  count,
  duration,
  flops,
  NONE,
  plural,
  renderTime,
  tick,
  time,
  titleOf,
} from "./format";

test("figures have separators and units", () => {
  expect(count(1234567)).toBe("1,234,567");
  expect(plural(1, "step")).toBe("1 step");
  expect(plural(1000, "step")).toBe("1,000 steps");
  expect(bytes(999)).toBe("999 B");
  expect(bytes(18928)).toBe("18.9 kB");
  expect(bytes(38_000_000)).toBe("38.0 MB");
  expect(duration(0.000_012_3)).toBe("12.3 µs");
  expect(duration(0.1064)).toBe("106 ms");
  expect(duration(2.9)).toBe("2.90 s");
  expect(duration(0.0076)).toBe("7.60 ms");
});

test("operations have one unit, in the singular where there is one", () => {
  expect([0, 1, 12, 1_284, 2_500_000].map(flops)).toEqual([
    "0 flops",
    "1 flop",
    "12 flops",
    "1.28 kflops",
    "2.50 Mflops",
  ]);
});

test("at an axis round values are short", () => {
  expect([0, 0.5, 2, 20].map((at) => tick(duration(at)))).toEqual(["0", "500 ms", "2 s", "20 s"]);
  expect(tick(duration(1.5))).toBe("1.5 s");
  expect([0, 1000, 25_000].map((at) => tick(bytes(at)))).toEqual(["0", "1 kB", "25 kB"]);
  expect(tick(count(1_000))).toBe("1,000");
});

test("what is not known is a dash", () => {
  expect(count(null)).toBe(NONE);
  expect(bytes(null)).toBe(NONE);
  expect(duration(null)).toBe(NONE);
  expect(duration(Number.POSITIVE_INFINITY)).toBe(NONE);
  expect(renderTime(0)).toBe(NONE);
});

test("a time that no calendar has is none", () => {
  expect(time(0)?.iso).toBe("1970-01-01T00:00:00.000Z");
  expect(time(1796004581.5)?.shown).toMatch(/^2026-11-\d\d \d\d:\d\d:41$/);
  expect(time(1e300)).toBeNull();
  expect(time(null)).toBeNull();
});

test("a recording is called by its label where that can be seen", () => {
  expect(titleOf({ name: "tuned", function: "f", id: "7c0e" })).toBe("tuned");
  expect(titleOf({ name: " ", function: "f", id: "7c0e" })).toBe("f");
  expect(titleOf({ name: "", function: "", id: "7c0e" })).toBe("7c0e");
});
