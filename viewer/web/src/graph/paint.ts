/** Owns how a scene is drawn: only what is in view, and no more detail than can be seen. */
import { FONT, type Palette } from "../canvas/palette";
import type { Ports } from "./ports";
import { ARGUMENT, CALL, FOLDED, LEAF, NODE, OPEN, type Scene } from "./request";
import { CHARACTER, HEADER } from "./scene";

export interface View {
  /** Screen = scene * scale + offset, in CSS pixels. */
  x: number;
  y: number;
  scale: number;
  width: number;
  height: number;
}

export interface Marks {
  selected: number;
  hovered: number;
  hits: ReadonlySet<number>;
  hit: number;
}

/** Signs, so that no meaning hangs on color alone. */
export const SIGNS = ["", "+", "~"] as const;
const SMALLEST_TEXT = 5.5;
const LONG = 300;
const MANY = 120;
const STUB = 16;
const SIDE = 11;

export function paint(
  context: CanvasRenderingContext2D,
  scene: Scene,
  ports: Ports,
  palette: Palette,
  view: View,
  marks: Marks,
): void {
  const painter = new Painter(context, scene, ports, palette, view, marks);
  painter.paper();
  // Open groups lie under the edges, all else above.
  painter.boxes((shape) => shape === OPEN);
  painter.edges();
  painter.boxes((shape) => shape !== OPEN);
  painter.headers();
}

/** How many edges of a scene are drawn as ends only, unless they are chosen. */
export function cutEdges(scene: Scene, ports: Ports): number {
  if (scene.from.length <= MANY) return 0;
  return ports.y1.reduce((n, y1, i) => n + ((ports.y2[i] as number) - y1 > LONG ? 1 : 0), 0);
}

