/** The rooms of a recording. */
import { HAS } from "../features";
import { format, type RecordingParams, recording } from "../route";
import type { RecordingDetail } from "../wire";

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

interface Props {
  id: string;
  params: RecordingParams;
  step: number | null;
  rooms: Room[];
}

export function Tabs({ id, params, step, rooms }: Props) {
  return (
    <nav class="rooms" aria-label="Rooms">
      {rooms.map((room) => (
        <a
          key={room}
          href={format(recording(id, step, { ...params, room }))}
          aria-current={params.room === room ? "page" : undefined}
          title={TITLES[room][1] === "" ? undefined : `Key: ${TITLES[room][1]}`}
        >
          {TITLES[room][0]}
        </a>
      ))}
    </nav>
  );
}
