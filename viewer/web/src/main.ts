/** Starts the page. */
import { h, render } from "preact";
import { answerFrom } from "./api";
import { App } from "./app";
import { answerOf, contentOf } from "./archive/archive";
import { IS_FILE } from "./archive/blocks";
import { startDownloads } from "./archive/downloads";
import { keys } from "./archive/kept";
import { startKeys } from "./keys";
import { go, route, startNavigation } from "./navigation";
import { recording } from "./route";

export function start(root: HTMLElement): void {
  startNavigation(() => {
    // A place of its own begins at its top, and is where the keyboard goes on.
    document.getElementById("main")?.focus({ preventScroll: true });
    document.documentElement.scrollTop = 0;
  });
  startKeys();
  render(h(App, {}), root);
}

/** The page is a file: what it shows is inside; that with one recording begins with it. */
async function openFile(): Promise<void> {
  answerFrom({ json: answerOf, content: contentOf });
  // For whoever wants to ask it more than the page shows: in the browser's console.
  Object.assign(window, { scalyViz: { answer: answerOf, content: contentOf } });
  startDownloads();
  const [id, ...others] = await keys();
  const { page } = route();
  if (page === "home" && id !== undefined && others.length === 0) go(recording(id), "replace");
}

const root = document.getElementById("app");
if (root && IS_FILE) void openFile().then(() => start(root));
else if (root) start(root);
