/** The parts of an exported page: compressed, in elements that the browser takes for data. */
import { Block } from "./unpack";

const SELECTOR = "script[data-block]";

/** Whether this page is a file that holds its recordings; else it asks a server. */
export const IS_FILE = typeof document !== "undefined" && document.querySelector(SELECTOR) !== null;

/** How many recordings the file holds. */
export const RECORDINGS = IS_FILE ? document.querySelectorAll('[data-block$="/texts"]').length : 0;

/** A page from the disk has no origin, and nothing without one may load a module. */
export const WORKER_TYPE: WorkerType = IS_FILE ? "classic" : "module";

/** Where the program of a worker is. */
export function workerUrl(name: string): string {
  const program = IS_FILE ? document.getElementById(`${name}.worker`)?.textContent : null;
  if (typeof program !== "string") return `/static/${name}.worker.js`;
  return URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
}

const opened = new Map<string, Promise<Block | null>>();

/** The block of this name, null where the page has none. */
export function block(name: string): Promise<Block | null> {
  let found = opened.get(name);
  if (!found) {
    found = open(name);
    opened.set(name, found);
  }
  return found;
}

async function open(name: string): Promise<Block | null> {
  const element = document.querySelector(`script[data-block="${CSS.escape(name)}"]`);
  return element ? new Block(await inflated(element.textContent ?? "")) : null;
}

/** What was compressed by gzip and written as base64. */
export async function inflated(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}
