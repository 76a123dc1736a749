"""Owns what is said where there is no folder for recordings."""

from __future__ import annotations

import pytest

import scaly_viz
from scaly_viz.errors import ScalyVizError


@pytest.fixture(autouse=True)
def no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCALY_VIZ_DIR", "~no-such-user/viz")


@pytest.mark.parametrize(
    "call",
    [
        scaly_viz.load_recordings,
        lambda: scaly_viz.load_recordings(strict=True),
        lambda: scaly_viz.clear_recordings(disk=True),
        scaly_viz.recording_dir,
        scaly_viz.recording_path,
    ],
)
def test_without_a_home_folder_the_error_says_what_to_do(call: object) -> None:
    assert callable(call)
    with pytest.raises(scaly_viz.RecordingFolderError) as raised:
        call()

    text = str(raised.value)
    assert text.startswith("no folder for recordings: Could not determine home directory")
    assert text.endswith("set SCALY_VIZ_DIR, or call configure(directory=...)")
    assert isinstance(raised.value, ScalyVizError)
    # What scaly.viz raises there.
    assert isinstance(raised.value, RuntimeError)


def test_without_a_home_folder_recordings_are_kept_in_memory() -> None:
    scaly_viz.clear_recordings()

    assert scaly_viz.recordings() == []
