"""Owns the tests of ``scaly-viz import``."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from scaly_viz import sources
from scaly_viz.exports.chosen import Shelf
from scaly_viz.exports.embedding import embedded

from .files import Line, attribute_of, lines_of, write_lines
from .running import error_of, output_of, run


def dicts_of(path: Path) -> list[dict[str, Any]]:
    return [recording.to_dict() for recording in sources.load(path, sources.fail)]


@pytest.mark.parametrize("suffix", [".otlp.jsonl", ".jsonl.gz", ".jsonl.zst", ".json", ".json.gz"])
@pytest.mark.usefixtures("local")
def test_what_was_exported_comes_back(suffix: str, local: Path, tmp_path: Path) -> None:
    exported, into = tmp_path / f"x{suffix}", tmp_path / "into.jsonl"
    output_of("export", "1", "2", "--to", exported)

    output = output_of("import", exported, "--recording-path", into)

    spring, high_rank = dicts_of(into)
    expected = [recording.to_dict() for recording in sources.load(local, lambda _: None)][:2]
    for came, was in zip((spring, high_rank), expected, strict=True):
        assert came["started_at"] == pytest.approx(was["started_at"], abs=1e-6)
        assert came | {"started_at": 0} == was | {"started_at": 0}
    assert [line.partition(",")[0] for line in output.splitlines()] == [
        "Spring",
        f"high_rank ({high_rank['id'][:8]}): imported",
    ]


def test_the_same_recording_twice_is_said_and_left(local: Path, tmp_path: Path) -> None:
    exported = tmp_path / "x.jsonl"
    output_of("export", "spring", "--to", exported)
    output_of("export", "spring", "--to", tmp_path / "x.json")
    before = local.read_bytes()
    id_ = sources.load(local)[0].id[:8]

    assert output_of("import", exported) == f"Spring, tuned ({id_}): is there already\n"
    assert output_of("import", tmp_path / "x.json", exported) == (
        f"Spring, tuned ({id_}): is there already, with spans of other ids, and was left as it is\n"
        f"Spring, tuned ({id_}): is there already\n"
    )
    assert local.read_bytes() == before


def test_an_incomplete_recording_gets_what_it_lacks(
    local: Path, rendered: list[Line], tmp_path: Path
) -> None:
    whole = tmp_path / "whole.jsonl"
    damper = next(r for r in sources.load(local, lambda _: None) if not r.complete)
    write_lines(whole, [x for x in rendered if attribute_of(x, "scaly.recording.id") == damper.id])

    output = output_of("import", whole)

    assert output == f"damper ({damper.id[:8]}): completed, 1 span added\n"
    assert all(recording.complete for recording in sources.load(local, sources.fail))


@pytest.mark.usefixtures("local")
def test_what_a_torn_file_still_has_is_imported(tmp_path: Path) -> None:
    exported, torn, into = (tmp_path / name for name in ("x.jsonl", "torn.jsonl.gz", "into.jsonl"))
    output_of("export", "spring", "--to", exported)
    *lines, last, root = exported.read_bytes().splitlines(keepends=True)
    torn.write_bytes(gzip.compress(b"".join([*lines, b"garbage\n", root, last[:100]])))

    result = run("import", torn, "--recording-path", into, "--json")

    garbage, cut = result.stderr.splitlines()
    number = len(lines) + 1
    assert garbage.startswith(
        f"scaly-viz: warning: torn.jsonl.gz:{number}: not JSON: Expecting value"
    )
    assert cut.startswith(f"scaly-viz: warning: torn.jsonl.gz:{number + 2}: not JSON: ")
    assert result.exit_code == 0
    (came,) = json.loads(result.stdout)
    assert (came["name"], came["spans"]) == ("Spring, tuned", len(lines) + 1)
    assert sources.load(into, lambda _: None)[0].missing_steps == 1


def page_with(recordings: Path) -> bytes:
    """Return a page that has the recordings of a file inside, behind more than is read at once."""
    shelf = Shelf(recordings, lambda _: None)
    inside = embedded(shelf.take(shelf.recordings))
    return f"<!doctype html>{'x' * 3_000_000}{inside}<p>".encode()


def test_a_page_that_has_recordings_inside_is_imported(local: Path, tmp_path: Path) -> None:
    page, into = tmp_path / "x.html", tmp_path / "into.jsonl"
    page.write_bytes(page_with(local))

    output_of("import", page, "--recording-path", into)

    came, were = ([r.to_dict() for r in sources.load(p, lambda _: None)] for p in (into, local))
    assert came == were


def test_a_page_that_is_cut_gives_what_is_left(local: Path, tmp_path: Path) -> None:
    page, into = tmp_path / "x.html", tmp_path / "into.jsonl"
    page.write_bytes(page_with(local)[:-2_000])

    result = run("import", page, "--recording-path", into)

    assert "x.html: cut short after compressed byte" in result.stderr
    came, were = (lines_of(path) for path in (into, local))
    assert 0 < len(came) < len(were)
    assert [line for line in came if line not in were] == []


FOREIGN = {
    "trace.json": (b'{"traceEvents":[]}', "a Chrome trace has only the times and figures"),
    "list.json": (b'[{"name":"a","ph":"X"}]', "a Chrome trace has only the times and figures"),
    "x.perfetto-trace": (b"\n\x04\x08\0\x10\1", "a Perfetto trace has only the times and figures"),
    "x.c": (b"int main(void) { return 0; }\n", "no file of recordings"),
    "x.html": (b"<!DOCTYPE html><p>", "this page was not made by scaly-viz export"),
    "empty.jsonl": (b"", "no file of recordings"),
    "other.jsonl": (b'{"resourceLogs":[]}\n', "there are no recordings in it"),
    "cut.jsonl.gz": (gzip.compress(b"{}" * 99)[:20], "there are no recordings in it"),
    "cut.jsonl.zst": (zstandard.compress(b"{}" * 99)[:12], "there are no recordings in it"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_file_is_told_in_one_line(name: str, tmp_path: Path) -> None:
    content, message = FOREIGN[name]
    (tmp_path / name).write_bytes(content)
    result = run("import", tmp_path / name)
    assert result.exit_code == 1
    assert f"{tmp_path / name}: {message}" in result.stderr
    assert len(result.stderr.splitlines()) == 1 or "cut" in name


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("trace.json", "a Chrome trace has only the times"),
        ("x.perfetto-trace", "a Perfetto trace has only the times"),
        ("x.html", "is a page; scaly-viz import takes recordings out of one"),
    ],
)
@pytest.mark.parametrize("words", ["list", "show 1", "prune --keep 1", "export --to y.json"])
def test_other_commands_tell_the_same_of_what_was_exported(
    words: str, name: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(FOREIGN[name][0])
    assert error_of(*words.split(), "--recording-path", path).startswith(f"{path}: {why}")


@pytest.mark.usefixtures("local")
def test_the_others_are_imported_where_one_is_foreign(tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text("int x;")
    output_of("export", "spring", "--to", tmp_path / "x.jsonl")

    into = tmp_path / "into"
    into.mkdir()
    files = [tmp_path / name for name in ("x.c", "nosuch", "x.jsonl")]
    result = run("import", *files, "--recording-path", into)

    assert result.exit_code == 1
    assert f"warning: {tmp_path / 'nosuch'}: no such file or folder" in result.stderr
    assert "nothing came from 2 of 3 files" in result.stderr
    assert [recording["name"] for recording in dicts_of(into)] == ["Spring, tuned"]


@pytest.mark.usefixtures("local")
def test_a_file_that_is_no_place_for_lines_is_refused(tmp_path: Path) -> None:
    output_of("export", "spring", "--to", tmp_path / "x.json")
    output_of("export", "spring", "--to", tmp_path / "x.jsonl.gz")
    for name, why in (("x.json", "is no file of OTLP JSON lines"), ("x.jsonl.gz", "compressed")):
        path = tmp_path / name
        before = path.read_bytes()
        message = error_of("import", tmp_path / "x.json", "--recording-path", path)
        assert message.startswith(f"{path}: {why}")
        assert path.read_bytes() == before
    assert error_of("import", tmp_path / "gone") == f"{tmp_path / 'gone'}: no such file or folder"
