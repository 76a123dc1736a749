// @vitest-environment node
import { expect, test } from "vitest";
import { Cache } from "./cache";

const size = (text: string): number => text.length;

test("what two ask for at once is fetched once", async () => {
  const cache = new Cache();
  let fetched = 0;
  const load = async (): Promise<string> => `${++fetched}`;
  await Promise.all([cache.load("a", load, size), cache.load("a", load, size)]);
  expect([fetched, cache.peek("a")]).toEqual([1, { value: "1" }]);
});

test("what was used least lately goes first when there is too much", async () => {
  const cache = new Cache(10);
  for (const key of ["a", "b"]) await cache.load(key, async () => "1234", size);
  cache.peek("a");
  await cache.load("c", async () => "1234", size);
  expect(cache.peek("b")).toBeUndefined();
  expect(cache.peek("a")).toEqual({ value: "1234" });
  expect(cache.peek("c")).toEqual({ value: "1234" });
});

test("what failed is known as such, and fetched again when asked for again", async () => {
  const cache = new Cache();
  await cache.load("a", () => Promise.reject(new Error("gone")), size);
  expect(cache.peek("a")?.error?.message).toBe("gone");
  await cache.load("a", async () => "back", size);
  expect(cache.peek("a")).toEqual({ value: "back" });
});
