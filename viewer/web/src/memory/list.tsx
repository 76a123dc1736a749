/** The buffers of a procedure as a list: what the map shows, for eyes, keyboards and screen readers. */
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { useRows } from "../canvas/rows";
import type { WorkspaceBuffer, WorkspaceProcedure } from "../schema";

const ROW = 40;
const SORTS = ["place", "size", "first use", "name"] as const;
type Sort = (typeof SORTS)[number];

interface Props {
  procedure: WorkspaceProcedure;
  pinned: string | null;
  chosen: number;
  choose(buffer: number): void;
  select(buffer: number): void;
  openLine(line: number): void;
}

export function BufferList(props: Props): JSX.Element {
  const { procedure, pinned, chosen, choose, select, openLine } = props;
  const [sort, setSort] = useState<Sort>("place");
  const order = useMemo(() => sorted(procedure.buffers, sort), [procedure, sort]);
  const active = Math.max(0, order.indexOf(chosen));

  const rows = useRows({
    count: order.length,
    height: ROW,
    active,
    follows: chosen >= 0,
    around: 0,
  });

  const onKeyDown = (event: KeyboardEvent): void => {
    const target = moved(event.key, active, order.length);
    const buffer = order[active];
    if (target !== null) select(order[target] ?? -1);
    else if (buffer === undefined) return;
    else if (event.key === "Enter" || event.key === " ") choose(buffer);
    else if (event.key === "l") openLine(procedure.buffers[buffer]?.line ?? 0);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="memory-list">
      <div class="memory-bar">
        <span>{order.length.toLocaleString("en-US")} buffers</span>
        <span class="graph-spring" />
        <label>
          Sort by{" "}
          <select value={sort} onChange={(event) => setSort(event.currentTarget.value as Sort)}>
            {SORTS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </div>
      {order.length ? (
        <div
          class="memory-rows outline-rows"
          ref={rows.list}
          role="listbox"
          aria-label={`Buffers of ${procedure.name}`}
          aria-activedescendant={`memory-row-${active}`}
          tabIndex={0}
          onKeyDown={onKeyDown}
          onScroll={rows.onScroll}
        >
          <div role="presentation" style={{ height: `${order.length * ROW}px` }} />
          {rows.shown.map((i) => (
            <Row
              key={i}
              place={i}
              size={order.length}
              buffer={procedure.buffers[order[i] as number] as WorkspaceBuffer}
              isChosen={order[i] === chosen}
              isPinned={procedure.buffers[order[i] as number]?.name === pinned}
              choose={() => choose(order[i] as number)}
              open={() => openLine(procedure.buffers[order[i] as number]?.line ?? 0)}
            />
          ))}
        </div>
      ) : (
        <p class="memory-empty">This procedure has no buffers of its own.</p>
      )}
    </div>
  );
}

function Row({
  place,
  size,
  buffer,
  isChosen,
  isPinned,
  choose,
  open,
}: {
  place: number;
  size: number;
  buffer: WorkspaceBuffer;
  isChosen: boolean;
  isPinned: boolean;
  choose(): void;
  open(): void;
}): JSX.Element {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the list names its active row
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
    <div
      id={`memory-row-${place}`}
      class="memory-row outline-row"
      role="option"
      aria-selected={isChosen}
      aria-posinset={place + 1}
      aria-setsize={size}
      data-pinned={isPinned ? "" : undefined}
      style={{ top: `${place * ROW}px` }}
      onClick={choose}
      onDblClick={open}
    >
      <bdi class="memory-name outline-name">{buffer.name}</bdi>
      <span class="memory-size">{buffer.bytes.toLocaleString("en-US")} B</span>
      <span class="memory-what">
        {buffer.type} · {placeOf(buffer)} · {lifeOf(buffer)}
        {shared(buffer)}
      </span>
    </div>
  );
}

function placeOf(buffer: WorkspaceBuffer): string {
  if (buffer.alias_of !== null) {
    return `alias of ${buffer.alias_of} + ${buffer.alias_offset.toLocaleString("en-US")}`;
  }
  if (buffer.offset !== null) return `at ${buffer.offset.toLocaleString("en-US")}`;
  return buffer.place === "private" ? "private" : "no address yet";
}

function lifeOf(buffer: WorkspaceBuffer): string {
  if (buffer.first < 0) return "never used";
  const number = (value: number): string => value.toLocaleString("en-US");
  return buffer.first === buffer.last
    ? `statement ${number(buffer.first)}`
    : `statements ${number(buffer.first)} to ${number(buffer.last)}`;
}

function shared(buffer: WorkspaceBuffer): string {
  if (buffer.alias_of !== null || !buffer.shares.length) return "";
  const shown = buffer.shares.slice(0, 6).join(", ");
  const more = buffer.shares.length - 6;
  return ` · shared by ${shown}${more > 0 ? ` and ${more.toLocaleString("en-US")} more` : ""}`;
}

function sorted(buffers: WorkspaceBuffer[], sort: Sort): number[] {
  const order = buffers.map((_, i) => i);
  const by: Record<Sort, (buffer: WorkspaceBuffer) => number | string> = {
    place: (buffer) => buffer.offset ?? Number.MAX_SAFE_INTEGER,
    size: (buffer) => -buffer.bytes,
    "first use": (buffer) => buffer.first,
    name: (buffer) => buffer.name,
  };
  const value = (i: number): number | string => by[sort](buffers[i] as WorkspaceBuffer);
  return order.sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (typeof x === "string" || typeof y === "string") {
      return String(x).localeCompare(String(y), "en", { numeric: true }) || a - b;
    }
    return x - y || a - b;
  });
}

function moved(key: string, at: number, size: number): number | null {
  const last = size - 1;
  const targets: Record<string, number> = {
    ArrowDown: Math.min(at + 1, last),
    ArrowUp: Math.max(at - 1, 0),
    PageDown: Math.min(at + 10, last),
    PageUp: Math.max(at - 10, 0),
    Home: 0,
    End: last,
  };
  return targets[key] ?? null;
}
