import { describe, expect, test } from "vitest";
import type { RecordingDetail } from "./api";
import { choose, RecordingRoom } from "./recording";
import { payload, recording, step } from "./testing";

const TEXT = "text/plain; charset=utf-8";

const DETAIL: RecordingDetail = {
  recording: recording(),
  steps: [
    step({ payloads: [payload({ kind: "assembly" }), payload({ kind: "graph" })] }),
    step({
      index: 1,
      name: "pass:fuse_ranges",
      changed: false,
      payloads: [payload({ kind: "assembly" }), payload(), payload({ kind: "tiles" })],
    }),
  ],
};

function chosen(detail: RecordingDetail, stepIndex: number | null, kind: string | null) {
  const choice = choose(detail, { step: stepIndex, kind });
  return choice && [choice.step.index, choice.payload?.kind ?? null];
}

describe("what is shown", () => {
  test("is the listing where there is one, else the text that there is", () => {
    expect(chosen(DETAIL, null, null)).toEqual([0, "assembly"]);
    expect(chosen(DETAIL, 1, null)).toEqual([1, "listing"]);
    const odd = { ...DETAIL, steps: [step({ payloads: [payload({ kind: "tiles" })] })] };
    expect(chosen(odd, 0, null)).toEqual([0, "tiles"]);
  });

  test("is what the address names, also of an unknown kind", () => {
    expect(chosen(DETAIL, 1, "tiles")).toEqual([1, "tiles"]);
  });

  test("is nothing where the address names what is not there", () => {
    expect(chosen(DETAIL, 7, null)).toBeNull();
    expect(chosen(DETAIL, 0, "listing")).toBeNull();
    expect(chosen({ ...DETAIL, steps: [] }, null, null)).toBeNull();
  });

  test("is the last step of a failed render, but none that is missing", () => {
    const failed = recording({ status: "failed", error: "no" });
    const steps = [...DETAIL.steps, step({ index: 2, missing: true, payloads: [] })];
    expect(chosen({ recording: failed, steps }, null, null)).toEqual([1, "listing"]);
    expect(chosen({ recording: failed, steps }, 2, null)).toEqual([2, null]);
  });
});

function shown(detail: RecordingDetail, stepIndex: number | null, kind: string | null = null) {
  const room = new RecordingRoom("7c0e");
  const choice = choose(detail, { step: stepIndex, kind });
  room.show(detail, choice);
  return { room, choice, root: room.root };
}

function texts(root: Element, selector: string): (string | null)[] {
  return [...root.querySelectorAll(selector)].map((node) => node.textContent);
}

describe("the room", () => {
  test("lists the steps, marks the current one and those that changed nothing", () => {
    const { root } = shown(DETAIL, 1);
    expect(texts(root, ".steps a .name")).toEqual(["expression", "pass:fuse_ranges"]);
    expect(texts(root, "[aria-current=step] .name")).toEqual(["pass:fuse_ranges"]);
    expect(texts(root, ".steps .state")).toEqual(["", "same"]);
    expect(texts(root, ".tabs a")).toEqual(["assembly", "listing", "tiles"]);
    expect(texts(root, ".tabs [aria-current]")).toEqual(["listing"]);
  });

  test("keeps the kind for the steps that have it", () => {
    const { root } = shown(DETAIL, 1, "listing");
    const hrefs = [...root.querySelectorAll(".steps a")].map((a) => a.getAttribute("href"));
    expect(hrefs).toEqual(["/r/7c0e/s/0", "/r/7c0e/s/1?kind=listing"]);
  });

  test("shows text as it is", () => {
    const { room, choice, root } = shown(DETAIL, 1);
    const text = "<b>\u001B[31m\u202E\u0000\r\n";
    if (choice) room.showContent(choice, { text, mediaType: TEXT });
    expect(root.querySelector(".body pre")?.textContent).toBe(text);
    expect(root.querySelector(".body b")).toBeNull();
  });

  test("offers binary data and long JSON for download", () => {
    const { room, choice, root } = shown(DETAIL, 1, "tiles");
    const long = { text: "1".repeat(1_000_001), mediaType: "application/json" };
    for (const content of [{ text: null, mediaType: "application/octet-stream" }, long]) {
      if (choice) room.showContent(choice, content);
      const link = root.querySelector<HTMLAnchorElement>(".body a");
      expect(link?.getAttribute("href")).toBe(
        "/api/v1/recordings/7c0e/steps/1/payloads/tiles?digest=d1",
      );
      expect(link?.download).toBe("step-1-tiles");
    }
  });

  test("says why a payload cannot be shown", () => {
    const { room, root } = shown(DETAIL, 1);
    room.showError("its digest is wrong");
    expect(root.querySelector(".body")?.textContent).toContain("its digest is wrong");
  });

  test("says so where the address names what is not there", () => {
    const { root } = shown(DETAIL, 9);
    expect(root.textContent).toContain("no such step");
  });

  test("shows the error of a failed render", () => {
    const error = "LoweringError('<b>')";
    const { root } = shown({ ...DETAIL, recording: recording({ status: "failed", error }) }, null);
    expect(root.querySelector(".failure pre")?.textContent).toBe(error);
    expect(root.querySelector<HTMLElement>(".failure")?.hidden).toBe(false);
  });

  test("shows what an incomplete recording lacks", () => {
    const problems = ["1 of 3 steps are missing: 2"];
    const incomplete = recording({
      status: "incomplete",
      error: `incomplete: ${problems}`,
      problems,
    });
    const steps = [...DETAIL.steps, step({ index: 2, missing: true, payloads: [] })];
    const { root } = shown({ recording: incomplete, steps }, 2);
    expect(texts(root, ".problems li")).toEqual(problems);
    expect(root.querySelector<HTMLElement>(".failure")?.hidden).toBe(true);
    expect(root.querySelector(".body")?.textContent).toContain("This step is missing");
  });

  test("keeps the focus on the link that was followed", () => {
    const { room, root } = shown(DETAIL, 0);
    document.body.replaceChildren(root);
    root.querySelectorAll<HTMLElement>(".steps a")[1]?.focus();
    room.show(DETAIL, choose(DETAIL, { step: 1, kind: null }));
    expect(document.activeElement?.getAttribute("aria-current")).toBe("step");
    expect(document.activeElement?.textContent).toContain("fuse_ranges");
  });
});
