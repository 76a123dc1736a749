/** The page of one recording: the pipeline, a room, the inspector, and the way through the steps. */
import { useCallback, useEffect } from "preact/hooks";
import { recordingUrl } from "../api";
import { HAS } from "../features";
import { useJson, useLatest, useWatched } from "../fetching";
import { Inspector } from "../inspector/inspector";
import { usePin } from "../inspector/pin";
import { useKeys } from "../keys";
import { Skeleton } from "../names";
import { go, route as newest } from "../navigation";
import { Notice } from "../notice";
import { format, home, type RecordingParams, type Route, recording } from "../route";
import type { Changes, RecordingDetail, StepSummary } from "../schema";
import { SearchRoom } from "../search/room";
import { TextRoom } from "../text/room";
import { visible } from "../visible";
import { atStep, type Choice, choose } from "./choose";
import { DrawnRoom } from "./drawn";
import { FailureRoom, useFailedPass } from "./failure";
import { Head } from "./head";
import { NoPayload, NoStep } from "./missing";
import { Overview } from "./overview";
import { neighbor, Rail } from "./rail";
import { Scrubber } from "./scrubber";
import { isOfStep, type Room, roomName, roomOf, roomsOf, Tabs } from "./tabs";

type RecordingRoute = Extract<Route, { page: "recording" }>;

export function RecordingPage({ route }: { route: RecordingRoute }) {
  const { value, error } = useWatched<RecordingDetail>(recordingUrl(route.id));
  useEffect(() => {
    if (value)
      document.title = `${visible(value.recording.name || value.recording.id)} – scaly-viz`;
  }, [value?.recording.name]);
  if (error?.status === 404) return <Gone />;
  return (
    <>
      <Notice error={error} />
      {value ? <Loaded route={route} detail={value} /> : <Loading />}
    </>
  );
}

function Gone() {
  return (
    <section class="page empty">
      <h1 tabIndex={-1}>This recording does not exist, or is no longer there.</h1>
      <p>
        <a href={format(home())}>All recordings</a>
      </p>
    </section>
  );
}

function Loading() {
  return (
    <article class="recording" aria-busy="true">
      <p class="hidden" role="status">
        Reading the recording…
      </p>
      <div class="recording-head">
        <Skeleton rows={1} />
      </div>
      <div class="columns">
        <div class="rail">
          <Skeleton rows={14} />
        </div>
        <div class="stage">
          <Skeleton rows={20} />
        </div>
      </div>
    </article>
  );
}

/** Answers about a recording that is still being made differ with what has arrived of it. */
function revisionOf({ recording: { steps, status } }: RecordingDetail): string {
  return `${steps}${status}`;
}

