/** A button that copies a text, and says that it did. */
import { useEffect, useState } from "preact/hooks";

const SAID_MS = 1500;

export function CopyButton({ text, label = "Copy" }: { text: () => string; label?: string }) {
  const [said, say] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => say(null), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      say("Copied");
    } catch {
      say("The browser refused");
    }
  };
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}
