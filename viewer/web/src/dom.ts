/** Makes elements. Text only ever becomes text: nothing here parses markup. */

type Child = Node | string | null;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | boolean> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** A name from a recording: its writing direction cannot reach beyond it. */
export function named(text: string): HTMLElement {
  return element("bdi", { class: "name" }, text);
}

/** Sets text only where it differs, so that a live region speaks only of what is new. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** Makes `parent`'s children those of `items`, in order; what stays the same is not touched. */
export function sync<T>(
  parent: Element,
  items: readonly T[],
  key: (item: T) => string,
  make: (item: T) => Element,
): void {
  const known = new Map<string, { state: string; node: Element }>();
  for (const node of parent.children) {
    const state = states.get(node);
    if (state) known.set(state.key, { state: state.value, node });
  }
  let next = parent.firstElementChild;
  for (const item of items) {
    const value = JSON.stringify(item);
    const old = known.get(key(item));
    let node = old?.node;
    if (!node || old?.state !== value) {
      node = make(item);
      states.set(node, { key: key(item), value });
    }
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
  }
  while (next) {
    const rest: Element = next;
    next = rest.nextElementSibling;
    rest.remove();
  }
}

const states = new WeakMap<Element, { key: string; value: string }>();
