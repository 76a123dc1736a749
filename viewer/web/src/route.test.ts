import { describe, expect, test } from "vitest";
import { format, parse, type Route } from "./route";

function at(path: string): Route {
  return parse(new URL(path, "http://localhost:8000"));
}

describe("the address", () => {
  test.each<[string, Route]>([
    ["/", { room: "home" }],
    ["/r/7c0e", { room: "recording", id: "7c0e", step: null, kind: null }],
    ["/r/7c0e/s/3", { room: "recording", id: "7c0e", step: 3, kind: null }],
    ["/r/7c0e/s/0?kind=listing", { room: "recording", id: "7c0e", step: 0, kind: "listing" }],
    ["/r/a%2Fb/s/3?kind=%26x%3D", { room: "recording", id: "a/b", step: 3, kind: "&x=" }],
  ])("%s says where the user is, and is made of it again", (path, route) => {
    expect(at(path)).toEqual(route);
    expect(format(route)).toBe(path);
  });

  test.each(["/x", "/r/", "/r/a/s/", "/r/a/s/-1", "/r/a/s/01", "/r/a/s/9999999999", "/r/%E0%A4%A"])(
    "%s is nowhere",
    (path) => {
      expect(at(path)).toEqual({ room: "nowhere" });
    },
  );

  test("is always one of this page, whatever a recording is called", () => {
    for (const id of ["//evil.example", "javascript:alert(1)", "../..", "\\\\evil"]) {
      const href = format({ room: "recording", id, step: 1, kind: "<b>" });
      expect(href).toMatch(/^\/r\/[^/<]+\/s\/1\?kind=%3Cb%3E$/);
    }
  });
});
