/** Owns what the graph's room knows and does: what was asked of the worker, what came, what is chosen. */
import { IS_FILE } from "../archive/blocks";
import { type Props, stepUrl } from "../canvas/props";
import type { GraphColumns, NodeDetail, Outline } from "../schema";
import type { FilterMode, Given, Scene, SceneRequest, Wanted } from "./request";
import { NODE, OPEN } from "./request";
import { canToggle } from "./stage";
import { NOTHING, type State, spoken } from "./state";
import {
  type Choices,
  formatChoices,
  parseChoices,
  requestOf,
  roomOf,
  WIDEST_ROOM,
} from "./viewstate";
import { AskCancelled, GraphWorker } from "./worker";

interface Effects {
  room(): number;
  show(scene: Scene, anchor: string | null): void;
  flyTo(box: number): void;
  reveal(box: number): void;
}

/** Without a graph or a scene there is nothing to show; all else may fail by itself. */
const FATAL = true;
const NEVER = new AbortController().signal;

export class Controller {
  state: State = NOTHING;
  private readonly worker = GraphWorker.take();
  private props: GraphProps;
  private effects: Effects | null = null;
  private details = new AbortController();
  private view: string;
  /** How wide the picture is made; another canvas does not move what is looked at. */
  private room = WIDEST_ROOM;
  /** What the page was told and has not taken note of yet. */
  private readonly told = new Set<string>();
  private searching: Promise<void> = Promise.resolve();

  constructor(
    props: GraphProps,
    private readonly changed: () => void,
  ) {
    this.props = props;
    this.view = props.view ?? "";
    this.state = { ...NOTHING, choices: parseChoices(this.view) };
  }

  start(effects: Effects): void {
    this.effects = effects;
    void this.load();
  }

  /** Takes note of what the page now wants to see. */
  update(props: GraphProps): void {
    const before = this.props;
    this.props = props;
    const view = props.view ?? this.view;
    // A page may draw again before it has taken note of a choice: an old address is no wish.
    const isOther = view !== this.view && view !== before.view && !this.told.has(view);
    if (view === this.view) this.told.clear();
    if (isOther) {
      this.view = view;
      this.set({ choices: parseChoices(view) });
    }
    if (props.recording !== before.recording || props.step !== before.step) void this.load();
    else if (isOther) void this.draw(null);
    else if (!samePin(props.pin, before.pin)) void this.draw(this.firstSelected());
  }

  end(): void {
    this.details.abort();
    this.worker.end();
  }

  cancel(): void {
    this.worker.cancel("load");
    this.worker.cancel("scene");
    this.set({ waiting: null, error: this.state.scene ? null : "Loading was cancelled." });
  }

  retry(): void {
    void this.load();
  }

  /** Brings a box of the outline into view. */
  show(box: number): void {
    this.effects?.reveal(box);
  }

  toggle(box: number): void {
    const { scene, choices } = this.state;
    if (!scene || !canToggle(scene, box)) return;
    const key = scene.key[box] as string;
    const opened = new Set(choices.opened);
    const closed = new Set(choices.closed);
    if (scene.shape[box] === OPEN) {
      opened.delete(key);
      closed.add(key);
    } else {
      opened.add(key);
      closed.delete(key);
    }
    this.choose({ opened, closed, selected: key });
    void this.draw(key);
  }

  /** Chooses a box; where it has a name, the page may follow that through all steps. */
  select(box: number, isPinned = false): void {
    const { scene } = this.state;
    const key = scene && box >= 0 ? (scene.key[box] as string) : null;
    this.choose({ selected: key });
    this.describe(box, isPinned);
  }

  /** Has the page follow the chosen value. */
  pin(): void {
    const { scene, choices } = this.state;
    const box = scene && choices.selected ? scene.key.indexOf(choices.selected) : -1;
    this.describe(box, true);
  }

  openLine(): void {
    const line = this.state.detail?.line;
    if (line) this.props.onOpenLine({ step: this.props.step, kind: "assembly", line });
  }

  setMode(mode: FilterMode): void {
    const around = mode === "around" ? (this.selectedKey() ?? this.state.choices.around) : "";
    if (mode === "around" && !around) return;
    this.choose({ mode, around });
    void this.draw(null);
  }

