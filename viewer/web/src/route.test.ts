// @vitest-environment node
import { describe, expect, test } from "vitest";
import { compare, format, home, isAmiss, parse, type Route, recording, search } from "./route";

function at(path: string): Route {
  return parse(new URL(path, "http://localhost:8000"));
}

describe("the address", () => {
  test.each<[string, Route]>([
    ["/", home()],
    ["/?q=failed%20fn%3Aocp*&sort=code", home({ q: "failed fn:ocp*", sort: "code" })],
    ["/search?q=t0", search({ q: "t0" })],
    ["/compare?left=a&right=b", compare({ left: "a", right: "b" })],
    ["/r/7c0e", recording("7c0e")],
    ["/r/7c0e/s/3", recording("7c0e", 3)],
    ["/r/7c0e/s/0?kind=listing", recording("7c0e", 0, { kind: "listing" })],
    ["/r/a%2Fb/s/3?kind=%26x%3D", recording("a/b", 3, { kind: "&x=" })],
    [
      "/r/7c0e/s/6?against=none&pin=constraints%3At0",
      recording("7c0e", 6, { against: "none", pin: "constraints:t0" }),
    ],
  ])("%s says where the user is, and is made of it again", (path, route) => {
    expect(at(path)).toEqual(route);
    expect(format(route)).toBe(path);
  });

  test("leaves out what has its default", () => {
    expect(format(at("/r/7c0e/s/3?kind=&against=prev&view=auto&other=1"))).toBe("/r/7c0e/s/3");
  });

  test("takes what cannot be for what it has otherwise, and is mended", () => {
    for (const [path, mended] of [
      ["/?sort=zzz&order=up&q=bogus%3Axx", "/?q=bogus%3Axx"],
      ["/?sort=code&order=desc", "/?sort=code"],
      ["/r/7c0e/s/3?heat=1&view=diagonal&rows=no", "/r/7c0e/s/3"],
    ] as const) {
      const url = new URL(path, "http://localhost:8000");
      expect(isAmiss(url, parse(url))).toBe(true);
      expect(format(parse(url))).toBe(mended);
    }
    const url = new URL("/?sort=code&order=asc&other=1", "http://localhost:8000");
    expect(isAmiss(url, parse(url))).toBe(false);
  });

  test.each(["/x", "/r/", "/r/a/s/", "/r/a/s/-1", "/r/a/s/01", "/r/a/s/9999999999", "/r/%E0%A4%A"])(
    "%s is nowhere",
    (path) => {
      expect(at(path)).toEqual({ page: "nowhere" });
    },
  );

  test("is always one of this page, whatever a recording is called", () => {
    for (const id of ["//evil.example", "javascript:alert(1)", "../..", "\\\\evil"]) {
      const href = format(recording(id, 1, { kind: "<b>" }));
      expect(href).toMatch(/^\/r\/[^/<]+\/s\/1\?kind=%3Cb%3E$/);
    }
  });
});
