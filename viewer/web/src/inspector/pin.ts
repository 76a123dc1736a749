/** The pinned value: which one it is, and what is known of it in every step. */
import { useMemo, useRef, useState } from "preact/hooks";
import { recordingUrl } from "../api";
import { HAS } from "../features";
import { type Loaded, prefetchJson, useJson, useLatest } from "../fetching";
import type { RecordingParams } from "../route";
import type { Life, Value } from "../schema";
import type { Overlay } from "../text/marks";
import type { Side } from "../text/source";

export interface Pin {
  name: string;
  scope: string;
  /** The text that calls it so, as STEP.KIND; a name can be another value's in another step. */
  origin?: string;
}

type How = "push" | "replace";

export interface PinState {
  pin: Pin | null;
  value: Loaded<Value>;
  /** Changes whenever what `at` says may change. */
  key: string;
  /** How a text is marked for it. */
  at: (recording: string, step: number, kind: string) => Overlay["pin"];
  /** What became of it in a step, undefined where it is not there. */
  lifeOf: (step: number) => string | undefined;
  /** What the assembly of a step calls it, null where it is not there. */
  inStep: (step: number) => Pin | null;
  firstLine: (side: Side | null) => number | null;
  /** Pins what stands at a place of a text; without a column, what the line makes. */
  pick: (step: number, kind: string, line: number, column: number | null, how?: How) => void;
  set: (pin: Pin | null) => void;
  /** Why the last click pinned nothing. */
  problem: string | null;
}

/** Reads SCOPE:NAME or SCOPE:NAME@STEP.KIND; a procedure has no scope. */
function parsePin(text: string): Pin | null {
  const match = /^(?:(.*):)?(.+?)(?:@(\d+\..+))?$/s.exec(text);
  if (!match?.[2]) return null;
  const pin: Pin = { scope: match[1] ?? "", name: match[2] };
  return match[3] === undefined ? pin : { ...pin, origin: match[3] };
}

function formatPin(pin: Pin | null): string {
  if (pin === null) return "";
  return `${pin.scope}:${pin.name}${pin.origin === undefined ? "" : `@${pin.origin}`}`;
}

function valueUrl(id: string, { name, scope, origin = "" }: Pin): string {
  const [, step = "", kind = ""] = /^(\d+)\.(.+)$/.exec(origin) ?? [];
  return recordingUrl(id, "/values", { name, scope, step, kind });
}

export function usePin(
  id: string,
  revision: string,
  params: RecordingParams,
  change: (changes: Partial<RecordingParams>, how?: How) => void,
): PinState {
  const { pin: text } = params;
  const pin = useMemo(() => parsePin(text), [text]);
  const url = pin && HAS.values ? valueUrl(id, pin) : null;
  const value = useLatest(useJson<Value>(url && `${url}#${revision}`));
  const [problem, setProblem] = useState<string | null>(null);
  const picking = useRef(0);
  return useMemo(() => {
    const life = value.value?.life ?? [];
    const find = (step: number, kind: string): Life | undefined =>
      life.find((each) => each.step === step && each.kind === kind && isThere(each));
    const at: PinState["at"] = (recording, step, kind) => {
      const entry = recording === id ? find(step, kind) : undefined;
      return entry ? { name: entry.name, lines: new Set(entry.lines) } : null;
    };
    return {
      pin,
      value,
      key: `${text} ${value.url} ${value.value !== null}`,
      at,
      lifeOf: (step) => strongest(life.filter((each) => each.step === step)),
      inStep: (step) => {
        const entry = life.find((each) => each.step === step && each.kind === "assembly");
        if (!pin || !entry) return pin;
        const scope = pin.scope === "" ? "" : entry.scope;
        return isThere(entry) ? { name: entry.name, scope } : null;
      },
      firstLine: (side) => (side ? (find(side.step, side.kind)?.lines[0] ?? null) : null),
      pick: (step, kind, line, column, how = "push") => {
        if (!HAS.values) return;
        const turn = ++picking.current;
        const asked = recordingUrl(id, "/values", { step, kind, line, column });
        void prefetchJson<Value>(`${asked}#${revision}`).then((found) => {
          if (turn !== picking.current) return;
          setProblem(found || how === "replace" ? null : "Nothing is known of what stands there.");
          if (found) change({ pin: formatPin({ ...found, origin: `${step}.${kind}` }) }, how);
        });
      },
      set: (next) => {
        setProblem(null);
        change({ pin: formatPin(next) });
      },
      problem,
    };
  }, [id, revision, text, value, problem, change]);
}

function isThere({ state }: Life): boolean {
  return state !== "absent" && state !== "gone";
}

const ORDER = ["born", "changed", "gone", "present"];

/** A step has several texts: what happened in one of them counts. */
function strongest(entries: Life[]): string | undefined {
  return ORDER.find((state) => entries.some((each) => each.state === state));
}