  setHops(hops: number): void {
    this.choose({ hops });
    void this.draw(null);
  }

  setDeclarations(declarations: boolean): void {
    this.choose({ declarations });
    void this.draw(null);
  }

  openAll(): void {
    this.choose({ groups: "open", closed: new Set() });
    void this.draw(null);
  }

  closeAll(): void {
    this.choose({ groups: "closed", opened: new Set(), closed: new Set() });
    void this.draw(null);
  }

  async search(text: string): Promise<void> {
    this.set({ query: text });
    if (!text.trim()) {
      this.worker.cancel("search");
      this.set({ hits: null, hit: -1 });
      return;
    }
    this.searching = this.ask(async () => {
      const hits = await this.worker.ask({ ask: "search", text: text.trim() });
      this.set({ hits, hit: -1, said: `${hits.total.toLocaleString("en-US")} found` });
    });
    await this.searching;
  }

  /** Goes to the next or the previous hit, and opens what it is in. */
  async nextHit(by: number): Promise<void> {
    // Who types fast presses Enter before the worker has answered.
    await this.searching;
    const { hits, hit } = this.state;
    if (!hits?.hits.length) return;
    const count = hits.hits.length;
    const next = hit < 0 ? (by > 0 ? 0 : count - 1) : (hit + by + count) % count;
    this.set({ hit: next });
    const found = hits.hits[next];
    if (found) await this.goTo(found.entry, found.node);
  }

  /** Shows an entry, wherever it is: opens all around it and flies there. */
  async goTo(entry: number, node = -1): Promise<void> {
    await this.ask(async () => {
      const way = await this.worker.ask({ ask: "way", entry });
      const { choices } = this.state;
      const own = way[way.length - 1] ?? "";
      const around = node >= 0 ? way : way.slice(0, -1);
      const isHidden = choices.mode !== "all" && !this.isShown(own);
      const target = node >= 0 ? `${own}#${node}` : own;
      this.choose({
        opened: new Set([...choices.opened, ...around]),
        closed: new Set([...choices.closed].filter((key) => !around.includes(key))),
        ...(isHidden ? { mode: "all" as const, around: "" } : {}),
        selected: target,
      });
      if (!this.isShown(target)) await this.draw(this.firstShown(around));
      this.fly(target);
    });
  }

  private fly(key: string): void {
    const box = this.state.scene?.key.indexOf(key) ?? -1;
    if (box < 0) return;
    this.effects?.flyTo(box);
    this.describe(box);
  }

  private isShown(key: string): boolean {
    return this.state.scene?.key.includes(key) ?? false;
  }

  private firstShown(keys: string[]): string | null {
    return [...keys].reverse().find((key) => this.isShown(key)) ?? null;
  }

  private selectedKey(): string | null {
    return this.state.choices.selected?.split("#")[0] ?? null;
  }

  private async load(): Promise<void> {
    this.details.abort();
    this.set({ waiting: "Loading the graph", error: null, hasNodes: false, hits: null, hit: -1 });
    await this.ask(async () => {
      const what = this.wanted(this.props.step);
      const given = await this.given(what);
      const summary = await this.worker.ask({ ask: "load", what, given }, (what) =>
        this.progressed(what),
      );
      this.set({ summary, hasNodes: summary.hasNodes, waiting: "Arranging the graph" });
      await this.draw(this.firstSelected());
      if (this.state.query) await this.search(this.state.query);
      void this.prepare();
    }, FATAL);
  }

  /** In a file the worker has nobody to ask: the page gives it the graph. */
  private async given({ key, url }: Wanted): Promise<Given | null> {
    if (!IS_FILE || (await this.worker.ask({ ask: "know", key }))) return null;
    const { api } = this.props;
    const [outline, columns] = await Promise.all([
      api<Outline>(`${url}/outline`, NEVER),
      api<GraphColumns>(`${url}/graph`, NEVER),
    ]);
    if (key !== this.wanted(this.props.step).key) throw new AskCancelled();
    return { outline, columns };
  }

  private wanted(step: number): Wanted {
    const { recording, revision = "" } = this.props;
    const url = stepUrl({ recording, step }, "").replace(/\/$/, "");
    return { key: `${url}#${revision}`, url };
  }

