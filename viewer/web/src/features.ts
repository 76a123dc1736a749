/** Which parts of the API the page asks for. A server of this version has them all. */
export const HAS = {
  events: true,
  filters: true,
  changes: true,
  diff: true,
  values: true,
  lines: true,
  cost: true,
  search: true,
  compare: true,
  failure: true,
  timeline: true,
  graph: true,
  memory: true,
};
