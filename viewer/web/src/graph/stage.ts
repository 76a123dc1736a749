/** Owns the picture of a scene: what is drawn, what is under the pointer, where the view goes. */
import type { Palette } from "../canvas/palette";
import { Surface } from "../canvas/surface";
import { Minimap } from "./minimap";
import { type Marks, paint, rectangle } from "./paint";
import { beginning, READABLE, ROOM, whole } from "./place";
import { type Ports, portsOf } from "./ports";
import { FOLDED, NODE, OPEN, type Scene } from "./request";
import { HEADER } from "./scene";
import { toSvg } from "./svg";

interface StageEvents {
  /** A box was clicked, -1 for the paper. */
  chosen(box: number): void;
  toggled(box: number): void;
  hovered(box: number, x: number, y: number): void;
  moved(): void;
}

const LARGEST = 3;
const CHEVRON = 30;
/** What a browser can make one picture of. */
const LARGEST_PICTURE = 12_000;

export class Stage {
  readonly surface: Surface;
  private readonly map: Minimap;
  private scene: Scene | null = null;
  private ports: Ports | null = null;
  /** The view was not moved by hand since this was done, so it can be done again for another size. */
  private placing: (() => void) | null = null;
  /** Where a box was clicked, and which: the picture stays under the pointer. */
  private pointed: { x: number; y: number; key: string } | null = null;
  private marks: Marks = { selected: -1, hovered: -1, hits: new Set(), hit: -1 };

  constructor(
    host: HTMLElement,
    private palette: Palette,
    private readonly events: StageEvents,
  ) {
    this.surface = new Surface(
      host,
      {
        paint: (context, size) => this.paint(context, size),
        clicked: (x, y, count) => this.clicked(x, y, count),
        hovered: (x, y) => this.hovered(x, y),
        left: () => this.hovered(-1e9, -1e9),
        moved: (isByHand) => {
          if (isByHand) this.placing = null;
          events.moved();
        },
        resized: (right, down) => this.resized(right, down),
      },
      [0.02, LARGEST],
    );
    this.map = new Minimap(host, this.surface, () => {
      this.placing = null;
    });
  }

  /** Shows another scene: the box `anchor` stays where it was on the screen, else the scene begins anew. */
  show(scene: Scene, anchor: string | null): void {
    const before = anchor === null ? -1 : (this.scene?.key.indexOf(anchor) ?? -1);
    const after = anchor === null ? -1 : scene.key.indexOf(anchor);
    const old = this.scene;
    this.scene = scene;
    this.ports = portsOf(scene);
    this.marks = { ...this.marks, hovered: -1 };
    this.limit();
    if (old && before >= 0 && after >= 0) {
      this.placing = null;
      const { x, y, k } = this.surface.transform;
      const left = x + (old.x[before] as number) * k;
      const top = y + (old.y[before] as number) * k;
      this.surface.goTo(
        left - (scene.x[after] as number) * k,
        top - (scene.y[after] as number) * k,
        k,
      );
      const isSame = old.w[before] === scene.w[after] && old.h[before] === scene.h[after];
      if (!isSame || !this.isPointed()) this.bringIn(after);
    } else {
      this.begin();
    }
    this.surface.draw();
  }

  mark(marks: Partial<Marks>): void {
    this.marks = { ...this.marks, ...marks };
    this.surface.draw();
  }

  recolor(palette: Palette): void {
    this.palette = palette;
    this.surface.draw();
  }

  /** How wide a scene may be to be read as a whole, in its own units. */
  room(): number {
    return Math.max(0, this.surface.width - 2 * ROOM) / READABLE;
  }

  /** Shows a scene from its beginning, and again when the canvas gets another size. */
  private begin(): void {
    const { scene, surface } = this;
    if (!scene?.count) return;
    const { x, y, scale } = beginning(scene, surface);
    surface.goTo(x, y, scale);
    this.placing = () => this.begin();
  }

