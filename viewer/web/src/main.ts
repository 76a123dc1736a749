/** Starts the page. */
import { h, render } from "preact";
import { App } from "./app";
import { startKeys } from "./keys";
import { startNavigation } from "./navigation";

export function start(root: HTMLElement): void {
  startNavigation(() => {
    // A place of its own begins at its top, and is where the keyboard goes on.
    document.getElementById("main")?.focus({ preventScroll: true });
    document.documentElement.scrollTop = 0;
  });
  startKeys();
  render(h(App, {}), root);
}

const root = document.getElementById("app");
if (root) start(root);
