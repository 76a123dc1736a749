/** Owns the scene as a picture for other programs: SVG. */
import { FONT, type Palette } from "../canvas/palette";
import { cut, rectangle, SIGNS } from "./paint";
import type { Ports } from "./ports";
import { CALL, FOLDED, NODE, OPEN, type Scene } from "./request";
import { HEADER } from "./scene";

const MARGIN = 24;
const SIDE = 11;

/** The whole scene, whatever part of it is in view. */
export function toSvg(scene: Scene, ports: Ports, palette: Palette, title: string): string {
  const width = Math.ceil(scene.width + 2 * MARGIN);
  const height = Math.ceil(scene.height + 2 * MARGIN);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${-MARGIN} ${-MARGIN} ${width} ${height}" font-family='${FONT}' font-size="12">`,
    `<title>${escaped(title)}</title>`,
    `<rect x="${-MARGIN}" y="${-MARGIN}" width="${width}" height="${height}" fill="${palette.ground}"/>`,
  ];
  for (let box = 0; box < scene.count; box++) {
    if (scene.shape[box] === OPEN) parts.push(boxOf(scene, palette, box));
  }
  for (let edge = 0; edge < scene.from.length; edge++) {
    parts.push(edgeOf(scene, ports, palette, edge));
  }
  for (let box = 0; box < scene.count; box++) {
    if (scene.shape[box] !== OPEN) parts.push(boxOf(scene, palette, box));
  }
  parts.push("</svg>\n");
  return parts.join("\n");
}

function boxOf(scene: Scene, palette: Palette, box: number): string {
  const [x, y, w, h] = rectangle(scene, box);
  const shape = scene.shape[box] as number;
  const state = scene.state[box] as number;
  const isGroup = shape === OPEN || shape === FOLDED;
  const stroke = scene.pinned[box]
    ? palette.pinned
    : state === 1
      ? palette.added
      : state === 2
        ? palette.moved
        : shape === OPEN || shape === NODE
          ? palette.line
          : palette.faint;
  const fill =
    shape === OPEN
      ? (scene.depth[box] as number) % 2
        ? palette.ground
        : palette.raised
      : state === 1
        ? palette["added-ground"]
        : state === 2
          ? palette["moved-ground"]
          : palette.ground;
  const middle = shape === FOLDED ? y + 15 : y + (shape === OPEN ? HEADER : h) / 2;
  const sign = SIGNS[state] ? `${SIGNS[state]} ` : "";
  const label = cut(sign + (scene.title[box] ?? ""), w - 2 * SIDE + 2);
  const full = [scene.title[box], scene.note[box]].filter(Boolean).join("\n");
  const note =
    shape === FOLDED
      ? text(x + SIDE, y + 31, cut(scene.note[box] ?? "", w - 2 * SIDE, 0.92), palette.quiet, 11)
      : "";
  return [
    `<g><title>${escaped(full)}</title>`,
    `<rect x="${fixed(x)}" y="${fixed(y)}" width="${fixed(w)}" height="${fixed(h)}" rx="4" fill="${fill}" stroke="${stroke}"${state ? ' stroke-width="1.5"' : ""}/>`,
    text(x + SIDE, middle, label, palette.text, 12, isGroup),
    `${note}</g>`,
  ].join("");
}

function text(
  x: number,
  y: number,
  content: string,
  fill: string,
  size: number,
  isBold = false,
): string {
  const weight = isBold ? ' font-weight="600"' : "";
  // Names from a recording keep their writing direction to themselves.
  return `<text x="${fixed(x)}" y="${fixed(y + size / 3)}" fill="${fill}" font-size="${size}"${weight} direction="ltr" unicode-bidi="isolate" xml:space="preserve">${escaped(content)}</text>`;
}

function edgeOf(scene: Scene, ports: Ports, palette: Palette, edge: number): string {
  const x1 = ports.x1[edge] as number;
  const y1 = ports.y1[edge] as number;
  const x2 = ports.x2[edge] as number;
  const y2 = ports.y2[edge] as number;
  const bend = Math.max(12, Math.min(80, Math.abs(y2 - y1) / 2));
  const dash = scene.edgeKind[edge] === CALL ? ' stroke-dasharray="6 4"' : "";
  const color = scene.edgePinned[edge] ? palette.pinned : palette.faint;
  const path = `M${fixed(x1)} ${fixed(y1)}C${fixed(x1)} ${fixed(y1 + bend)} ${fixed(x2)} ${fixed(y2 - bend)} ${fixed(x2)} ${fixed(y2 - 4)}`;
  const head = `M${fixed(x2)} ${fixed(y2)}l-3.5 -7h7z`;
  const label = escaped(scene.edgeLabel[edge] ?? "");
  return `<g><title>${label}</title><path d="${path}" fill="none" stroke="${color}" stroke-opacity="0.7"${dash}/><path d="${head}" fill="${color}"/></g>`;
}

function fixed(value: number): string {
  return String(Math.round(value * 10) / 10);
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as XML can hold it: what XML forbids becomes U+FFFD. */
export function escaped(content: string): string {
  return content
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "")
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD]/gu, (character) =>
      (character.codePointAt(0) ?? 0) > 0xffff ? character : "\uFFFD",
    );
}
