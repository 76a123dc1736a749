/** One box for all filters of the list: words, each of which a recording has to meet. */
import { useEffect, useId, useState } from "preact/hooks";

const SETTLE_MS = 150;

export const WORDS: [string, string][] = [
  ["failed ok incomplete", "how the render ended"],
  ["fn:ocp*", "name of the function; * stands for anything"],
  ["label:weights", "part of the label"],
  ["since:2h", "not older than 30m, 2h, 3d or a date"],
  ["file:mpc.py", "file that asked for the render"],
  ["host:box", "machine"],
  ["source:jaeger", "where the recording comes from"],
  ["version:0.1", "version of the compiler"],
  ["anything else", "part of the name or the function"],
];

export function FilterBox({ q, changed }: { q: string; changed: (text: string) => void }) {
  const [text, setText] = useState(q);
  const id = useId();
  useEffect(() => setText(q), [q]);
  useEffect(() => {
    if (text === q) return;
    const timer = setTimeout(() => changed(text), SETTLE_MS);
    return () => clearTimeout(timer);
  });
  return (
    <div class="filter">
      <input
        type="search"
        data-search
        value={text}
        placeholder="Filter: failed  fn:ocp*  since:2h"
        aria-label="Filter recordings"
        aria-describedby={id}
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") changed(text);
        }}
      />
      <dl class="menu words" id={id}>
        {WORDS.map(([word, meaning]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
