/** The rooms that draw: the graph and the memory map of a step, which keep their own choices in the address. */
import { useEffect, useRef, useState } from "preact/hooks";
import { getJson } from "../api";
import type { Mounted, Place } from "../canvas/props";
import { GRAPH_KEYS, type GraphProps, mountGraph } from "../graph/mod";
import type { PinState } from "../inspector/pin";
import { useKeys } from "../keys";
import { mountMemory } from "../memory/mod";
import type { RecordingParams } from "../route";
import type { StepSummary } from "../schema";

interface RoomProps {
  room: "graph" | "memory";
  id: string;
  step: StepSummary;
  revision: string;
  /** Steps that the arrow keys lead to: they are fetched in advance. */
  neighbors: StepSummary[];
  params: RecordingParams;
  change: (changes: Partial<RecordingParams>, how?: "push" | "replace") => void;
  pin: PinState;
}

const NEEDS = { graph: "graph", memory: "listing" };
const NOTHING = {
  graph: "This step has no graph.",
  memory: "This step has no program, and so no memory.",
};

export function DrawnRoom(props: RoomProps) {
  const { room, step } = props;
  if (!step.payloads.some((payload) => payload.kind === NEEDS[room])) {
    return <p class="hint">{NOTHING[room]}</p>;
  }
  return <Drawn key={room} {...props} />;
}

function Drawn({ room, id, step, revision, neighbors, params, change, pin }: RoomProps) {
  const host = useRef<HTMLDivElement>(null);
  const mounted = useRef<Mounted | null>(null);
  const theme = useTheme();
  const props: GraphProps = {
    recording: id,
    revision,
    neighbors: neighbors
      .filter((each) => each.payloads.some(({ kind, error }) => kind === "graph" && error === null))
      .map((each) => each.index),
    step: step.index,
    pin: pin.inStep(step.index),
    onPin: (each) => pin.set({ ...each, ...originOf(step) }),
    onOpenLine: (place: Place) =>
      change({ room: "text", kind: place.kind, line: String(place.line) }),
    api: getJson,
    theme,
    view: params[room],
    onView: (view) => change({ [room]: view }, "replace"),
  };
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    if (!host.current) return;
    const mount = room === "graph" ? mountGraph : mountMemory;
    mounted.current = mount(host.current, latest.current);
    return () => mounted.current?.destroy();
  }, [room]);
  useEffect(() => mounted.current?.update(latest.current));
  useKeys(
    room === "graph"
      ? GRAPH_KEYS.map(([key, what]) => ({
          keys: [key],
          what,
          run: () => void mounted.current?.press(key),
        }))
      : [],
  );
  return <div class="drawn" ref={host} />;
}

/** The text that calls a value as the graph and the map of the memory do. */
function originOf(step: StepSummary): { origin?: string } {
  const isThere = step.payloads.some(({ kind }) => kind === "assembly");
  return isThere ? { origin: `${step.index}.assembly` } : {};
}

function useTheme(): "light" | "dark" {
  const [isDark, setDark] = useState(matchMedia(DARK).matches);
  useEffect(() => {
    const scheme = matchMedia(DARK);
    const changed = () => setDark(scheme.matches);
    scheme.addEventListener("change", changed);
    return () => scheme.removeEventListener("change", changed);
  }, []);
  return isDark ? "dark" : "light";
}

const DARK = "(prefers-color-scheme: dark)";
