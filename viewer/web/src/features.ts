/** Which parts of the API the page asks for. A server of this version has them all. */
export const HAS = {
  events: false,
  filters: false,
  changes: true,
  diff: true,
  values: false,
  lines: false,
  cost: false,
  search: false,
  compare: false,
  failure: false,
  timeline: false,
  graph: false,
  memory: false,
};
