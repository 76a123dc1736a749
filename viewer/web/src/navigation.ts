/** The address of the page as state: who reads it, who changes it, and when the browser is told. */
import { useEffect, useState } from "preact/hooks";
import { here, insideUrl, shown, write } from "./address";
import { format, isAmiss, parse, type Route } from "./route";

/** Browsers refuse more than some 100 changes of the address in 30 seconds: so many at once, then fewer. */
const AT_ONCE = 30;
const REFILL_MS = 500;
const SETTLE_MS = 150;

const listeners = new Set<(route: Route) => void>();
let current: Route | null = null;
let settling: ReturnType<typeof setTimeout> | undefined;
let allowance = { left: AT_ONCE, at: 0 };

export function route(): Route {
  current ??= arrive();
  return current;
}

export function useRoute(): Route {
  const [shown, show] = useState(route);
  useEffect(() => {
    listeners.add(show);
    show(route());
    return () => void listeners.delete(show);
  }, []);
  return shown;
}

/** Where the browser is; an address that says what cannot be is mended. */
function arrive(): Route {
  const url = here();
  const target = parse(url);
  if (isAmiss(url, target)) write(format(target), "replace");
  return target;
}

/** Goes somewhere: "push" makes an entry that Back returns from, "replace" does not. */
export function go(target: Route, how: "push" | "replace" = "push"): void {
  if (how === "push") settle();
  set(target);
  if (how === "replace") {
    clearTimeout(settling);
    settling = setTimeout(settle, SETTLE_MS);
    if (isAllowed()) settle();
    return;
  }
  const href = format(target);
  if (href !== shown()) write(href, "push");
}

/** Whether the browser may be told at once, so that a reload finds what was chosen just before. */
function isAllowed(): boolean {
  const now = performance.now();
  const left = Math.min(AT_ONCE, allowance.left + (now - allowance.at) / REFILL_MS);
  allowance = { left: Math.max(left - 1, 0), at: now };
  return left >= 1;
}

function settle(): void {
  if (settling === undefined) return;
  clearTimeout(settling);
  settling = undefined;
  const href = format(route());
  if (href !== shown()) write(href, "replace");
}

function set(target: Route): void {
  current = target;
  for (const listener of [...listeners]) listener(target);
}

/** Follows the browser's Back and Forward, and plain clicks on links inside the page. */
export function startNavigation(arrived: () => void): void {
  document.addEventListener("click", (event) => {
    const url = insideLink(event);
    if (url === null) return;
    event.preventDefault();
    const before = pageOf(route());
    go(parse(url));
    if (pageOf(route()) !== before) arrived();
  });
  window.addEventListener("pagehide", settle);
  window.addEventListener("popstate", () => {
    clearTimeout(settling);
    settling = undefined;
    const before = pageOf(route());
    set(arrive());
    if (pageOf(route()) !== before) arrived();
  });
}

function pageOf(target: Route): string {
  return target.page === "recording" ? `r/${target.id}` : target.page;
}

/** The address that a plain click leads to inside the page, null where the browser shall follow. */
function insideLink(event: MouseEvent): URL | null {
  if (event.defaultPrevented || event.button !== 0) return null;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  return !link || link.hasAttribute("download") ? null : insideUrl(link);
}
