/** Where the user is: the page's address, and back. */

export type Route =
  | { room: "home" }
  | { room: "recording"; id: string; step: number | null; kind: string | null }
  | { room: "nowhere" };

export function parse(url: URL): Route {
  if (url.pathname === "/") return { room: "home" };
  const match = /^\/r\/([^/]+)(?:\/s\/(0|[1-9][0-9]{0,8}))?$/.exec(url.pathname);
  const id = match?.[1] === undefined ? null : decoded(match[1]);
  if (!match || id === null) return { room: "nowhere" };
  const step = match[2] === undefined ? null : Number(match[2]);
  return { room: "recording", id, step, kind: url.searchParams.get("kind") };
}

export function format(route: Route): string {
  if (route.room !== "recording") return "/";
  const step = route.step === null ? "" : `/s/${route.step}`;
  const kind = route.kind === null ? "" : `?kind=${encodeURIComponent(route.kind)}`;
  return `/r/${encodeURIComponent(route.id)}${step}${kind}`;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
