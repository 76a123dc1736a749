/** The memory's room: figures, the map of one procedure, and its buffers as a list. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { download } from "../canvas/download";
import { readPalette } from "../canvas/palette";
import { type Props, stepUrl } from "../canvas/props";
import type { Workspace, WorkspaceProcedure } from "../schema";
import { BufferList } from "./list";
import { MemoryMap } from "./map";
import { type Bar, firstProcedure, leftOut, reuseOf, sized } from "./plan";

/** The map also tells the page which procedure is shown, so that an address can hold it. */
export interface MemoryProps extends Props {
  view?: string;
  onView?(view: string): void;
}

interface Answer {
  of: string;
  value: Workspace | null;
  error: string | null;
}

export function MemoryRoom({ props }: { props: MemoryProps }): JSX.Element {
  const url = stepUrl(props, "workspace");
  const [retries, setRetries] = useState(0);
  const answer = useAnswer(url, retries, props.api);
  const value = answer.value;
  const [picked, setPicked] = useState(props.view ?? "");
  const [chosen, setChosen] = useState(-1);

  useEffect(() => {
    if (props.view !== undefined) setPicked(props.view);
  }, [props.view]);

  const procedure = value ? procedureOf(value, picked, props.pin?.scope) : null;
  const pick = (name: string): void => {
    setPicked(name);
    setChosen(-1);
    props.onView?.(name);
  };
  const pinned =
    props.pin && procedure && props.pin.scope === procedure.name ? props.pin.name : null;

  const choose = (buffer: number): void => {
    setChosen(buffer);
    const found = procedure?.buffers[buffer];
    if (found) props.onPin({ name: found.name, scope: found.scope });
  };
  const openLine = (line: number): void => {
    if (line > 0) props.onOpenLine({ step: props.step, kind: "assembly", line });
  };

  return (
    <section class="memory" aria-label="Memory" aria-busy={!value && !answer.error}>
      {answer.error ? (
        <div class="graph-message" role="alert">
          <p>
            The memory cannot be shown: <bdi>{answer.error}</bdi>
          </p>
          <button type="button" onClick={() => setRetries((n) => n + 1)}>
            Try again
          </button>
        </div>
      ) : null}
      {value && procedure ? (
        <>
          <Totals {...{ value, procedure }} />
          <div class="memory-body">
            <Picture
              {...{ props, procedure, pinned, chosen, choose, pick, openLine }}
              procedures={value.procedures}
            />
            <BufferList {...{ procedure, pinned, chosen, choose, openLine }} select={setChosen} />
          </div>
        </>
      ) : null}
      {value && !procedure ? (
        <p class="memory-empty">This step has no program, and so no memory.</p>
      ) : null}
      {!value && !answer.error ? <p class="memory-empty">Reading the memory …</p> : null}
    </section>
  );
}

function useAnswer(url: string, retries: number, api: Props["api"]): Answer {
  const [answer, setAnswer] = useState<Answer>({ of: "", value: null, error: null });
  useEffect(() => {
    const stop = new AbortController();
    api<Workspace>(url, stop.signal).then(
      (value) => setAnswer({ of: url, value, error: null }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        const text = error instanceof Error ? error.message : String(error);
        setAnswer({ of: url, value: null, error: text });
      },
    );
    return () => stop.abort();
  }, [url, retries, api]);
  return answer;
}

/** The procedure that was picked, that of the pinned value, or the one that needs most. */
function procedureOf(value: Workspace, picked: string, scope = ""): WorkspaceProcedure | null {
  const named = (name: string) => value.procedures.find((each) => each.name === name);
  const pinned = named(scope);
  return (
    named(picked) ??
    (pinned?.buffers.length ? pinned : undefined) ??
    firstProcedure(value.procedures, value.entries)
  );
}

function Totals({
  value,
  procedure,
}: {
  value: Workspace;
  procedure: WorkspaceProcedure;
}): JSX.Element {
  const reuse = reuseOf(procedure);
  const rest = leftOut(procedure, "private") + leftOut(procedure, "unpacked");
  return (
    <div class="memory-status">
      <dl class="memory-figures">
        <Figure name="workspace of the program" title="What the caller has to lend as w[]">
          {value.workspace_bytes === null ? "not packed yet" : bytes(value.workspace_bytes)}
        </Figure>
        <Figure name="private, all procedures" title="Local buffers, on the C stack">
          {bytes(value.private_bytes)}
        </Figure>
        <Figure
          name="this procedure's window"
          title="Its own buffers, and behind them those of what it calls"
        >
          {procedure.window_bytes === null ? "not packed yet" : bytes(procedure.window_bytes)}
        </Figure>
        <Figure name="peak in use" title="The most that is alive at one statement">
          {bytes(procedure.peak_bytes)}
          {procedure.peak_statement >= 0
            ? `, at statement ${procedure.peak_statement.toLocaleString("en-US")}`
            : ""}
        </Figure>
        {procedure.waste_bytes === null ? null : (
          <Figure name="never in use at once" title="The window without the peak">
            {bytes(procedure.waste_bytes)}
          </Figure>
        )}
        {reuse.tenants > reuse.slots ? (
          <Figure
            name="spared by reuse"
            title="Buffers that share memory, without the memory they share"
          >
            {bytes(reuse.tenants - reuse.slots)}
          </Figure>
        ) : null}
      </dl>
      {value.is_packed ? null : (
        <p class="memory-note">
          pack_workspace has not run yet: buffers have sizes and lives, but no addresses.
        </p>
      )}
      {rest ? (
        <p class="memory-note">
          {rest.toLocaleString("en-US")} small buffers are not drawn; the list has them.
        </p>
      ) : null}
      {value.problems.map((problem) => (
        <p key={problem} class="graph-problem">
          {problem}
        </p>
      ))}
    </div>
  );
}

