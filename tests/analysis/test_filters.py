"""The words of the filter box, each against the recordings that it must choose."""

from __future__ import annotations

import msgspec
import pytest

from scaly_viz.analysis.filters import FilterError, select
from scaly_viz.analysis.groups import by_function, ordered
from scaly_viz.analysis.summary import RecordingSummary

NOW = 1_000_000_000.0
HOUR = 3600.0

MPC = RecordingSummary(
    id="7c0e",
    name="tuned weights",
    function="ocp_cartpole",
    started_at=NOW - HOUR,
    duration_s=2.5,
    steps=27,
    nodes=24_000,
    code_bytes=240_000,
    status="ok",
    error=None,
    process=4711,
    host="ci-1",
    trace_id="aa11",
    file="/home/me/mpc.py",
    line=42,
    compiler_version="0.1.0a2",
    problems=[],
    source="recordings.jsonl",
)
BROKEN = msgspec.structs.replace(
    MPC,
    id="beef",
    name="QP of today",
    function="qp",
    started_at=NOW - 50 * HOUR,
    duration_s=0.02,
    steps=5,
    nodes=None,
    code_bytes=None,
    status="failed",
    error="LoweringError('print')",
    process=12,
    host="laptop",
    trace_id="bb22",
    file="/home/me/qp.py",
    compiler_version="0.1.0a1",
    source="old.json",
)


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ("", [MPC, BROKEN]),
        ("ok", [MPC]),
        ("FAILED", [BROKEN]),
        ("incomplete", []),
        ("-failed", [MPC]),
        ("fn:ocp_*", [MPC]),
        ("fn:cart", [MPC]),
        ("fn:cart*", []),
        ("label:Tuned", [MPC]),
        ('label:"tuned weights"', [MPC]),
        ('"of today"', [BROKEN]),
        ("file:qp.py", [BROKEN]),
        ("host:ci-?", [MPC]),
        ("source:old", [BROKEN]),
        ("error:lowering", [BROKEN]),
        ("version:0.1.0a1", [BROKEN]),
        ("id:7c", [MPC]),
        ("trace:bb", [BROKEN]),
        ("process:12", [BROKEN]),
        ("since:2h", [MPC]),
        ("since:60min", [MPC]),
        ("since:59min", []),
        ("until:2d", [BROKEN]),
        ("until:1d since:3d", [BROKEN]),
        ("since:2001-09-08", [MPC]),
        ("code>100kB", [MPC]),
        ("code<=240000", [MPC]),
        ("nodes>10k", [MPC]),
        ("-nodes>10k", [BROKEN]),
        ("steps=5", [BROKEN]),
        ("time>1s", [MPC]),
        ("time<50ms", [BROKEN]),
        ("me", [MPC, BROKEN]),
        ("loweringerror", [BROKEN]),
        ("7c0", [MPC]),
        ("c0e", []),
        ("a:b", []),
        ("ok fn:qp", []),
        ('label:"tuned', [MPC]),
        ("-", []),
        ("<script>", []),
    ],
)
def test_words_choose_recordings(words: str, chosen: list[RecordingSummary]) -> None:
    assert select([MPC, BROKEN], words, NOW) == chosen


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "since:yesterday",
            "'yesterday' is neither a time span nor a date, as 2h, 3d or 2026-11-30",
        ),
        ("since:", "'' is neither a time span nor a date, as 2h, 3d or 2026-11-30"),
        ("code>big", "code>big: the number cannot be understood"),
        ("code>3h", "code>3h: the number cannot be understood"),
        ("time>3kB", "time>3kB: the number cannot be understood"),
    ],
)
def test_a_word_that_means_nothing_is_told(words: str, message: str) -> None:
    with pytest.raises(FilterError) as raised:
        select([MPC], words, NOW)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("key", "ascending", "names"),
    [
        ("started", False, ["ocp_cartpole", "qp"]),
        ("started", True, ["qp", "ocp_cartpole"]),
        ("duration", True, ["qp", "ocp_cartpole"]),
        ("code", True, ["ocp_cartpole", "qp"]),
        ("code", False, ["ocp_cartpole", "qp"]),
        ("name", True, ["qp", "ocp_cartpole"]),
        ("status", True, ["qp", "ocp_cartpole"]),
    ],
)
def test_recordings_are_put_in_order_and_what_has_no_value_comes_last(
    key: str, ascending: bool, names: list[str]
) -> None:
    summaries = ordered([BROKEN, MPC], key, ascending=ascending)
    assert [summary.function for summary in summaries] == names


def test_of_equal_ones_the_newest_comes_first() -> None:
    older = msgspec.structs.replace(MPC, id="older", started_at=NOW - 2 * HOUR)
    for ascending in (True, False):
        assert ordered([older, MPC], "duration", ascending=ascending) == [MPC, older]


def test_a_group_holds_the_figures_of_one_function_oldest_first() -> None:
    older = msgspec.structs.replace(
        MPC,
        id="older",
        started_at=NOW - 2 * HOUR,
        code_bytes=7,
        duration_s=1.0,
        status="incomplete",
    )
    ocp, qp = by_function([older, BROKEN, MPC])
    assert (ocp.function, ocp.count, ocp.failed, ocp.incomplete) == ("ocp_cartpole", 2, 0, 1)
    assert (ocp.newest, ocp.code_bytes, ocp.duration_s) == (MPC, [7, 240_000], [1.0, 2.5])
    assert (qp.function, qp.count, qp.failed, qp.code_bytes) == ("qp", 1, 1, [None])
