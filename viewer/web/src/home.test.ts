import { expect, test, vi } from "vitest";
import type { RecordingSummary } from "./api";
import { Home } from "./home";
import { recording } from "./testing";

function list(recordings: RecordingSummary[], total = recordings.length) {
  return { recordings, total, offset: 0, limit: 1000 };
}

function texts(root: Element, selector: string): (string | null)[] {
  return [...root.querySelectorAll(selector)].map((node) => node.textContent);
}

test("a row says what is known of a recording", () => {
  const home = new Home(() => {});
  home.show(list([recording()]));
  const [name, fun, status, , ...figures] = texts(home.root, "tbody tr > *");
  expect([name, fun, status]).toEqual(["tuned weights", "cartpole", "✓ ok"]);
  expect(figures).toEqual(["2.9 s", "2", "24,000", "18.9 kB"]);
  expect(home.root.querySelector("tbody a")?.getAttribute("href")).toBe("/r/7c0e");
  expect(home.root.querySelector("[role=status]")?.textContent).toBe("1 recording");
});

test("failed and incomplete recordings are told apart by sign and word", () => {
  const home = new Home(() => {});
  home.show(list([recording({ status: "failed" }), recording({ id: "b", status: "incomplete" })]));
  expect(texts(home.root, ".status")).toEqual(["✗ failed", "… incomplete"]);
});

test("a recording without a name is called by its id", () => {
  const home = new Home(() => {});
  home.show(list([recording({ name: "" })]));
  expect(texts(home.root, "tbody a")).toEqual(["7c0e"]);
});

test("an empty list shows how to make a recording", () => {
  const home = new Home(() => {});
  home.show(list([]));
  expect(home.root.querySelector<HTMLElement>(".empty")?.hidden).toBe(false);
  expect(home.root.querySelector(".empty pre")?.textContent).toContain("visualize(");
  home.show(list([recording()]));
  expect(home.root.querySelector<HTMLElement>(".empty")?.hidden).toBe(true);
});

test("a new recording leaves the other rows, and the focus, alone", () => {
  const home = new Home(() => {});
  document.body.replaceChildren(home.root);
  home.show(list([recording()]));
  const link = home.root.querySelector<HTMLElement>("tbody a");
  link?.focus();
  home.show(list([recording({ id: "new" }), recording()]));
  expect(texts(home.root, "tbody a")).toHaveLength(2);
  expect(document.activeElement).toBe(link);
});

test("many recordings come in two strokes", async () => {
  const home = new Home(() => {});
  home.show(list(Array.from({ length: 250 }, (_, i) => recording({ id: `r${i}` }))));
  expect(texts(home.root, "tbody a")).toHaveLength(100);
  await vi.waitFor(() => expect(texts(home.root, "tbody a")).toHaveLength(250));
});

test("what the list leaves out can be asked for", () => {
  const showMore = vi.fn();
  const home = new Home(showMore);
  home.show(list([recording()], 1201));
  const button = home.root.querySelector("button");
  expect(button?.textContent).toBe("Show 1,200 older recordings");
  button?.click();
  expect(showMore).toHaveBeenCalledOnce();
});

test("what cannot be read is told, each thing once", () => {
  const home = new Home(() => {});
  const source = { name: "a", path: "/a", recordings: 0 };
  home.showSources([
    { ...source, problems: ["a:1: not JSON", "a:2: torn"] },
    { ...source, problems: ["a:1: not JSON"] },
  ]);
  expect(texts(home.root, ".problems li")).toEqual(["a:1: not JSON", "a:2: torn"]);
  const summary = home.root.querySelector("summary");
  expect(summary?.textContent).toBe("2 remarks on the files that were read");
  home.showSources([]);
  expect(home.root.querySelector<HTMLElement>(".problems")?.hidden).toBe(true);
});
