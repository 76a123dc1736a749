/** The panel on the right: the pinned value's life, else the figures of the step. */

import { HAS } from "../features";
import { bytes, count, plural } from "../format";
import { Key, Name, Skeleton } from "../names";
import { atStep, payloadOf, shortName, stepAt } from "../recording/choose";
import { FIGURES, signed } from "../recording/figures";
import { LIFE_SIGNS } from "../recording/rail";
import { format, type RecordingParams } from "../route";
import type { Life, Place, RecordingDetail, Related, StepSummary, Value } from "../schema";
import { LineLinks } from "./line";
import type { Pin, PinState } from "./pin";

interface Props {
  detail: RecordingDetail;
  params: RecordingParams;
  step: StepSummary;
  kind: string;
  pin: PinState;
}

export function Inspector(props: Props) {
  const { pin } = props;
  return (
    <aside class="inspector" aria-label="Inspector">
      {pin.problem !== null && (
        <p class="hint" role="status">
          {pin.problem}
        </p>
      )}
      <LineLinks {...props} />
      {pin.pin ? <Pinned {...props} /> : <StepFigures {...props} />}
    </aside>
  );
}

function Pinned(props: Props) {
  const { pin } = props;
  const { value, error } = pin.value;
  return (
    <section class="pinned">
      <header>
        <h2>
          <span class="pin-sign" aria-hidden="true">
            ⚲
          </span>{" "}
          <Name text={called(pin.pin?.name ?? "")} />
        </h2>
        <button type="button" class="plain link" title="Unpin (Esc)" onClick={() => pin.set(null)}>
          unpin
        </button>
      </header>
      {error !== null ? (
        <p class="hint">
          <Name text={error.message} isText />
        </p>
      ) : value === null ? (
        <Skeleton rows={8} />
      ) : (
        <Facts {...props} value={value} />
      )}
    </section>
  );
}

function Facts(props: Props & { value: Value }) {
  const { value, detail, step, kind } = props;
  const here = value.life.find((each) => each.step === step.index && each.kind === kind);
  const { cost } = value;
  const isProcedure = value.role === "procedure";
  return (
    <>
      <dl class="facts">
        {!(isProcedure && value.type === "") && (
          <div>
            <dt>{value.role || "value"}</dt>
            <dd class="mono">
              <Name text={value.type || "unknown type"} />
            </dd>
          </div>
        )}
        {value.scope !== "" && (
          <div>
            <dt>in</dt>
            <dd class="mono">
              <Name text={value.scope} />
            </dd>
          </div>
        )}
        {cost && (
          <div>
            <dt>{isProcedure ? "cost of a run" : "cost"}</dt>
            <dd>
              {plural(cost.flops, "flop")}, {plural(cost.loads, "load")},{" "}
              {plural(cost.stores, "store")}
            </dd>
          </div>
        )}
      </dl>
      <h3>Life</h3>
      <LifeStrip {...props} />
      {here && here.state !== "absent" && (
        <p class="mono defining">
          <Name text={here.text.trim()} isText />
        </p>
      )}
      <Births {...props} />
      <Relations title="Made from" relations={value.producers} {...props} />
      <Relations title="Used by" relations={value.consumers} {...props} />
      {value.code.length > 0 && (
        <>
          <h3>In the C</h3>
          <Places places={value.code} {...props} />
        </>
      )}
      <Ending {...props} />
      {here && here.lines.length > 0 && (
        <>
          <h3>
            Here, {plural(here.lines.length, "line")} <span class="quiet">of {kind}</span>
          </h3>
          <Places
            places={here.lines.map((line) => placeOf(here, line))}
            {...props}
            detail={detail}
          />
        </>
      )}
    </>
  );
}

/** Why it does not end in the C, where it does not. */
function Ending({ value, detail }: Props & { value: Value }) {
  const hasCode = detail.steps.some((step) => payloadOf(step, "code"));
  const gone = value.life.filter(({ state }) => state === "gone").at(-1);
  const last = gone && stepAt(detail.steps, gone.step);
  const isGone = hasCode && value.code.length === 0 && last !== undefined;
  if (value.note !== "") {
    return (
      <p class="hint">
        <Name text={value.note} isText />
      </p>
    );
  }
  if (!isGone) return null;
  return (
    <p class="hint">
      Not in the C under a name of its own: <Name text={shortName(last)} /> took it into what uses
      it, or did without it.
    </p>
  );
}

function placeOf(life: Life, line: number): Place {
  return { step: life.step, kind: life.kind, line, column: 0, end_column: 0 };
}

/** A cell a step: absent, there, changed; a click leads to the step. */
function LifeStrip({ detail, params, pin, step }: Props) {
  const { id } = detail.recording;
  return (
    <ol class="life-strip">
      {detail.steps.map((each) => {
        const state = pin.lifeOf(each.index) ?? "absent";
        return (
          <li key={each.index}>
            <a
              href={format(atStep({ id, params }, each))}
              data-life={state}
              aria-current={each.index === step.index ? "step" : undefined}
              title={`${each.index} ${each.name}: ${state}`}
            >
              <span aria-hidden="true">{LIFE_SIGNS[state] ?? ""}</span>
              <span class="hidden">
                step {each.index}: {state}
              </span>
            </a>
          </li>
        );
      })}
    </ol>
  );
}

