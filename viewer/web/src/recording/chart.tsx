/** A figure over the steps as columns, each of which leads to its step. */
import { scaleLinear } from "d3-scale";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { tick } from "../format";
import type { StepSummary } from "../schema";

interface Props {
  steps: readonly StepSummary[];
  values: (number | null)[];
  show: (value: number | null) => string;
  current: number | null;
  href: (step: StepSummary) => string;
  title?: string;
  height?: number;
}

const HEIGHT = 168;
const TOP = 8;
const BOTTOM = 24;
const LEFT = 72;

export function FigureChart(props: Props) {
  const { steps, values, show, current, href, height: whole = HEIGHT } = props;
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(900);
  useLayoutEffect(() => {
    const element = host.current;
    if (!element || typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const ticks = whole < HEIGHT ? 2 : 4;
  const top = Math.max(...values.map((value) => value ?? 0), 0);
  const y = scaleLinear()
    .domain([0, top || 1])
    .nice(ticks)
    .range([whole - BOTTOM, TOP]);
  const slot = Math.max((width - LEFT - 8) / Math.max(steps.length, 1), 3);
  const bar = Math.max(Math.min(slot - 2, 40), 2);
  const every = Math.ceil(28 / slot);
  return (
    <div class="chart" ref={host}>
      <svg width={width} height={whole}>
        <title>{props.title ?? "Figure over the steps"}</title>
        {y.ticks(ticks).map((at) => (
          <g key={at} class="tick">
            <line x1={LEFT} x2={width - 8} y1={y(at)} y2={y(at)} />
            <text x={LEFT - 8} y={y(at)} dy="0.32em">
              {tick(show(at))}
            </text>
          </g>
        ))}
        {steps.map((step, i) => {
          const value = values[i] ?? null;
          const x = LEFT + i * slot + (slot - bar) / 2;
          const height = y(0) - y(value ?? 0);
          return (
            <a
              key={step.index}
              href={href(step)}
              aria-label={`step ${step.index} ${step.name}: ${show(value)}`}
              class={step.changed ? "column" : "column same"}
              data-dialect={step.dialect}
              aria-current={step.index === current ? "step" : undefined}
            >
              <title>{`${step.index} ${step.name}: ${show(value)}`}</title>
              <rect class="hit" x={LEFT + i * slot} y={TOP} width={slot} height={whole - TOP} />
              {value !== null && value > 0 && (
                <rect
                  x={x}
                  y={y(0) - Math.max(height, 1)}
                  width={bar}
                  height={Math.max(height, 1)}
                />
              )}
              {step.index % every === 0 && (
                <text x={x + bar / 2} y={whole - 8}>
                  {step.index}
                </text>
              )}
            </a>
          );
        })}
      </svg>
    </div>
  );
}
