"""The catalog: files that grow, rotate, vanish, change their format; big ones; many at once."""

from __future__ import annotations

import gzip
import json
import shutil
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import scaly_viz
from scaly_viz import codec
from scaly_viz.errors import ScalyVizError
from scaly_viz.recording import Recording
from scaly_viz.settings import INDEX_FOLDER, recording_dir, recording_path
from scaly_viz.sources.otlp_json import decode_line
from scaly_viz.span_record import SpanRecord
from scaly_viz_exporters.json_file import delete
from scaly_viz_viewer import create_app
from scaly_viz_viewer.catalog import Catalog, paths_of

from .recorded import STEPS, Recorder


@pytest.fixture
def catalog(path: Path) -> Catalog:
    return Catalog([path])


def ids(catalog: Catalog) -> list[str]:
    """Return the ids of the recordings, oldest first."""
    return [summary.id for summary in reversed(catalog.recordings())]


def opened(catalog: Catalog, key: str) -> Recording:
    found = catalog.open(key)
    assert found is not None
    return found.recording


def texts(recording: Recording) -> list[dict[str, str]]:
    return [
        {kind: recording.text(step, kind) for kind in step.payloads} for step in recording.steps
    ]


def problems(catalog: Catalog) -> list[str]:
    return [problem for source in catalog.sources() for problem in source.problems]


def test_a_recording_appears_when_its_first_step_is_written_and_grows(
    catalog: Catalog, recorder: Recorder
) -> None:
    running = recorder.begin(label="late")
    assert ids(catalog) == []
    for count, step in enumerate(STEPS, 1):
        running.add(step)
        (summary,) = catalog.recordings()
        assert (summary.status, summary.steps) == ("incomplete", count)
        assert texts(opened(catalog, running.id)) == list(STEPS[:count])
    running.finish()
    (summary,) = catalog.recordings()
    assert (summary.status, summary.steps, summary.name) == ("ok", 3, "late")


def test_only_what_was_appended_is_read(
    catalog: Catalog, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = recorder.record()
    assert ids(catalog) == [first]
    lines: list[int] = []
    count_lines(monkeypatch, lines)
    second = recorder.record()
    assert ids(catalog) == [first, second]
    assert len(lines) == len(STEPS) + 1
    assert ids(catalog) == [first, second]
    assert len(lines) == len(STEPS) + 1


def count_lines(monkeypatch: pytest.MonkeyPatch, lines: list[int]) -> None:
    def counting(line: bytes, origin: str, *, events: bool) -> list[SpanRecord]:
        assert not events
        lines.append(len(line))
        return decode_line(line, origin, events=events)

    monkeypatch.setattr("scaly_viz.sources.lines.decode_line", counting)


def test_a_list_decodes_no_payload(
    catalog: Catalog, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder.record()

    def fail(*_: object) -> bytes:
        raise AssertionError("a payload was decoded")

    monkeypatch.setattr(codec, "unpack", fail)
    assert len(catalog.recordings()) == 1


def test_a_torn_line_is_read_once_it_is_whole(
    catalog: Catalog, path: Path, recorder: Recorder
) -> None:
    key = recorder.record()
    data = path.read_bytes()
    path.write_bytes(data[:-100])
    assert catalog.recordings()[0].status == "incomplete"
    with path.open("ab") as file:
        file.write(data[-100:])
    assert catalog.recordings()[0].status == "ok"
    assert ids(catalog) == [key]


def test_rotation_neither_loses_nor_repeats_recordings(path: Path, catalog: Catalog) -> None:
    recorder = Recorder(path, segment_bytes=20_000)
    made = []
    for _ in range(12):
        made.append(recorder.record())
        assert ids(catalog) == made
    assert len(list(path.parent.glob("recordings-*.jsonl"))) >= 2
    assert all(texts(opened(catalog, key)) == list(STEPS) for key in made)


def test_a_dropped_segment_takes_its_recordings_along(path: Path, catalog: Catalog) -> None:
    recorder = Recorder(path, segment_bytes=20_000)
    made = [recorder.record() for _ in range(12)]
    assert ids(catalog) == made
    oldest = min(path.parent.glob("recordings-*.jsonl"))
    gone = {key for key in made if key in oldest.read_text()}
    oldest.unlink()
    left = ids(catalog)
    assert left == [key for key in made if key in left]
    assert len(made) - len(gone) <= len(left) < len(made)


def test_cleared_recordings_are_gone_and_later_ones_appear(
    path: Path, catalog: Catalog, recorder: Recorder
) -> None:
    first = recorder.record()
    assert ids(catalog) == [first]
    assert catalog.open(first) is not None
    delete(path)
    assert ids(catalog) == []
    assert catalog.open(first) is None
    second = recorder.record()
    assert ids(catalog) == [second]


@pytest.mark.parametrize("count", [1, 5])
def test_a_file_that_was_made_again_shows_only_what_it_holds(
    path: Path, catalog: Catalog, recorder: Recorder, count: int
) -> None:
    recorder.record()
    assert len(ids(catalog)) == 1
    delete(path)
    made = [recorder.record() for _ in range(count)]
    assert ids(catalog) == made


def test_a_folder_shows_the_recordings_of_its_files(tmp_path: Path) -> None:
    made = [Recorder(tmp_path / name).record() for name in ("a.jsonl", "b.jsonl")]
    catalog = Catalog([tmp_path])
    assert ids(catalog) == made
    made.append(Recorder(tmp_path / "c.jsonl").record())
    assert ids(catalog) == made


def test_the_spans_of_one_recording_may_be_in_several_files(path: Path, recorder: Recorder) -> None:
    key = recorder.record()
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[::2]))
    (path.parent / "other.jsonl").write_text("".join(lines[1::2]))
    catalog = Catalog([path.parent])
    assert texts(opened(catalog, key)) == list(STEPS)
    assert catalog.recordings()[0].status == "ok"


