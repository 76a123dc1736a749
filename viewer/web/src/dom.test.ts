import { expect, test } from "vitest";
import { element, named, sync } from "./dom";

const HOSTILE = `"><script>x()</script><img src=x onerror="x()">\u202E\u001B[31m`;

test("text stays text", () => {
  const made = element("p", { title: HOSTILE }, named(HOSTILE), HOSTILE);
  expect(made.textContent).toBe(HOSTILE + HOSTILE);
  expect(made.title).toBe(HOSTILE);
  expect([...made.querySelectorAll("*")].map((node) => node.tagName)).toEqual(["BDI"]);
});

test("attributes that are false are left out, children that are null too", () => {
  const made = element("a", { href: "/", hidden: false, download: true }, null, "x");
  expect(made.outerHTML).toBe('<a href="/" download="">x</a>');
});

test("a list is brought up to date without touching what stays the same", () => {
  const list = element("ul");
  const draw = (...items: [string, number][]): Element[] => {
    sync(
      list,
      items,
      ([key]) => key,
      ([key, value]) => element("li", {}, `${key}${value}`),
    );
    return [...list.children];
  };
  const [a, b, c] = draw(["a", 1], ["b", 1], ["c", 1]);
  const [d, a2, c2, b2] = draw(["d", 1], ["a", 1], ["c", 1], ["b", 2]);
  expect(list.textContent).toBe("d1a1c1b2");
  expect([a2, c2]).toEqual([a, c]);
  expect(d).not.toBe(a);
  expect(b2).not.toBe(b);
  expect(draw()).toEqual([]);
});
