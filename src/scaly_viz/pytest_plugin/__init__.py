"""Owns the pytest plugin's options and hooks; what costs anything is imported only where it is asked for.

``docs/pytest.md`` is for its users.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from scaly_viz.pytest_plugin.fixture import ScalyViz
    from scaly_viz.pytest_plugin.outcome import Outcome
    from scaly_viz.pytest_plugin.recorder import Recorder


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, which change nothing unless they are given."""
    group = parser.getgroup("scaly-viz", "recordings of the scaly compiler (scaly-viz)")
    group.addoption(
        "--scaly-viz",
        action="store_true",
        help="record what scaly renders in each test, under the test's id",
    )
    group.addoption(
        "--scaly-viz-dir",
        metavar="PATH",
        help="folder for the recordings, emptied first (default: .scaly-viz in the rootdir)",
    )
    group.addoption(
        "--scaly-viz-update",
        action="store_true",
        help="write the snapshots of figures that tests compare with, and drop obsolete ones",
    )
    parser.addini("scaly_viz", "true: as --scaly-viz", type="bool", default=False)
    parser.addini("scaly_viz_dir", "as --scaly-viz-dir, relative to the rootdir", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to record, where that is asked for."""
    plugin = Plugin(config)
    config.stash[_PLUGIN] = plugin
    config.pluginmanager.register(plugin, "scaly_viz_plugin")


@pytest.fixture
def scaly_viz(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[ScalyViz]:
    """What scaly renders in this test: its recordings, with assertions on their figures."""
    from scaly_viz.pytest_plugin.fixture import ScalyViz
    from scaly_viz.pytest_plugin.recorder import Recorder

    plugin = request.config.stash[_PLUGIN]
    if plugin.recorder is None:
        plugin.recorder = Recorder(tmp_path_factory.mktemp("scaly-viz"))
    with plugin.recorder.test(request.node):
        yield ScalyViz(request.node, plugin.recorder)


class Plugin:
    """The hooks that do something in each test or at the end, if only to see that there is nothing to do."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._outcome: Outcome | None = None
        self._reports: list[pytest.TestReport] = []
        self._records_all = config.option.scaly_viz or config.getini("scaly_viz")
        self.recorder: Recorder | None = None
        if self._records_all:
            from scaly_viz.pytest_plugin.recorder import Recorder, prepared_folder

            self.recorder = Recorder(prepared_folder(config))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Record the renders of the test, those of its fixtures too."""
        if self.recorder is None or not self._records_all:
            return (yield)
        with self.recorder.test(item):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Tell with a failure what was recorded, and with the last report what the test compared."""
        report = yield
        if self.recorder is not None:
            self.recorder.annotate(item, report)
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect what tests compared: with xdist, in the process that started the others."""
        self._reports.append(report)
        if self._outcome is None and (self._records_all or hasattr(report, "scaly_viz")):
            from scaly_viz.pytest_plugin.outcome import Outcome

            self._outcome = Outcome(self._config)
        if self._outcome is not None:
            # Those before the first that matters, too: a test that was skipped has run.
            for each in self._reports:
                self._outcome.add(each)
            self._reports.clear()

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write snapshots where that was asked for."""
        if self._outcome is not None and not hasattr(self._config, "workerinput"):
            self._outcome.finish(session)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was recorded and written."""
        if self._outcome is not None:
            folder = self.recorder.folder if self.recorder and self._records_all else None
            self._outcome.summarize(terminalreporter, folder)

    def pytest_unconfigure(self) -> None:
        """Record no more."""
        if self.recorder is not None:
            self.recorder.close()


_PLUGIN = pytest.StashKey[Plugin]()
