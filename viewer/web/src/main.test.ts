import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { start } from "./main";
import { INTERVAL_MS } from "./poll";
import { type Answer, payload, recording, serve, step } from "./testing";

const RECORDING = "/api/v1/recordings/7c0e";
const LIST = "/api/v1/recordings?limit=1000";
const TEXT = "text/plain; charset=utf-8";

let answers: Record<string, Answer>;
let root: HTMLElement;
let notice: HTMLElement;

beforeEach(() => {
  vi.useFakeTimers();
  const steps = [
    step({ payloads: [payload({ digest: "d0" })] }),
    step({ index: 1, name: "lowered", payloads: [payload({ kind: "tiles", digest: "d1" })] }),
  ];
  answers = {
    [LIST]: { body: { recordings: [recording()], total: 1, offset: 0, limit: 1000 } },
    "/api/v1/sources": { body: { sources: [] } },
    [RECORDING]: { body: { recording: recording(), steps }, tag: '"1"' },
    [`${RECORDING}/steps/0/payloads/listing?digest=d0`]: { body: "zero", type: TEXT },
    [`${RECORDING}/steps/1/payloads/tiles?digest=d1`]: { body: "one", type: TEXT },
  };
  serve(answers);
  document.body.replaceChildren();
  root = document.body.appendChild(document.createElement("main"));
  notice = document.body.appendChild(document.createElement("p"));
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function settle(milliseconds = 0): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
}

async function open(path: string): Promise<void> {
  history.replaceState(null, "", path);
  start(root, notice);
  await settle();
}

function click(selector: string): boolean {
  const link = root.querySelector<HTMLElement>(selector);
  return link?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true })) ?? true;
}

test("a recording is opened, a step is chosen, and Back leads back", async () => {
  await open("/");
  click("tbody a");
  await settle();
  expect(location.pathname).toBe("/r/7c0e");
  expect(root.querySelector(".body pre")?.textContent).toBe("zero");
  expect(document.title).toBe("tuned weights – scaly-viz");
  click(".steps li:nth-child(2) a");
  await settle();
  expect(location.pathname).toBe("/r/7c0e/s/1");
  expect(root.querySelector(".body pre")?.textContent).toBe("one");
  history.back();
  await vi.waitFor(() => expect(location.pathname).toBe("/r/7c0e"));
  await settle();
  expect(root.querySelector(".body pre")?.textContent).toBe("zero");
});

test("an address leads straight to a payload of any kind", async () => {
  await open("/r/7c0e/s/1?kind=tiles");
  expect(root.querySelector(".body pre")?.textContent).toBe("one");
});

test("a payload that is known to be damaged is not asked for", async () => {
  const steps = [step({ payloads: [payload({ error: "RecursionError: deep" })] })];
  answers[RECORDING] = { body: { recording: recording(), steps } };
  const fetching = serve(answers);
  await open("/r/7c0e");
  expect(root.querySelector(".body")?.textContent).toContain("RecursionError: deep");
  expect(fetching).toHaveBeenCalledTimes(1);
});

test("a payload that cannot be rebuilt says why", async () => {
  const body = { error: { code: "payload_unreadable", message: "its digest is wrong" } };
  answers[`${RECORDING}/steps/0/payloads/listing?digest=d0`] = { status: 422, body };
  await open("/r/7c0e");
  expect(root.querySelector(".body")?.textContent).toContain("its digest is wrong");
});

test("a recording that grows is shown as it grows", async () => {
  await open("/r/7c0e/s/1");
  const more = [step(), step({ index: 1 }), step({ index: 2, name: "pass:late" })];
  answers[RECORDING] = { body: { recording: recording(), steps: more }, tag: '"2"' };
  await settle(INTERVAL_MS);
  expect(root.querySelectorAll(".steps li")).toHaveLength(3);
});

test("an unknown recording is said to be gone, and appears once it is there", async () => {
  const detail = answers[RECORDING];
  delete answers[RECORDING];
  await open("/r/7c0e");
  expect(root.textContent).toContain("no longer there");
  if (detail) answers[RECORDING] = detail;
  await settle(INTERVAL_MS);
  expect(root.querySelector(".body pre")?.textContent).toBe("zero");
});

test("a server that does not answer is told, and forgiven", async () => {
  await open("/");
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("failed")));
  await settle(INTERVAL_MS);
  expect(notice.hidden).toBe(false);
  expect(notice.textContent).toContain("does not answer");
  expect(root.querySelectorAll("tbody tr")).toHaveLength(1);
  serve(answers);
  await settle(INTERVAL_MS);
  expect(notice.hidden).toBe(true);
});

test("an address that is none says so", async () => {
  await open("/r/7c0e/s/x");
  expect(root.querySelector("h1")?.textContent).toBe("There is nothing at this address.");
});

test("a click with a modifier is the browser's", async () => {
  await open("/");
  const link = root.querySelector("tbody a");
  const event = new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey: true });
  link?.dispatchEvent(event);
  expect(event.defaultPrevented).toBe(false);
  expect(location.pathname).toBe("/");
});
