import { IS_FILE, RECORDINGS } from "./archive/blocks";

/** Which parts of the API the page asks for. A server of this version has them all, a file nearly. */
export const HAS = {
  events: !IS_FILE,
  filters: !IS_FILE,
  changes: true,
  diff: true,
  values: true,
  lines: true,
  cost: true,
  search: true,
  compare: !IS_FILE || RECORDINGS > 1,
  failure: true,
  timeline: true,
  graph: true,
  memory: true,
};
