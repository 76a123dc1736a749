/** The whole compile at once: a figure over the steps, the timeline, and all figures as a table. */
import { HAS } from "../features";
import { count } from "../format";
import { Dialect, Name } from "../names";
import { format, type RecordingParams } from "../route";
import type { Changes, RecordingDetail, StepSummary } from "../schema";
import { FigureChart } from "./chart";
import { atStep, type Choice, shortName } from "./choose";
import { type Figure, figureOf, figuresOf, read, signed, textsAt } from "./figures";
import { Timeline } from "./timeline";

interface Props {
  detail: RecordingDetail;
  choice: Choice | null;
  params: RecordingParams;
  change: (changes: Partial<RecordingParams>) => void;
  changes: Changes | null;
}

export function Overview({ detail, choice, params, change, changes }: Props) {
  const figure = figureOf(params.figure);
  const kind = params.kind || choice?.payload?.kind || "listing";
  const figures = figuresOf(detail.steps, changes).filter(({ id }) => id !== "lines");
  const values = detail.steps.map(
    (step) => read(figure, step, textsAt(changes, step.index), kind).value,
  );
  const kinds = kindsOf(changes);
  const id = detail.recording.id;
  return (
    <div class="overview">
      <section aria-label="Figure over the steps">
        <h2>
          {figure.label} <span class="quiet">{figure.meaning.toLowerCase()}, by step</span>
        </h2>
        {values.some((value) => value !== null) ? (
          <FigureChart
            steps={detail.steps}
            values={values}
            show={figure.show}
            current={choice?.step.index ?? null}
            href={(step) => format(atStep({ id, params }, step, { room: "text" }))}
          />
        ) : (
          <p class="quiet">No step of this recording has it.</p>
        )}
      </section>
      {HAS.timeline && detail.steps.some((step) => step.duration_s > 0) && (
        <Timeline detail={detail} params={params} />
      )}
      <section aria-label="Figures of all steps">
        <h2>Figures</h2>
        <table class="figures">
          <caption>Figures of all steps, each with its change</caption>
          <thead>
            <tr>
              <th scope="col">Step</th>
              {kinds.map((each) => (
                <th scope="col" class="figure" key={each} title={`Lines of the ${each}`}>
                  <Name text={capitalized(each)} /> <span class="unit">lines</span>
                </th>
              ))}
              {figures.map((each) => (
                <FigureHead
                  key={each.id}
                  figure={each}
                  isChosen={each.id === figure.id}
                  choose={() => change({ figure: each.id })}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {detail.steps.map((step) => (
              <FigureRow
                key={step.index}
                href={format(atStep({ id, params }, step, { room: "text" }))}
                step={step}
                figures={figures}
                kinds={kinds}
                changes={changes}
              />
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

function kindsOf(changes: Changes | null): string[] {
  return [...new Set(changes?.steps.flatMap(({ texts }) => Object.keys(texts)) ?? [])];
}

function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function FigureHead(props: { figure: Figure; isChosen: boolean; choose: () => void }) {
  const { figure, isChosen, choose } = props;
  return (
    <th
      scope="col"
      class={isChosen ? "figure chosen" : "figure"}
      title={`${figure.label}: ${figure.meaning}`}
    >
      <button type="button" class="plain" aria-pressed={isChosen} onClick={choose}>
        {figure.short ?? figure.label}
      </button>
    </th>
  );
}

interface RowProps {
  href: string;
  step: StepSummary;
  figures: Figure[];
  kinds: string[];
  changes: Changes | null;
}

function FigureRow({ href, step, figures, kinds, changes }: RowProps) {
  const texts = textsAt(changes, step.index);
  const isQuiet = !step.changed || step.missing;
  return (
    <tr class={isQuiet ? "quiet" : undefined}>
      <th scope="row">
        <span class="index">{step.index}</span> <Dialect name={step.dialect} />{" "}
        <a href={href}>
          <Name text={shortName(step)} />
        </a>
        {step.missing && " missing"}
        {!step.missing && !step.changed && (
          <span title="The step changed nothing">
            {" "}
            <span aria-hidden="true">=</span>
            <span class="hidden">same</span>
          </span>
        )}
      </th>
      {kinds.map((kind) => {
        const text = texts?.[kind];
        return (
          <td class="figure" key={kind}>
            {text ? count(text.lines) : ""}
            {text && text.added + text.removed > 0 && (
              <span class="change">
                <span class="added">+{count(text.added)}</span>{" "}
                <span class="removed">−{count(text.removed)}</span>
              </span>
            )}
          </td>
        );
      })}
      {figures.map((figure) => {
        const { value, change } = read(figure, step, texts, "");
        const shown = <Change figure={figure} step={step} change={change} />;
        const isBeside = isAlone(figure, step);
        return (
          <td class="figure" key={figure.id}>
            {isBeside && shown}
            {value === null ? "" : figure.show(value)}
            {!isBeside && shown}
          </td>
        );
      })}
    </tr>
  );
}

/** The nodes of an expression are all that changes in it: the change stands before the figure. */
function isAlone(figure: Figure, step: StepSummary): boolean {
  return figure.id === "nodes" && step.dialect === "expr";
}

/** How a figure changed; of a graph's nodes, how many came and how many went. */
function Change(props: { figure: Figure; step: StepSummary; change: number | null }) {
  const { figure, step, change } = props;
  const added = step.figures["scaly.graph.nodes_added"];
  const removed = step.figures["scaly.graph.nodes_removed"];
  if (figure.id === "nodes" && added !== undefined && removed !== undefined) {
    if (added + removed === 0) return null;
    return (
      <span class={isAlone(figure, step) ? "change beside" : "change"}>
        <span class="added">+{count(added)}</span> <span class="removed">−{count(removed)}</span>
      </span>
    );
  }
  const text = signed(change, figure.show);
  return text === "" ? null : <span class="change">{text}</span>;
}
