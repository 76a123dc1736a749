/** What to search for, and how. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { SearchParams } from "../route";

const SETTLE_MS = 200;

interface Props {
  params: SearchParams;
  label: string;
  change: (changes: Partial<SearchParams>, how: "push" | "replace") => void;
}

export function SearchControls({ params, label, change }: Props) {
  const [text, setText] = useState(params.q);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => setText(params.q), [params.q]);
  useEffect(() => {
    if (params.q === "") input.current?.focus();
  }, []);
  useEffect(() => {
    if (text === params.q) return;
    const timer = setTimeout(() => change({ q: text }, "replace"), SETTLE_MS);
    return () => clearTimeout(timer);
  });
  const toggle = (name: "regex" | "case", shown: string, meaning: string) => (
    <button
      type="button"
      class="toggle"
      aria-pressed={params[name] === "1"}
      title={meaning}
      onClick={() => change({ [name]: params[name] === "1" ? "" : "1" }, "push")}
    >
      {shown}
    </button>
  );
  return (
    <div class="controls">
      <input
        ref={input}
        type="search"
        data-room-search
        value={text}
        aria-label={label}
        placeholder={label}
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") change({ q: text }, "replace");
        }}
      />
      {toggle("regex", "regular expression", "Read what is typed as a regular expression")}
      {toggle("case", "match case", "Tell capital letters from small ones")}
    </div>
  );
}
