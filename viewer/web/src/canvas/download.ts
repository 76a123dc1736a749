/** Gives a person a file that the page made. */
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken hold of the content by the next task.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
