"""Owns every span, event and attribute name, with type, unit, meaning and source; ``docs/schema.md`` is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SCHEMA_VERSION = "1.0"
SCOPE = "scaly_viz"

SPAN_RENDER = "render"
SPAN_EXPRESSION_GRAPH = "expression graph"
SPAN_NORMALIZE = "normalize"
SPAN_LOWER = "lower"
SPAN_PASS = "pass"
SPAN_EMIT = "emit C"
SPAN_PAYLOAD = "payload"

EVENT_PREFIX = "scaly."
EVENT_EXCEPTION = "exception"

# A text that UTF-8 cannot carry (lone surrogates) comes escaped, and as JSON under its key and this.
JSON_SUFFIX = ".json"

type Where = Literal[
    "every span", "root", "step", "pass step", "program step", "code step", "event"
]
type Stability = Literal["stable", "experimental"]

_KNOWN: list[Attribute] = []


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute key as the contract states it. ``unit`` follows UCUM, empty where there is none."""

    key: str
    type: str
    unit: str
    where: Where
    meaning: str
    example: str
    stability: Stability
    source: str


def _attribute(
    key: str,
    type_: str,
    where: Where,
    meaning: str,
    example: str,
    *,
    unit: str = "",
    stability: Stability = "stable",
    source: str = "scaly-viz",
) -> str:
    _KNOWN.append(Attribute(key, type_, unit, where, meaning, example, stability, source))
    return key


_SEMCONV = "OpenTelemetry semantic conventions"

RECORDING_ID = _attribute(
    "scaly.recording.id",
    "string",
    "every span",
    "Identifies the recording that the span belongs to: 32 hex digits.",
    "7c0e9a50f1d94c3f9f9d6a2f6f3f2d10",
)
SCHEMA = _attribute(
    "scaly.schema.version",
    "string",
    "every span",
    "Version of this contract that the writer followed, as major.minor.",
    "1.0",
)
FUNCTION_NAME = _attribute(
    "scaly.function.name",
    "string",
    "every span",
    "Name of the rendered function.",
    "cartpole_ipopt",
)
LABEL = _attribute(
    "scaly.recording.label",
    "string",
    "every span",
    "Label given to visualize(); absent where none was given.",
    "tuned weights",
)
RECORDING_STEPS = _attribute(
    "scaly.recording.steps",
    "int",
    "root",
    "Number of step spans that belong to the recording; a reader that has fewer knows it lost some.",
    "27",
    unit="{step}",
)
ERROR = _attribute(
    "scaly.recording.error",
    "string",
    "root",
    "The exception that ended the render, as repr() shows it; absent where it succeeded.",
    "LoweringError('expression op print is not yet lowered')",
)
FAILED_STEP = _attribute(
    "scaly.recording.failed_step",
    "string",
    "root",
    "What the render failed in: pass:NAME, normalize, lower, verify or emit C; absent elsewhere.",
    "pass:pack_workspace",
)
OVERHEAD = _attribute(
    "scaly.recording.overhead_s",
    "double",
    "root",
    "Time that recording cost: in the compiler's callbacks and while encoding afterwards.",
    "0.41",
    unit="s",
)
COMPILER_VERSION = _attribute(
    "scaly.compiler.version", "string", "root", "Version of scaly that rendered.", "0.1.0a2"
)
FILE_PATH = _attribute(
    "code.file.path",
    "string",
    "root",
    "Root: the file that asked for the render. Pass step: the file of the pass.",
    "/home/me/mpc.py",
    source=_SEMCONV,
)
LINE_NUMBER = _attribute(
    "code.line.number",
    "int",
    "root",
    "Root: the line that asked for the render. Pass step: the line of the pass.",
    "42",
    source=_SEMCONV,
)
CODE_FUNCTION = _attribute(
    "code.function.name",
    "string",
    "root",
    "Root: the function that asked for the render. Pass step: the function of the pass.",
    "main",
    source=_SEMCONV,
)
STACKTRACE = _attribute(
    "code.stacktrace",
    "string",
    "root",
    "Where the render was asked for, outermost call first; frames of scaly and scaly_viz left out.",
    '  File "/home/me/mpc.py", line 42, in main\n    solve(x0)',
    source=_SEMCONV,
)
ERROR_TYPE = _attribute(
    "error.type",
    "string",
    "root",
    "Class of the exception that ended the render, or interrupted where nothing was said of its end.",
    "scaly.passes.lowering.ctx.LoweringError",
    source=_SEMCONV,
)

STEP_NAME = _attribute(
    "scaly.step.name",
    "string",
    "step",
    "Exact name of the step, as scaly.viz shows it.",
    "pass:fuse_ranges",
)
STEP_INDEX = _attribute(
    "scaly.step.index", "int", "step", "Position in the recording, from 0.", "19", unit="{step}"
)
STEP_PHASE = _attribute(
    "scaly.step.phase", "string", "step", "Group of the step.", "program dialect"
)
STEP_DIALECT = _attribute(
    "scaly.step.dialect",
    "string",
    "step",
    "Language of what the step made: expr, prog or c for scaly.",
    "prog",
)
STEP_CHANGED = _attribute(
    "scaly.step.changed",
    "boolean",
    "step",
    "False where every payload equals the one of the previous step of that kind.",
    "true",
)