class Painter {
  private readonly left: number;
  private readonly top: number;
  private readonly right: number;
  private readonly bottom: number;
  private readonly lit: Set<number>;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly scene: Scene,
    private readonly ports: Ports,
    private readonly palette: Palette,
    private readonly view: View,
    private readonly marks: Marks,
  ) {
    this.left = -view.x / view.scale;
    this.top = -view.y / view.scale;
    this.right = (view.width - view.x) / view.scale;
    this.bottom = (view.height - view.y) / view.scale;
    const focus = marks.selected >= 0 ? marks.selected : marks.hovered;
    this.lit = new Set(focus >= 0 ? ports.of[focus] : []);
  }

  paper(): void {
    this.context.fillStyle = this.palette.ground;
    this.context.fillRect(0, 0, this.view.width, this.view.height);
  }

  boxes(wanted: (shape: number) => boolean): void {
    const { scene, view, context } = this;
    context.save();
    context.translate(view.x, view.y);
    context.scale(view.scale, view.scale);
    for (let box = 0; box < scene.count; box++) {
      if (wanted(scene.shape[box] as number) && this.isInView(box)) this.box(box);
    }
    context.restore();
  }

  edges(): void {
    const { scene, view, context } = this;
    context.save();
    context.translate(view.x, view.y);
    context.scale(view.scale, view.scale);
    context.lineCap = "round";
    for (let edge = 0; edge < scene.from.length; edge++) {
      if (!this.lit.has(edge) && !scene.edgePinned[edge]) this.edge(edge, false);
    }
    for (let edge = 0; edge < scene.from.length; edge++) {
      if (this.lit.has(edge) || scene.edgePinned[edge]) this.edge(edge, true);
    }
    context.restore();
  }

  private isInView(box: number): boolean {
    const { scene } = this;
    const x = scene.x[box] as number;
    const y = scene.y[box] as number;
    return (
      x < this.right &&
      y < this.bottom &&
      x + (scene.w[box] as number) > this.left &&
      y + (scene.h[box] as number) > this.top
    );
  }

  private box(box: number): void {
    const { scene, palette, marks, view } = this;
    const [x, y, w, h] = rectangle(scene, box);
    const shape = scene.shape[box] as number;
    const line = 1 / view.scale;
    if (shape === FOLDED && h * view.scale > 12) {
      // A second sheet below says that there is something in it.
      this.outline(x + 3, y + 3, w, h, palette.sunken, palette.line, line);
    }
    const [fill, stroke] = this.colors(box);
    const isMarked = scene.pinned[box] || scene.state[box];
    this.outline(x, y, w, h, fill, stroke, (isMarked ? 1.5 : 1) * Math.max(line, 1));
    if (box === marks.selected) {
      const gap = 3 * Math.max(line, 0.7);
      this.outline(x - gap, y - gap, w + 2 * gap, h + 2 * gap, "", palette.accent, 2.5 * line);
    }
    if (shape !== OPEN) this.words(box);
  }

  /** The names of open groups, above the edges that pass there. */
  headers(): void {
    const { scene, view, context } = this;
    context.save();
    context.translate(view.x, view.y);
    context.scale(view.scale, view.scale);
    for (let box = 0; box < scene.count; box++) {
      if (scene.shape[box] === OPEN && this.isInView(box)) this.words(box);
    }
    context.restore();
  }

  private words(box: number): void {
    const [x, y, w, h] = rectangle(this.scene, box);
    if (12 * this.view.scale >= SMALLEST_TEXT) this.label(box, x, y, w, h);
    else this.farLabel(box, x, y, w, h);
  }

  private colors(box: number): [string, string] {
    const { scene, palette, marks } = this;
    if (box === marks.hit) return [palette["found-now"], palette.text];
    if (marks.hits.has(box)) return [palette.found, palette.quiet];
    if (scene.pinned[box]) return [palette["pinned-ground"], palette.pinned];
    const shape = scene.shape[box] as number;
    const state = scene.state[box] as number;
    const stroke = state === 1 ? palette.added : state === 2 ? palette.moved : "";
    if (shape === OPEN) {
      const fill = (scene.depth[box] as number) % 2 ? palette.ground : palette.raised;
      return [fill, stroke || palette.line];
    }
    if (state === 1) return [palette["added-ground"], stroke];
    if (state === 2) return [palette["moved-ground"], stroke];
    if (shape === NODE) return [palette.sunken, palette.line];
    return [palette.ground, box === marks.hovered ? palette.accent : palette.faint];
  }

  private outline(
    x: number,
    y: number,
    w: number,
    h: number,
    fill: string,
    stroke: string,
    line: number,
  ): void {
    const { context } = this;
    context.beginPath();
    context.roundRect(x, y, w, h, 4);
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    context.strokeStyle = stroke;
    context.lineWidth = line;
    context.stroke();
  }

  private label(box: number, x: number, y: number, w: number, h: number): void {
    const { scene, context, palette } = this;
    const shape = scene.shape[box] as number;
    const state = scene.state[box] as number;
    let at = x + SIDE;
    const middle = shape === FOLDED ? y + 15 : y + (shape === OPEN ? HEADER : h) / 2;
    context.textBaseline = "middle";
    context.font = `12px ${FONT}`;
    if (shape === FOLDED || shape === OPEN) {
      this.chevron(at + 3, middle, shape === OPEN);
      at += 18;
    }
    if (state) {
      context.font = `bold 13px ${FONT}`;
      context.fillStyle = state === 1 ? palette.added : palette.moved;
      context.fillText(SIGNS[state] ?? "", at, middle);
      at += 16;
    }
    context.font = `${shape === OPEN || shape === FOLDED ? "600 " : ""}12px ${FONT}`;
    context.fillStyle = palette.text;
    const room = x + w - SIDE - at;
    const title = cut(scene.title[box] ?? "", room);
    context.fillText(title, at, middle, Math.max(room, 1));
    const note = scene.note[box] ?? "";
    if (!note || shape === NODE || shape === LEAF) return;
    context.font = `11px ${FONT}`;
    context.fillStyle = palette.quiet;
    if (shape === FOLDED) {
      context.fillText(cut(note, w - 2 * SIDE - 18, 0.92), x + SIDE + 18, y + 31);
      return;
    }
    const width = note.length * CHARACTER * 0.92;
    if (at + title.length * CHARACTER + 20 + width < x + w - SIDE) {
      context.fillText(note, x + w - SIDE - width, middle);
    }
  }

  private chevron(x: number, y: number, isOpen: boolean): void {
    const { context } = this;
    context.strokeStyle = this.palette.quiet;
    context.lineWidth = 1.6;
    context.beginPath();
    if (isOpen) {
      context.moveTo(x - 4, y - 2);
      context.lineTo(x, y + 2);
      context.lineTo(x + 4, y - 2);
    } else {
      context.moveTo(x - 2, y - 4);
      context.lineTo(x + 2, y);
      context.lineTo(x - 2, y + 4);
    }
    context.stroke();
  }

  /** From afar groups keep their names, in letters of the screen's size, as far as they fit. */
  private farLabel(box: number, x: number, y: number, w: number, h: number): void {
    const { scene, context, palette, view } = this;
    const shape = scene.shape[box] as number;
    if (shape === NODE || shape === LEAF) return;
    const size = Math.min(11 / view.scale, (shape === OPEN ? HEADER : h) * 0.7);
    if (size * view.scale < SMALLEST_TEXT || w < size * 4) return;
    const room = w - size * 0.8;
    const title = scene.title[box] ?? "";
    const letters = Math.floor(room / (size * 0.6));
    context.font = `600 ${size}px ${FONT}`;
    context.textBaseline = "top";
    context.fillStyle = palette.text;
    context.fillText(shortened(title, letters), x + size * 0.4, y + size * 0.3);
  }

  private edge(edge: number, isLit: boolean): void {
    const { scene, ports, context, palette, view } = this;
    const x1 = ports.x1[edge] as number;
    const y1 = ports.y1[edge] as number;
    const x2 = ports.x2[edge] as number;
    const y2 = ports.y2[edge] as number;
    const isOut =
      Math.max(x1, x2) < this.left ||
      Math.min(x1, x2) > this.right ||
      Math.max(y1, y2) < this.top ||
      Math.min(y1, y2) > this.bottom;
    if (isOut) return;
    const kind = scene.edgeKind[edge] as number;
    const isPinned = scene.edgePinned[edge] === 1;
    const color = isPinned ? palette.pinned : isLit ? palette.accent : palette.faint;
    const thin = kind === ARGUMENT ? 0.8 : 1.1;
    context.strokeStyle = color;
    context.fillStyle = color;
    context.globalAlpha = isLit ? 1 : 0.55;
    context.lineWidth = Math.max((isLit ? 2 : thin) / Math.max(view.scale, 0.4), thin);
    context.setLineDash(kind === CALL ? [6, 4] : []);
    const bend = Math.max(12, Math.min(80, Math.abs(y2 - y1) / 2));
    context.beginPath();
    context.moveTo(x1, y1);
    if (!isLit && this.isCut(y2 - y1)) {
      context.lineTo(x1, y1 + STUB);
      context.moveTo(x2, y2 - STUB);
      context.lineTo(x2, y2 - 4);
    } else {
      context.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2 - 4);
    }
    context.stroke();
    context.setLineDash([]);
    if (view.scale > 0.3) {
      context.beginPath();
      context.moveTo(x2, y2);
      context.lineTo(x2 - 3.5, y2 - 7);
      context.lineTo(x2 + 3.5, y2 - 7);
      context.fill();
    }
    context.globalAlpha = 1;
    if (isLit && view.scale > 0.55) this.edgeLabel(edge, (x1 + x2) / 2, (y1 + y2) / 2, color);
  }

  /** Among many edges long ones would hide all others: only their ends are drawn. */
  private isCut(length: number): boolean {
    return length > LONG && this.scene.from.length > MANY;
  }

  private edgeLabel(edge: number, x: number, y: number, color: string): void {
    const { context, palette } = this;
    const label = shortened(this.scene.edgeLabel[edge] ?? "", 28);
    if (!label) return;
    const width = label.length * CHARACTER * 0.92 + 8;
    context.fillStyle = palette.ground;
    context.globalAlpha = 0.9;
    context.fillRect(x - width / 2, y - 8, width, 16);
    context.globalAlpha = 1;
    context.fillStyle = color;
    context.font = `11px ${FONT}`;
    context.textBaseline = "middle";
    context.textAlign = "center";
    context.fillText(label, x, y);
    context.textAlign = "start";
  }
}

export function rectangle(scene: Scene, box: number): [number, number, number, number] {
  return [
    scene.x[box] as number,
    scene.y[box] as number,
    scene.w[box] as number,
    scene.h[box] as number,
  ];
}

/** As much of `text` as has room, in letters of the boxes' font. */
export function cut(text: string, room: number, size = 1): string {
  return shortened(text, Math.floor(room / (CHARACTER * size) + 0.05));
}

function shortened(text: string, letters: number): string {
  if (text.length <= letters) return text;
  return letters < 2 ? "" : `${text.slice(0, letters - 1)}…`;
}
