/** How the server is asked. */
import type { PayloadSummary } from "./schema";

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
/** Asks for errors as answers: what is not there is nothing that the browser has to complain of. */
const ERRORS_AS_ANSWERS = { "Scaly-Viz-Errors": "200" };
const ERROR_STATUS = "Scaly-Viz-Status";

/** What answers in the place of a server: the file that the page is. */
export interface Archive {
  json<T>(url: string): Promise<T>;
  content(url: string): Promise<Content>;
}

let archive: Archive | null = null;

export function answerFrom(given: Archive): void {
  archive = given;
}

export const SOURCES_URL = `${BASE}/sources`;

/** An address of the API; parameters that are empty are left out. */
export function apiUrl(path: string, params: Record<string, string | number | null> = {}): string {
  const parts = Object.entries(params)
    .filter(([, value]) => value !== "" && value !== null)
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
  return `${BASE}/${path}${parts.length === 0 ? "" : `?${parts.join("&")}`}`;
}

export function recordingUrl(
  id: string,
  path = "",
  params: Record<string, string | number | null> = {},
): string {
  return apiUrl(`recordings/${encodeURIComponent(id)}${path}`, params);
}

/** The address of one payload; by its digest, so that it can be kept for good. */
export function payloadUrl(id: string, step: number, payload: PayloadSummary): string {
  const kind = encodeURIComponent(payload.kind);
  return recordingUrl(id, `/steps/${step}/payloads/${kind}`, { digest: payload.digest });
}

/** Asks for what is at `url`; null where it still is what `tag` names. */
export async function getIfChanged<T>(
  url: string,
  tag: string | null,
  signal: AbortSignal,
): Promise<{ value: T; tag: string | null } | null> {
  if (archive) return tag === null ? { value: await archive.json<T>(url), tag: "file" } : null;
  const response = await request(url, signal, {
    cache: "no-store",
    headers: tag === null ? {} : { "If-None-Match": tag },
  });
  if (response.status === 304) return null;
  return { value: await json<T>(response), tag: response.headers.get("ETag") };
}

export async function getJson<T>(url: string, signal: AbortSignal): Promise<T> {
  if (archive) return archive.json<T>(url);
  return json<T>(await request(url, signal, {}));
}

export async function getContent(url: string, signal: AbortSignal): Promise<Content> {
  if (archive) return archive.content(url);
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

interface Asked {
  cache?: RequestCache;
  headers?: Record<string, string>;
}

async function request(url: string, signal: AbortSignal, init: Asked): Promise<Response> {
  let response: Response;
  try {
    const headers = { ...ERRORS_AS_ANSWERS, ...init.headers };
    response = await fetch(url, { ...init, headers, signal });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ApiError(0, "no_answer", "The server does not answer.");
  }
  const status = Number(response.headers.get(ERROR_STATUS) ?? response.status);
  if ((status >= 200 && status < 300) || status === 304) return response;
  throw await errorOf(response, status);
}

async function json<T>(response: Response): Promise<T> {
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ApiError(response.status, "no_json", `The server answered ${response.status}.`);
  }
}

async function errorOf(response: Response, status: number): Promise<ApiError> {
  try {
    const { error } = await json<{ error: { code: string; message: string } }>(response);
    return new ApiError(status, String(error.code), String(error.message));
  } catch {
    return new ApiError(status, "error", `The server answered ${status}.`);
  }
}
