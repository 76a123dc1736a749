/** The server's API: its types, as docs/api.md has them, and how it is asked. */

export interface RecordingSummary {
  id: string;
  name: string;
  function: string;
  started_at: number | null;
  duration_s: number | null;
  steps: number;
  nodes: number | null;
  code_bytes: number | null;
  status: string;
  error: string | null;
  process: number | null;
  host: string;
  trace_id: string;
  file: string;
  line: number | null;
  compiler_version: string;
  problems: string[];
}

export interface RecordingList {
  recordings: RecordingSummary[];
  total: number;
  offset: number;
  limit: number;
}

export interface PayloadSummary {
  kind: string;
  media_type: string;
  size: number;
  digest: string;
  changed: boolean;
  error: string | null;
}

export interface StepSummary {
  index: number;
  name: string;
  phase: string;
  dialect: string;
  changed: boolean;
  missing: boolean;
  duration_s: number | null;
  figures: Record<string, number>;
  changes: Record<string, number>;
  uncounted: string[];
  payloads: PayloadSummary[];
}

export interface RecordingDetail {
  recording: RecordingSummary;
  steps: StepSummary[];
}

export interface SourceSummary {
  name: string;
  path: string;
  recordings: number;
  problems: string[];
}

export interface SourceList {
  sources: SourceSummary[];
}

/** A decoded payload: text, or null where it is binary. */
export interface Content {
  text: string | null;
  mediaType: string;
}

/** An answer that is not the one asked for; `status` is 0 where there was none. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const BASE = "/api/v1";

export const SOURCES_URL = `${BASE}/sources`;

export function listUrl(limit: number): string {
  return `${BASE}/recordings?limit=${limit}`;
}

export function recordingUrl(id: string): string {
  return `${BASE}/recordings/${encodeURIComponent(id)}`;
}

/** The address of one payload; by its digest, so that it can be kept for good. */
export function payloadUrl(id: string, step: number, payload: PayloadSummary): string {
  const kind = encodeURIComponent(payload.kind);
  const digest = payload.digest ? `?digest=${encodeURIComponent(payload.digest)}` : "";
  return `${recordingUrl(id)}/steps/${step}/payloads/${kind}${digest}`;
}

/** Asks for what is at `url`; null where it still is what `tag` names. */
export async function getIfChanged<T>(
  url: string,
  tag: string | null,
  signal: AbortSignal,
): Promise<{ value: T; tag: string | null } | null> {
  const response = await request(url, signal, {
    cache: "no-store",
    headers: tag === null ? {} : { "If-None-Match": tag },
  });
  if (response.status === 304) return null;
  return { value: await json<T>(response), tag: response.headers.get("ETag") };
}

export async function getContent(url: string, signal: AbortSignal): Promise<Content> {
  const response = await request(url, signal, {});
  const mediaType = response.headers.get("Content-Type") ?? "";
  if (mediaType.startsWith("application/octet-stream")) {
    await response.body?.cancel();
    return { text: null, mediaType };
  }
  // Response.text() would drop a byte order mark.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return { text: decoder.decode(await response.arrayBuffer()), mediaType };
}

async function request(url: string, signal: AbortSignal, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { ...init, signal });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ApiError(0, "no_answer", "The server does not answer.");
  }
  if (response.ok || response.status === 304) return response;
  throw await errorOf(response);
}

async function json<T>(response: Response): Promise<T> {
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ApiError(response.status, "no_json", `The server answered ${response.status}.`);
  }
}

async function errorOf(response: Response): Promise<ApiError> {
  try {
    const { error } = await json<{ error: { code: string; message: string } }>(response);
    return new ApiError(response.status, String(error.code), String(error.message));
  } catch {
    return new ApiError(response.status, "error", `The server answered ${response.status}.`);
  }
}
