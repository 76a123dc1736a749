/** Owns the small picture of a whole scene in the corner of a big one: what of it is in view, and a way to go. */
import type { Palette } from "../canvas/palette";
import type { Surface } from "../canvas/surface";
import { type Marks, rectangle } from "./paint";
import { OPEN, type Scene } from "./request";

const WIDTH = 168;
const HEIGHT = 110;

export class Minimap {
  private readonly canvas = document.createElement("canvas");
  private scene: Scene | null = null;

  constructor(
    host: HTMLElement,
    private readonly surface: Surface,
    moved: () => void,
  ) {
    const { canvas } = this;
    canvas.className = "graph-map";
    canvas.hidden = true;
    canvas.setAttribute("aria-hidden", "true");
    host.append(canvas);
    const go = (event: PointerEvent): void => {
      moved();
      this.goTo(event);
    };
    canvas.addEventListener("pointerdown", go);
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) go(event);
    });
  }

  paint(scene: Scene, palette: Palette, marks: Marks): void {
    const { canvas, surface } = this;
    this.scene = scene;
    const scale = this.scale(scene);
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    canvas.hidden =
      scene.width * surface.transform.k <= surface.width &&
      scene.height * surface.transform.k <= surface.height;
    if (canvas.hidden) return;
    canvas.width = Math.ceil(scene.width * scale * ratio);
    canvas.height = Math.ceil(scene.height * scale * ratio);
    canvas.style.width = `${canvas.width / ratio}px`;
    canvas.style.height = `${canvas.height / ratio}px`;
    const context = canvas.getContext("2d");
    if (!context) return;
    context.scale(ratio, ratio);
    context.fillStyle = palette.raised;
    context.fillRect(0, 0, canvas.width, canvas.height);
    const least = 1 / scale;
    for (let box = 0; box < scene.count; box++) {
      const [x, y, w, h] = rectangle(scene, box);
      context.fillStyle = colorOf(scene, box, palette, marks);
      context.fillRect(
        x * scale,
        y * scale,
        Math.max(w, least) * scale,
        Math.max(h, least) * scale,
      );
    }
    const { x, y, k } = surface.transform;
    context.strokeStyle = palette.accent;
    context.lineWidth = 1.5;
    context.strokeRect(
      (-x / k) * scale,
      (-y / k) * scale,
      (surface.width / k) * scale,
      (surface.height / k) * scale,
    );
  }

  remove(): void {
    this.canvas.remove();
  }

  private scale(scene: Scene): number {
    const { width, height } = this.surface;
    return Math.min(
      Math.min(WIDTH, width / 4) / Math.max(scene.width, 1),
      Math.min(HEIGHT, height / 4) / Math.max(scene.height, 1),
    );
  }

  private goTo(event: PointerEvent): void {
    const { scene, surface } = this;
    if (!scene) return;
    event.preventDefault();
    const scale = this.scale(scene);
    const { k } = surface.transform;
    const x = surface.width / 2 - (event.offsetX / scale) * k;
    const y = surface.height / 2 - (event.offsetY / scale) * k;
    surface.goTo(x, y, k);
  }
}

function colorOf(scene: Scene, box: number, palette: Palette, marks: Marks): string {
  const state = scene.state[box] as number;
  if (marks.hits.has(box)) return palette["found-now"];
  if (scene.pinned[box]) return palette.pinned;
  if (scene.shape[box] === OPEN) return palette.sunken;
  return state === 1 ? palette.added : state === 2 ? palette.moved : palette.faint;
}
