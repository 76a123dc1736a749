/** Owns a canvas that fills its host, is sharp on any screen, moves and zooms, and is drawn once a frame at most. */
import { select } from "d3-selection";
import {
  type D3ZoomEvent,
  type ZoomBehavior,
  type ZoomTransform,
  zoom,
  zoomIdentity,
} from "d3-zoom";

interface Painted {
  paint(context: CanvasRenderingContext2D, size: { width: number; height: number }): void;
  /**
   * A click without a drag, in CSS pixels from the canvas's corner, and which it is of those that
   * make a double click: the second is the canvas's, whatever has come under the pointer since.
   */
  clicked(x: number, y: number, count: number): void;
  hovered(x: number, y: number): void;
  left(): void;
  /** The view was moved: by a person, or because it was told to. */
  moved(isByHand: boolean): void;
  /** The canvas has another size than before, and its corner is that much farther right and down. */
  resized(right: number, down: number): void;
}

const FLIGHT_MS = 120;
/** What a pointer may move in a click, in pixels. */
const CLICK_DISTANCE = 4;
/** A wheel with notches sends big whole steps in one direction; a touch pad does not. */
const NOTCH = 50;

export class Surface {
  readonly canvas: HTMLCanvasElement;
  transform: ZoomTransform = zoomIdentity;
  width = 1;
  height = 1;
  private readonly context: CanvasRenderingContext2D;
  private readonly zoom: ZoomBehavior<HTMLCanvasElement, unknown>;
  private readonly resizing: ResizeObserver;
  private readonly ending = new AbortController();
  private frame = 0;
  private flight = 0;
  private isGoing = false;
  private corner = { left: 0, top: 0 };
  /** Where the pointer went down, and whether the first click there was on the canvas. */
  private pressed = { x: 0, y: 0, isOurs: false };

  constructor(
    host: HTMLElement,
    private readonly painted: Painted,
    [least, most]: [number, number],
    /** What a wheel with notches does; pinching and Ctrl always zoom. */
    private readonly wheel: "zooms" | "moves" = "zooms",
  ) {
    this.canvas = document.createElement("canvas");
    this.canvas.className = "surface";
    host.append(this.canvas);
    const context = this.canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("this browser draws no canvas");
    this.context = context;
    this.zoom = zoom<HTMLCanvasElement, unknown>()
      .scaleExtent([least, most])
      .filter((event: Event) => this.isMove(event))
      .clickDistance(CLICK_DISTANCE)
      .on("zoom", (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
        this.transform = event.transform;
        this.painted.moved(!this.isGoing);
        this.draw();
      });
    select(this.canvas).call(this.zoom).on("dblclick.zoom", null);
    this.listen();
    this.resizing = new ResizeObserver(() => {
      // A canvas of another size is empty: it must not be seen so.
      if (this.resize()) this.drawNow();
    });
    this.resizing.observe(host);
    this.resize();
    this.draw();
  }

  /** Draws in the next frame. */
  draw(): void {
    this.frame ||= requestAnimationFrame(() => this.drawNow());
  }

  zoomBy(factor: number): void {
    select(this.canvas).call(this.zoom.scaleBy, factor);
  }

  moveBy(dx: number, dy: number): void {
    const { k } = this.transform;
    select(this.canvas).call(this.zoom.translateBy, dx / k, dy / k);
  }

