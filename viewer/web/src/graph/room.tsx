/** The graph's room: tools, outline, picture, details, and the keys that they share. */
import type { JSX } from "preact";
import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { download } from "../canvas/download";
import { readPalette } from "../canvas/palette";
import { Bar } from "./bar";
import { Controller, type GraphProps } from "./controller";
import { Details } from "./details";
import { cutEdges } from "./paint";
import { portsOf } from "./ports";
import { OPEN, type Scene } from "./request";
import { Stage } from "./stage";
import type { State } from "./state";
import { Tree } from "./tree";

const NARROW = 900;

/** What the room does with keys, for whoever holds it. */
export interface Keys {
  press(key: string): boolean;
}

export function Room({ props, keys }: { props: GraphProps; keys: Keys }): JSX.Element {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const host = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const [isOutlineOpen, setOutline] = useState(true);
  const made = useRef<{ controller: Controller; stage: Stage | null } | null>(null);
  made.current ??= { controller: new Controller(props, () => redraw(0)), stage: null };
  const { controller } = made.current;
  const { state } = controller;
  const { scene, choices } = state;
  const selected = scene && choices.selected ? scene.key.indexOf(choices.selected) : -1;

  useEffect(() => {
    const element = host.current;
    const own = made.current;
    if (!element || !own) return;
    if (element.clientWidth < NARROW)
      setOutline((element.closest(".graph")?.clientWidth ?? 0) >= NARROW);
    const stage = new Stage(element, readPalette(element, props.theme), {
      chosen: (box) => controller.select(box, box >= 0),
      toggled: (box) => controller.toggle(box),
      hovered: (box, x, y) => showTip(element, controller.state.scene, box, x, y),
      moved: () => showTip(element, null, -1, 0, 0),
    });
    own.stage = stage;
    dress(stage.surface.canvas);
    controller.start(stage);
    return () => {
      stage.destroy();
      controller.end();
      made.current = null;
    };
    // The room is made once; what changes comes by update.
  }, []);

  useEffect(() => {
    controller.update(props);
  }, [controller, props]);

  useEffect(() => {
    const element = host.current;
    if (element) made.current?.stage?.recolor(readPalette(element, props.theme));
  }, [props.theme]);

  const { hits, hit } = useMemo(() => hitBoxes(scene, state), [scene, state.hits, state.hit]);
  useEffect(() => made.current?.stage?.mark({ selected, hits, hit }), [selected, hits, hit]);

  const stage = made.current.stage;
  const actions = {
    fit: () => stage?.fit(true),
    zoom: (factor: number) => stage?.surface.zoomBy(factor),
    toggleOutline: () => setOutline((open) => !open),
    download: (format: "svg" | "png") => void save(stage, props, format),
  };

  const onKey = (event: KeyboardEvent, box: number): boolean => {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    return act(event.key, box, controller, actions, search.current);
  };
  keys.press = (key) => act(key, selected, controller, actions, search.current);

  const canvasKey = (event: KeyboardEvent): void => {
    const direction = DIRECTIONS[event.key];
    if (direction && stage) {
      const next = stage.neighbor(selected, ...direction);
      if (next >= 0) {
        controller.select(next);
        stage.reveal(next);
      }
    } else if (event.key === "Enter") {
      controller.toggle(selected);
    } else if (!onKey(event, selected)) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <section class="graph" aria-label="Graph" aria-busy={state.waiting !== null}>
      <Bar
        {...{ state, controller, actions, isOutlineOpen }}
        hasPin={props.pin !== null}
        box={search}
      />
      <div class="graph-body">
        {isOutlineOpen ? (
          <div class="graph-side">
            {scene ? <Tree {...{ scene, selected, controller, onKey }} /> : null}
          </div>
        ) : null}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the canvas in it has the focus */}
        <div class="graph-stage" ref={host} onKeyDown={canvasKey}>
          <p class="graph-tip" hidden />
          <Message {...{ state, controller }} />
        </div>
        {state.detail ? (
          <Details detail={state.detail} node={state.node} controller={controller} />
        ) : null}
      </div>
      <Status {...{ state }} />
      <p class="graph-unseen" role="status">
        {state.said}
      </p>
    </section>
  );
}

