/** Keys: whoever offers some registers them while shown, and `?` lists what is registered. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Key } from "./names";

export interface Binding {
  /** As KeyboardEvent.key has it, with "Shift+" in front where it is held with a named key. */
  keys: string[];
  what: string;
  run: () => void;
}

const registered = new Set<{ current: Binding[] }>();

/** Offers `bindings` as long as the component is shown; a later one wins over an earlier. */
export function useKeys(bindings: Binding[]): void {
  const drawn = useRef(bindings);
  drawn.current = bindings;
  // With what is drawn, not after it: a key may follow at once.
  useLayoutEffect(() => {
    registered.add(drawn);
    return () => void registered.delete(drawn);
  }, []);
}

function offered(): Binding[] {
  return [...registered].reverse().flatMap(({ current }) => current);
}

function nameOf(event: KeyboardEvent): string {
  return event.shiftKey && event.key.length > 1 ? `Shift+${event.key}` : event.key;
}

/** Where keys are text, or belong to a control. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest("dialog")) return true;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

export function startKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event)) return;
    const name = nameOf(event);
    const binding = offered().find(({ keys }) => keys.includes(name));
    if (!binding) return;
    event.preventDefault();
    binding.run();
  });
}

const SHOWN: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  "Shift+ArrowLeft": "Shift ←",
  "Shift+ArrowRight": "Shift →",
  "Shift+ArrowUp": "Shift ↑",
  "Shift+ArrowDown": "Shift ↓",
  Escape: "Esc",
};

/** The list of keys, opened by `?`. */
export function KeyList() {
  const [isOpen, setOpen] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  useKeys([{ keys: ["?"], what: "List the keys", run: () => setOpen(true) }]);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  const rows = isOpen ? offered() : [];
  return (
    <>
      <button type="button" class="plain icon" aria-label="Keys" onClick={() => setOpen(true)}>
        ?
      </button>
      {isOpen && (
        <dialog ref={dialog} class="keys" aria-label="Keys" onClose={() => setOpen(false)}>
          <h2>Keys</h2>
          <dl>
            {rows.map(({ keys, what }) => (
              <div key={what}>
                <dt>
                  {keys.map((key) => (
                    <Key key={key}>{SHOWN[key] ?? key}</Key>
                  ))}
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
          <button type="button" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </dialog>
      )}
    </>
  );
}
