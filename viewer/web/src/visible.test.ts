// @vitest-environment node
import { expect, test } from "vitest";
import { partsOf, visible } from "./visible";

test("what is hidden or steers is an escape, as on the command line", () => {
  expect(visible("a\nb\tc\u001b[31m\u0000\u202eevil\u{e0041}\ud800")).toBe(
    "a\\nb\\tc\\x1b[31m\\x00\\u202eevil\\U000e0041\\ud800",
  );
  expect(visible("שלום ünï 🚀 100%")).toBe("שלום ünï 🚀 100%");
});

test("every other part is hidden, and nothing is lost", () => {
  const text = "\u202eevil\nlabel";
  expect(partsOf(text, false)).toEqual(["", "\u202e", "evil", "\n", "label"]);
  expect(partsOf(text, true)).toEqual(["", "\u202e", "evil\nlabel"]);
  expect(partsOf("plain", false)).toEqual(["plain"]);
});

test("a name of nothing but hidden characters does not become a thousand elements", () => {
  expect(partsOf("\u200b".repeat(5_000), false)).toEqual(["\\u200b".repeat(5_000)]);
});
