/** One box for all filters of the list: words, each of which a recording has to meet. */
import { useEffect, useId, useState } from "preact/hooks";

const SETTLE_MS = 150;

const WORDS: [string, string][] = [
  ["ok failed incomplete", "how the render ended"],
  ["fn:ocp_*", "the function's name, or a part of it"],
  ["label:tuned", "the recording's name; also file: host: source: error: version:"],
  ["since:2h", "not older; also until: and dates, 2026-11-30"],
  ["code>100kB", "size of the source; also nodes> steps> time>"],
  ["id:7c0e trace:ab", "the start of an id; also process:"],
  ["-word", "what must not be so"],
  ["anything else", "part of the name, function, file or error"],
];

interface Props {
  q: string;
  /** Why the words cannot be understood. */
  problem: string | null;
  changed: (text: string) => void;
}

export function FilterBox({ q, problem, changed }: Props) {
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
        placeholder="Filter  /  as in  failed  fn:ocp*  since:2h"
        aria-label="Filter recordings"
        aria-describedby={id}
        aria-invalid={problem !== null}
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") changed(text);
        }}
      />
      {problem !== null && (
        <p class="filter-problem" role="alert">
          {problem}
        </p>
      )}
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
