/** Owns the two ways of drawing one picture: on a canvas, and as SVG. */
import { FONT } from "../canvas/palette";
import { escaped } from "../graph/svg";

interface Style {
  fill?: string;
  stroke?: string;
  width?: number;
  dash?: number[];
  radius?: number;
  opacity?: number;
}

interface Letters {
  color: string;
  size?: number;
  bold?: boolean;
  align?: "start" | "center" | "end";
}

export interface Pen {
  rectangle(x: number, y: number, w: number, h: number, style: Style): void;
  line(points: [number, number][], style: Style): void;
  text(x: number, y: number, text: string, letters: Letters): void;
  /** Draws only what is inside until `release`. */
  clip(x: number, y: number, w: number, h: number): void;
  release(): void;
}

export class CanvasPen implements Pen {
  constructor(private readonly context: CanvasRenderingContext2D) {}

  rectangle(x: number, y: number, w: number, h: number, style: Style): void {
    const { context } = this;
    context.globalAlpha = style.opacity ?? 1;
    context.beginPath();
    context.roundRect(x, y, w, h, Math.min(style.radius ?? 0, w / 2, h / 2));
    if (style.fill) {
      context.fillStyle = style.fill;
      context.fill();
    }
    this.stroke(style);
  }

  line(points: [number, number][], style: Style): void {
    const { context } = this;
    context.globalAlpha = style.opacity ?? 1;
    context.beginPath();
    points.forEach(([x, y], i) => {
      if (i) context.lineTo(x, y);
      else context.moveTo(x, y);
    });
    if (style.fill) {
      context.fillStyle = style.fill;
      context.fill();
    }
    this.stroke(style);
  }

  text(x: number, y: number, text: string, letters: Letters): void {
    const { context } = this;
    context.globalAlpha = 1;
    context.font = `${letters.bold ? "600 " : ""}${letters.size ?? 11}px ${FONT}`;
    context.textAlign = letters.align ?? "start";
    context.textBaseline = "middle";
    context.fillStyle = letters.color;
    context.fillText(text, x, y);
    context.textAlign = "start";
  }

  clip(x: number, y: number, w: number, h: number): void {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, w, h);
    this.context.clip();
  }

  release(): void {
    this.context.restore();
  }

  private stroke(style: Style): void {
    const { context } = this;
    if (style.stroke) {
      context.strokeStyle = style.stroke;
      context.lineWidth = style.width ?? 1;
      context.setLineDash(style.dash ?? []);
      context.stroke();
      context.setLineDash([]);
    }
    context.globalAlpha = 1;
  }
}

export class SvgPen implements Pen {
  private readonly parts: string[] = [];
  private clips = 0;

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  rectangle(x: number, y: number, w: number, h: number, style: Style): void {
    const radius = style.radius ? ` rx="${style.radius}"` : "";
    this.parts.push(
      `<rect x="${fixed(x)}" y="${fixed(y)}" width="${fixed(Math.max(w, 0))}" height="${fixed(Math.max(h, 0))}"${radius}${paint(style)}/>`,
    );
  }

  line(points: [number, number][], style: Style): void {
    const path = points.map(([x, y], i) => `${i ? "L" : "M"}${fixed(x)} ${fixed(y)}`).join("");
    this.parts.push(`<path d="${path}"${paint(style)}/>`);
  }

  text(x: number, y: number, text: string, letters: Letters): void {
    const size = letters.size ?? 11;
    const anchor = letters.align === "center" ? "middle" : (letters.align ?? "start");
    const weight = letters.bold ? ' font-weight="600"' : "";
    this.parts.push(
      `<text x="${fixed(x)}" y="${fixed(y + size / 3)}" fill="${letters.color}" font-size="${size}" text-anchor="${anchor}"${weight} direction="ltr" unicode-bidi="isolate">${escaped(text)}</text>`,
    );
  }

  clip(x: number, y: number, w: number, h: number): void {
    const id = `clip${this.clips++}`;
    this.parts.push(
      `<clipPath id="${id}"><rect x="${fixed(x)}" y="${fixed(y)}" width="${fixed(w)}" height="${fixed(h)}"/></clipPath><g clip-path="url(#${id})">`,
    );
  }

  release(): void {
    this.parts.push("</g>");
  }

  toString(): string {
    const { width, height } = this;
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family='${FONT}'>`,
      ...this.parts,
      "</svg>\n",
    ].join("\n");
  }
}

function paint(style: Style): string {
  const stroke = style.stroke
    ? ` stroke="${style.stroke}" stroke-width="${style.width ?? 1}"${style.dash?.length ? ` stroke-dasharray="${style.dash.join(" ")}"` : ""}`
    : "";
  const opacity = style.opacity === undefined ? "" : ` opacity="${style.opacity}"`;
  return ` fill="${style.fill ?? "none"}"${stroke}${opacity}`;
}

function fixed(value: number): string {
  return String(Math.round(value * 100) / 100);
}
