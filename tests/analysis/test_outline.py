"""The outline of graphs: groups in reading order, what feeds what, what is new; each value worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scaly_viz.analysis import graph_changes
from scaly_viz.analysis import program_entries as program_entries_module
from scaly_viz.analysis.flow import program_flow
from scaly_viz.analysis.graph_columns import columns, node_detail
from scaly_viz.analysis.outline import Outline, group, outline
from scaly_viz.analysis.program_entries import program_entries
from scaly_viz.graph_rows import GraphRows, of_graph
from scaly_viz.graph_table import Graph, Kind
from scaly_viz.recording import Recording
from scaly_viz.scaly_viz_dict import from_dict


class Program:
    """Writes program graphs node by node, as scaly interns them: equal nodes are one."""

    def __init__(self) -> None:
        self.kinds: list[Kind] = []
        self.args: list[Sequence[int]] = []
        self._known: dict[str, int] = {}

    def __call__(self, title: str, *args: int, dtype: str = "float64", **attributes: Any) -> int:
        key = repr((title, args, dtype, attributes))
        if key not in self._known:
            self._known[key] = len(self.kinds)
            self.kinds.append(Kind(title, dtype, "#ffffff", attributes))
            self.args.append(args)
        return self._known[key]

    def number(self, value: int) -> int:
        return self("CONST_INT", dtype="int64", value=value)

    def buffer(self, name: str, *shape: int, **attributes: Any) -> int:
        return self("BUFFER", name=name, shape=[*shape], **attributes)

    def loop(self, name: str, stop: int, *body: int) -> int:
        bounds = (self.number(0), self.number(stop), self.number(1))
        return self("FOR", self("RANGE", *bounds, name=name, kind="global"), *body)

    def load(self, buffer: str, index: int) -> int:
        return self("LOAD", self("VIEW", index, buffer=buffer))

    def store(self, buffer: str, index: int, value: int) -> int:
        return self("STORE", self("VIEW", index, buffer=buffer), value)

    def graph(self, root: int) -> GraphRows:
        """Return what ``root`` reaches, numbered with arguments first."""
        reached = {root}
        for node in range(root, -1, -1):
            reached |= {*self.args[node]} if node in reached else set()
        order = sorted(reached)
        place = {node: i for i, node in enumerate(order)}
        return GraphRows(
            kinds=self.kinds,
            kind=order,
            args=[[place[arg] for arg in self.args[node]] for node in order],
            rows=order,
            roots=[place[root]],
        )


def scaled(p: Program, factor: int) -> int:
    """``for i: t[i] = x[i] * factor`` and then ``y[0] = t[3]``."""
    i = p("VAR", dtype="int64", name="i")
    product = p("MUL", p.load("x", i), p("CONST_FLOAT", value=float(factor)))
    loop = p.loop("i", 4, p.store("t", i, product))
    last = p.store("y", p.number(0), p.load("t", p.number(3)))
    x, y, t = p.buffer("x", 4), p.buffer("y", 1), p.buffer("t", 4, address_space="private")
    procedure = p("PROC", x, y, t, loop, last, name="scaled", param_count=2, input_count=1)
    return p("PROGRAM", procedure)


def edges(graph: GraphRows) -> list[tuple[str, str, str]]:
    root = program_entries(graph).root
    return [
        (source.title, target.title, label)
        for source, target, label in program_flow(graph, root).edges
    ]


def test_a_program_is_procedure_loop_and_statement_in_reading_order() -> None:
    p = Program()
    tree = program_entries(p.graph(scaled(p, 2)))
    procedure = tree.root.children[0]

    assert [(each.kind, each.title, each.line) for each in procedure.children] == [
        ("input", "x float64 4", 2),
        ("buffer", "t float64 4", 3),
        ("loop", "for i in 0..4", 4),
        ("statement", "y[0] ← t[3]", 7),
        ("output", "y float64 1", 2),
    ]
    assert [each.title for each in procedure.children[2].children] == ["t[i] ← x[i] * 2"]
    assert procedure.children[2].trips == 4
    assert tree.lines == 9


def test_what_feeds_what_is_told_by_the_buffers() -> None:
    p = Program()

    assert edges(p.graph(scaled(p, 2))) == [
        ("x float64 4", "t[i] ← x[i] * 2", "x"),
        ("t[i] ← x[i] * 2", "y[0] ← t[3]", "t"),
        ("y[0] ← t[3]", "y float64 1", "y"),
    ]


def statements(p: Program, *body: int) -> list[tuple[str, str, str]]:
    procedure = p("PROC", *body, name="f", param_count=0, input_count=0)
    return edges(p.graph(procedure))


def test_a_store_to_one_element_hides_only_that_element() -> None:
    p = Program()
    t = p.buffer("t", 2, address_space="private")
    zero, one = p.number(0), p.number(1)
    first, second = p.store("t", zero, p.number(7)), p.store("t", one, p.number(8))
    again = p.store("t", zero, p.number(9))
    read = p.store("u", zero, p.load("t", zero))

    assert statements(p, t, first, second, again, read) == [("t[0] ← 9", "u[0] ← t[0]", "t")]


def test_a_loop_over_all_elements_hides_what_was_written_before() -> None:
    p = Program()
    i, j = p("VAR", name="i"), p("VAR", name="j")
    t = p.buffer("t", 4, address_space="private")
    first = p.loop("i", 4, p.store("t", i, p.number(1)))
    partly = p.loop("j", 3, p.store("t", j, p.number(2)))
    fully = p.loop("j", 4, p.store("t", j, p.number(3)))
    read = p.store("u", p.number(0), p.load("t", i))

    assert statements(p, t, first, partly, read) == [
        ("t[i] ← 1", "u[0] ← t[i]", "t"),
        ("t[j] ← 2", "u[0] ← t[i]", "t"),
    ]
    assert statements(p, t, first, fully, read) == [("t[j] ← 3", "u[0] ← t[i]", "t")]


def test_an_alias_is_its_owner() -> None:
    p = Program()
    t = p.buffer("t", 4, address_space="private")
    s = p.buffer("s", 2, address_space="private", alias_of="t", alias_offset=2)
    write = p.store("s", p.number(0), p.number(5))
    read = p.store("u", p.number(0), p.load("t", p.number(2)))

    assert statements(p, t, s, write, read) == [("s[0] ← 5", "u[0] ← t[2]", "t")]


def test_a_call_reads_its_inputs_and_writes_its_outputs() -> None:
    p = Program()
    a_, b = p.buffer("a", 4, address_space="private"), p.buffer("b", 4, address_space="private")
    write = p.store("a", p.number(0), p.number(1))
    call = p("CALL", a_, b, callee="g", n_in=1, n_out=1)
    read = p.store("u", p.number(0), p.load("b", p.number(3)))

    assert statements(p, a_, b, write, call, read) == [
        ("a[0] ← 1", "call g(a, b)", "a"),
        ("call g(a, b)", "u[0] ← b[3]", "b"),
    ]


def test_a_changed_constant_and_all_that_uses_it_have_changed() -> None:
    p = Program()
    before, after = p.graph(scaled(p, 2)), p.graph(scaled(p, 3))
    states, removed = graph_changes.compare(before, after)
    titles = [after.kinds[kind].title for kind in after.kind]

    assert {
        t for t, state in zip(titles, states, strict=True) if state == graph_changes.CHANGED
    } == {
        "MUL",
        "STORE",
        "FOR",
        "PROC",
        "PROGRAM",
        "CONST_FLOAT",
    }
    assert states.count(graph_changes.NEW) == 0
    assert removed == 6


def test_a_statement_that_was_added_is_new() -> None:
    p = Program()
    old = [p.store("y", p.number(i), p.number(i)) for i in range(3)]
    extra = p.store("z", p.number(0), p.number(1))
    before = p.graph(p("PROC", *old, name="f", param_count=0))
    after = p.graph(p("PROC", *old[:2], extra, old[2], name="f", param_count=0))
    states, removed = graph_changes.compare(before, after)
    named = {after.kinds[kind].title: state for kind, state in zip(after.kind, states, strict=True)}

    assert (named["PROC"], removed) == (graph_changes.CHANGED, 1)
    assert [s for s in states if s] == [graph_changes.NEW] * 2 + [graph_changes.CHANGED]


def viz_graph(*nodes: tuple[str, str], edges: Sequence[tuple[str, str]]) -> Graph:
    return {
        "nodes": [{"id": id_, "label": label, "color": "#fff"} for id_, label in nodes],
        "edges": [
            {"from": source, "to": target, "label": str(i)}
            for i, (source, target) in enumerate(edges)
        ],
        "outputs": [nodes[-1][0]],
    }


def recording(*graphs: Graph, names: Sequence[str] = ()) -> Recording:
    steps = [
        {"name": name, "phase": "", "dialect": "expr", "assembly": "", "graph": graph}
        for name, graph in zip(
            names or [f"step {i}" for i in range(len(graphs))], graphs, strict=True
        )
    ]
    return from_dict({"id": "r", "function": "f", "steps": steps}, "test")


def outline_of(recording: Recording, step: int = 0) -> Outline:
    return outline(group(recording, recording.steps[step]), recording.steps[step])


def test_operations_of_a_function_follow_their_arguments() -> None:
    graph = viz_graph(
        ("e0", "INPUT\n%0\nfloat64(4,)\nx"),
        ("e1", "SIN\n%1\nfloat64(4,)"),
        edges=[("e0", "e1")],
    )
    found = outline_of(recording(graph, names=["expression"]))

    assert found.nodes.kind == ["function", "input", "operation"]
    assert found.nodes.title == ["f", "input x : float64(4,)", "sin : float64(4,)"]
    assert found.nodes.name == ["f", "x", ""]
    assert (found.edges.source, found.edges.target) == ([1], [2])
    assert found.nodes.node_count == [2, 1, 1]
    assert found.against is None


ASSEMBLY = """\
prog.module {} {
  prog.proc @f(%x: memref<4xfloat64>, %y: memref<1xfloat64>) {device=host} {
    prog.for %i = 0 to 10 step 3 {kind=global} {
      prog.store prog.load %x[%i], %y[prog.add(%i, prog.load %k[0])] : float64
    }
    %v0 = prog.assign prog.load %x[0] : float64 {declare=True}
  }
}"""


def test_labels_alone_get_names_and_lines_from_the_assembly() -> None:
    graph = viz_graph(
        ("x", "BUFFER\n%0\nfloat64\nx"),
        ("y", "BUFFER\n%1\nfloat64\ny"),
        ("r", "RANGE\n%2\nint64\ni"),
        ("s", "STORE\n%3\nfloat64"),
        ("l", "FOR\n%4\nfloat64"),
        ("a", "ASSIGN\n%5\nfloat64\nv0"),
        ("p", "PROC\n%6\nfloat64\nf"),
        ("m", "PROGRAM\n%7\nfloat64"),
        edges=[("r", "l"), ("s", "l"), *((each, "p") for each in "xyla"), ("p", "m")],
    )
    step = {"name": "lowered", "dialect": "prog", "assembly": ASSEMBLY, "graph": graph}
    found = outline_of(from_dict({"id": "r", "function": "f", "steps": [step]}, "test"))

    shown = zip(
        found.nodes.kind, found.nodes.title, found.nodes.name, found.nodes.line, strict=True
    )
    assert [*shown][2:] == [
        ("parameter", "x float64", "x", 2),
        ("parameter", "y float64", "y", 2),
        ("loop", "for i in 0..10 step 3", "i", 3),
        ("statement", "store load %x[%i], %y[add(%i, load %k[0])] : float64", "y", 4),
        ("statement", "%v0 = assign load %x[0] : float64 {declare=True}", "v0", 6),
    ]
    assert found.nodes.trips[4] == 4


def test_the_same_function_is_compared_and_another_is_not() -> None:
    one = viz_graph(("a", "INPUT\n%0\nf\nx"), ("b", "SIN\n%1\nf"), edges=[("a", "b")])
    two = viz_graph(("a", "INPUT\n%0\nf\nx"), ("b", "COS\n%1\nf"), edges=[("a", "b")])
    recorded = recording(one, two, two, names=["expression", "normalized:f", "normalized:g"])

    second = outline_of(recorded, 1)
    assert (second.against, second.removed) == (0, 1)
    assert second.nodes.changed == [2, 0, 1]
    assert outline_of(recorded, 2).against is None


def test_a_damaged_graph_is_cut_where_it_is_wrong_and_says_so() -> None:
    circle = viz_graph(
        ("a", "ADD\n%0\nf"),
        ("b", "MUL\n%1\nf"),
        edges=[("a", "b"), ("b", "a"), ("nobody", "b"), ("a", "a")],
    )
    found = outline_of(recording(circle, names=["expression"]))

    assert found.nodes_total == 2
    assert found.problems == [
        "1 edges or outputs lead to nodes that are not there",
        "2 edges close a circle and are left out",
    ]
    assert len(found.edges.source) == 1


def test_hostile_labels_are_cut_and_never_interpreted() -> None:
    label = "<script>alert(1)</script>\u202e" + "x" * 100_000
    graph = viz_graph(("a", label), edges=[])
    found = outline_of(recording(graph, names=[f"normalized:{label}"]))
    shown = columns(group(recorded := recording(graph), recorded.steps[0]), recorded.steps[0])

    assert found.nodes.title[1].startswith("<script>alert(1)</script>")
    assert max(map(len, [*found.nodes.title, *found.nodes.name, *shown.titles])) <= 200


def test_blocks_that_share_blocks_do_not_explode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_entries_module, "MOST_ENTRIES", 1_000)
    p = Program()
    block = p.store("y", p.number(0), p.number(1))
    for _ in range(60):
        block = p("BLOCK", block, block)
    tree = program_entries(p.graph(p("PROC", block, name="f", param_count=0)))

    assert tree.is_cut
    assert len(tree.root.children) < 1_000


def test_many_statements_become_runs_of_neighbors() -> None:
    nodes = [(f"n{i}", f"SIN\n%{i}\nf") for i in range(1000)]
    chain = [(f"n{i}", f"n{i + 1}") for i in range(999)]
    found = outline_of(recording(viz_graph(*nodes, edges=chain), names=["expression"]))
    runs = [i for i, kind in enumerate(found.nodes.kind) if kind == "run"]

    assert found.nodes.children[0] == len(runs) == 25
    assert {found.nodes.children[i] for i in runs} == {40}
    assert found.nodes.title[runs[0]] == "%0 … %39"
    assert all(
        source < target
        for source, target in zip(found.edges.source, found.edges.target, strict=True)
    )


def test_columns_have_each_node_after_its_arguments() -> None:
    graph = viz_graph(
        ("a", "INPUT\n%0\nf\nx"),
        ("b", "SIN\n%1\nf"),
        ("c", "MUL\n%2\nf"),
        edges=[("a", "b"), ("a", "c"), ("b", "c")],
    )
    recorded = recording(graph, names=["expression"])
    grouped = group(recorded, recorded.steps[0])
    found = columns(grouped, recorded.steps[0])

    assert [found.titles[i] for i in found.title] == ["INPUT", "SIN", "MUL"]
    assert (found.arg_offsets, found.args) == ([0, 0, 1, 3], [0, 0, 1])
    assert found.group == [1, 2, 3]
    detail = node_detail(grouped, 0)
    assert detail is not None
    assert ([user.node for user in detail.users], detail.args) == ([1, 2], [])
    assert node_detail(grouped, 3) is None


def test_rows_of_equal_labels_and_arguments_are_equal() -> None:
    one = of_graph(viz_graph(("a", "SIN\n%0\nf"), ("b", "SIN\n%1\nf"), edges=[]))
    two = of_graph(viz_graph(("z", "COS\n%0\nf"), ("b", "SIN\n%1\nf"), edges=[]))

    assert one.rows[0] == one.rows[1] == two.rows[1] != two.rows[0]
