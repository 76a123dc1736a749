/** The graph's tools: search, what is shown of it, and pictures to take away. */
import type { JSX, Ref } from "preact";
import type { Controller } from "./controller";
import type { FilterMode } from "./request";
import type { State } from "./state";
import { MOST_HOPS } from "./viewstate";

interface BarActions {
  fit(): void;
  zoom(factor: number): void;
  download(format: "svg" | "png"): void;
  toggleOutline(): void;
}

export function Bar({
  state,
  hasPin,
  isOutlineOpen,
  controller,
  actions,
  box,
}: {
  state: State;
  hasPin: boolean;
  isOutlineOpen: boolean;
  controller: Controller;
  actions: BarActions;
  box: Ref<HTMLInputElement>;
}): JSX.Element {
  const { choices, hits, hit, summary } = state;
  const hasHops = choices.mode === "around" || choices.mode === "pin";
  return (
    <div class="graph-bar" role="toolbar" aria-label="Graph">
      <button
        type="button"
        aria-pressed={isOutlineOpen}
        title="Show or hide the outline"
        onClick={actions.toggleOutline}
      >
        Outline
      </button>
      <span class="graph-search">
        <input
          ref={box}
          type="search"
          aria-label="Search the graph"
          placeholder="Search  /"
          value={state.query}
          onInput={(event) => void controller.search(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") {
              event.preventDefault();
              void controller.nextHit(event.shiftKey ? -1 : 1);
            } else if (event.key === "Escape") {
              event.preventDefault();
              void controller.search("");
              event.currentTarget.blur();
            }
            event.stopPropagation();
          }}
        />
        {hits ? (
          <>
            <span class="graph-count">
              {hits.total ? `${hit < 0 ? "–" : (hit + 1).toLocaleString("en-US")} / ` : ""}
              {hits.total.toLocaleString("en-US")}
            </span>
            <button
              type="button"
              aria-label="Previous hit"
              title="Previous hit (p)"
              disabled={!hits.total}
              onClick={() => void controller.nextHit(-1)}
            >
              ↑
            </button>
            <button
              type="button"
              aria-label="Next hit"
              title="Next hit (n)"
              disabled={!hits.total}
              onClick={() => void controller.nextHit(1)}
            >
              ↓
            </button>
          </>
        ) : null}
      </span>
      <fieldset class="graph-modes">
        <legend class="graph-unseen">What is shown</legend>
        <Mode mode="all" label="All" title="Everything (a)" {...{ state, controller }} />
        <Mode
          mode="changed"
          label={summary ? `Changed ${summary.changed.toLocaleString("en-US")}` : "Changed"}
          title="Only what is new or changed in this step (c)"
          isDisabled={!summary?.changed}
          {...{ state, controller }}
        />
        <Mode
          mode="pin"
          label="Around pin"
          title="Only what is near the pinned value (w)"
          isDisabled={!hasPin}
          {...{ state, controller }}
        />
        <Mode
          mode="around"
          label="Neighborhood"
          title="Only what is near the chosen box (h)"
          isDisabled={choices.selected === null && choices.mode !== "around"}
          {...{ state, controller }}
        />
      </fieldset>
      {hasHops ? (
        <label class="graph-hops">
          hops
          <input
            type="number"
            min={1}
            max={MOST_HOPS}
            value={choices.hops}
            onInput={(event) => {
              const hops = event.currentTarget.valueAsNumber;
              if (hops >= 1 && hops <= MOST_HOPS) controller.setHops(Math.floor(hops));
            }}
          />
        </label>
      ) : null}
      <label class="graph-check">
        <input
          type="checkbox"
          checked={choices.declarations}
          onChange={(event) => controller.setDeclarations(event.currentTarget.checked)}
        />
        Declarations
      </label>
      <span class="graph-spring" />
      <button
        type="button"
        title="Open all groups, as far as there is room (e)"
        onClick={() => controller.openAll()}
      >
        Open all
      </button>
      <button type="button" title="Close all groups (x)" onClick={() => controller.closeAll()}>
        Close all
      </button>
      <span class="graph-group">
        <button
          type="button"
          aria-label="Zoom out"
          title="Zoom out (-)"
          onClick={() => actions.zoom(1 / 1.4)}
        >
          −
        </button>
        <button type="button" title="Bring everything into view (f)" onClick={actions.fit}>
          Fit
        </button>
        <button
          type="button"
          aria-label="Zoom in"
          title="Zoom in (+)"
          onClick={() => actions.zoom(1.4)}
        >
          +
        </button>
      </span>
      <span class="graph-group">
        <button
          type="button"
          title="Download the graph as it is shown, as SVG"
          onClick={() => actions.download("svg")}
        >
          SVG
        </button>
        <button
          type="button"
          title="Download the graph as it is shown, as PNG"
          onClick={() => actions.download("png")}
        >
          PNG
        </button>
      </span>
    </div>
  );
}

function Mode({
  mode,
  label,
  title,
  isDisabled = false,
  state,
  controller,
}: {
  mode: FilterMode;
  label: string;
  title: string;
  isDisabled?: boolean;
  state: State;
  controller: Controller;
}): JSX.Element {
  return (
    <button
      type="button"
      title={title}
      disabled={isDisabled}
      aria-pressed={state.choices.mode === mode}
      onClick={() => controller.setMode(mode)}
    >
      {label}
    </button>
  );
}