  /** Keeps in view what was brought there; else the picture stays where it is on the screen. */
  private resized(right: number, down: number): void {
    const { scene, surface, pointed } = this;
    if (!scene) return;
    this.events.moved();
    this.limit();
    if (this.placing) {
      this.placing();
      return;
    }
    const { x, y, k } = surface.transform;
    if (right || down) surface.goTo(x - right, y - down, k);
    if (pointed) this.pointed = { ...pointed, x: pointed.x - right, y: pointed.y - down };
    if (this.isPointed()) return;
    this.bringIn(pointed ? scene.key.indexOf(pointed.key) : this.marks.selected);
  }

  /** Whether the chosen box was clicked, and the pointer is still over the picture. */
  private isPointed(): boolean {
    const { surface, pointed } = this;
    if (!pointed) return false;
    const { x, y } = pointed;
    return x >= 0 && y >= 0 && x < surface.width && y < surface.height;
  }

  /** Brings everything into view. */
  fit(isFlight = false): void {
    const { scene, surface } = this;
    if (!scene?.count) return;
    this.placing = () => this.fit();
    const { x, y, scale } = whole(scene, surface);
    surface.goTo(x, y, scale, isFlight);
  }

  /** Flies to a box, close enough to read it. */
  flyTo(box: number): void {
    const { scene, surface } = this;
    if (!scene || box < 0 || box >= scene.count) return;
    this.placing = () => this.flyTo(box);
    this.pointed = null;
    const [x, y, w, h] = rectangle(scene, box);
    const fits = Math.min((surface.width - 80) / w, (surface.height - 80) / h);
    const scale = Math.max(0.05, Math.min(Math.max(surface.transform.k, 0.8), fits));
    const top = h * scale > surface.height - 80 ? 40 : (surface.height - h * scale) / 2;
    surface.goTo(surface.width / 2 - (x + w / 2) * scale, top - y * scale, scale, true);
  }

  /** Moves only as far as it takes to see a box. */
  reveal(box: number): void {
    this.pointed = null;
    this.placing = () => this.reveal(box);
    if (!this.bringIn(box, true)) this.flyTo(box);
  }