def test_a_recording_that_two_sources_have_is_listed_once(path: Path, recorder: Recorder) -> None:
    key = recorder.record()
    copy = path.with_name("copy.jsonl")
    shutil.copy(path, copy)
    catalog = Catalog([path, copy])
    assert ids(catalog) == [key]
    delete(path)
    assert ids(catalog) == [key]
    assert texts(opened(catalog, key)) == list(STEPS)


def test_a_recording_that_moves_to_another_source_is_opened_anew(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    for path, text in zip(paths, ("first\n", "second\n"), strict=True):
        Recorder(path).record(recording_id="same", steps=[{"listing": text}])
    catalog = Catalog(paths)
    assert texts(opened(catalog, "same")) == [{"listing": "first\n"}]
    delete(paths[0])
    assert texts(opened(catalog, "same")) == [{"listing": "second\n"}]


def as_scaly_viz(*names: str, id_: str = "abc") -> str:
    steps = [{"name": "expression", "phase": "e", "dialect": "expr", "assembly": "x", "tiles": "t"}]
    return json.dumps(
        [
            {"id": id_, "name": name, "function": "f", "started_at": 1e9 + i, "error": None}
            | {"steps": steps}
            for i, name in enumerate(names)
        ]
    )


def test_the_format_of_scaly_viz_is_shown_and_followed(tmp_path: Path) -> None:
    path = tmp_path / "recordings.json"
    path.write_text(as_scaly_viz("one"))
    catalog = Catalog([path])
    assert ids(catalog) == ["abc"]
    assert texts(opened(catalog, "abc")) == [{"assembly": "x", "tiles": "t"}]
    path.write_text(as_scaly_viz("one", "two"))
    assert [summary.name for summary in catalog.recordings()] == ["two", "one"]


@pytest.mark.parametrize("id_", ["abc", "", "a/b"])
def test_recordings_of_one_id_are_told_apart(tmp_path: Path, id_: str) -> None:
    path = tmp_path / "recordings.json"
    path.write_text(as_scaly_viz("one", "two", id_=id_))
    catalog = Catalog([path])
    first, second = ids(catalog)
    assert first != second
    assert [opened(catalog, key).name for key in (first, second)] == ["one", "two"]


def test_a_file_may_turn_into_one_of_another_format(path: Path, recorder: Recorder) -> None:
    catalog = Catalog([path])
    key = recorder.record()
    data = path.read_bytes()
    assert ids(catalog) == [key]
    path.write_text(as_scaly_viz("one"))
    assert ids(catalog) == ["abc"]
    path.write_bytes(data)
    assert ids(catalog) == [key]


@pytest.fixture
def small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scaly_viz_viewer.index._MAX_GROWING", 2)


def test_a_recording_is_read_from_its_lines_when_it_is_opened(
    path: Path, recorder: Recorder
) -> None:
    made = [recorder.record(label=f"number {i}") for i in range(20)]
    catalog = Catalog([path])
    assert [summary.name for summary in catalog.recordings()] == [
        f"number {i}" for i in reversed(range(20))
    ]
    for key in made:
        assert texts(opened(catalog, key)) == list(STEPS)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[4:]))
    assert ids(catalog) == made[1:]
    assert all(texts(opened(catalog, key)) == list(STEPS) for key in made[1:])


