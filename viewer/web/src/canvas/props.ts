/** What the page tells the graph and the memory map, and what they tell the page. */

/** A value that is followed through all steps: its name, and the procedure or function that it is in. */
export interface Pin {
  name: string;
  scope: string;
}

/** A line of a step's text. */
export interface Place {
  step: number;
  kind: string;
  line: number;
}

/** Asks for the JSON at `url`; fails with an Error whose message is for people. */
type Fetcher = <T>(url: string, signal: AbortSignal) => Promise<T>;

export interface Props {
  recording: string;
  step: number;
  pin: Pin | null;
  onPin(pin: Pin): void;
  onOpenLine(place: Place): void;
  api: Fetcher;
  theme: "light" | "dark";
}

/** A component that lives in a host element until it is destroyed. */
export interface Mounted {
  update(props: Props): void;
  /** Acts as if the key had been pressed in it; false where the key means nothing there. */
  press(key: string): boolean;
  destroy(): void;
}

/** The address of what the server knows of a step. */
export function stepUrl(props: Pick<Props, "recording" | "step">, what: string): string {
  return `/api/v1/recordings/${encodeURIComponent(props.recording)}/steps/${props.step}/${what}`;
}