  /** Goes to a place at once, or in a short flight that shows the way. */
  goTo(x: number, y: number, scale: number, isFlight = false): void {
    cancelAnimationFrame(this.flight);
    const start = this.transform;
    const quiet = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!isFlight || quiet) {
      this.set(x, y, scale);
      return;
    }
    const since = performance.now();
    const step = (now: number): void => {
      const part = Math.min(1, Math.max(0, (now - since) / FLIGHT_MS));
      const eased = part * (2 - part);
      const mix = (from: number, to: number): number => from + (to - from) * eased;
      this.set(mix(start.x, x), mix(start.y, y), mix(start.k, scale));
      if (part < 1) this.flight = requestAnimationFrame(step);
    };
    this.flight = requestAnimationFrame(step);
  }

  setLimits(least: number, most: number): void {
    this.zoom.scaleExtent([least, most]);
  }

  /** Keeps the view within a paper of this size, whose corner is where the canvas's is. */
  setPaper(width: number, height: number): void {
    this.zoom.translateExtent([
      [0, 0],
      [Math.max(width, this.width), Math.max(height, this.height)],
    ]);
    this.moveBy(0, 0);
  }

  destroy(): void {
    cancelAnimationFrame(this.frame);
    cancelAnimationFrame(this.flight);
    this.ending.abort();
    this.resizing.disconnect();
    select(this.canvas).on(".zoom", null);
    this.canvas.remove();
  }

  private drawNow(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const ratio = this.ratio();
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.painted.paint(this.context, this);
  }

  private set(x: number, y: number, scale: number): void {
    this.isGoing = true;
    select(this.canvas).call(this.zoom.transform, zoomIdentity.translate(x, y).scale(scale));
    this.isGoing = false;
  }

  private listen(): void {
    const { canvas, painted } = this;
    const at = (event: MouseEvent): [number, number] => [event.offsetX, event.offsetY];
    canvas.addEventListener("click", (event) => {
      if (event.detail <= 1) painted.clicked(...at(event), 1);
    });
    const first = { capture: true, signal: this.ending.signal };
    window.addEventListener("mousedown", (event) => this.press(event), first);
    window.addEventListener("click", (event) => this.clickAgain(event), first);
    canvas.addEventListener("pointermove", (event) => painted.hovered(...at(event)));
    canvas.addEventListener("pointerleave", () => painted.left());
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (this.isZoom(event)) return;
        event.preventDefault();
        this.moveBy(
          event.shiftKey && !event.deltaX ? -event.deltaY : -event.deltaX,
          event.shiftKey && !event.deltaX ? 0 : -event.deltaY,
        );
      },
      { passive: false },
    );
  }

  private press(event: MouseEvent): void {
    const isOurs = event.detail > 1 ? this.pressed.isOurs : event.target === this.canvas;
    this.pressed = { x: event.clientX, y: event.clientY, isOurs };
    // Nothing that came under the pointer gets half of a double click.
    if (isOurs && event.target !== this.canvas) event.preventDefault();
  }

  private clickAgain(event: MouseEvent): void {
    const { x, y, isOurs } = this.pressed;
    if (event.detail <= 1 || !isOurs) return;
    if (Math.hypot(event.clientX - x, event.clientY - y) > CLICK_DISTANCE) return;
    const { left, top } = this.canvas.getBoundingClientRect();
    event.preventDefault();
    event.stopPropagation();
    this.painted.clicked(event.clientX - left, event.clientY - top, event.detail);
  }

  private resize(): boolean {
    const { clientWidth, clientHeight } = this.canvas.parentElement ?? this.canvas;
    if (clientWidth === this.width && clientHeight === this.height) return false;
    this.width = Math.max(1, clientWidth);
    this.height = Math.max(1, clientHeight);
    const ratio = this.ratio();
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    const { left, top } = this.canvas.getBoundingClientRect();
    const corner = { left: left + window.scrollX, top: top + window.scrollY };
    this.painted.resized(corner.left - this.corner.left, corner.top - this.corner.top);
    this.corner = corner;
    return true;
  }

  private ratio(): number {
    return Math.min(window.devicePixelRatio || 1, 3);
  }

  /** Pinching zooms, and so may a wheel with notches; two fingers on a touch pad move. */
  private isZoom(event: WheelEvent): boolean {
    if (event.ctrlKey || event.metaKey) return true;
    if (event.shiftKey || this.wheel === "moves") return false;
    if (event.deltaMode !== WheelEvent.DOM_DELTA_PIXEL) return true;
    return event.deltaX === 0 && Math.abs(event.deltaY) >= NOTCH && Number.isInteger(event.deltaY);
  }

  private isMove(event: Event): boolean {
    if (event instanceof WheelEvent) return this.isZoom(event);
    return !(event instanceof MouseEvent) || event.button === 0 || event.button === 1;
  }
}
