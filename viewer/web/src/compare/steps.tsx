/** The steps of two recordings in line: which are equal, which differ, and where it begins. */
import { useEffect, useRef } from "preact/hooks";
import { Name } from "../names";
import type { ComparedStep } from "../schema";

interface Props {
  steps: ComparedStep[];
  at: number;
  href: (row: number) => string;
}

export function AlignedSteps({ steps, at, href }: Props) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-current]")?.scrollIntoView?.({ block: "nearest" });
  }, [at]);
  return (
    <nav class="rail aligned" aria-label="Steps of both recordings">
      <div class="rail-head">
        <h2>Steps</h2>
      </div>
      <ol class="steps" ref={list}>
        {steps.map((step, row) => (
          <li key={`${step.left} ${step.right}`} class={step.same ? "quiet" : undefined}>
            <a href={href(row)} aria-current={row === at ? "step" : undefined}>
              <span class="index">{step.left ?? "–"}</span>
              <span class="sign">{signOf(step)}</span>
              <span class="index">{step.right ?? "–"}</span>
              <span class="step-name">
                <Name text={step.name.replace(/^(?:pass|normalized):/, "")} title={step.name} />
              </span>
              <span class={step.first_divergence ? "state divergence" : "state"}>
                {stateOf(step)}
              </span>
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function signOf(step: ComparedStep): string {
  if (step.left === null || step.right === null) return " ";
  return step.same ? "=" : "≠";
}

function stateOf(step: ComparedStep): string {
  if (step.first_divergence) return "first difference";
  if (step.left === null) return "right only";
  if (step.right === null) return "left only";
  return step.same ? "same" : "";
}
