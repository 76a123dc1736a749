/** The API's answers, written by tools/write_schema.py from the server's types. */

/** What each step of a recording changed. */
export interface Changes {
  steps: StepChanges[];
}

/**
 * A region that is not the same on both sides: half-open ranges of lines, counted from 1.
 *
 * `move` numbers what moved: one chunk of that number has its lines on the left, another on the
 * right. Lines of a `renumber` chunk correspond one to one.
 */
export interface Chunk {
  left: [number, number];
  right: [number, number];
  op: "delete" | "insert" | "move" | "renumber" | "replace";
  move: number | null;
}

/** One fact of both recordings; `unit` is empty where it has none (UCUM otherwise). */
export interface ComparedRow {
  key: string;
  label: string;
  unit: string;
  left: string | number | null;
  right: string | number | null;
  same: boolean;
}

/**
 * Steps that correspond by their place and name; an index is null where one side has no such step.
 *
 * `same` where all texts are equal (of steps without texts: all payloads); `kinds` are those that
 * differ. `figures` has what was counted where both have it and it differs, as left and right.
 */
export interface ComparedStep {
  left: number | null;
  right: number | null;
  name: string;
  same: boolean;
  first_divergence: boolean;
  kinds: string[];
  figures: Record<string, [number, number]>;
}

/**
 * Two recordings side by side. `first_diverging` is a position in `steps`, null where all are same.
 */
export interface Comparison {
  left: string;
  right: string;
  rows: ComparedRow[];
  steps: ComparedStep[];
  first_diverging: number | null;
}

/** How two texts differ; see `TextDiff`. `left` is null where there is nothing to compare with. */
export interface DiffAnswer {
  left: DiffSide | null;
  right: DiffSide;
  chunks: Chunk[];
  added: number;
  removed: number;
  moved: number;
  renumbered: number;
  identical: boolean;
}

/** One of the two texts. */
export interface DiffSide {
  recording: string;
  step: number;
  kind: string;
  digest: string;
  lines: number;
}

/**
 * How a render failed.
 *
 * `failed_pass` is the pass or stage that it failed in, as the recording says it. `last_step` is
 * the last one that was done; `place` is where its text has what the message names.
 */
export interface FailureReport {
  type: string;
  message: string;
  stacktrace: string;
  failed_pass: string | null;
  last_step: number | null;
  place: Place | null;
}

/** A recording that has the string; the first hits of each of its texts. */
export interface FoundRecording {
  id: string;
  name: string;
  count: number;
  steps: StepHits[];
}

/**
 * A section of a search over all recordings, newest first.
 *
 * `searched` of `total` recordings are done, those before this section included; `cursor` is where
 * the next section begins, null at the end. `skipped` says what could not be searched.
 */
export interface FoundRecordings {
  recordings: FoundRecording[];
  searched: number;
  total: number;
  cursor: string | null;
  skipped: string[];
}

/**
 * The recordings of one function.
 *
 * `code_bytes` and `duration_s` are those of the newest 50, the oldest of them first; null where a
 * render made no source.
 */
export interface FunctionGroup {
  function: string;
  count: number;
  failed: number;
  incomplete: number;
  newest: RecordingSummary;
  code_bytes: (number | null)[];
  duration_s: number[];
}

/** The recordings by function, the function that was rendered last first. */
export interface FunctionList {
  functions: FunctionGroup[];
  total: number;
}

/**
 * The nodes of a step's graph, numbered so that arguments come before their users.
 *
 * `title`, `label`, `detail` and `name` are indices of `titles`, `labels`, `details` and `names`
 * (name -1 for none); a label says what the node is in few words: `35`, `var i`, `mul`. `row` is
 * who the node is: the same number in another step of the recording is the same node. Node i has
 * the arguments `args[arg_offsets[i]:arg_offsets[i + 1]]`. `group` is the entry of the outline in
 * which it is first used, -1 for none; `state` is 1 for what is new in this step, 2 for what took
 * the place of another. `count` nodes are the step's own, the others belong to functions that it
 * calls.
 */
export interface GraphColumns {
  step: number;
  count: number;
  titles: string[];
  labels: string[];
  details: string[];
  names: string[];
  title: number[];
  label: number[];
  detail: number[];
  name: number[];
  row: number[];
  arg_offsets: number[];
  args: number[];
  group: number[];
  state: number[];
  roots: number[];
}

