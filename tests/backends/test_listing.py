"""Owns the tests of lists of a backend: what is asked again, what is remembered, what is not."""

from __future__ import annotations

import stat
from pathlib import Path

import msgspec
import pytest

from scaly_viz.errors import BackendError
from scaly_viz.remote import Listing, cache, listing
from scaly_viz.sources.address import parse_address

from .conftest import WINDOW, Recorded
from .stand_ins import JaegerStandIn, StandIn, span_of, standing_in


def _fail(text: str) -> None:
    raise AssertionError(text)


def _listed(server: StandIn, options: str = WINDOW) -> Listing:
    made = Listing(parse_address(f"jaeger:{server.url}?{options}"))
    made.refresh(_fail)
    return made


def _ids(made: Listing) -> list[str]:
    return [summary.id for summary in made.summaries()]


def _folder(recording_folder: Path) -> Path:
    return recording_folder / "backends"


def test_a_second_list_reads_no_trace_that_is_remembered(recorded: Recorded) -> None:
    with standing_in(JaegerStandIn(recorded.resources, summaries=True)) as server:
        assert _ids(_listed(server)) == recorded.ids
        assert len([path for path in server.paths() if "/traces/" in path]) == 3
        assert _ids(_listed(server)) == recorded.ids
        assert [path for path in server.paths() if "/traces/" in path] == []


def test_a_second_list_looks_at_what_is_recent_where_the_first_took_long(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "_CHEAP_S", 0)
    monkeypatch.setattr(listing, "_TRUST_TIMES", 1e6)
    jaeger = JaegerStandIn(recorded.resources[:4])
    with standing_in(jaeger) as server:
        assert _ids(_listed(server)) == recorded.ids[:1]
        first = len(server.paths())
        jaeger.resources = recorded.resources
        assert _ids(_listed(server)) == recorded.ids[:1]
        assert len(server.paths()) < first


def test_what_was_shipped_late_is_there_with_the_next_list(recorded: Recorded) -> None:
    jaeger = JaegerStandIn(recorded.resources[4:])
    with standing_in(jaeger) as server:
        assert _ids(_listed(server)) == recorded.ids[1:]
        jaeger.resources = recorded.resources
        assert _ids(_listed(server)) == recorded.ids


@pytest.mark.parametrize("summaries", [False, True])
def test_what_a_backend_has_dropped_is_listed_no_more(recorded: Recorded, summaries: bool) -> None:
    jaeger = JaegerStandIn(recorded.resources, summaries)
    with standing_in(jaeger) as server:
        assert _ids(_listed(server)) == recorded.ids
        jaeger.resources = recorded.resources[4:]
        assert _ids(_listed(server)) == recorded.ids[1:]


@pytest.mark.parametrize("summaries", [False, True])
def test_a_recording_that_lacked_spans_is_looked_at_again(
    recorded: Recorded, summaries: bool
) -> None:
    jaeger = JaegerStandIn(recorded.resources[:3], summaries)
    with standing_in(jaeger) as server:
        assert [s.status for s in _listed(server).summaries()] == ["incomplete"]
        jaeger.resources = recorded.resources[:4]
        assert [s.status for s in _listed(server).summaries()] == ["ok"]


def test_a_damaged_or_foreign_memory_is_made_anew(
    recorded: Recorded, recording_folder: Path
) -> None:
    with standing_in(JaegerStandIn(recorded.resources)) as server:
        _listed(server)
        (file,) = _folder(recording_folder).iterdir()
        whole = file.read_bytes()
        for damage in (
            b"",
            whole[:-5],
            b"\xff" * 100,
            whole.replace(b"version", b"versiom"),
            b"\x80",
        ):
            file.write_bytes(damage)
            assert _ids(_listed(server)) == recorded.ids
            assert file.read_bytes() != damage


def test_the_memory_is_private_and_holds_no_secret(
    recorded: Recorded, recording_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCALY_VIZ_BACKEND_HEADERS", "X-Token=geheim")
    with standing_in(JaegerStandIn(recorded.resources)) as server:
        _listed(StandIn(server.url.replace("//", "//me:geheim@"), []))
        monkeypatch.setenv("SCALY_VIZ_BACKEND_HEADERS", "X-Token=other")
        _listed(server)

    files = [*_folder(recording_folder).iterdir()]
    assert len(files) == 2  # each for what another one may see
    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600, 0o600]
    assert not any(b"geheim" in file.read_bytes() for file in files)


def test_the_memory_is_bounded(
    recorded: Recorded, recording_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MAX_TRACES", 2)
    monkeypatch.setattr(cache, "MAX_FILES", 3)
    with standing_in(JaegerStandIn(recorded.resources)) as server:
        for name in "abcdef":
            assert _ids(_listed(server, f"{WINDOW}&service={name}")) == recorded.ids

    files = [*_folder(recording_folder).iterdir()]
    assert len(files) <= 4
    newest = max(files, key=lambda file: file.stat().st_mtime_ns)
    kept = msgspec.msgpack.decode(newest.read_bytes(), type=cache.Memory)
    assert len(kept.entries) == 2


def test_a_list_needs_no_folder(recorded: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALY_VIZ_DIR", "/dev/null/no")
    with standing_in(JaegerStandIn(recorded.resources)) as server:
        assert _ids(_listed(server)) == recorded.ids


def test_a_recording_is_opened_whole_or_told_to_be_gone(recorded: Recorded) -> None:
    jaeger = JaegerStandIn(recorded.resources)
    with standing_in(jaeger) as server:
        made = _listed(server)
        (first, *_) = made.summaries()
        opened = made.open(first.trace_id, first.id, _fail)
        assert opened.to_dict() == recorded.dicts[0]
        jaeger.resources = []
        with pytest.raises(BackendError, match=f"it has no recording {first.id} any more$"):
            made.open(first.trace_id, first.id, _fail)
        assert _ids(made) == recorded.ids[1:]


def test_two_recordings_of_one_trace_are_two(recorded: Recorded) -> None:
    resources = recorded.resources
    shared = span_of(resources[0])["traceId"]
    for resource in resources:
        span_of(resource)["traceId"] = shared
    with standing_in(JaegerStandIn(resources)) as server:
        made = _listed(server)
        assert _ids(made) == recorded.ids
        assert made.open(shared, recorded.ids[1], _fail).to_dict() == recorded.dicts[1]


def test_the_limit_keeps_the_newest(recorded: Recorded) -> None:
    with standing_in(JaegerStandIn(recorded.resources)) as server:
        assert _ids(_listed(server, f"{WINDOW}&limit=2")) == recorded.ids[-2:]
        assert _ids(_listed(server, f"{WINDOW}&limit=1")) == recorded.ids[-1:]
        assert _ids(_listed(server)) == recorded.ids
