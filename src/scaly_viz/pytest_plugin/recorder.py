"""Owns the recording of tests: a session beside the user's own, and the test whose renders it takes."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Generator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from wrapt import register_post_import_hook

from scaly_viz import settings
from scaly_viz.analysis.figures import BY_NAME, final_value
from scaly_viz.analysis.wording import amount
from scaly_viz.pytest_plugin.snapshots import Used
from scaly_viz.recording import Recording
from scaly_viz.system import is_replaced

if TYPE_CHECKING:
    from scaly_viz.application import Application
    from scaly_viz.frontend.scaly_types import Concrete
    from scaly_viz.frontend.session import Session

_FOLDER = ".scaly-viz"
_MARK = ".made-by-pytest"
_FLUSH_S = 60.0
_MOST_TOLD = 10


def prepared_folder(config: pytest.Config) -> Path:
    """Return the folder that the options name, made and emptied of the last run's recordings.

    Raises:
        UsageError: it cannot be used, or has recordings that pytest did not make.
    """
    given = config.option.scaly_viz_dir
    named = given or config.getini("scaly_viz_dir")
    start = config.invocation_params.dir if given else config.rootpath
    folder = start / Path(named or _FOLDER).expanduser()
    if hasattr(config, "workerinput") or config.option.collectonly:
        return folder
    from scaly_viz_exporters.json_file import delete
    from scaly_viz_exporters.private_files import make_private_folder

    try:
        make_private_folder(folder)
        mark = folder / _MARK
        if not mark.exists():
            if any(folder.iterdir()):
                raise pytest.UsageError(
                    f"--scaly-viz-dir: {folder} is not empty and not made by pytest: name another"
                )
            mark.touch()
            # Recordings are no part of a repository, wherever the folder is.
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        delete(folder / settings.FILE_NAME)
    except OSError as error:
        raise pytest.UsageError(f"--scaly-viz-dir: {folder}: {error.strerror or error}") from error
    return folder


class Recorder:
    """Records what scaly renders while a test runs. Nothing is imported before scaly is."""

    application: Application | None = None
    """Nobody's provider gets these spans: a test may well set up one of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._session: Session | None = None
        self._item: pytest.Item | None = None
        self._latest: pytest.Item | None = None
        self._recordings: list[Recording] = []
        self._used: dict[str, Used] = {}
        self._is_closed = False
        register_post_import_hook(self._watch, "scaly")

    @property
    def path(self) -> Path:
        """The file that recordings are appended to."""
        return self.folder / settings.FILE_NAME

    @contextmanager
    def test(self, item: pytest.Item) -> Generator[None]:
        """Take renders inside the block for those of ``item``."""
        if self._item is item:
            yield
            return
        self._item = self._latest = item
        self._used = {}
        self._recordings = []
        try:
            yield
        finally:
            self.recordings()
            self._item = None
            if self._session is not None:
                self._session.clear()

    def recordings(self) -> list[Recording]:
        """Return the recordings of the test so far, in the order of their ends."""
        if self._session is not None and self._item is not None:
            self._session.flush(_FLUSH_S)
            self._recordings = self._session.written()
        return self._recordings

    def note(self, name: str, used: Used) -> None:
        """Note that the test compared its figures with the snapshot called ``name``.

        Raises:
            AssertionError: it wants another one written under the same name.
        """
        __tracebackhide__ = True
        if self._used.get(name, used) != used:
            raise AssertionError(f"two recordings for one snapshot {name!r}: name it otherwise")
        self._used[name] = used

    def close(self) -> None:
        """Record no more."""
        self._is_closed = True
        if self._session is not None:
            self._session.flush(_FLUSH_S)

    def annotate(self, item: pytest.Item, report: pytest.TestReport) -> None:
        """Add to a failed test's report what was recorded, and to the last report all that counts at the end."""
        if self._latest is not item:
            return
        recordings = self.recordings()
        if report.failed and recordings:
            report.sections.append(("scaly-viz", self._told(recordings)))
        if report.when == "teardown":
            from scaly_viz.pytest_plugin.outcome import facts

            told = facts(name_in_file(item), len(recordings), self._used)
            report.scaly_viz = told  # type: ignore[attr-defined]  # reports take any

    @property
    def label(self) -> None:
        """The label of what is marked without one: what is recorded here is marked elsewhere."""
        return None

    def label_of(self, function: Concrete) -> tuple[str | None] | None:
        """Return the id of the test, and the label that ``function`` was marked with, if it has one."""
        item = self._item
        # Inside of scaly_viz.testing.deterministic() a second observer would use up times and ids.
        if item is None or self._is_closed or is_replaced():
            return None
        label = _label(function)
        named = any(fnmatchcase(function.name, glob) for glob in settings.functions())
        if label is None and not named:
            return None
        return (f"{item.nodeid} {label}" if label else item.nodeid,)

    def _watch(self, _: ModuleType) -> None:
        if self._is_closed:
            return
        from scaly_viz.frontend.session import Session

        self._session = Session(self.folder)
        self._session.record(("json",), self)

    def _told(self, recordings: list[Recording]) -> str:
        lines = []
        for recording in recordings[-_MOST_TOLD:]:
            code = final_value(recording, BY_NAME["code_bytes"])
            size = "" if code is None else f", {amount(code, 'By')} of C"
            what = f"{recording.status}, {len(recording.steps)} steps{size}"
            lines.append(f"{recording.id[:16]}  {recording.function}  {what}")
        lines += [how_to_open(recordings[-1], self.path)]
        return "\n".join(lines)


def how_to_open(recording: Recording, path: Path) -> str:
    """Return the command that shows ``recording``, which is in the file ``path``."""
    return f"scaly-viz show {recording.id[:16]} --recording-path {shlex.quote(str(path))}"


def name_in_file(item: pytest.Item) -> str:
    """Return what a test is called in its file: its id without the file, and without what plugins add."""
    chain = item.listchain()
    file = max((i for i, node in enumerate(chain) if isinstance(node, pytest.File)), default=0)
    return "::".join(node.name for node in chain[file + 1 :])


def _label(function: Concrete) -> str | None:
    """Return the label that the test itself has marked ``function`` with."""
    module = sys.modules["scaly_viz.frontend.session"]
    marks = module.SESSION.marks
    marked = None if marks is None else marks.label_of(function)
    return None if marked is None else marked[0] or ""
