/** Starts the page. */
export function start(root: HTMLElement): void {
  root.textContent = "scaly-viz";
}

const root = document.getElementById("app");
if (root) start(root);