/**
 * A place where the string is: line from 1, columns from 0 in UTF-16 code units.
 *
 * `text` is the line, or the part of a long one from column `text_column` on.
 */
export interface Hit {
  line: number;
  column: number;
  end_column: number;
  text: string;
  text_column: number;
}

/**
 * A value in one text of a step.
 *
 * `state`: `born` in the first step that has it, then `changed` where the lines that have it are
 * not those of before, else `present`; `gone` in the step after the last that has it, else
 * `absent`. `name` is what it is called there, `text` the line that defines it.
 */
export interface Life {
  step: number;
  kind: string;
  state: string;
  name: string;
  scope: string;
  lines: number[];
  definition: Place | null;
  text: string;
}

/**
 * What a line costs each time that it runs, what it calls included.
 *
 * `trips` is how often it runs in one run of its procedure; `total` is what it costs in such a run.
 * Both are null where a loop around it runs as often as only a run knows.
 */
export interface LineCost {
  line: number;
  flops: number;
  loads: number;
  stores: number;
  bytes: number;
  trips: number | null;
  total: Totals | null;
}

/** The lines that correspond, from 1; none where there is nothing that does. */
export interface Lines {
  lines: number[];
}

/**
 * A loop: `trips` each time that it is entered, `total` in one run of its procedure.
 *
 * `trips` is null where it varies or is not known. Where lanes of vectors take several elements at
 * once, it is `per_element`, over all chunks of lanes; a program's loop over the chunks, around
 * that over the lanes, has no trips of its own.
 */
export interface LoopCost {
  line: number;
  end: number;
  name: string;
  trips: number | null;
  total: Totals | null;
  per_element: boolean;
}

/** All that is known of one node. `users_total` counts those beyond `users` as well. */
export interface NodeDetail {
  node: number;
  row: number;
  title: string;
  detail: string;
  name: string;
  attributes: Record<string, unknown>;
  state: number;
  group: number;
  args: NodeReference[];
  users: NodeReference[];
  users_total: number;
}

/** Another node, as a link to it shows it. */
export interface NodeReference {
  node: number;
  title: string;
  detail: string;
  group: number;
}

/**
 * The groups of a step's graph. `against` is the index of the step that it was compared with, if
 * any.
 *
 * `nodes_total` and `edges_total` count the step's own graph, `removed` the nodes that it lost.
 */
export interface Outline {
  step: number;
  dialect: string;
  against: number | null;
  nodes_total: number;
  edges_total: number;
  removed: number;
  nodes: OutlineNodes;
  edges: OutlineEdges;
  problems: string[];
}

/**
 * What feeds what: `source` and `target` are entries, `label` an index of `labels`.
 *
 * `calls` are pairs of entries: who calls, and what. `omitted` edges are left out because one
 * statement has too many.
 */
export interface OutlineEdges {
  source: number[];
  target: number[];
  label: number[];
  labels: string[];
  calls: [number, number][];
  omitted: number;
}

/**
 * One entry an index, in reading order: what encloses an entry stands before it, `parent` is its
 * index.
 *
 * `id` is the same at the same place in other steps, as far as names go. `kind` is program,
 * procedure, input, output, parameter, buffer, loop, statement, function, operation, or run:
 * neighbors put together because there are many. `children` counts the entries directly below,
 * `node_count` the graph's nodes in it and below, each where it is first used. `changed` is 1 for
 * what is new, 2 for what holds something new; `changed_count` says how many nodes. `node` is the
 * entry's node in the graph's columns, -1 for none; `line` its line of the assembly, 0 where
 * unknown; `trips` how often a loop runs its body, -1 where that is not constant.
 */
export interface OutlineNodes {
  id: string[];
  parent: number[];
  title: string[];
  name: string[];
  kind: string[];
  children: number[];
  node_count: number[];
  changed: number[];
  changed_count: number[];
  node: number[];
  line: number[];
  trips: number[];
}

/** One payload of a step, without its content. `error` is why it has none. */
export interface PayloadSummary {
  kind: string;
  media_type: string;
  size: number;
  digest: string;
  changed: boolean;
  error: string | null;
}

/**
 * A part of a line: in the text `kind` of step `step`.
 *
 * Lines count from 1; columns from 0, in UTF-16 code units, the end not included.
 */
export interface Place {
  step: number;
  kind: string;
  line: number;
  column: number;
  end_column: number;
}

