/** Owns the picture of a memory map: what is drawn, what is under the pointer. */
import type { Palette } from "../canvas/palette";
import { Surface } from "../canvas/surface";
import type { WorkspaceProcedure } from "../schema";
import { Chart, type Frame, type Shown } from "./paint";
import { CanvasPen, SvgPen } from "./pen";
import { type Bar, type Plan, planOf } from "./plan";

interface MapEvents {
  chosen(bar: Bar | null): void;
  entered(bar: Bar): void;
  hovered(bar: Bar | null, x: number, y: number): void;
}

export class MemoryMap {
  readonly surface: Surface;
  private procedure: WorkspaceProcedure | null = null;
  private plan: Plan | null = null;
  private shown: Shown = { hovered: null, pinned: null, chosen: -1 };

  constructor(
    host: HTMLElement,
    private palette: Palette,
    private readonly events: MapEvents,
  ) {
    this.surface = new Surface(
      host,
      {
        paint: (context) => this.paint(context),
        clicked: (x, y, count) => {
          const bar = this.chart()?.barAt(x, y) ?? null;
          if (count <= 1) events.chosen(bar);
          else if (bar && count === 2) events.entered(bar);
        },
        hovered: (x, y) => this.hovered(x, y),
        left: () => this.hovered(-1, -1),
        moved: () => {},
        resized: () => this.limit(),
      },
      [1, 200],
      "moves",
    );
  }

  show(procedure: WorkspaceProcedure): void {
    const isOther = procedure.name !== this.procedure?.name;
    this.procedure = procedure;
    this.plan = planOf(procedure);
    this.shown = { ...this.shown, hovered: null };
    this.limit();
    if (isOther) this.surface.goTo(0, 0, 1);
    this.surface.draw();
  }

  mark(shown: Partial<Shown>): void {
    this.shown = { ...this.shown, ...shown };
    this.surface.draw();
  }

  recolor(palette: Palette): void {
    this.palette = palette;
    this.surface.draw();
  }

  fit(): void {
    this.surface.goTo(0, 0, 1, true);
  }

  svg(): string {
    const frame = this.whole();
    const pen = new SvgPen(frame.width, frame.height);
    this.chart(frame)?.draw(pen, { ...this.shown, hovered: null });
    return pen.toString();
  }

  async png(): Promise<Blob | null> {
    const frame = this.whole();
    const scale = Math.min(2, 12_000 / Math.max(frame.width, frame.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(frame.width * scale);
    canvas.height = Math.ceil(frame.height * scale);
    const context = canvas.getContext("2d");
    if (!context) return null;
    context.scale(scale, scale);
    this.chart(frame)?.draw(new CanvasPen(context), { ...this.shown, hovered: null });
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }

  destroy(): void {
    this.surface.destroy();
  }

  private limit(): void {
    const { surface, plan } = this;
    if (plan) surface.setPaper(surface.width, Chart.naturalHeight(plan, surface.height));
  }

  private whole(): Frame {
    const width = Math.max(this.surface.width, 960);
    const height = this.plan ? Chart.naturalHeight(this.plan, this.surface.height) : 1;
    return { width, height, x: 0, y: 0, scale: 1 };
  }

  private chart(frame?: Frame): Chart | null {
    const { procedure, plan, palette, surface } = this;
    if (!procedure || !plan) return null;
    const { x, y, k } = surface.transform;
    const { width, height } = surface;
    return new Chart(procedure, plan, palette, frame ?? { width, height, x, y, scale: k });
  }

  private paint(context: CanvasRenderingContext2D): void {
    const pen = new CanvasPen(context);
    const chart = this.chart();
    if (chart) chart.draw(pen, this.shown);
    else {
      const { width, height } = this.surface;
      pen.rectangle(0, 0, width, height, { fill: this.palette.ground });
    }
  }

  private hovered(x: number, y: number): void {
    const bar = x < 0 ? null : (this.chart()?.barAt(x, y) ?? null);
    if (bar !== this.shown.hovered) this.mark({ hovered: bar });
    this.surface.canvas.style.cursor = bar ? "pointer" : "";
    this.events.hovered(bar, x, y);
  }
}