  /** Has the steps that the arrow keys lead to fetched and arranged in advance. */
  private async prepare(): Promise<void> {
    const { neighbors = [] } = this.props;
    if (IS_FILE || !neighbors.length) return;
    const what = neighbors.map((step) => this.wanted(step));
    const request = this.request(-1);
    // What fails in advance is told when it is wanted.
    await this.worker.ask({ ask: "prepare", what, request }).catch(() => null);
  }

  private firstSelected(): string | null {
    const { choices, scene } = this.state;
    return scene ? (choices.selected ?? scene.key[0] ?? null) : null;
  }

  private progressed(what: string): void {
    if (what !== "nodes") {
      this.set({ said: what });
      return;
    }
    this.set({ hasNodes: true });
    const hasStatements = [...this.state.choices.opened].length > 0;
    if (hasStatements) void this.draw(this.selectedKey());
    if (this.state.query) void this.search(this.state.query);
  }

  /** Asks for the scene of what is chosen, and shows it; the box `anchor` stays where it is. */
  private async draw(anchor: string | null): Promise<void> {
    if (!this.state.summary) return;
    if (anchor === null) this.room = roomOf(this.effects?.room() ?? 0);
    await this.ask(async () => {
      const { choices } = this.state;
      const around = await this.aroundEntry(choices);
      this.set({ waiting: "Arranging the graph" });
      const scene = await this.worker.ask({
        ask: "scene",
        request: this.request(around),
      });
      this.set({ scene, waiting: null, error: null });
      this.effects?.show(scene, anchor);
      this.describe(choices.selected === null ? -1 : scene.key.indexOf(choices.selected));
    }, FATAL);
  }

  private request(around: number): SceneRequest {
    const { pin } = this.props;
    return requestOf(this.state.choices, { pin, around, room: this.room });
  }

  /** The entry whose neighborhood is wanted: it is known by its key, which other steps share. */
  private async aroundEntry(choices: Choices): Promise<number> {
    if (choices.mode !== "around") return -1;
    return this.worker.ask({ ask: "find", key: choices.around });
  }

  /** Asks what is known of a box, for the panel beside the picture. */
  private describe(box: number, isPinned = false): void {
    const { scene } = this.state;
    this.details.abort();
    if (!scene || box < 0) {
      this.set({ detail: null, node: null });
      return;
    }
    this.details = new AbortController();
    const { signal } = this.details;
    this.set({ said: spoken(scene, box) });
    void this.ask(async () => {
      const detail = await this.worker.ask({ ask: "entry", entry: scene.entry[box] as number });
      if (signal.aborted) return;
      const node = scene.shape[box] === NODE ? (scene.node[box] as number) : (detail?.node ?? -1);
      this.set({ detail, node: null });
      if (isPinned && detail?.pin) this.props.onPin(detail.pin);
      if (node < 0) return;
      const url = stepUrl(this.props, `graph/nodes/${node}`);
      const found = await this.props.api<NodeDetail>(url, signal).catch(() => null);
      if (!signal.aborted) this.set({ node: found });
    });
  }

  private choose(changes: Partial<Choices>): void {
    const choices = { ...this.state.choices, ...changes };
    this.set({ choices });
    const view = formatChoices(choices);
    if (view === this.view) return;
    this.view = view;
    this.told.add(view);
    this.props.onView?.(view);
  }

  private async ask(act: () => Promise<void>, isFatal = false): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (error instanceof AskCancelled) return;
      const text = error instanceof Error ? error.message : String(error);
      if (isFatal) this.set({ error: text, waiting: null, scene: null, summary: null });
      else this.set({ said: text });
    }
  }

  private set(changes: Partial<State>): void {
    this.state = { ...this.state, ...changes };
    this.changed();
  }
}

/** The graph also tells the page what is open and chosen, so that an address can hold it. */
export interface GraphProps extends Props {
  view?: string;
  onView?(view: string): void;
  /** Which state of a recording that is still being made this is: its steps may change with it. */
  revision?: string;
  /** Steps with a graph that the arrow keys lead to. */
  neighbors?: number[];
}

function samePin(a: Props["pin"], b: Props["pin"]): boolean {
  return a?.name === b?.name && a?.scope === b?.scope;
}
