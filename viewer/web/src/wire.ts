/** The answers of the server's API, as docs/api.md has them. */

export interface RecordingSummary {
  id: string;
  name: string;
  function: string;
  started_at: number | null;
  duration_s: number | null;
  steps: number;
  nodes: number | null;
  code_bytes: number | null;
  status: string;
  error: string | null;
  process: number | null;
  host: string;
  trace_id: string;
  file: string;
  line: number | null;
  compiler_version: string;
  problems: string[];
  source?: string;
}

export interface RecordingList {
  recordings: RecordingSummary[];
  total: number;
  offset: number;
  limit: number;
}

export interface PayloadSummary {
  kind: string;
  media_type: string;
  size: number;
  digest: string;
  changed: boolean;
  error: string | null;
}

export interface StepSummary {
  index: number;
  name: string;
  phase: string;
  dialect: string;
  changed: boolean;
  missing: boolean;
  duration_s: number | null;
  figures: Record<string, number>;
  changes: Record<string, number>;
  uncounted: string[];
  payloads: PayloadSummary[];
}

export interface RecordingDetail {
  recording: RecordingSummary;
  steps: StepSummary[];
}

export interface SourceSummary {
  name: string;
  path: string;
  recordings: number;
  problems: string[];
}

export interface SourceList {
  sources: SourceSummary[];
}

export interface FunctionGroup {
  function: string;
  count: number;
  failed: number;
  newest: RecordingSummary;
  code_bytes: (number | null)[];
  duration_s: (number | null)[];
}

export interface FunctionList {
  functions: FunctionGroup[];
}

/** How a text differs from the previous different one of its kind. */
export interface TextChange {
  lines: number;
  added: number;
  removed: number;
  moved: number;
}

export interface Changes {
  steps: { index: number; texts: Record<string, TextChange> }[];
}

/** Where a text is. */
export interface TextPlace {
  recording: string;
  step: number;
  kind: string;
  digest: string;
  lines: number;
}

export interface Diff {
  /** Null where there is no previous text. */
  left: TextPlace | null;
  right: TextPlace;
  chunks: { left: [number, number]; right: [number, number]; op: string; move: number | null }[];
  added: number;
  removed: number;
  moved: number;
  renumbered: number;
  identical: boolean;
}

export interface Place {
  step: number;
  kind: string;
  line: number;
  column: number;
  end_column: number;
}

export interface Life {
  step: number;
  kind: string;
  state: string;
  name: string;
  lines: number[];
  definition: Place | null;
  text: string;
}

export interface Relation {
  name: string;
  scope: string;
  place: Place;
}

export interface Value {
  name: string;
  scope: string;
  role: string;
  type: string;
  definition: Place | null;
  life: Life[];
  producers: Relation[];
  consumers: Relation[];
  code: Place[];
  cost: { flops: number; loads: number; stores: number } | null;
}

export interface Cost {
  lines: CostLine[];
  loops: {
    line: number;
    end: number;
    trips: number | null;
    flops_total: number;
    bytes_total: number;
  }[];
  totals: Record<string, number>;
  uncounted: string[];
}

export interface CostLine {
  line: number;
  flops: number;
  loads: number;
  stores: number;
  bytes: number;
  trips: number;
  flops_total: number;
  bytes_total: number;
}

export interface TimelineSpan {
  id: string;
  parent: string | null;
  name: string;
  recording: string;
  step: number | null;
  start_s: number;
  duration_s: number;
  kind: string;
}

export interface TimelineAnswer {
  spans: TimelineSpan[];
}

export interface Failure {
  type: string;
  message: string;
  stacktrace: string;
  failed_pass: string | null;
  last_step: number | null;
  place: Place | null;
}

export interface Hit {
  line: number;
  column: number;
  end_column: number;
  text: string;
}

export interface StepHits {
  index: number;
  kind: string;
  count: number;
  hits: Hit[];
}

export interface SearchAnswer {
  steps: StepHits[];
  truncated: boolean;
}

export interface SearchAllAnswer {
  recordings: { id: string; name: string; count: number; steps: StepHits[] }[];
  searched: number;
  total: number;
  cursor: string | null;
}

export interface ComparedStep {
  left: number | null;
  right: number | null;
  name: string;
  same: boolean;
  first_divergence: boolean;
}

export interface Comparison {
  rows: {
    key: string;
    label: string;
    unit: string;
    left: string | number | null;
    right: string | number | null;
  }[];
  steps: ComparedStep[];
  first_diverging: number | null;
}
