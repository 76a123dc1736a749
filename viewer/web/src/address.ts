/** Where the address of the page is kept: in the path at a server, behind the # in a file. */
import { IS_FILE } from "./archive/blocks";

/** A page inside of another page, as in a notebook, has no address: it only remembers. */
const IS_INSIDE = IS_FILE && location.protocol === "about:";
const FILE = "http://file";

let remembered = "#/";

/** A path as a link has it. */
export function hrefOf(path: string): string {
  return IS_FILE ? `#${path}` : path;
}

/** The address as links have it. */
export function shown(): string {
  if (!IS_FILE) return location.pathname + location.search;
  return IS_INSIDE ? remembered : location.hash;
}

/** The address with its path in its place. */
export function here(): URL {
  return IS_FILE ? fileUrl(shown()) : new URL(location.href);
}

export function write(href: string, how: "push" | "replace"): void {
  if (IS_INSIDE) remembered = href;
  else if (how === "push") history.pushState(null, "", href);
  else history.replaceState(null, "", href);
}

/** Where a link leads inside of the page, null where the browser shall follow it. */
export function insideUrl(link: HTMLAnchorElement): URL | null {
  if (IS_FILE) {
    const href = link.getAttribute("href") ?? "";
    return href.startsWith("#/") ? fileUrl(href) : null;
  }
  const isPage = !link.pathname.startsWith("/api/") && !link.pathname.startsWith("/static/");
  return link.origin === location.origin && isPage ? new URL(link.href) : null;
}

function fileUrl(hash: string): URL {
  return new URL(hash.startsWith("#/") ? hash.slice(1) : "/", FILE);
}
