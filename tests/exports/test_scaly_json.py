"""Owns the tests of the export to scaly.viz's format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scaly import viz

from analysis.recorded import record
from scaly_viz.codec import Payload
from scaly_viz.exports.chosen import Chosen, chosen
from scaly_viz.exports.formats import Options, named
from scaly_viz.recording import Recording
from scaly_viz.sources import load
from viewer.recorded import STEPS, Recorder


def exported(recordings: list[Recording], report: list[str] | None = None) -> str:
    options = Options(report=report.append) if report is not None else Options()
    taken: list[Chosen] = [chosen(recording) for recording in recordings]
    return b"".join(named("json").writer()(taken, options)).decode("ascii")


@pytest.mark.parametrize("names", [[], ["chain"], ["odd_names", "unpaired_surrogate", "high_rank"]])
def test_it_is_what_scaly_viz_itself_writes(names: list[str], tmp_path: Path) -> None:
    recordings = [record(name) for name in names]
    dicts = [recording.to_dict() for recording in recordings]

    text = exported(recordings)

    assert text == json.dumps(dicts, indent=2)
    (tmp_path / "x.json").write_text(text)
    assert viz.load_recordings(tmp_path / "x.json") == dicts


def test_what_json_cannot_hold_is_left_out_and_told(tmp_path: Path) -> None:
    odd = Payload("odd", b"\xff\0", "application/octet-stream")
    Recorder(tmp_path / "x.jsonl").record(steps=[{**STEPS[0], "odd": odd}])
    report: list[str] = []

    (data,) = json.loads(exported(load(tmp_path / "x.jsonl"), report))

    assert [*data["steps"][0]] == ["name", "phase", "dialect", "assembly"]
    assert report == ["f: pass:number_0: its odd is no text; it is left out"]
