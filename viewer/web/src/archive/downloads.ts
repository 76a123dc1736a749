/** Payloads for downloading, which no server answers in an exported page. */
import { download } from "../canvas/download";
import { contentOf } from "./archive";

export function startDownloads(): void {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[download]") : null;
    const href = link?.getAttribute("href") ?? "";
    if (!link || !href.startsWith("/api/")) return;
    event.preventDefault();
    void save(href, link.getAttribute("download") ?? "payload");
  });
}

async function save(url: string, name: string): Promise<void> {
  const { text } = await contentOf(url);
  if (text !== null) download(name, new Blob([text], { type: "text/plain" }));
}
