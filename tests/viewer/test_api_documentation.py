"""The API's documentation: every route, field and error is in it, as the server has them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from flask.testing import FlaskClient

from scaly_viz.analysis.graph_columns import GraphColumns, NodeDetail, NodeReference
from scaly_viz.analysis.groups import FunctionGroup
from scaly_viz.analysis.outline import Outline, OutlineEdges, OutlineNodes
from scaly_viz.analysis.summary import PayloadSummary, RecordingSummary, StepSummary
from scaly_viz.analysis.timeline import Timeline, TimelineSpan
from scaly_viz.analysis.workspace import (
    Tenant,
    Workspace,
    WorkspaceBuffer,
    WorkspaceCall,
    WorkspaceProcedure,
)
from scaly_viz_viewer import create_app
from scaly_viz_viewer.api import FunctionList, RecordingDetail, RecordingList, SourceList
from scaly_viz_viewer.catalog import SourceSummary
from scaly_viz_viewer.streams import Change

DOCS = Path(__file__).parents[2] / "docs" / "api.md"


def test_the_documentation_names_every_route(client: FlaskClient) -> None:
    rules = client.application.url_map.iter_rules()
    routes = {re.sub("<[^>]*?([^:>]+)>", r"<\1>", rule.rule) for rule in rules}
    routes = {rule.replace("<key>", "<id>") for rule in routes if rule.startswith("/api")}
    assert routes == set(re.findall("^### `GET (.+)`$", DOCS.read_text(), re.M))


@pytest.mark.parametrize(
    "struct",
    [
        RecordingList,
        RecordingDetail,
        RecordingSummary,
        FunctionList,
        FunctionGroup,
        Change,
        Timeline,
        TimelineSpan,
        StepSummary,
        PayloadSummary,
        SourceList,
        SourceSummary,
        Outline,
        OutlineNodes,
        OutlineEdges,
        GraphColumns,
        NodeDetail,
        NodeReference,
        Workspace,
        WorkspaceProcedure,
        WorkspaceBuffer,
        Tenant,
        WorkspaceCall,
    ],
)
def test_the_documentation_has_every_field(struct: type[msgspec.Struct]) -> None:
    section = DOCS.read_text().partition(f"### {struct.__name__}\n")[2].partition("\n#")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.M) == [*struct.__struct_fields__]


def test_the_documentation_has_every_error_code() -> None:
    sources = (Path(create_app.__code__.co_filename).parent).glob("*.py")
    raised = re.findall(
        r'ApiError\(\s*(\d+),\s*"(\w+)"', "".join(file.read_text() for file in sources)
    )
    section = DOCS.read_text().partition("### Error\n")[2]
    known = re.findall(r"^\| (\d+) \| `(\w+)` \|", section, re.M)
    general = {
        ("404", "not_found"),
        ("405", "method_not_allowed"),
        ("500", "internal_server_error"),
    }
    assert set(known) == {*raised, *general}


def test_the_example_of_an_error_is_what_is_answered(client: FlaskClient) -> None:
    (example,) = re.findall("```json\n(.*?)```", DOCS.read_text(), re.S)
    assert client.get("/api/v1/recordings/x").json == json.loads(example)
