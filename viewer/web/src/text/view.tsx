/** Owns how texts are looked at, beside each other or alone: its toggles, and the keys that do the same. */
import type { RefObject } from "preact";
import type { Binding } from "../keys";
import type { TextParams } from "../route";
import type { PanesHandle } from "./panes";

interface View {
  params: TextParams;
  change: (changes: Partial<TextParams>) => void;
  isSplit: boolean;
}

const otherView = (isSplit: boolean) => ({ view: isSplit ? "inline" : "split" });
const otherContext = ({ context }: TextParams) => ({
  context: context === "all" ? "changed" : "all",
});
const otherNumbering = ({ numbering }: TextParams) => ({
  numbering: numbering === "exact" ? "ignore" : "exact",
});
const otherWrap = ({ wrap }: Pick<TextParams, "wrap">) => ({ wrap: wrap === "1" ? "" : "1" });

/** The keys of a room with texts. */
export function viewKeys(
  { params, change, isSplit }: View,
  panes: RefObject<PanesHandle | null>,
): Binding[] {
  return [
    {
      keys: ["s"],
      what: "Side by side, or in one column",
      run: () => change(otherView(isSplit)),
    },
    {
      keys: ["i"],
      what: "Ignore the numbering of values, or heed it",
      run: () => change(otherNumbering(params)),
    },
    { keys: ["w"], what: "Wrap long lines, or not", run: () => change(otherWrap(params)) },
    { keys: ["n"], what: "Next difference in the text", run: () => panes.current?.next(1) },
    { keys: ["p"], what: "Previous difference in the text", run: () => panes.current?.next(-1) },
    { keys: ["f"], what: "Find in the text", run: () => panes.current?.find() },
  ];
}

/** What is shown of a difference. */
export function DiffToggles({ params, change, isSplit }: View) {
  return (
    <>
      <Toggle
        isOn={isSplit}
        title="Side by side, or in one column (s)"
        press={() => change(otherView(isSplit))}
      >
        side by side
      </Toggle>
      <Toggle
        isOn={params.context !== "all"}
        title="Only what differs, with some lines around it"
        press={() => change(otherContext(params))}
      >
        only changes
      </Toggle>
      <Toggle
        isOn={params.numbering !== "exact"}
        title="A value that only got another number is no difference (i)"
        press={() => change(otherNumbering(params))}
      >
        ignore numbering
      </Toggle>
    </>
  );
}

/** Long lines go on in the next row, or to the right. */
export function WrapToggle({ params, change }: Pick<View, "params" | "change">) {
  return (
    <Toggle
      isOn={params.wrap === "1"}
      title="Long lines go on in the next row (w)"
      press={() => change(otherWrap(params))}
    >
      wrap
    </Toggle>
  );
}

interface ToggleProps {
  isOn: boolean;
  title: string;
  press: () => void;
  children: string;
}

function Toggle({ isOn, title, press, children }: ToggleProps) {
  return (
    <button type="button" class="toggle" aria-pressed={isOn} title={title} onClick={press}>
      {children}
    </button>
  );
}
