"""Owns the one schema of the API: which type each address answers, as JSON Schema made from the types."""

from __future__ import annotations

from typing import Any

import msgspec

from scaly_viz.analysis.changes import Changes
from scaly_viz.analysis.compare import Comparison
from scaly_viz.analysis.correspondence import Lines
from scaly_viz.analysis.cost import TextCost
from scaly_viz.analysis.failure import FailureReport
from scaly_viz.analysis.graph_columns import GraphColumns, NodeDetail
from scaly_viz.analysis.outline import Outline
from scaly_viz.analysis.search import SearchResult
from scaly_viz.analysis.timeline import Timeline
from scaly_viz.analysis.values import Value
from scaly_viz.analysis.workspace import Workspace
from scaly_viz_viewer.api import FunctionList, RecordingDetail, RecordingList, SourceList
from scaly_viz_viewer.api_find import FoundRecordings
from scaly_viz_viewer.api_text import DiffAnswer

type JsonSchema = dict[str, Any]  # JSON Schema, as msgspec makes it

_RECORDING = "/api/v1/recordings/<id>"
_STEP = f"{_RECORDING}/steps/<index>"

ANSWERS: dict[str, type[msgspec.Struct]] = {
    "/api/v1/compare": Comparison,
    "/api/v1/diff": DiffAnswer,
    "/api/v1/functions": FunctionList,
    "/api/v1/recordings": RecordingList,
    "/api/v1/search": FoundRecordings,
    "/api/v1/sources": SourceList,
    _RECORDING: RecordingDetail,
    f"{_RECORDING}/changes": Changes,
    f"{_RECORDING}/failure": FailureReport,
    f"{_RECORDING}/lines": Lines,
    f"{_RECORDING}/search": SearchResult,
    f"{_RECORDING}/timeline": Timeline,
    f"{_RECORDING}/values": Value,
    f"{_STEP}/cost/<kind>": TextCost,
    f"{_STEP}/graph": GraphColumns,
    f"{_STEP}/graph/nodes/<node>": NodeDetail,
    f"{_STEP}/outline": Outline,
    f"{_STEP}/workspace": Workspace,
}
"""What each address answers with status 200; payloads and the stream of events are no JSON of ours."""


def components() -> dict[str, JsonSchema]:
    """Return the JSON Schema of every type that is answered, by its name."""
    _, found = msgspec.json.schema_components(list(ANSWERS.values()), ref_template="#/$defs/{name}")
    return dict(sorted(found.items()))