const DIRECTIONS: Record<string, [number, number]> = {
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

/** The keys that canvas and outline share; true where the key means something. */
function act(
  key: string,
  box: number,
  controller: Controller,
  actions: { fit(): void; zoom(factor: number): void },
  search: HTMLInputElement | null,
): boolean {
  const { choices } = controller.state;
  const meanings: Record<string, () => void> = {
    "/": () => search?.focus(),
    n: () => void controller.nextHit(1),
    p: () => void controller.nextHit(-1),
    f: actions.fit,
    "+": () => actions.zoom(1.4),
    "=": () => actions.zoom(1.4),
    "-": () => actions.zoom(1 / 1.4),
    a: () => controller.setMode("all"),
    c: () => controller.setMode(choices.mode === "changed" ? "all" : "changed"),
    w: () => controller.setMode(choices.mode === "pin" ? "all" : "pin"),
    h: () => controller.setMode(choices.mode === "around" ? "all" : "around"),
    e: () => controller.openAll(),
    x: () => controller.closeAll(),
    l: () => controller.openLine(),
    " ": () => controller.select(box, true),
    Escape: () => controller.select(-1),
  };
  const action = meanings[key];
  if (!action || (key === "Escape" && choices.selected === null)) return false;
  action();
  return true;
}

/** What is wrong, empty, or on its way: over the picture. */
function Message({
  state,
  controller,
}: {
  state: State;
  controller: Controller;
}): JSX.Element | null {
  const isSlow = useSlow(state.waiting !== null);
  if (state.error) {
    return (
      <div class="graph-message" role="alert">
        <p>
          The graph cannot be shown: <bdi>{state.error}</bdi>
        </p>
        <button type="button" onClick={() => controller.retry()}>
          Try again
        </button>
      </div>
    );
  }
  if (state.waiting && (isSlow || !state.scene)) {
    return (
      <div class="graph-message graph-waiting">
        <p>{state.waiting} …</p>
        <button type="button" hidden={!isSlow} onClick={() => controller.cancel()}>
          Cancel
        </button>
      </div>
    );
  }
  if (state.scene?.count === 0) {
    return (
      <div class="graph-message">
        <p>
          {state.choices.mode === "all"
            ? "This graph is empty."
            : "Nothing in this step is chosen by the filter."}
        </p>
        <button
          type="button"
          hidden={state.choices.mode === "all"}
          onClick={() => controller.setMode("all")}
        >
          Show all
        </button>
      </div>
    );
  }
  return null;
}

/** What is shown, what is not, and why. */
function Status({ state }: { state: State }): JSX.Element {
  const { scene, summary } = state;
  const parts: string[] = [];
  if (summary && scene) {
    const { hidden } = scene;
    parts.push(`${number(summary.nodes)} nodes, ${number(summary.edges)} edges`);
    parts.push(`${number(scene.count)} boxes shown`);
    if (hidden.folded) parts.push(`${number(hidden.folded)} folded away`);
    if (hidden.filtered) parts.push(`${number(hidden.filtered)} filtered out`);
    if (hidden.declarations) parts.push(`${number(hidden.declarations)} declarations not drawn`);
    if (hidden.unopened)
      parts.push(`${number(hidden.unopened)} groups stay closed: too many boxes`);
    const cut = cutEdges(scene, portsOf(scene));
    if (cut) parts.push(`${number(cut)} long edges cut short: choose a box to see its own`);
    if (summary.against === null) parts.push("nothing to compare with");
    else
      parts.push(
        `${number(summary.changed)} new or changed, ${number(summary.removed)} removed since step ${summary.against}`,
      );
    if (summary.omitted) parts.push(`${number(summary.omitted)} edges left out`);
  }
  return (
    <div class="graph-status">
      <span>{parts.join(" · ")}</span>
      <span class="graph-legend" aria-hidden="true">
        <span data-state="new">+ new</span>
        <span data-state="changed">~ changed</span>
        <span data-state="pinned">◆ pinned</span>
      </span>
      {summary?.problems.map((problem) => (
        <span key={problem} class="graph-problem">
          {problem}
        </span>
      ))}
    </div>
  );
}

function useSlow(isWaiting: boolean): boolean {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    setSlow(false);
    if (!isWaiting) return;
    const timer = setTimeout(() => setSlow(true), 300);
    return () => clearTimeout(timer);
  }, [isWaiting]);
  return isWaiting && isSlow;
}

function hitBoxes(scene: Scene | null, { hits, hit }: State): { hits: Set<number>; hit: number } {
  const found = new Set<number>();
  if (!scene || !hits?.hits.length) return { hits: found, hit: -1 };
  const entries = new Set(hits.hits.map((each) => each.entry));
  const now = hits.hits[hit];
  let current = -1;
  for (let box = 0; box < scene.count; box++) {
    const entry = scene.entry[box] as number;
    if (!entries.has(entry) || scene.shape[box] === OPEN) continue;
    found.add(box);
    if (now && entry === now.entry && (now.node < 0 || scene.node[box] === now.node)) current = box;
  }
  return { hits: found, hit: current };
}

function dress(canvas: HTMLCanvasElement): void {
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-roledescription", "graph");
  canvas.setAttribute(
    "aria-label",
    "The graph as a picture. Arrow keys go from box to box, Enter opens and closes, Space pins. The outline beside it has the same boxes as a tree.",
  );
}

function showTip(
  element: HTMLElement,
  scene: Scene | null,
  box: number,
  x: number,
  y: number,
): void {
  const tip = element.querySelector<HTMLElement>(".graph-tip");
  if (!tip) return;
  tip.hidden = !scene || box < 0 || scene.shape[box] === OPEN;
  if (!scene || tip.hidden) return;
  tip.textContent = [scene.title[box], scene.note[box]].filter(Boolean).join("\n");
  const right = element.clientWidth - tip.offsetWidth - 8;
  tip.style.left = `${Math.max(8, Math.min(x + 14, right))}px`;
  tip.style.top = `${Math.min(y + 18, element.clientHeight - tip.offsetHeight - 8)}px`;
}

async function save(stage: Stage | null, props: GraphProps, format: "svg" | "png"): Promise<void> {
  const name = `graph-step-${props.step}.${format}`;
  if (!stage) return;
  const content =
    format === "svg"
      ? new Blob([stage.svg(`Graph of step ${props.step}`)], { type: "image/svg+xml" })
      : await stage.png();
  if (content) download(name, content);
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}
