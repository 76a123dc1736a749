import { afterEach, expect, test, vi } from "vitest";
import { ApiError, getContent, getIfChanged, payloadUrl } from "./api";
import { payload, serve } from "./testing";

const { signal } = new AbortController();

afterEach(() => vi.unstubAllGlobals());

test("a payload is asked for by its digest, whatever its kind is called", () => {
  expect(payloadUrl("7c0e", 3, payload({ kind: "a/b?c" }))).toBe(
    "/api/v1/recordings/7c0e/steps/3/payloads/a%2Fb%3Fc?digest=d1",
  );
  expect(payloadUrl("7c0e", 3, payload({ digest: "" }))).toBe(
    "/api/v1/recordings/7c0e/steps/3/payloads/listing",
  );
});

test("what has not changed is not sent again", async () => {
  serve({ "/x": { body: [1], tag: '"t"' } });
  const first = await getIfChanged("/x", null, signal);
  expect(first).toEqual({ value: [1], tag: '"t"' });
  expect(await getIfChanged("/x", '"t"', signal)).toBeNull();
});

test("text comes as it was recorded, a byte order mark included", async () => {
  serve({ "/t": { body: "\uFEFFa\r\nb", type: "text/plain; charset=utf-8" } });
  expect((await getContent("/t", signal)).text).toBe("\uFEFFa\r\nb");
});

test("binary data has no text", async () => {
  serve({ "/b": { body: "\u0000", type: "application/octet-stream" } });
  expect((await getContent("/b", signal)).text).toBeNull();
});

test("an error says what the server said", async () => {
  serve({});
  const error = await getContent("/nothing", signal).catch((caught) => caught);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 404, code: "not_found", message: "there is nothing" });
});

test("an error of something that is not our server is told all the same", async () => {
  serve({ "/x": { status: 502, body: "<html>" }, "/y": { body: "<html>" } });
  for (const url of ["/x", "/y"]) {
    const error = await getIfChanged(url, null, signal).catch((caught) => caught);
    expect(error).toBeInstanceOf(ApiError);
  }
});

test("no answer is an error with status 0", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("failed")));
  const error = await getContent("/x", signal).catch((caught) => caught);
  expect(error).toMatchObject({ status: 0, message: "The server does not answer." });
});
