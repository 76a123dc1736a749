/** The controls above a text: its kinds, what it is set against, and what to do with it. */
import { payloadUrl } from "../api";
import { CopyButton } from "../copy";
import { HAS } from "../features";
import { bytes, count, plural, flops as shownFlops } from "../format";
import { Name } from "../names";
import { atStep, payloadOf, shortName, stepAt } from "../recording/choose";
import { format } from "../route";
import type { RecordingDetail, StepSummary } from "../schema";
import type { CostView } from "./cost";
import { fileName } from "./data";
import type { TextRoomProps } from "./room";
import { againstOf, isAgainstNothing, isText, type Texts } from "./source";
import { DiffToggles, WrapToggle } from "./view";

interface Props extends TextRoomProps {
  texts: Texts | null;
  diffError: Error | null;
  isSplit: boolean;
  find: () => void;
  cost: CostView;
}

export function Controls(props: Props) {
  const { detail, step, payload, params, change, texts, find } = props;
  const { id } = detail.recording;
  const text = texts?.right.text ?? null;
  const isDiff = texts?.diff != null;
  return (
    <div class="controls">
      <nav class="tabs" aria-label="Payloads">
        {step.payloads.map((each) => (
          <a
            key={each.kind}
            href={format(atStep({ id, params: { ...params, kind: each.kind } }, step))}
            aria-current={each === payload ? "true" : undefined}
            class={each.error === null ? undefined : "damaged"}
          >
            <Name text={each.kind} />
            {each.error === null ? null : " (damaged)"}
          </a>
        ))}
      </nav>
      {isText(payload) && HAS.diff && <AgainstSelect {...props} />}
      {HAS.cost && props.cost.isPossible && <HeatSelect {...props} />}
      <span class="actions">
        {isText(payload) && <WrapToggle params={params} change={change} />}
        {text !== null && (
          <>
            <button type="button" title="Find in the text (f)" onClick={find}>
              Find
            </button>
            <CopyButton text={() => text} />
          </>
        )}
        <a
          class="button"
          href={payloadUrl(id, step.index, payload)}
          download={`${fileName(step, payload)}${text === null ? "" : extension(payload.kind)}`}
        >
          Download
        </a>
      </span>
      <div class="controls-below">
        {isDiff && <DiffToggles params={params} change={change} isSplit={props.isSplit} />}
        <DiffNote {...props} />
        <HeatNote {...props} />
      </div>
    </div>
  );
}

function extension(kind: string): string {
  return kind === "code" ? ".c" : kind === "graph" ? ".json" : ".txt";
}

function AgainstSelect({ detail, step, payload, params, change }: Props) {
  const others = detail.steps.filter((each) => each.index !== step.index);
  const same = others.filter((each) => payloadOf(each, payload.kind));
  const beside = besides(detail, step, payload.kind);
  const isNone = againstOf(params.against, detail, step, payload).type === "none";
  const other = isNone ? "none" : "prev";
  const known = [
    "prev",
    "none",
    ...same.map((each) => String(each.index)),
    ...beside.map(([v]) => v),
  ];
  return (
    <label class="against">
      <span>against</span>
      <select
        value={known.includes(params.against) ? params.against : other}
        onChange={(event) => change({ against: event.currentTarget.value, line: "" })}
      >
        <option value="prev">previous change</option>
        <option value="none">nothing</option>
        <optgroup label="Difference to">
          {same.map((each) => (
            <option key={each.index} value={String(each.index)}>
              {each.index} {shortName(each)}
            </option>
          ))}
        </optgroup>
        <optgroup label="Beside, lines linked">
          {beside.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </optgroup>
      </select>
    </label>
  );
}

/** Texts of another kind: those of this step, of the last program, and the generated code. */
function besides(detail: RecordingDetail, step: StepSummary, kind: string): [string, string][] {
  const backwards = [...detail.steps].reverse();
  const code = backwards.find((each) => payloadOf(each, "code"));
  const program = backwards.find((each) => payloadOf(each, "listing"));
  const steps = [...new Set([step, program, code])].filter((each) => each !== undefined);
  return steps.flatMap((each) =>
    each.payloads
      .filter((other) => other.kind !== kind && isText(other) && other.error === null)
      .map(({ kind: name }): [string, string] => [
        `${each.index}.${name}`,
        `${name} of ${each.index} ${shortName(each)}`,
      ]),
  );
}

function HeatSelect({ params, change }: Props) {
  return (
    <label class="against">
      <span>cost</span>
      <select
        value={params.heat}
        title="Static cost of each line and loop, weighted by constant trip counts"
        onChange={(event) => change({ heat: event.currentTarget.value })}
      >
        <option value="">none</option>
        <option value="flops">flops</option>
        <option value="bytes">memory traffic</option>
      </select>
    </label>
  );
}

/** What the whole text costs, and what that leaves out. */
function HeatNote({ params, cost }: Props) {
  const flops = cost.cost?.totals.flops;
  const traffic = cost.cost?.totals.bytes;
  const uncounted = cost.cost?.uncounted ?? [];
  if (params.heat === "" || !cost.isPossible || cost.cost === null) return null;
  return (
    <span class="note">
      {params.heat === "flops" && flops !== undefined && (
        <span class="figure-note" title={`${plural(flops, "flop")} in one run`}>
          Σ {shownFlops(flops)}
        </span>
      )}
      {params.heat === "bytes" && traffic !== undefined && (
        <span class="figure-note" title={`${count(traffic)} bytes in one run`}>
          Σ {bytes(traffic)}
        </span>
      )}
      {params.heat !== "" && uncounted.length > 0 && (
        <span class="warning" title={`Lower bounds: ${uncounted.join("; ")}`}>
          ≥ {plural(uncounted.length, "thing")} not counted
        </span>
      )}
    </span>
  );
}

/** The text that `against` names, whose kind is left out where it is the one that is shown. */
function atKind(against: string, kind: string): string {
  return /^\d+$/.test(against) ? `${against}.${kind}` : against;
}

/** What the difference amounts to, or why there is none. */
function DiffNote({ detail, payload, params, texts, diffError }: Props) {
  if (!HAS.diff || params.against === "none" || !isText(payload) || !texts) return null;
  const { diff, left } = texts;
  if (diffError) return <span class="note">{diffError.message}</span>;
  const lost = isAgainstNothing(params.against, detail, payload.kind) && (
    <span class="warning">
      no text at <Name text={atKind(params.against, payload.kind)} />: against the previous change
    </span>
  );
  if (texts.isFirst) return <span class="note">{lost} the first of its kind</span>;
  if (!diff || !left) return null;
  const against = stepAt(detail.steps, left.side.step);
  const name = against ? `${against.index} ${shortName(against)}` : String(left.side.step);
  return (
    <span class="note diff-note">
      {lost}
      {!payload.changed && params.against === "prev" && (
        <strong title="The difference that is shown was made by an earlier step">
          unchanged by this step
        </strong>
      )}
      {diff.identical ? (
        <span>
          equal to <Name text={name} />
        </span>
      ) : (
        <>
          <span class="added">+{count(diff.added)}</span>{" "}
          <span class="removed">−{count(diff.removed)}</span>{" "}
          {diff.moved > 0 && <span class="moved">⇥{count(diff.moved)} moved</span>}
          {diff.renumbered > 0 && <span>≈{count(diff.renumbered)} renumbered</span>}
          <span class="quiet">
            {plural(diff.added + diff.removed, "line")} to <Name text={name} />
          </span>
        </>
      )}
    </span>
  );
}
