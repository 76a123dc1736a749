/** Owns the choices a person made in the graph, and their short form for an address. */
import type { FilterMode, SceneRequest } from "./request";

export interface Choices {
  opened: ReadonlySet<string>;
  closed: ReadonlySet<string>;
  mode: FilterMode;
  /** The key of the entry whose neighborhood is shown. */
  around: string;
  hops: number;
  declarations: boolean;
  /** All groups are opened as far as there is room, or closed, but for those chosen by hand. */
  groups: "open" | "closed" | null;
  selected: string | null;
}

export const START: Choices = {
  opened: new Set(),
  closed: new Set(),
  mode: "all",
  around: "",
  hops: 1,
  declarations: false,
  groups: null,
  selected: null,
};

export const MOST_HOPS = 9;
export const WIDEST_ROOM = 1_200;
const ROOM_STEP = 100;
const MODES: readonly FilterMode[] = ["all", "changed", "pin", "around"];
const GROUPS = new Map<string | null, Choices["groups"]>([
  ["1", "open"],
  ["0", "closed"],
]);
/** Longer addresses are not understood everywhere; what does not fit is left out. */
const LONGEST = 1_500;

/** How many boxes may be opened without being asked to. */
function budgetOf(choices: Choices): SceneRequest["budget"] {
  if (choices.groups === "open") return 2_500;
  return choices.mode === "all" ? 45 : 400;
}

/** What is asked for by the choices; `around` is the entry that they name, -1 for none. */
export function requestOf(
  choices: Choices,
  { pin, around, room }: Pick<SceneRequest, "pin" | "around" | "room">,
): SceneRequest {
  const { mode } = choices;
  const isPossible = mode === "around" ? around >= 0 : mode !== "pin" || pin !== null;
  return {
    opened: [...choices.opened],
    closed: [...choices.closed],
    mode: isPossible ? mode : "all",
    around,
    hops: choices.hops,
    pin,
    declarations: choices.declarations,
    selected: choices.selected?.split("#")[0] ?? "",
    budget: budgetOf(choices),
    even: choices.groups !== "open",
    folded: choices.groups === "closed",
    room,
  };
}

/** How wide a picture is made for a canvas; in steps: a few pixels more or less are no other picture. */
export function roomOf(width: number): number {
  return Math.min(WIDEST_ROOM, Math.max(ROOM_STEP, Math.floor(width / ROOM_STEP) * ROOM_STEP));
}

/** The choices as a text of an address; nothing where there are none. */
export function formatChoices(choices: Choices): string {
  const parameters = new URLSearchParams();
  if (choices.mode !== "all") parameters.set("m", choices.mode);
  if (choices.hops !== START.hops) parameters.set("k", String(choices.hops));
  if (choices.around) parameters.set("a", choices.around);
  if (choices.declarations) parameters.set("d", "1");
  if (choices.groups) parameters.set("e", choices.groups === "open" ? "1" : "0");
  if (choices.selected) parameters.set("s", choices.selected);
  let length = parameters.toString().length;
  for (const [name, keys] of [
    ["o", choices.opened],
    ["c", choices.closed],
  ] as const) {
    for (const key of keys) {
      length += encodeURIComponent(key).length + 3;
      if (length > LONGEST) break;
      parameters.append(name, key);
    }
  }
  return parameters.toString();
}

export function parseChoices(text: string): Choices {
  const parameters = new URLSearchParams(text);
  const mode = parameters.get("m") as FilterMode;
  const hops = Number(parameters.get("k") ?? START.hops);
  return {
    opened: new Set(parameters.getAll("o")),
    closed: new Set(parameters.getAll("c")),
    mode: MODES.includes(mode) ? mode : "all",
    around: parameters.get("a") ?? "",
    hops: Number.isInteger(hops) && hops > 0 && hops <= MOST_HOPS ? hops : START.hops,
    declarations: parameters.get("d") === "1",
    groups: GROUPS.get(parameters.get("e")) ?? null,
    selected: parameters.get("s"),
  };
}
