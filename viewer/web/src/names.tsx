/** Words and figures that several rooms show, each in one way everywhere. */
import type { ComponentChildren } from "preact";
import { NONE, time } from "./format";
import { partsOf, visible } from "./visible";

interface NameProps {
  text: string;
  title?: string | undefined;
  /** Whether line ends and tabs are layout, as in a message; in a name they are characters like others. */
  isText?: boolean;
}

/** A name from a recording: its writing direction cannot reach beyond it, and nothing in it is hidden. */
export function Name({ text, title, isText = false }: NameProps) {
  return (
    <bdi class="name" title={title && visible(title)}>
      {partsOf(text, isText).map((part, i) =>
        i % 2 === 0 ? part : <Hidden key={i} character={part} />,
      )}
    </bdi>
  );
}

/** A character that cannot be seen, as its escape; it stays in the text, but steers nothing. */
function Hidden({ character }: { character: string }) {
  return (
    <span class="escape" data-escape={visible(character)}>
      <span>{character}</span>
    </span>
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
        <Name text={props.error.message} isText />
      </p>
      {props.again && (
        <button type="button" onClick={props.again}>
          Try again
        </button>
      )}
    </div>
  );
}