@pytest.mark.usefixtures("small_memory")
def test_a_recording_that_ends_after_many_others_is_still_whole(
    path: Path, recorder: Recorder
) -> None:
    catalog = Catalog([path])
    running = recorder.begin(label="slow")
    running.add(STEPS[0])
    others = [recorder.begin(label=f"other {i}") for i in range(20)]
    for other in others:
        other.add(STEPS[0])
        catalog.recordings()
    running.finish()
    slow = next(summary for summary in catalog.recordings() if summary.name == "slow")
    assert (slow.status, slow.steps) == ("ok", 1)
    assert texts(opened(catalog, running.id)) == [STEPS[0]]


def test_spans_that_come_twice_count_once(path: Path, catalog: Catalog, recorder: Recorder) -> None:
    key = recorder.record()
    assert ids(catalog) == [key]
    with path.open("ab") as file:
        file.write(path.read_bytes())
    (summary,) = catalog.recordings()
    assert (summary.status, summary.steps) == ("ok", len(STEPS))
    assert texts(opened(catalog, key)) == list(STEPS)


def test_a_segment_that_is_compressed_keeps_its_recordings(path: Path, catalog: Catalog) -> None:
    recorder = Recorder(path, segment_bytes=20_000)
    made = [recorder.record() for _ in range(12)]
    assert ids(catalog) == made
    segment = min(path.parent.glob("recordings-*.jsonl"))
    segment.with_name(segment.name + ".gz").write_bytes(gzip.compress(segment.read_bytes()))
    assert ids(catalog) == made
    segment.unlink()
    assert ids(catalog) == made
    assert all(texts(opened(catalog, key)) == list(STEPS) for key in made)


def test_recordings_of_a_collectors_file_with_many_spans_a_line_are_opened(
    path: Path, catalog: Catalog, recorder: Recorder
) -> None:
    made = [recorder.record() for _ in range(3)]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    merged = {"resourceSpans": [resource for line in lines for resource in line["resourceSpans"]]}
    path.write_text(json.dumps(merged) + "\n")
    assert ids(catalog) == made
    assert all(texts(opened(catalog, key)) == list(STEPS) for key in made)


