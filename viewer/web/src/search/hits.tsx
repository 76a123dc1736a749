/** Where a string was found: the lines, each with what was found marked, each a link. */
import { Name } from "../names";
import type { Hit } from "../schema";

/** Characters that are shown of a long line, around what was found. */
const AROUND = 80;
const MAX_FOUND = 200;

export function HitLine({ hit, href }: { hit: Hit; href: string }) {
  const { text } = hit;
  const column = Math.max(hit.column - hit.text_column, 0);
  const end = hit.end_column - hit.text_column;
  const start = Math.max(0, column - AROUND);
  const before = text.slice(start, column).trimStart();
  const found = text.slice(column, Math.min(end, column + MAX_FOUND));
  const after = text.slice(end, end + AROUND);
  return (
    <a class="hit-line" href={href}>
      <span class="index">{hit.line}</span>
      <span class="mono">
        {start + hit.text_column > 0 && "…"}
        <Name text={before} isText />
        <mark>
          <Name text={found} isText />
        </mark>
        <Name text={after} isText />
        {end + AROUND < text.length && "…"}
      </span>
    </a>
  );
}