function Figure({
  name,
  title,
  children,
}: {
  name: string;
  title: string;
  children: (JSX.Element | string | null)[] | JSX.Element | string | null;
}): JSX.Element {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function bytes(count: number): string {
  return count < 1_000 ? sized(count) : `${count.toLocaleString("en-US")} B`;
}

interface PictureProps {
  props: MemoryProps;
  procedure: WorkspaceProcedure;
  procedures: WorkspaceProcedure[];
  pinned: string | null;
  chosen: number;
  choose(buffer: number): void;
  pick(name: string): void;
  openLine(line: number): void;
}

function Picture(picture: PictureProps): JSX.Element {
  const { props, procedure, procedures, pinned, chosen, pick } = picture;
  const host = useRef<HTMLDivElement>(null);
  const map = useRef<MemoryMap | null>(null);
  const latest = useRef(picture);
  latest.current = picture;

  useEffect(() => {
    const element = host.current;
    if (!element) return;
    map.current = new MemoryMap(element, readPalette(element, latest.current.props.theme), {
      chosen: (bar) => latest.current.choose(bar?.buffer ?? -1),
      entered: (bar) => enter(latest.current, bar),
      hovered: (bar, x, y) => showTip(element, latest.current.procedure, bar, x, y),
    });
    const { canvas } = map.current.surface;
    canvas.setAttribute("role", "img");
    canvas.setAttribute(
      "aria-label",
      "Map of the memory over the statements; the list beside it has the same.",
    );
    return () => map.current?.destroy();
  }, []);

  useEffect(() => map.current?.show(procedure), [procedure]);
  useEffect(() => map.current?.mark({ pinned, chosen }), [pinned, chosen]);
  useEffect(() => {
    if (host.current) map.current?.recolor(readPalette(host.current, props.theme));
  }, [props.theme]);

  const save = async (format: "svg" | "png"): Promise<void> => {
    const content =
      format === "svg"
        ? new Blob([map.current?.svg() ?? ""], { type: "image/svg+xml" })
        : await map.current?.png();
    if (content) download(`memory-step-${props.step}-${procedure.name}.${format}`, content);
  };

  return (
    <div class="memory-picture">
      <div class="memory-bar" role="toolbar" aria-label="Memory">
        <label>
          Procedure{" "}
          <select value={procedure.name} onChange={(event) => pick(event.currentTarget.value)}>
            {procedures.map((each) => (
              <option key={each.name} value={each.name}>
                {each.name} ({sized((each.window_bytes ?? 0) + each.private_bytes)})
              </option>
            ))}
          </select>
        </label>
        <span class="graph-note">{windowNote(procedure)}</span>
        <span class="graph-spring" />
        <button
          type="button"
          aria-label="Zoom out"
          onClick={() => map.current?.surface.zoomBy(1 / 1.4)}
        >
          −
        </button>
        <button type="button" onClick={() => map.current?.fit()}>
          Fit
        </button>
        <button type="button" aria-label="Zoom in" onClick={() => map.current?.surface.zoomBy(1.4)}>
          +
        </button>
        <button type="button" onClick={() => void save("svg")} title="Download the map as SVG">
          SVG
        </button>
        <button type="button" onClick={() => void save("png")} title="Download the map as PNG">
          PNG
        </button>
      </div>
      <div class="memory-stage" ref={host}>
        <p class="graph-tip" hidden />
      </div>
    </div>
  );
}

function windowNote({ window_bytes, bases }: WorkspaceProcedure): string {
  if (!window_bytes) return "";
  return bases.length
    ? `window at ${bases.map(bytes).join(", ")} of w[]`
    : "not called from the entry";
}

/** A call leads to the map of what it calls, a buffer to its declaration. */
function enter({ procedure, procedures, pick, openLine }: PictureProps, bar: Bar): void {
  const call = procedure.calls[bar.call];
  if (call && procedures.some((each) => each.name === call.callee)) pick(call.callee);
  else openLine(procedure.buffers[bar.buffer]?.line ?? 0);
}

function showTip(
  element: HTMLElement,
  procedure: WorkspaceProcedure,
  bar: Bar | null,
  x: number,
  y: number,
): void {
  const tip = element.querySelector<HTMLElement>(".graph-tip");
  if (!tip) return;
  tip.hidden = bar === null;
  if (!bar) return;
  const buffer = procedure.buffers[bar.buffer];
  const lines = [
    bar.kind === "call"
      ? `call ${bar.label}: its window`
      : `${bar.label}${buffer && buffer.name !== bar.label ? ` in ${buffer.name}` : ""}`,
    `${bytes(bar.bytes)}${buffer ? `, ${buffer.type}` : ""}`,
    `statements ${bar.first.toLocaleString("en-US")} to ${bar.last.toLocaleString("en-US")}`,
  ];
  if (bar.kind !== "row") lines.push(`offset ${bytes(bar.top)}`);
  if (buffer?.shares.length) lines.push(`same bytes: ${buffer.shares.slice(0, 12).join(", ")}`);
  tip.textContent = lines.join("\n");
  const right = element.clientWidth - tip.offsetWidth - 8;
  tip.style.left = `${Math.max(8, Math.min(x + 14, right))}px`;
  tip.style.top = `${Math.max(0, Math.min(y + 16, element.clientHeight - tip.offsetHeight - 8))}px`;
}
