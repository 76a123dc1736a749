/** The outline of what the canvas shows, for keyboards and screen readers: a tree of the same boxes. */
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { useRows } from "../canvas/rows";
import type { Controller } from "./controller";
import { SIGNS } from "./paint";
import { FOLDED, OPEN, type Scene } from "./request";
import { canToggle } from "./stage";

const ROW = 24;
const SIGN_WORDS = ["", "new", "changed"];

interface Props {
  scene: Scene;
  selected: number;
  controller: Controller;
  /** Common keys of canvas and tree. */
  onKey(event: KeyboardEvent, box: number): boolean;
}

export function Tree({ scene, selected, controller, onKey }: Props): JSX.Element {
  const places = usePlaces(scene);
  const active = selected >= 0 ? selected : 0;
  const rows = useRows({
    count: scene.count,
    height: ROW,
    active,
    follows: selected >= 0,
    around: 1,
  });

  const keyDown = (event: KeyboardEvent): void => {
    const next = step(scene, active, event.key);
    if (next !== null) {
      event.preventDefault();
      event.stopPropagation();
      if (next === "toggle") controller.toggle(active);
      else controller.select(next);
      return;
    }
    if (onKey(event, active)) {
      event.preventDefault();
      event.stopPropagation();
    }
  };

  return (
    <div
      class="graph-tree outline-rows"
      ref={rows.list}
      role="tree"
      aria-label="Outline of the graph"
      aria-activedescendant={scene.count ? idOf(active) : undefined}
      tabIndex={0}
      onKeyDown={keyDown}
      onScroll={rows.onScroll}
    >
      <div role="presentation" style={{ height: `${scene.count * ROW}px` }} />
      {rows.shown.map((box) => (
        <Row
          key={scene.key[box]}
          scene={scene}
          box={box}
          place={places[box] ?? [1, 1]}
          isSelected={box === selected}
          controller={controller}
        />
      ))}
    </div>
  );
}

function Row({
  scene,
  box,
  place: [position, size],
  isSelected,
  controller,
}: {
  scene: Scene;
  box: number;
  place: [number, number];
  isSelected: boolean;
  controller: Controller;
}): JSX.Element {
  const shape = scene.shape[box];
  const state = scene.state[box] ?? 0;
  const depth = scene.depth[box] ?? 0;
  const isOpen = shape === OPEN || hasNodes(scene, box);
  const note = shape === FOLDED || shape === OPEN ? sizeOf(scene.note[box] ?? "") : "";
  return (
    // The tree itself has the focus and the keys; a click is a shortcut.
    // biome-ignore lint/a11y/useFocusableInteractive: the tree names its active row
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys
    <div
      id={idOf(box)}
      class="graph-row outline-row"
      role="treeitem"
      aria-level={depth + 1}
      aria-posinset={position}
      aria-setsize={size}
      aria-selected={isSelected}
      aria-expanded={canToggle(scene, box) ? isOpen : undefined}
      data-state={SIGN_WORDS[state]}
      data-pinned={scene.pinned[box] ? "" : undefined}
      style={{ top: `${box * ROW}px`, paddingInlineStart: `${8 + Math.min(depth, 12) * 12}px` }}
      onClick={() => {
        controller.select(box, true);
        controller.show(box);
      }}
      onDblClick={() => controller.toggle(box)}
    >
      <span
        class="graph-chevron"
        aria-hidden="true"
        onClick={(event) => {
          event.stopPropagation();
          controller.toggle(box);
        }}
      >
        {canToggle(scene, box) ? (isOpen ? "▾" : "▸") : ""}
      </span>
      {state ? (
        <span class="graph-sign">
          <span aria-hidden="true">{SIGNS[state]}</span>
          <span class="graph-unseen">{SIGN_WORDS[state]}</span>
        </span>
      ) : null}
      <bdi class="graph-title outline-name">{scene.title[box]}</bdi>
      {note ? <span class="graph-note">{note}</span> : null}
    </div>
  );
}

/** The title has a loop's range and the row a sign for changes: what is left is the size. */
function sizeOf(note: string): string {
  return /[\d,]+ nodes?|shared/.exec(note)?.[0] ?? "";
}

function idOf(box: number): string {
  return `graph-row-${box}`;
}

function hasNodes(scene: Scene, box: number): boolean {
  return box + 1 < scene.count && scene.parent[box + 1] === box;
}

/** Position among its siblings and how many these are, of every box. */
function usePlaces(scene: Scene): [number, number][] {
  const known = useRef<{ scene: Scene; places: [number, number][] } | null>(null);
  if (known.current?.scene !== scene) known.current = { scene, places: placesOf(scene) };
  return known.current.places;
}

export function placesOf(scene: Scene): [number, number][] {
  const sizes = new Map<number, number>();
  const places: [number, number][] = [];
  for (let box = 0; box < scene.count; box++) {
    const parent = scene.parent[box] as number;
    const position = (sizes.get(parent) ?? 0) + 1;
    sizes.set(parent, position);
    places.push([position, 0]);
  }
  places.forEach((place, box) => {
    place[1] = sizes.get(scene.parent[box] as number) ?? 1;
  });
  return places;
}

/** Where a key of the tree pattern leads from a row: another row, or its opening and closing. */
export function step(scene: Scene, box: number, key: string): number | "toggle" | null {
  const isToggle = canToggle(scene, box);
  const isOpen = scene.shape[box] === OPEN || hasNodes(scene, box);
  switch (key) {
    case "ArrowDown":
      return Math.min(box + 1, scene.count - 1);
    case "ArrowUp":
      return Math.max(box - 1, 0);
    case "Home":
      return 0;
    case "End":
      return scene.count - 1;
    case "PageDown":
      return Math.min(box + 20, scene.count - 1);
    case "PageUp":
      return Math.max(box - 20, 0);
    case "ArrowRight":
      if (isToggle && !isOpen) return "toggle";
      return isOpen ? box + 1 : box;
    case "ArrowLeft":
      if (isToggle && isOpen) return "toggle";
      return Math.max(scene.parent[box] as number, -1) < 0 ? box : (scene.parent[box] as number);
    case "Enter":
      return isToggle ? "toggle" : box;
    default:
      return null;
  }
}