@pytest.fixture
def saved_index(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have every index saved; the folder that they are saved in."""
    monkeypatch.setattr("scaly_viz_viewer.source._SAVE_BYTES", 0)
    return recording_dir() / INDEX_FOLDER


def test_an_index_is_remembered_so_that_nothing_is_read_twice(
    path: Path, recorder: Recorder, saved_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [recorder.record() for _ in range(3)]
    with path.open("ab") as file:
        file.write(b"garbage\n")
    first = Catalog([path])
    listed, told = first.recordings(), problems(first)
    assert len(told) == 1
    lines: list[int] = []
    count_lines(monkeypatch, lines)
    later = Catalog([path])
    assert later.recordings() == listed
    assert problems(later) == told
    assert lines == []
    made.append(recorder.record())
    assert ids(later) == made
    assert len(lines) == len(STEPS) + 1
    assert stat.S_IMODE(saved_index.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in saved_index.iterdir()] == [0o600]


@pytest.mark.parametrize("damage", [b"", b"x" * 100, b"cut"])
def test_a_damaged_index_is_made_anew(
    path: Path, recorder: Recorder, saved_index: Path, damage: bytes
) -> None:
    key = recorder.record()
    assert ids(Catalog([path])) == [key]
    (file,) = saved_index.iterdir()
    file.write_bytes(file.read_bytes()[:-10] if damage == b"cut" else damage)
    assert ids(Catalog([path])) == [key]


@pytest.mark.usefixtures("saved_index")
def test_a_remembered_index_of_a_file_that_was_made_again_is_not_believed(path: Path) -> None:
    old = Recorder(path).record()
    assert ids(Catalog([path])) == [old]
    delete(path)
    new = Recorder(path).record()
    assert ids(Catalog([path])) == [new]


def test_an_index_that_cannot_be_saved_is_no_error(
    path: Path, recorder: Recorder, saved_index: Path
) -> None:
    key = recorder.record()
    saved_index.parent.mkdir(parents=True, exist_ok=True)
    saved_index.write_text("in the way")
    assert ids(Catalog([path])) == [key]


def test_clearing_the_recordings_forgets_the_indexes(
    path: Path, recorder: Recorder, saved_index: Path
) -> None:
    recorder.record()
    Catalog([path]).recordings()
    assert saved_index.exists()
    scaly_viz.clear_recordings(disk=True)
    assert not saved_index.exists()


def test_garbage_is_told_and_the_rest_is_shown(
    path: Path, catalog: Catalog, recorder: Recorder
) -> None:
    first = recorder.record()
    with path.open("ab") as file:
        file.write(b"garbage\n\xff\xfe\n{}\n[1]\n")
    second = recorder.record()
    assert ids(catalog) == [first, second]
    told = problems(catalog)
    assert [problem.partition(": ")[0] for problem in told] == [
        "recordings.jsonl:5",
        "recordings.jsonl:6",
        "recordings.jsonl:8",
    ]
    assert problems(catalog) == told


def test_problems_without_end_are_told_a_hundred_times(path: Path, catalog: Catalog) -> None:
    for i in range(300):
        with path.open("a") as file:
            file.write(f"garbage {i}\n")
        if i % 30 == 0:
            catalog.recordings()
    assert len(problems(catalog)) == 100


def test_many_threads_see_the_same(path: Path, recorder: Recorder) -> None:
    made = [recorder.record() for _ in range(10)]
    catalog = Catalog([path])
    seen: list[object] = []

    def look() -> None:
        seen.append((ids(catalog), [texts(opened(catalog, key)) for key in made]))

    run_at_once(look, 8)
    assert seen == [(made, [list(STEPS)] * 10)] * 8


def run_at_once(function: Callable[[], None], count: int) -> None:
    threads = [threading.Thread(target=function) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_the_local_file_is_the_default() -> None:
    assert paths_of(None) == paths_of([]) == [recording_path()]
    key = Recorder(recording_path()).record()
    response = create_app().test_client().get("/api/v1/recordings")
    assert response.json is not None
    assert [recording["id"] for recording in response.json["recordings"]] == [key]


def test_a_source_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScalyVizError, match="only files, folders and tracing backends"):
        create_app("http://localhost:16686")
    with pytest.raises(ScalyVizError, match="there is no folder"):
        create_app(tmp_path / "nowhere" / "recordings.jsonl")
