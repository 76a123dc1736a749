/** Words and figures that several rooms show, each in one way everywhere. */
import type { ComponentChildren } from "preact";
import { NONE, time } from "./format";

/** A name from a recording: its writing direction cannot reach beyond it. */
export function Name({ text, title }: { text: string; title?: string | undefined }) {
  return (
    <bdi class="name" title={title}>
      {text}
    </bdi>
  );
}

const SIGNS: Record<string, string> = { ok: "✓", failed: "✗", incomplete: "…" };

export function Status({ status }: { status: string }) {
  return (
    <span class="status" data-status={status}>
      <span aria-hidden="true">{SIGNS[status] ?? "?"}</span> {status}
    </span>
  );
}

export function Time({ seconds }: { seconds: number | null }) {
  const point = time(seconds);
  return point ? <time dateTime={point.iso}>{point.shown}</time> : <span>{NONE}</span>;
}

/** The language of a step, as a small chip with a hue of its own. */
export function Dialect({ name }: { name: string }) {
  if (name === "") return null;
  return (
    <span class="chip" data-dialect={name}>
      {name}
    </span>
  );
}

export function Key({ children }: { children: ComponentChildren }) {
  return <kbd>{children}</kbd>;
}

/** Grey bars where text will be, from the start, so that nothing jumps. */
export function Skeleton({ rows }: { rows: number }) {
  const widths = [62, 84, 48, 73, 55, 90, 67, 40];
  return (
    <div class="skeleton" aria-hidden="true">
      {Array.from({ length: rows }, (_, i) => (
        <span key={i} style={{ width: `${widths[i % widths.length]}%` }} />
      ))}
    </div>
  );
}

/** Text that may be longer than its place. */
export function Pre({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be within reach of the keyboard
    <section class="pre" tabIndex={0} aria-label={label}>
      <pre>{children}</pre>
    </section>
  );
}

/** Something could not be had: what, why, and what to do next. */
export function Failed(props: { what: string; error: Error; again?: () => void }) {
  return (
    <div class="failure">
      <p>{props.what}</p>
      <p>
        <Name text={props.error.message} />
      </p>
      {props.again && (
        <button type="button" onClick={props.again}>
          Try again
        </button>
      )}
    </div>
  );
}
