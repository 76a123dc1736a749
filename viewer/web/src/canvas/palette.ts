/** Owns the colors of canvases: the page's custom properties, or a fallback where a page has none. */

const FALLBACK = {
  text: ["#1b1f24", "#dde1e7"],
  quiet: ["#57606a", "#9aa4b0"],
  faint: ["#6a737d", "#8792a0"],
  ground: ["#ffffff", "#14171b"],
  raised: ["#f5f6f8", "#1b1f24"],
  sunken: ["#eceef1", "#23282e"],
  line: ["#d9dde2", "#2e343b"],
  hatch: ["#e6e9ed", "#22272d"],
  accent: ["#1a5fb4", "#82b4f0"],
  chosen: ["#e1ecf9", "#1f3146"],
  added: ["#1a7f37", "#57b36c"],
  "added-ground": ["#e9f7ec", "#14261a"],
  removed: ["#b3372f", "#e5837c"],
  moved: ["#7a5200", "#d6a84b"],
  "moved-ground": ["#fcf4e0", "#2a2416"],
  pinned: ["#8a3ffc", "#b694ff"],
  "pinned-ground": ["#f0e6ff", "#33264f"],
  found: ["#fff1b3", "#4d441c"],
  "found-now": ["#ffd24d", "#8a6d00"],
  error: ["#b3261e", "#f2938c"],
  heat: ["#f9d3a8", "#6b431a"],
  bar: ["#dbe7f6", "#223247"],
} as const;

type Color = keyof typeof FALLBACK;
export type Palette = Record<Color, string>;

/** The font of everything that comes from a recording. */
export const FONT = '"JetBrains Mono Variable", ui-monospace, "DejaVu Sans Mono", monospace';

/** Reads the colors as they are where `host` stands. */
export function readPalette(host: HTMLElement, theme: "light" | "dark"): Palette {
  const probe = document.createElement("span");
  probe.hidden = true;
  host.append(probe);
  const computed = getComputedStyle(probe);
  const palette = {} as Palette;
  for (const [name, [light, dark]] of Object.entries(FALLBACK)) {
    probe.style.color = `var(--${name}, ${theme === "dark" ? dark : light})`;
    palette[name as Color] = computed.color || light;
  }
  probe.remove();
  return palette;
}
