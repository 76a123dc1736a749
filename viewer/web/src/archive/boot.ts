/** Starts an exported page: puts style and program, which are compressed, into the document. */
import { inflated } from "./blocks";

interface Assets {
  style: string;
  app: string;
  /** The programs of workers, by name; as data, since a worker reads its own. */
  workers: Record<string, string>;
}

/** The page's policy allows just this style and this program, by their digests. */
async function boot(): Promise<void> {
  const written = document.getElementById("assets")?.textContent ?? "";
  const { style, app, workers } = JSON.parse(await inflated(written)) as Assets;
  const sheet = document.createElement("style");
  sheet.textContent = style;
  const program = document.createElement("script");
  program.type = "module";
  program.textContent = app;
  for (const [name, text] of Object.entries(workers)) {
    const worker = document.createElement("script");
    worker.type = "text/plain";
    worker.id = `${name}.worker`;
    worker.textContent = text;
    document.head.append(worker);
  }
  document.head.append(sheet, program);
}

if (typeof DecompressionStream === "undefined") {
  const place = document.getElementById("app");
  if (place) {
    place.textContent =
      "This browser is too old for this page: it needs Chromium 80, Firefox 113 or Safari 16.4.";
  }
} else {
  void boot();
}
