"""Outlines and memory maps of every test program agree with the figures that the compiler's own nodes gave."""

from __future__ import annotations

import itertools

import pytest

from programs import PROGRAMS, Program
from scaly_viz import attributes as a
from scaly_viz.analysis.graph_columns import columns
from scaly_viz.analysis.outline import group, outline
from scaly_viz.analysis.workspace import workspace
from scaly_viz.recording import Recording, Step

from .recorded import records

# What a line of the assembly shows of the entry that is said to stand there.
_LINES = {
    "loop": "prog.for %{name} = ",
    "buffer": "%{name} = prog.buffer : ",
    "procedure": "prog.proc @{name}(",
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_maps_agree_with_the_figures_of_each_step(program: Program) -> None:
    for recording in records(program.name):
        for step in recording.steps:
            if "graph" in step.payloads:
                _check_graph(recording, step)
            if "listing" in step.payloads:
                _check_memory(recording, step)


def _check_graph(recording: Recording, step: Step) -> None:
    grouped = group(recording, step)
    found = outline(grouped, step)
    shown = columns(grouped, step)
    nodes = found.nodes

    assert found.problems == []
    assert found.nodes_total == shown.count == step.figure(a.GRAPH_NODES)
    assert found.edges_total == step.figure(a.GRAPH_EDGES)
    if found.against is not None and step.dialect == "prog":
        assert sum(state > 0 for state in shown.state) == step.figure(a.GRAPH_ADDED)
        assert found.removed == step.figure(a.GRAPH_REMOVED)
    assert min(shown.group) >= 0
    assert nodes.node_count[0] == len(shown.row)
    assert len(set(nodes.id)) == len(nodes.id)
    assert all(parent < i for i, parent in enumerate(nodes.parent))
    assert all(s < t for s, t in zip(found.edges.source, found.edges.target, strict=True))
    lines = recording.text(step, "assembly").split("\n")
    for kind, name, line in zip(nodes.kind, nodes.name, nodes.line, strict=True):
        if line and kind in _LINES:
            assert _LINES[kind].format(name=name) in lines[line - 1]
    if step.dialect == "prog" and _has_plain_names(recording, step):
        assert min(nodes.line) > 0


def _check_memory(recording: Recording, step: Step) -> None:
    found = workspace(recording, step)

    assert found.problems == []
    assert found.private_bytes == step.figure(a.PRIVATE_BYTES)
    assert found.workspace_bytes == step.figure(a.WORKSPACE_BYTES)
    for procedure in found.procedures:
        for buffer in procedure.buffers:
            lives = buffer.tenants
            used = buffer.first >= 0 and buffer.alias_of is None
            assert bool(lives) == (found.is_packed and used)
            assert all(x.last < y.first for x, y in itertools.pairwise(lives))
        if found.is_packed and _has_plain_names(recording, step):
            assert procedure.waste_bytes is not None
            assert procedure.waste_bytes >= 0


def _has_plain_names(recording: Recording, step: Step) -> bool:
    """Tell a text that can be read from one of 0.1.0a1, which prints names as given, line ends too."""
    return "\u2028" not in recording.text(step, "assembly")
