"""Owns what a reader makes of spans that are late, lost, doubled, foreign, damaged, or of another version."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import scaly as sc
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scaly.codegen.aot import render_c_source

import scaly_viz
from programs.compat import arg, function
from scaly_viz import attributes as a
from scaly_viz.assembling import assemble
from scaly_viz.sources import load


@pytest.fixture
def lines() -> list[bytes]:
    """The lines of one whole recording, root last."""

    @function(arg("x", 3), outputs=arg("y"), name="sine")
    def sine(x: sc.Expr) -> sc.Expr:
        return x.sin() * x

    render_c_source(scaly_viz.visualize(sine, label="the sine"))
    scaly_viz.recordings()
    return scaly_viz.recording_path().read_bytes().splitlines(keepends=True)


type BytesOfFile = Callable[[], bytes]


@pytest.fixture
def content_of_file(lines: list[bytes]) -> BytesOfFile:
    """What ``lines`` holds, as a function: hypothesis shows its arguments, and this is long."""
    return lambda: b"".join(lines)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[list[bytes]], Path]:
    def write(lines: list[bytes]) -> Path:
        path = tmp_path / "changed.jsonl"
        path.write_bytes(b"".join(lines))
        return path

    return write


def _change(line: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    document = json.loads(line)
    change(document["resourceSpans"][0]["scopeSpans"][0]["spans"][0])
    return json.dumps(document).encode() + b"\n"


def test_the_order_of_lines_does_not_matter(lines: list[bytes], write: Any) -> None:
    whole = scaly_viz.load_recordings(write(lines), strict=True)

    random.Random(1).shuffle(lines)

    assert scaly_viz.load_recordings(write(lines), strict=True) == whole


def test_a_line_that_comes_twice_counts_once(lines: list[bytes], write: Any) -> None:
    whole = scaly_viz.load_recordings(write(lines), strict=True)

    assert scaly_viz.load_recordings(write(lines * 2), strict=True) == whole


def test_many_spans_a_line_are_read_as_well(lines: list[bytes], write: Any) -> None:
    whole = scaly_viz.load_recordings(write(lines), strict=True)
    batch = {"resourceSpans": [r for line in lines for r in json.loads(line)["resourceSpans"]]}

    assert scaly_viz.load_recordings(write([json.dumps(batch).encode()]), strict=True) == whole


def test_a_recording_without_its_root_is_incomplete(lines: list[bytes], write: Any) -> None:
    with pytest.warns(scaly_viz.RecordingWarning, match="still running, or its process was ended"):
        (recording,) = scaly_viz.load_recordings(write(lines[:-1]))

    assert recording["incomplete"] is True
    assert recording["error"].startswith("incomplete: ")
    assert (recording["name"], recording["function"]) == ("the sine", "sine")
    assert recording["steps"][-1]["name"] == "generated C"


def test_a_lost_step_is_told_and_costs_only_what_builds_on_it(
    lines: list[bytes], write: Any
) -> None:
    whole = scaly_viz.load_recordings(write(lines), strict=True)[0]

    with pytest.warns(scaly_viz.RecordingWarning) as warned:
        (recording,) = scaly_viz.load_recordings(write(lines[:3] + lines[4:]))

    assert any("1 of" in str(w.message) and "steps is missing" in str(w.message) for w in warned)
    assert recording["incomplete"] is True
    assert len(recording["steps"]) == len(whole["steps"]) - 1
    by_name = {step["name"]: step for step in whole["steps"]}
    for step in recording["steps"]:
        assert all(by_name[step["name"]][key] == value for key, value in step.items())


def test_a_strict_reader_raises_with_file_and_cause(lines: list[bytes], write: Any) -> None:
    with pytest.raises(scaly_viz.RecordingFileError, match=r"changed\.jsonl:\d+: .*still running"):
        scaly_viz.load_recordings(write(lines[:-1]), strict=True)


def test_a_payload_with_a_wrong_digest_is_left_out_and_told(lines: list[bytes], write: Any) -> None:
    def damage(span: dict[str, Any]) -> None:
        for event in span["events"]:
            for attribute in event["attributes"]:
                if attribute["key"] == a.PAYLOAD_DIGEST and event["name"] == "scaly.code":
                    attribute["value"]["stringValue"] = "0" * 64

    changed = [_change(line, damage) for line in lines[:-1]] + lines[-1:]
    with pytest.warns(scaly_viz.RecordingWarning, match="its code is missing: its digest is wrong"):
        (recording,) = scaly_viz.load_recordings(write(changed))

    assert "code" not in recording["steps"][-1]
    assert "incomplete" not in recording


def test_a_future_version_is_shown_as_far_as_it_is_known(lines: list[bytes], write: Any) -> None:
    changed = [line.replace(b'"1.0"', b'"2.7"') for line in lines]

    with pytest.warns(scaly_viz.RecordingWarning, match=r"written by schema version 2\.7"):
        (recording,) = scaly_viz.load_recordings(write(changed))

    assert recording["steps"][-1]["code"].startswith("// ") or recording["steps"][-1]["code"]


def test_an_unknown_kind_is_kept_and_handed_through(lines: list[bytes], write: Any) -> None:
    def add(span: dict[str, Any]) -> None:
        text = "rewrote %3 into %7"
        values = {
            a.PAYLOAD_ENCODING: "text",
            a.PAYLOAD_TYPE: "text/x-rewrites",
            a.PAYLOAD_DIGEST: "5e9b4ba75b9ba6d7b9b9b9b9",
            a.PAYLOAD_BODY: text,
        }
        import hashlib

        values[a.PAYLOAD_DIGEST] = hashlib.sha256(text.encode()).hexdigest()
        attributes = [{"key": k, "value": {"stringValue": v}} for k, v in values.items()]
        span["events"].append({"name": "scaly.rewrites", "attributes": attributes})

    changed = [lines[0], _change(lines[1], add), *lines[2:]]
    (loaded,) = load(write(changed))

    step = loaded.steps[1]
    assert step.payloads["rewrites"].media_type == "text/x-rewrites"
    assert loaded.text(step, "rewrites") == "rewrote %3 into %7"
    (recording,) = scaly_viz.load_recordings(write(changed), strict=True)
    assert recording["steps"][1]["rewrites"] == "rewrote %3 into %7"


def test_spans_of_other_services_are_passed_over(lines: list[bytes], write: Any) -> None:
    def disown(span: dict[str, Any]) -> None:
        span["attributes"] = [{"key": "http.route", "value": {"stringValue": "/"}}]

    foreign = [_change(line, disown) for line in lines]

    assert len(scaly_viz.load_recordings(write(foreign + lines + foreign), strict=True)) == 1


def test_compressed_files_are_read_whatever_their_name(lines: list[bytes], tmp_path: Path) -> None:
    import gzip

    data = b"".join(lines)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(data))
    (tmp_path / "b.bin").write_bytes(zstandard.compress(data))
    whole = scaly_viz.load_recordings(strict=True)

    assert scaly_viz.load_recordings(tmp_path / "a.jsonl.gz", strict=True) == whole
    assert scaly_viz.load_recordings(tmp_path / "b.bin", strict=True) == whole


def test_a_missing_file_has_no_recordings(tmp_path: Path) -> None:
    assert scaly_viz.load_recordings(tmp_path / "none.jsonl", strict=True) == []
    assert scaly_viz.load_recordings(strict=True) == []


def test_a_folder_holds_what_its_files_hold_scaly_vizs_too(
    lines: list[bytes], tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "ours.jsonl").write_bytes(b"".join(lines))
    whole = scaly_viz.load_recordings(strict=True)
    theirs = whole[0] | {"id": "f" * 32, "started_at": 1.5}
    (folder / "recordings.json").write_text(json.dumps([theirs]))

    assert scaly_viz.load_recordings(folder, strict=True) == [theirs, *whole]


@pytest.mark.parametrize(
    "odd",
    [
        {"started_at": float("nan")},
        {"started_at": 1e999},
        {"started_at": "yesterday"},
        {"steps": [{"name": "x", "graph": {"nodes": 5, "edges": None}}]},
        {"steps": [{"dialect": 3, "assembly": None}, {}]},
        {"steps": None},
        {"id": None, "name": None, "function": None},
    ],
)
def test_odd_recordings_of_scaly_viz_are_shown(odd: dict[str, Any], tmp_path: Path) -> None:
    from scaly_viz.analysis.summary import summarize, summarize_steps
    from scaly_viz.scaly_viz_dict import from_dict

    recording = from_dict({"id": "1", "name": "f", "function": "f", "steps": []} | odd, "a.json")

    assert summarize(recording).status == "ok"
    assert len(summarize_steps(recording)) == len(odd.get("steps") or [])


_DAMAGE = st.tuples(
    st.sampled_from(["flip", "cut", "double"]),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 255),
    st.integers(1, 3_000),
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=40,
)
@given(damages=st.lists(_DAMAGE, min_size=1, max_size=5))
def test_damage_never_crashes_the_reader_nor_gives_a_wrong_payload(
    content_of_file: BytesOfFile, write: Any, damages: list[tuple[str, float, int, int]]
) -> None:
    content = bytearray(content_of_file())
    for kind, where, byte, size in damages:
        position = int(where * len(content))
        if kind == "flip" and content:
            content[position] = byte
        elif kind == "cut":
            del content[position : position + size]
        else:
            content[position:position] = content[position : position + size]

    problems: list[str] = []
    (whole,) = load(scaly_viz.recording_path())
    texts: dict[tuple[str, str], str] = {
        (step.name, kind): whole.text(step, kind)
        for step in whole.steps
        for kind in ("assembly", "listing", "code")
        if kind in step.payloads
    }
    for recording in load(write([bytes(content)]), problems.append):
        for step in recording.to_dict()["steps"]:
            for kind in ("assembly", "listing", "code"):
                if kind in step and (step["name"], kind) in texts:
                    assert step[kind] == texts[step["name"], kind]


def test_a_recording_in_progress_is_never_taken_for_a_whole_one(lines: list[bytes]) -> None:
    from scaly_viz.sources.otlp_json import decode_line

    spans = [span for line in lines for span in decode_line(line, "line")]
    for count in range(1, len(spans) + 1):
        (recording,) = assemble(spans[:count])
        assert recording.complete == (count == len(spans))


@pytest.mark.parametrize("path", ["a" * 300, "a\0b"])
def test_a_path_that_cannot_be_looked_at_is_told(path: str) -> None:
    with pytest.warns(scaly_viz.RecordingWarning, match="cannot be read"):
        assert scaly_viz.load_recordings(path) == []
    with pytest.raises(scaly_viz.RecordingFileError, match="cannot be read"):
        scaly_viz.load_recordings(path, strict=True)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (a.STEP_INDEX, {"intValue": "9" * 4_300}),
        (a.STEP_INDEX, {"boolValue": True}),
        (a.STEP_INDEX, {"intValue": str(2**63 - 1)}),
        (a.FUNCTION_NAME + a.JSON_SUFFIX, {"stringValue": "[" * 100_000}),
        ("\ud800", {"stringValue": "x"}),
    ],
)
def test_a_hostile_attribute_costs_its_line_at_most(
    key: str, value: dict[str, Any], lines: list[bytes], write: Any
) -> None:
    def harm(span: dict[str, Any]) -> None:
        kept = [item for item in span["attributes"] if item["key"] != key]
        span["attributes"] = [*kept, {"key": key, "value": value}]

    problems: list[str] = []
    changed = [lines[0], _change(lines[1], harm), *lines[2:]]
    (recording,) = load(write(changed), problems.append)

    assert recording.function == "sine"
    assert len(recording.to_dict()["steps"]) >= len(lines) - 2


def test_a_payload_bomb_is_implausible() -> None:
    from scaly_viz import codec
    from scaly_viz.errors import PayloadError

    payload = codec.Payload("blob", bytes(1 << 28), "application/octet-stream")
    events = [("scaly.blob", event) for event in codec.Encoder().encode(payload)]
    (read,) = codec.collect(events)

    with pytest.raises(PayloadError, match="268,435,456 bytes is implausible"):
        codec.unpack(read, None)


def _harm_graph(span: dict[str, Any]) -> None:
    for event in span["events"]:
        for attribute in event["attributes"]:
            if event["name"] == "scaly.graph" and attribute["key"] == a.PAYLOAD_BODY:
                attribute["value"] = {"stringValue": "AAAA"}


def test_a_graph_that_builds_on_a_damaged_one_names_it_with_file_and_line(
    lines: list[bytes], write: Callable[[list[bytes]], Path]
) -> None:
    (recording,) = load(write([*lines[:2], _change(lines[2], _harm_graph), *lines[3:]]))

    assert recording.graph(recording.steps[1])["outputs"] == ["e2"]
    with pytest.raises(scaly_viz.PayloadError, match=r"^its body cannot be unpacked: "):
        recording.graph(recording.steps[2])
    with pytest.raises(scaly_viz.PayloadError) as raised:
        recording.graph(recording.steps[-2])
    cause = "the graph of step 2 (changed.jsonl:3) cannot be read: its body cannot be unpacked: "
    assert str(raised.value).startswith(f"it builds on others, and {cause}")


def test_a_graph_that_builds_on_a_missing_step_says_so(
    lines: list[bytes], write: Callable[[list[bytes]], Path]
) -> None:
    (recording,) = load(write([*lines[:2], *lines[3:]]))

    with pytest.raises(
        scaly_viz.PayloadError, match=r"the graph of step 2 is missing|it builds on"
    ):
        recording.graph(recording.steps[-2])
