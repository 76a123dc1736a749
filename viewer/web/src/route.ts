/** Where the user is: every state of the page as an address, and back. */
import { hrefOf } from "./address";

/** What an address may say of the list; a parameter that has its default is left out. */
const HOME = { q: "", sort: "started", order: "", group: "", pick: "", more: "" };
const SEARCH = { q: "", regex: "", case: "" };
/** What decides how two texts are set against each other. */
const TEXT = { view: "auto", numbering: "ignore", context: "changed", wrap: "", line: "" };
const COMPARE = { left: "", right: "", row: "", kind: "", ...TEXT };
const RECORDING = {
  room: "",
  kind: "",
  against: "prev",
  ...TEXT,
  pin: "",
  heat: "",
  figure: "time",
  rows: "folded",
  graph: "",
  memory: "",
  ...SEARCH,
};

/** Parameters that take no other values; what an address has beside these is as if it were not there. */
const VALUES: Record<string, readonly string[]> = {
  sort: ["started", "name", "duration", "steps", "nodes", "code", "status"],
  order: ["", "asc"],
  group: ["", "function"],
  view: ["auto", "split", "inline"],
  numbering: ["ignore", "exact"],
  context: ["changed", "all"],
  wrap: ["", "1"],
  heat: ["", "flops", "bytes"],
  rows: ["folded", "all"],
  regex: ["", "1"],
  case: ["", "1"],
};

type Params<T> = { [K in keyof T]: string };
export type HomeParams = Params<typeof HOME>;
export type SearchParams = Params<typeof SEARCH>;
export type TextParams = Params<typeof TEXT>;
export type CompareParams = Params<typeof COMPARE>;
export type RecordingParams = Params<typeof RECORDING>;

export type Route =
  | { page: "home"; params: HomeParams }
  | { page: "search"; params: SearchParams }
  | { page: "compare"; params: CompareParams }
  | { page: "recording"; id: string; step: number | null; params: RecordingParams }
  | { page: "nowhere" };

export function parse(url: URL): Route {
  const { pathname, searchParams } = url;
  if (pathname === "/") return { page: "home", params: read(HOME, searchParams) };
  if (pathname === "/search") return { page: "search", params: read(SEARCH, searchParams) };
  if (pathname === "/compare") return { page: "compare", params: read(COMPARE, searchParams) };
  const match = /^\/r\/([^/]+)(?:\/s\/(0|[1-9][0-9]{0,8}))?$/.exec(pathname);
  const id = match?.[1] === undefined ? null : decoded(match[1]);
  if (!match || id === null) return { page: "nowhere" };
  const step = match[2] === undefined ? null : Number(match[2]);
  return { page: "recording", id, step, params: read(RECORDING, searchParams) };
}

/** Whether an address says what cannot be, and so is not the one of the place that it leads to. */
export function isAmiss({ searchParams }: URL, route: Route): boolean {
  if (route.page === "nowhere") return false;
  const params: Record<string, string> = route.params;
  return Object.entries(params).some(
    ([key, value]) => searchParams.has(key) && searchParams.get(key) !== value,
  );
}

/** The address as a link has it. */
export function format(route: Route): string {
  return hrefOf(path(route));
}

function path(route: Route): string {
  switch (route.page) {
    case "home":
      return `/${written(HOME, route.params)}`;
    case "search":
      return `/search${written(SEARCH, route.params)}`;
    case "compare":
      return `/compare${written(COMPARE, route.params)}`;
    case "recording": {
      const step = route.step === null ? "" : `/s/${route.step}`;
      return `/r/${encodeURIComponent(route.id)}${step}${written(RECORDING, route.params)}`;
    }
    default:
      return "/";
  }
}

export function home(params: Partial<HomeParams> = {}): Route {
  return { page: "home", params: { ...HOME, ...params } };
}

export function search(params: Partial<SearchParams> = {}): Route {
  return { page: "search", params: { ...SEARCH, ...params } };
}

export function compare(params: Partial<CompareParams>): Route {
  return { page: "compare", params: { ...COMPARE, ...params } };
}

export function recording(
  id: string,
  step: number | null = null,
  params: Partial<RecordingParams> = {},
): Route {
  return { page: "recording", id, step, params: { ...RECORDING, ...params } };
}

function read<T extends Record<string, string>>(defaults: T, given: URLSearchParams): Params<T> {
  const entries = Object.entries(defaults).map(([key, value]) => {
    const asked = given.get(key) ?? value;
    return [key, (VALUES[key]?.includes(asked) ?? true) ? asked : value];
  });
  return Object.fromEntries(entries) as Params<T>;
}

function written<T extends Record<string, string>>(defaults: T, params: Params<T>): string {
  const parts = Object.entries(defaults)
    .filter(([key, value]) => params[key] !== value)
    .map(([key]) => `${key}=${encodeURIComponent(params[key] ?? "")}`);
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