/**
 * A procedure: `runs` in one run of the program, `total` in one run of the procedure.
 *
 * One that takes an element a lane has both `per_element`: it is called less often.
 */
export interface ProcedureCost {
  name: string;
  line: number;
  end: number;
  runs: number;
  total: Totals;
  per_element: boolean;
}

/** One recording with its steps. */
export interface RecordingDetail {
  recording: RecordingSummary;
  steps: StepSummary[];
}

/** A section of all recordings, the newest first. */
export interface RecordingList {
  recordings: RecordingSummary[];
  total: number;
  offset: number;
  limit: number;
}

/**
 * One recording in a list. Times are seconds, `started_at` since the Unix epoch.
 *
 * `nodes` is the size of the largest graph of a step; `status` is ok, failed or incomplete;
 * `source` is the name of what it was read from, where that is known.
 */
export interface RecordingSummary {
  id: string;
  name: string;
  function: string;
  started_at: number;
  duration_s: number;
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
  source: string;
}

/** A value that another is made of, or that is made of it. */
export interface Related {
  name: string;
  scope: string;
  place: Place;
}

/**
 * Where a string is in a recording. `truncated` where the search had to end before its end.
 *
 * `skipped` says which texts could not be read, and why.
 */
export interface SearchResult {
  steps: StepHits[];
  count: number;
  truncated: boolean;
  skipped: string[];
}

/** What the recordings come from. */
export interface SourceList {
  sources: SourceSummary[];
}

/** One source in a list; `problems` says in words what of it cannot be read. */
export interface SourceSummary {
  name: string;
  path: string;
  recordings: number;
  problems: string[];
}

/** The texts of a step by their kinds. A text that equals the one before has changed in nothing. */
export interface StepChanges {
  index: number;
  texts: Record<string, TextChange>;
}

/**
 * The hits in one text of the step `name`: how many there are, and the first of them.
 *
 * Where the text is that of an earlier step, `same_as` is that step's index, which has the hits.
 */
export interface StepHits {
  index: number;
  kind: string;
  count: number;
  hits: Hit[];
  same_as: number | null;
  name: string;
}

/**
 * One step in a list. `changes` holds, by figure, the difference to the previous step that has it.
 *
 * Figures of another dialect are not compared, and those that are differences already have none.
 */
export interface StepSummary {
  index: number;
  name: string;
  phase: string;
  dialect: string;
  changed: boolean;
  missing: boolean;
  duration_s: number;
  figures: Record<string, number>;
  changes: Record<string, number>;
  uncounted: string[];
  payloads: PayloadSummary[];
}

/** A buffer of the program before packing, in the slot that it was put into. */
export interface Tenant {
  name: string;
  bytes: number;
  first: number;
  last: number;
}

/**
 * How a text of a step differs from the step before that has another text of the same thing.
 *
 * `against` is the index of that step, null where there is none: then nothing was added. Lines that
 * differ in made-up numbers only are unchanged. `error` says why nothing can be told.
 */
export interface TextChange {
  lines: number;
  added: number;
  removed: number;
  moved: number;
  against: number | null;
  error: string | null;
}

/**
 * The static cost of a text; `totals` is one run of the program. Lines without cost are left out.
 *
 * `uncounted` says what the figures leave out and why; where it is empty, they are exact by the
 * conventions of `docs/schema.md`.
 */
export interface TextCost {
  lines: LineCost[];
  loops: LoopCost[];
  procedures: ProcedureCost[];
  totals: Totals;
  uncounted: string[];
}

/** The bars of one recording, in the order of their beginning; the render itself is the first. */
export interface Timeline {
  spans: TimelineSpan[];
}

/**
 * One bar; times are seconds, `start_s` since the render began.
 *
 * `recording` is what the bar belongs to, and `step` the index of its step, null for a render.
 * `depth` is 0 for the render, 1 for its steps, and 2 for renders that ran inside of a step.
 */
export interface TimelineSpan {
  name: string;
  recording: string;
  step: number | null;
  status: string;
  start_s: number;
  duration_s: number;
  depth: number;
}

/** What is done in all: floating-point operations, elements loaded and stored, bytes moved. */
export interface Totals {
  flops: number;
  loads: number;
  stores: number;
  bytes: number;
}

/**
 * All that is known of a value, as the text that it was asked for in names it.
 *
 * `role` is buffer, loop, variable, input, output, procedure or ssa; word where nothing is known of
 * the language. `code` are its places in the generated source, the first ten thousand of them.
 * `note` says of a value of an expression why it is not known in the program, and which outputs it
 * goes into.
 */
