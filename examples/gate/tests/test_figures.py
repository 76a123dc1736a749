"""What the generated code of the controller may cost: it runs every ten milliseconds on a small board."""

from __future__ import annotations

from model import constraints, jacobian  # type: ignore[import-not-found]  # beside this folder

from scaly_viz.pytest_plugin.fixture import ScalyViz


def test_the_constraints_stay_as_they_are(scaly_viz: ScalyViz) -> None:
    scaly_viz.render(constraints).assert_snapshot()


def test_the_jacobian_fits_the_board(scaly_viz: ScalyViz) -> None:
    recording = scaly_viz.render(jacobian)
    recording.assert_figures("code_bytes <= 32 KiB", "workspace_bytes <= 4 KiB", "flops <= +5%")