  /** The nearest box in a direction from another: for the arrow keys. */
  neighbor(box: number, dx: number, dy: number): number {
    const { scene } = this;
    if (!scene?.count) return -1;
    if (box < 0) return 0;
    const [cx, cy] = center(scene, box);
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let other = 0; other < scene.count; other++) {
      if (other === box || scene.shape[other] === OPEN) continue;
      const [x, y] = center(scene, other);
      const along = (x - cx) * dx + (y - cy) * dy;
      const across = Math.abs((x - cx) * dy) + Math.abs((y - cy) * dx);
      if (along < 4) continue;
      const cost = along + 2.5 * across;
      if (cost < least) {
        least = cost;
        best = other;
      }
    }
    return best;
  }

  svg(title: string): string {
    const { scene, ports } = this;
    return scene && ports ? toSvg(scene, ports, this.palette, title) : "";
  }

  /** The whole scene as PNG, twice as sharp as the screen where it is small enough. */
  async png(): Promise<Blob | null> {
    const { scene, ports } = this;
    if (!scene || !ports) return null;
    const width = scene.width + 2 * ROOM;
    const height = scene.height + 2 * ROOM;
    const scale = Math.min(2, LARGEST_PICTURE / Math.max(width, height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(width * scale);
    canvas.height = Math.ceil(height * scale);
    const context = canvas.getContext("2d");
    if (!context) return null;
    const view = {
      x: ROOM * scale,
      y: ROOM * scale,
      scale,
      width: canvas.width,
      height: canvas.height,
    };
    paint(context, scene, ports, this.palette, view, { ...this.marks, hovered: -1 });
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }

  destroy(): void {
    this.surface.destroy();
    this.map.remove();
  }

  private paint(context: CanvasRenderingContext2D, size: { width: number; height: number }): void {
    const { scene, ports, palette, surface } = this;
    if (!scene || !ports) {
      context.fillStyle = palette.ground;
      context.fillRect(0, 0, size.width, size.height);
      return;
    }
    const { x, y, k } = surface.transform;
    paint(context, scene, ports, palette, { x, y, scale: k, ...pick(size) }, this.marks);
    this.map.paint(scene, palette, this.marks);
  }

  private limit(): void {
    const { scene, surface } = this;
    if (!scene) return;
    const all = Math.min(
      surface.width / Math.max(scene.width, 1),
      surface.height / Math.max(scene.height, 1),
    );
    surface.setLimits(Math.min(0.5, all / 2), LARGEST);
  }

  /** Moves a box to where it can be seen; false where it is too big or too small to. */
  private bringIn(box: number, isFlight = false): boolean {
    const { scene, surface } = this;
    if (!scene || box < 0) return false;
    const { x, y, k } = surface.transform;
    const [left, top, w, h] = rectangle(scene, box);
    if (k < 0.35 || w * k > surface.width || h * k > surface.height) return false;
    const shift = (from: number, size: number, room: number): number => {
      if (from < ROOM) return ROOM - from;
      return Math.min(0, room - ROOM - (from + size));
    };
    const dx = shift(x + left * k, w * k, surface.width);
    const dy = shift(y + top * k, h * k, surface.height);
    if (dx || dy) surface.goTo(x + dx, y + dy, k, isFlight);
    return true;
  }

  private clicked(x: number, y: number, count: number): void {
    const { scene, pointed } = this;
    const isAgain = count > 1 && pointed !== null;
    const box = isAgain ? (scene?.key.indexOf(pointed.key) ?? -1) : this.boxAt(x, y);
    this.placing = null;
    if (isAgain) {
      if (box >= 0 && count % 2 === 0) this.events.toggled(box);
      return;
    }
    this.pointed = null;
    if (box >= 0 && this.isChevron(box, x, y)) this.events.toggled(box);
    else {
      this.pointed = box < 0 ? null : { x, y, key: scene?.key[box] as string };
      this.events.chosen(box);
    }
  }

  private hovered(x: number, y: number): void {
    const box = this.boxAt(x, y);
    if (box !== this.marks.hovered) this.mark({ hovered: box });
    this.surface.canvas.style.cursor = box >= 0 ? "pointer" : "";
    this.events.hovered(box, x, y);
  }

  private isChevron(box: number, x: number, y: number): boolean {
    const { scene, surface } = this;
    const shape = scene?.shape[box];
    if (!scene || (shape !== FOLDED && shape !== OPEN)) return false;
    const { x: left, y: top, k } = surface.transform;
    const dx = (x - left) / k - (scene.x[box] as number);
    const dy = (y - top) / k - (scene.y[box] as number);
    return dx < CHEVRON && dy < HEADER;
  }

  /** The innermost box at a point of the screen. */
  private boxAt(x: number, y: number): number {
    const { scene, surface } = this;
    if (!scene) return -1;
    const { x: left, y: top, k } = surface.transform;
    const sx = (x - left) / k;
    const sy = (y - top) / k;
    for (let box = scene.count - 1; box >= 0; box--) {
      const [bx, by, w, h] = rectangle(scene, box);
      if (sx >= bx && sy >= by && sx <= bx + w && sy <= by + h) return box;
    }
    return -1;
  }
}

export function canToggle(scene: Scene, box: number): boolean {
  const shape = scene.shape[box];
  return (
    shape !== NODE &&
    shape !== undefined &&
    (shape === FOLDED || shape === OPEN || scene.kind[box] === "statement")
  );
}

function center(scene: Scene, box: number): [number, number] {
  const [x, y, w, h] = rectangle(scene, box);
  return [x + w / 2, y + h / 2];
}

function pick({ width, height }: { width: number; height: number }): {
  width: number;
  height: number;
} {
  return { width, height };
}
