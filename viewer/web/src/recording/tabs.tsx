/** The rooms of a recording. */
import { HAS } from "../features";
import { format, type RecordingParams, recording } from "../route";
import type { RecordingDetail } from "../schema";

export type Room = "overview" | "text" | "graph" | "memory" | "search" | "failure";

const TITLES: Record<Room, [string, string]> = {
  overview: ["Overview", "o"],
  text: ["Text", "t"],
  graph: ["Graph", "g"],
  memory: ["Memory", "m"],
  search: ["Search", "/"],
  failure: ["Failure", ""],
};

export function roomsOf(detail: RecordingDetail): Room[] {
  const isFailed = detail.recording.status === "failed";
  const rooms: [Room, boolean][] = [
    ["failure", isFailed && HAS.failure],
    ["overview", true],
    ["text", true],
    ["graph", HAS.graph],
    ["memory", HAS.memory],
    ["search", HAS.search],
  ];
  return rooms.filter(([, has]) => has).map(([room]) => room);
}

/** The room that is shown: where the address names none, a failed render is about its failure. */
export function roomOf(room: string, detail: RecordingDetail): Room {
  const rooms = roomsOf(detail);
  return rooms.find((each) => each === room) ?? (rooms.includes("failure") ? "failure" : "text");
}

/** How the address names `room`: not at all where it is the one that is shown anyway. */
export function roomName(room: Room, detail: RecordingDetail): string {
  return room === roomOf("", detail) ? "" : room;
}

/** Rooms that are about one step; the others are about all of them. */
export function isOfStep(room: Room): boolean {
  return room === "text" || room === "graph" || room === "memory";
}

interface Props {
  id: string;
  params: RecordingParams;
  step: number | null;
  rooms: Room[];
  room: Room;
}

export function Tabs({ id, params, step, rooms, room: shown }: Props) {
  return (
    <nav class="rooms" aria-label="Rooms">
      {rooms.map((room) => (
        <a
          key={room}
          href={format(recording(id, step, { ...params, room }))}
          aria-current={shown === room ? "page" : undefined}
          title={TITLES[room][1] === "" ? undefined : `Key: ${TITLES[room][1]}`}
        >
          {TITLES[room][0]}
        </a>
      ))}
    </nav>
  );
}