export interface Value {
  name: string;
  scope: string;
  role: string;
  type: string;
  definition: Place | null;
  life: Life[];
  producers: Related[];
  consumers: Related[];
  code: Place[];
  cost: ValueCost | null;
  note: string;
}

/**
 * What the lines cost that give the value its content, in one run of its procedure.
 *
 * Of a procedure it is what one run of it costs, callees included.
 */
export interface ValueCost {
  flops: number;
  loads: number;
  stores: number;
  bytes: number;
}

/**
 * The memory of a program. `entries` are the procedures that are called from outside.
 *
 * `workspace_bytes`, null before packing, and `private_bytes` agree with the step's figures of the
 * same names; where they do not, `problems` says so. `packed_in` is the step that packed.
 */
export interface Workspace {
  step: number;
  is_packed: boolean;
  packed_in: number | null;
  workspace_bytes: number | null;
  private_bytes: number;
  entries: string[];
  procedures: WorkspaceProcedure[];
  problems: string[];
}

/**
 * A local buffer. `place` is workspace, private (the C stack), or unpacked: not yet decided.
 *
 * `offset` counts bytes from the begin of the procedure's window, null outside `w[]`. `first` and
 * `last` are statements, -1 where none uses it. `shares` names the other buffers, aliases and calls
 * that occupy the same bytes: at other times, or as another name. `tenants` are the buffers that
 * packing put into it, empty where that is not known. `alias_of` names whose memory an alias points
 * into; its own `bytes` begin `alias_offset` bytes in there.
 */
export interface WorkspaceBuffer {
  name: string;
  scope: string;
  place: string;
  offset: number | null;
  bytes: number;
  type: string;
  first: number;
  last: number;
  line: number;
  shares: string[];
  tenants: Tenant[];
  alias_of: string | null;
  alias_offset: number;
}

/** A call whose callee needs `bytes` of `w[]`, which it gets from `offset` of the window on. */
export interface WorkspaceCall {
  callee: string;
  statement: number;
  line: number;
  offset: number;
  bytes: number;
}

/**
 * A procedure's window of `w[]` and its private memory, in bytes.
 *
 * `window_bytes` is what it needs with its callees, `own_bytes` what its own buffers take of that;
 * null before packing. `bases` says where its window begins in the entry's `w[]`, once for each
 * chain of calls that differs, empty where nothing reaches it. `peak_bytes` is the most that is in
 * use at one statement, `peak_statement`; `waste_bytes` is what the window has beyond that. Before
 * packing the peak is that of all local buffers: no packing needs less. `live` says how many bytes
 * are in use at each statement, `lines` where it is.
 */
export interface WorkspaceProcedure {
  name: string;
  line: number;
  statements: number;
  lines: number[];
  live: number[];
  window_bytes: number | null;
  own_bytes: number | null;
  bases: number[];
  private_bytes: number;
  peak_bytes: number;
  peak_statement: number;
  waste_bytes: number | null;
  buffers: WorkspaceBuffer[];
  calls: WorkspaceCall[];
}

/** What each address answers. */
export interface Answers {
  "/api/v1/compare": Comparison;
  "/api/v1/diff": DiffAnswer;
  "/api/v1/functions": FunctionList;
  "/api/v1/recordings": RecordingList;
  "/api/v1/recordings/<id>": RecordingDetail;
  "/api/v1/recordings/<id>/changes": Changes;
  "/api/v1/recordings/<id>/failure": FailureReport;
  "/api/v1/recordings/<id>/lines": Lines;
  "/api/v1/recordings/<id>/search": SearchResult;
  "/api/v1/recordings/<id>/steps/<index>/cost/<kind>": TextCost;
  "/api/v1/recordings/<id>/steps/<index>/graph": GraphColumns;
  "/api/v1/recordings/<id>/steps/<index>/graph/nodes/<node>": NodeDetail;
  "/api/v1/recordings/<id>/steps/<index>/outline": Outline;
  "/api/v1/recordings/<id>/steps/<index>/workspace": Workspace;
  "/api/v1/recordings/<id>/timeline": Timeline;
  "/api/v1/recordings/<id>/values": Value;
  "/api/v1/search": FoundRecordings;
  "/api/v1/sources": SourceList;
}