const TOLD = new Set(["born", "changed", "gone"]);

/** What happened to it, step by step: in the kind that is shown, where a step has that. */
function toldOf(value: Value, steps: StepSummary[], kind: string): { each: Life; word: string }[] {
  let name = "";
  return steps.flatMap(({ index }) => {
    const here = value.life.filter((each) => each.step === index && each.state !== "absent");
    const telling = here.filter((each) => TOLD.has(each.state));
    const choice = telling.length > 0 ? telling : here;
    const each = choice.find((one) => one.kind === kind) ?? choice[0];
    if (!each) return [];
    const isOther = each.name !== "" && name !== "" && each.name !== name;
    name = each.name || name;
    if (TOLD.has(each.state)) return [{ each, word: each.state }];
    return isOther ? [{ each, word: "renamed" }] : [];
  });
}

/** Where it came to be, was changed and went. */
function Births({ value, detail, params, kind }: Props & { value: Value }) {
  const { id } = detail.recording;
  const told = toldOf(value, detail.steps, kind);
  if (told.length === 0) return null;
  return (
    <ul class="births">
      {told.map(({ each, word }) => {
        const step = stepAt(detail.steps, each.step);
        if (!step) return null;
        const line = each.definition?.line ?? each.lines[0];
        return (
          <li key={each.step}>
            <span class="life-word" data-life={each.state}>
              {word}
            </span>{" "}
            <a
              href={format(
                atStep({ id, params }, step, {
                  kind: each.kind,
                  line: line ? String(line) : "",
                  room: "text",
                }),
              )}
            >
              {each.step} <Name text={shortName(step)} />
            </a>
            {each.name !== "" && each.name !== value.name && (
              <span class="quiet">
                {" "}
                as <Name text={called(each.name)} />
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** Values of expressions are mere numbers: with the sign they are known as such. */
function called(name: string): string {
  return /^\d/.test(name) ? `%${name}` : name;
}

const MAX_SHOWN = 12;

/** A name can be another value's in another text. */
function pinOf({ name, scope, place: { step, kind } }: Related): Pin {
  return { name, scope, origin: `${step}.${kind}` };
}

function Relations({ title, relations, pin }: Props & { title: string; relations: Related[] }) {
  if (relations.length === 0) return null;
  return (
    <>
      <h3>
        {title} <span class="quiet">{count(relations.length)}</span>
      </h3>
      <ul class="relations">
        {relations.slice(0, MAX_SHOWN).map((each) => (
          <li key={`${each.scope}:${each.name}`}>
            <button type="button" class="plain link mono" onClick={() => pin.set(pinOf(each))}>
              <Name text={called(each.name)} />
            </button>
          </li>
        ))}
        {relations.length > MAX_SHOWN && (
          <li class="quiet">and {count(relations.length - MAX_SHOWN)} more</li>
        )}
      </ul>
    </>
  );
}

function Places({ places: all, detail, params }: Props & { places: Place[] }) {
  const { id } = detail.recording;
  const places = all.filter(
    ({ step, kind, line }, i) =>
      i === all.findIndex((each) => each.step === step && each.kind === kind && each.line === line),
  );
  return (
    <ul class="relations">
      {places.slice(0, MAX_SHOWN).map((place) => {
        const step = stepAt(detail.steps, place.step);
        if (!step) return null;
        const to = atStep({ id, params }, step, {
          room: "text",
          kind: place.kind,
          line: String(place.line),
        });
        return (
          <li key={`${place.step} ${place.kind} ${place.line}`}>
            <a class="mono" href={format(to)}>
              {count(place.line)}
            </a>
          </li>
        );
      })}
      {places.length > MAX_SHOWN && (
        <li class="quiet">and {count(places.length - MAX_SHOWN)} more</li>
      )}
    </ul>
  );
}

/** All figures of the step, as number and change. */
function StepFigures({ step }: Props) {
  const shown = FIGURES.filter(({ key }) => key !== undefined && step.figures[key] !== undefined);
  return (
    <section>
      <h2>
        Step {step.index} <Name text={shortName(step)} />
      </h2>
      <table class="step-figures">
        <caption>Figures of the step</caption>
        <tbody>
          {shown.map((figure) => (
            <tr key={figure.id} title={figure.meaning}>
              <th scope="row">{figure.label}</th>
              <td class="figure">{figure.show(step.figures[figure.key ?? ""])}</td>
              <td class="figure change">
                {signed(step.changes[figure.key ?? ""] ?? null, figure.show)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {step.uncounted.map((text) => (
        <p class="hint" key={text}>
          Not counted: <Name text={text} />
        </p>
      ))}
      <ul class="payload-sizes">
        {step.payloads.map((payload) => (
          <li key={payload.kind}>
            <Name text={payload.kind} />{" "}
            <span class="quiet">
              {bytes(payload.size)}
              {payload.changed ? "" : ", unchanged"}
            </span>
          </li>
        ))}
      </ul>
      {HAS.values && (
        <p class="hint">
          Click a name in a text or a graph to pin it: its life over the steps appears here. Walk
          with <Key>←</Key> <Key>→</Key>.
        </p>
      )}
    </section>
  );
}