GRAPH_NODES = _attribute(
    "scaly.graph.nodes",
    "int",
    "step",
    "Distinct nodes of the step's graph.",
    "12002",
    unit="{node}",
)
GRAPH_EDGES = _attribute(
    "scaly.graph.edges",
    "int",
    "step",
    "Argument edges of the step's graph.",
    "25140",
    unit="{edge}",
)
GRAPH_ADDED = _attribute(
    "scaly.graph.nodes_added",
    "int",
    "step",
    "Nodes that the previous step's graph does not have.",
    "16",
    unit="{node}",
)
GRAPH_REMOVED = _attribute(
    "scaly.graph.nodes_removed",
    "int",
    "step",
    "Nodes of the previous step's graph that this one does not have.",
    "23",
    unit="{node}",
)

_RUN = "in one run of the program, weighted by constant trip counts, callees included"
_TEXT = "in the program's text, each place once"

LOADS = _attribute(
    "scaly.program.loads", "int", "program step", f"Scalar loads {_RUN}.", "61240", unit="{load}"
)
STORES = _attribute(
    "scaly.program.stores", "int", "program step", f"Scalar stores {_RUN}.", "20480", unit="{store}"
)
FLOPS = _attribute(
    "scaly.program.flops",
    "int",
    "program step",
    f"Floating-point operations {_RUN}; each arithmetic operation or libm call is one.",
    "88000",
    unit="{flop}",
)
CALLS = _attribute(
    "scaly.program.calls", "int", "program step", f"Procedure calls {_RUN}.", "41", unit="{call}"
)
TRAFFIC = _attribute(
    "scaly.program.memory_traffic",
    "int",
    "program step",
    f"Bytes loaded and stored {_RUN}.",
    "653760",
    unit="By",
)
LOAD_SITES = _attribute(
    "scaly.program.load_sites", "int", "program step", f"Loads {_TEXT}.", "3120", unit="{load}"
)
STORE_SITES = _attribute(
    "scaly.program.store_sites", "int", "program step", f"Stores {_TEXT}.", "990", unit="{store}"
)
FLOP_SITES = _attribute(
    "scaly.program.flop_sites",
    "int",
    "program step",
    f"Floating-point operations {_TEXT}.",
    "4410",
    unit="{flop}",
)
CALL_SITES = _attribute(
    "scaly.program.call_sites", "int", "program step", f"Calls {_TEXT}.", "7", unit="{call}"
)
LOOPS = _attribute(
    "scaly.program.loops", "int", "program step", f"Loops {_TEXT}.", "58", unit="{loop}"
)
BUFFERS = _attribute(
    "scaly.program.buffers",
    "int",
    "program step",
    f"Buffers declared {_TEXT}, parameters included.",
    "112",
    unit="{buffer}",
)
WORKSPACE_BYTES = _attribute(
    "scaly.program.workspace_bytes",
    "int",
    "program step",
    "Bytes of the caller's workspace w[] that the entry needs; absent before pack_workspace has run.",
    "16384",
    unit="By",
)
PRIVATE_BYTES = _attribute(
    "scaly.program.private_bytes",
    "int",
    "program step",
    "Bytes of local buffers that the procedures declare; an alias owns none.",
    "40960",
    unit="By",
)
UNCOUNTED = _attribute(
    "scaly.program.uncounted",
    "string[]",
    "program step",
    "What the weighted counts leave out and why; where present they are lower bounds.",
    '["solver cartpole_ipopt: what it runs is unknown"]',
)
CODE_BYTES = _attribute(
    "scaly.code.bytes",
    "int",
    "code step",
    "Size of the generated source in UTF-8.",
    "242663",
    unit="By",
)
CODE_LINES = _attribute(
    "scaly.code.lines", "int", "code step", "Lines of the generated source.", "4410", unit="{line}"
)

PAYLOAD_ENCODING = _attribute(
    "scaly.payload.encoding",
    "string",
    "event",
    "text: the body is the payload. zstd: the body is base64 of a Zstandard frame. same: the payload"
    " equals the recording's latest one of that kind and has no body.",
    "zstd",
)
PAYLOAD_TYPE = _attribute(
    "scaly.payload.media_type",
    "string",
    "event",
    "Media type of the decoded payload.",
    "text/plain; charset=utf-8",
)
PAYLOAD_SIZE = _attribute(
    "scaly.payload.size", "int", "event", "Bytes of the decoded payload.", "612345", unit="By"
)
PAYLOAD_DIGEST = _attribute(
    "scaly.payload.digest",
    "string",
    "event",
    "SHA-256 of the decoded payload, in hex.",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
)
PAYLOAD_BASE = _attribute(
    "scaly.payload.base",
    "string",
    "event",
    "Digest of the payload that the frame uses as its dictionary.",
    "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
)
PAYLOAD_PART = _attribute(
    "scaly.payload.part",
    "int",
    "event",
    "Position of this event's body among the parts, from 0.",
    "0",
)
PAYLOAD_PARTS = _attribute(
    "scaly.payload.parts", "int", "event", "Number of events that the body is spread over.", "3"
)
PAYLOAD_BODY = _attribute(
    "scaly.payload.body",
    "string",
    "event",
    "The payload, or this part of it: at most 60,000 characters.",
    "expr.module {",
)
PAYLOAD_PREVIEW = _attribute(
    "scaly.payload.preview",
    "string",
    "event",
    "First lines of a compressed text, to be read in any backend.",
    "prog.module {\n  prog.proc @ode(%x: memref<4xfloat64>)",
)
PAYLOAD_ERROR = _attribute(
    "scaly.payload.error",
    "string",
    "event",
    "Why the payload could not be made; the event then has no encoding and no body.",
    "RecursionError: maximum recursion depth exceeded",
)

ATTRIBUTES = tuple(_KNOWN)
