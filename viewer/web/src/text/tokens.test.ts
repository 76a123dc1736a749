// @vitest-environment node
import { expect, test } from "vitest";
import { blockEnds } from "./folding";
import { nameAt, tokensOf } from "./tokens";

function words(kind: string, line: string): [string, string][] {
  return tokensOf(kind, line).map(({ from, to, class: name }) => [line.slice(from, to), name]);
}

test("assembly is read as operations, names, types and attributes", () => {
  expect(
    words("assembly", '%7 = expr.mul(%3, %6) {axis=0, name="x"} : tensor<3xfloat64 diff>'),
  ).toEqual([
    ["%7", "name"],
    ["expr.mul", "operation"],
    ["%3", "name"],
    ["%6", "name"],
    ["axis", "attribute"],
    ["0", "number"],
    ["name", "attribute"],
    ['"x"', "string"],
    ["tensor<3xfloat64 diff>", "type"],
  ]);
});

test("a listing is read as keywords, names and numbers", () => {
  expect(words("listing", "    for i_t2 in [0, 3) step 1 kind=global:")).toEqual([
    ["for", "keyword"],
    ["i_t2", "name"],
    ["in", "keyword"],
    ["0", "number"],
    ["3", "number"],
    ["step", "keyword"],
    ["1", "number"],
    ["kind", "attribute"],
    ["global", "name"],
  ]);
});

test("a name is found at each of its columns, and nowhere else", () => {
  const line = "  t2[i] <- (t1[i] - x0[i])";
  expect(nameAt("listing", line, 2)).toBe("t2");
  expect(nameAt("listing", line, 3)).toBe("t2");
  expect(nameAt("listing", line, 9)).toBeNull();
  expect(nameAt("code", 'double x; /* y */ "z"', 8)).toBe("x");
  expect(nameAt("code", 'double x; /* y */ "z"', 13)).toBeNull();
  expect(nameAt("code", "double x;", 2)).toBeNull();
});

test("no line is too long, and no kind unknown", () => {
  expect(tokensOf("listing", "x ".repeat(50_000))).toEqual([]);
  expect(tokensOf("tiles", "x")).toEqual([]);
});

test("a block ends with the last line that is indented deeper", () => {
  expect([...blockEnds(["proc a:", "  x", "  for:", "    y", "", "proc b:", "  z"])]).toEqual([
    3, 1, 3, 3, 4, 6, 6,
  ]);
});
