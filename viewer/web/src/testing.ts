/** What the unit tests share: summaries, and a server that answers from a table. */
import { vi } from "vitest";
import type { PayloadSummary, RecordingSummary, StepSummary } from "./schema";

export function recording(changes: Partial<RecordingSummary> = {}): RecordingSummary {
  return {
    id: "7c0e",
    name: "tuned weights",
    function: "cartpole",
    started_at: 1796004581.5,
    duration_s: 2.9,
    steps: 2,
    nodes: 24_000,
    code_bytes: 18_928,
    status: "ok",
    error: null,
    process: 42,
    host: "box",
    trace_id: "ab".repeat(16),
    file: "/home/me/mpc.py",
    line: 51,
    compiler_version: "0.1.0a2",
    problems: [],
    source: "recordings.jsonl",
    ...changes,
  };
}

export function payload(changes: Partial<PayloadSummary> = {}): PayloadSummary {
  return {
    kind: "listing",
    media_type: "text/plain; charset=utf-8",
    size: 12,
    digest: "d1",
    changed: true,
    error: null,
    ...changes,
  };
}

export function step(changes: Partial<StepSummary> = {}): StepSummary {
  return {
    index: 0,
    name: "expression",
    phase: "expression dialect",
    dialect: "expr",
    changed: true,
    missing: false,
    duration_s: 0.002,
    figures: {},
    changes: {},
    uncounted: [],
    payloads: [payload()],
    ...changes,
  };
}

export interface Answer {
  status?: number;
  body?: unknown;
  type?: string;
  tag?: string;
}

/** Answers `fetch` from `answers`, by address; what is not there is 404. */
export function serve(answers: Record<string, Answer>) {
  const fetching = vi.fn(async (url: string, init: RequestInit = {}): Promise<Response> => {
    const { status = 200, body, type = "application/json", tag } = answers[url] ?? NOT_FOUND;
    const asked = new Headers(init.headers).get("If-None-Match");
    if (tag && asked === tag) return new Response(null, { status: 304 });
    const headers = { "Content-Type": type, ...(tag ? { ETag: tag } : {}) };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return new Response(text, { status, headers });
  });
  vi.stubGlobal("fetch", fetching);
  return fetching;
}

const NOT_FOUND: Answer = {
  status: 404,
  body: { error: { code: "not_found", message: "there is nothing" } },
};