function Loaded({ route, detail }: { route: RecordingRoute; detail: RecordingDetail }) {
  const { id, params } = route;
  const revision = revisionOf(detail);
  const changes = useLatest(
    useJson<Changes>(HAS.changes ? `${recordingUrl(id, "/changes")}#${revision}` : null),
  ).value;
  const failedPass = useFailedPass(detail);
  const choice = choose(detail, route.step, params.kind);
  const current = choice?.step ?? null;
  const change = useCallback(
    (changed: Partial<RecordingParams>, how: "push" | "replace" = "push") => {
      // Two may change something before the page is drawn again.
      const now = newest();
      const isHere = now.page === "recording" && now.id === id && now.step === route.step;
      go(recording(id, route.step, { ...(isHere ? now.params : params), ...changed }), how);
    },
    [id, route.step, params],
  );
  const rooms = roomsOf(detail);
  const room = roomOf(params.room, detail);
  const pin = usePin(id, revision, params, change);
  const to = useCallback(
    (step: StepSummary | null) => {
      if (!step) return;
      const target = room === "failure" ? "text" : room;
      go(atStep({ id, params }, step, { room: roomName(target, detail) }), "replace");
    },
    [id, params, room, detail],
  );
  const { steps } = detail;
  const index = current?.index ?? 0;
  const isAll = params.rows === "all";
  const after = neighbor(steps, index, 1, isAll);
  const before = neighbor(steps, index, -1, isAll);
  const toRoom = (room: Room) => () => {
    if (rooms.includes(room)) change({ room });
  };
  useKeys([
    {
      keys: ["ArrowRight", "ArrowDown", "j"],
      what: "Next step that changes something",
      run: () => to(after),
    },
    {
      keys: ["ArrowLeft", "ArrowUp", "k"],
      what: "Previous step that changes something",
      run: () => to(before),
    },
    {
      keys: ["Shift+ArrowRight", "Shift+ArrowDown"],
      what: "Next step, whatever it does",
      run: () => to(neighbor(steps, index, 1, true)),
    },
    {
      keys: ["Shift+ArrowLeft", "Shift+ArrowUp"],
      what: "Previous step, whatever it did",
      run: () => to(neighbor(steps, index, -1, true)),
    },
    { keys: ["Home"], what: "First step", run: () => to(steps[0] ?? null) },
    { keys: ["End"], what: "Last step", run: () => to(steps.at(-1) ?? null) },
    { keys: ["t"], what: "Text", run: toRoom("text") },
    { keys: ["g"], what: "Graph", run: toRoom("graph") },
    { keys: ["m"], what: "Memory", run: toRoom("memory") },
    { keys: ["o"], what: "Overview: figures over the steps, timeline", run: toRoom("overview") },
    {
      keys: ["u"],
      what: "Show or fold unchanged steps",
      run: () => change({ rows: isAll ? "folded" : "all" }),
    },
    { keys: ["Escape"], what: "Unpin the value", run: () => pin.set(null) },
  ]);
  return (
    <article class="recording">
      <Head detail={detail} route={route} room={room} />
      <Tabs id={id} params={params} step={route.step} rooms={rooms} room={room} />
      <div class="columns">
        <Rail
          id={id}
          params={params}
          steps={steps}
          current={current}
          changes={changes}
          change={change}
          lifeOf={pin.lifeOf}
          failedPass={failedPass}
          room={roomName(isOfStep(room) ? room : "text", detail)}
        />
        <section class="stage" aria-label="Step">
          <Stage
            detail={detail}
            room={room}
            asked={route.step}
            choice={choice}
            params={params}
            change={change}
            pin={pin}
            changes={changes}
            neighbors={[after, before].filter((step) => step !== null)}
          />
        </section>
        {current && (isOfStep(room) || (room === "failure" && pin.pin !== null)) && (
          <Inspector
            detail={detail}
            params={params}
            step={current}
            kind={choice?.payload?.kind ?? ""}
            pin={pin}
          />
        )}
      </div>
      <Scrubber
        detail={detail}
        current={current}
        before={before}
        after={after}
        to={to}
        lifeOf={pin.lifeOf}
      />
    </article>
  );
}

interface StageProps {
  room: Room;
  detail: RecordingDetail;
  /** The step that the address names. */
  asked: number | null;
  choice: Choice | null;
  params: RecordingParams;
  change: (changes: Partial<RecordingParams>, how?: "push" | "replace") => void;
  pin: ReturnType<typeof usePin>;
  changes: Changes | null;
  neighbors: StepSummary[];
}

function Stage(props: StageProps) {
  const { detail, choice, room } = props;
  if (room === "overview") return <Overview {...props} />;
  if (room === "search") return <SearchRoom {...props} />;
  if (room === "failure") return <FailureRoom {...props} />;
  if (!choice) return <NoStep {...props} />;
  const { step, payload } = choice;
  if (room === "graph" || room === "memory") {
    const own = { id: detail.recording.id, revision: revisionOf(detail) };
    return <DrawnRoom {...props} {...own} room={room} step={step} />;
  }
  if (!payload) return <NoPayload {...props} step={step} />;
  return <TextRoom {...props} detail={detail} step={step} payload={payload} />;
}
