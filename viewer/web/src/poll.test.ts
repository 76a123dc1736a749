import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { INTERVAL_MS, watch } from "./poll";
import { type Answer, serve } from "./testing";

let stop: AbortController;

beforeEach(() => {
  vi.useFakeTimers();
  stop = new AbortController();
});

afterEach(() => {
  stop.abort();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function watched(url: string) {
  const changed = vi.fn();
  const failed = vi.fn();
  watch(url, { changed, failed }, stop.signal);
  return { changed, failed };
}

test("tells of each change once", async () => {
  const answers: Record<string, Answer> = { "/x": { body: 1, tag: '"1"' } };
  const fetching = serve(answers);
  const { changed } = watched("/x");
  await vi.advanceTimersByTimeAsync(3 * INTERVAL_MS);
  expect(changed.mock.calls).toEqual([[1]]);
  expect(fetching).toHaveBeenCalledTimes(4);
  answers["/x"] = { body: 2, tag: '"2"' };
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(changed.mock.calls).toEqual([[1], [2]]);
});

test("goes on after an error, and says when it is over", async () => {
  const answers: Record<string, Answer> = { "/x": { status: 500, body: "" } };
  serve(answers);
  const { changed, failed } = watched("/x");
  await vi.advanceTimersByTimeAsync(0);
  expect(failed.mock.lastCall?.[0]).toMatchObject({ status: 500 });
  answers["/x"] = { body: 1 };
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(failed.mock.lastCall).toEqual([null]);
  expect(changed.mock.calls).toEqual([[1]]);
});

test("asks no more once it is stopped", async () => {
  const fetching = serve({ "/x": { body: 1 } });
  watched("/x");
  await vi.advanceTimersByTimeAsync(0);
  stop.abort();
  await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS);
  expect(fetching).toHaveBeenCalledTimes(1);
});

test("rests while the page is hidden, and asks at once when it is seen again", async () => {
  const fetching = serve({ "/x": { body: 1 } });
  const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  watched("/x");
  await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS);
  expect(fetching).toHaveBeenCalledTimes(1);
  hidden.mockReturnValue(false);
  document.dispatchEvent(new Event("visibilitychange"));
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(fetching).toHaveBeenCalledTimes(3);
});
