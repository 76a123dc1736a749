"""Owns the end of a run: which snapshots are written, which are obsolete, and what is said of all this."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from scaly_viz.analysis.wording import plural
from scaly_viz.cli.characters import visible
from scaly_viz.pytest_plugin.snapshots import (
    FOLDER,
    SnapshotError,
    Tests,
    Used,
    file_for,
    read,
    write,
)


class Facts(msgspec.Struct, frozen=True):
    """What one test has to tell at the end; it may come from another process, with the test's report."""

    test: str
    recordings: int
    used: dict[str, Used]


def facts(test: str, recordings: int, used: Mapping[str, Used]) -> object:
    """Return the facts on a test as what any serializer understands."""
    return msgspec.to_builtins(Facts(test, recordings, dict(used)))


class Outcome:
    """What the tests of a run have told, and what follows from it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._is_updated = bool(config.option.scaly_viz_update)
        self._facts: dict[tuple[Path, str], Facts] = {}
        self._ran: dict[Path, set[str]] = {}
        self._unsure: set[tuple[Path, str]] = set()
        self._said: list[tuple[str, bool]] = []

    def add(self, report: pytest.TestReport) -> None:
        """Take note of one report."""
        file, _, test = report.nodeid.partition("::")
        path = self._config.rootpath / file
        ran = self._ran.setdefault(path, set())
        ran.add(test)
        if not report.passed:
            # It may have ended before it compared all that it compares.
            self._unsure.add((path, test))
        told = getattr(report, "scaly_viz", None)
        if told is not None:
            found = msgspec.convert(told, Facts)
            self._facts[path, test] = found
            ran.add(found.test)

    def finish(self, session: pytest.Session) -> None:
        """Write what is to be written; a file that cannot be makes the run a failed one."""
        if session.exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        for path in self._ran:
            try:
                self._finish_file(path)
            except SnapshotError as error:
                self._said.append((str(error), True))
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
        folders = {path.parent / FOLDER for path in self._ran}
        for folder in sorted(folder for folder in folders if folder.is_dir()):
            self._finish_folder(folder)

    def summarize(self, terminal: pytest.TerminalReporter, folder: Path | None) -> None:
        """Say what was recorded in ``folder``, what was written, and what is obsolete."""
        if folder is not None:
            recordings = sum(each.recordings for each in self._facts.values())
            tests = sum(each.recordings > 0 for each in self._facts.values())
            what = f"{plural(recordings, 'recording')} of {plural(tests, 'test')}"
            self._said.insert(0, (f"{what} in {folder}: scaly-viz serve {folder}", False))
        if self._said:
            terminal.section("scaly-viz", sep="-")
        for line, is_bad in self._said:
            terminal.write_line(visible(line), red=is_bad)

    def _finish_file(self, path: Path) -> None:
        file = file_for(path)
        told = {test: each for (of, test), each in self._facts.items() if of == path}
        if not file.exists() and not any(each.used for each in told.values()):
            return
        before = read(file)
        obsolete = self._obsolete(path, told, before)
        if self._is_updated:
            self._update(file, before, told, obsolete)
        elif obsolete:
            names = ", ".join(
                f"{test}: {name}" for test, names in obsolete.items() for name in names
            )
            advice = "pytest --scaly-viz-update drops what is obsolete"
            self._said.append((f"{self._shown(file)}: no test compares {names}; {advice}", True))

    def _obsolete(
        self, path: Path, told: Mapping[str, Facts], before: Tests
    ) -> dict[str, list[str]]:
        """Return snapshots that no test compares, as far as this run can know."""
        used = {each.test: each.used for each in told.values()}
        unsure = {
            name
            for of, test in self._unsure
            if of == path
            for name in (test, told[test].test if test in told else test)
        }
        found: dict[str, list[str]] = {}
        for test, snapshots in before.items():
            ran = test in self._ran[path]
            if (ran and test in unsure) or (not ran and self._is_partial):
                continue
            names = [name for name in snapshots if name not in used.get(test, {})]
            if names:
                found[test] = names
        return found

    def _update(
        self,
        file: Path,
        before: Tests,
        told: Mapping[str, Facts],
        obsolete: Mapping[str, list[str]],
    ) -> None:
        after = {
            test: {k: v for k, v in snapshots.items() if k not in obsolete.get(test, ())}
            for test, snapshots in before.items()
        }
        new = changed = 0
        for each in told.values():
            for name, used in each.used.items():
                if used.written is None:
                    continue
                snapshots = after.setdefault(each.test, {})
                new += name not in snapshots
                changed += name in snapshots and snapshots[name] != used.written
                snapshots[name] = used.written
        after = {test: snapshots for test, snapshots in after.items() if snapshots}
        if after == before:
            return
        write(file, after)
        removed = sum(map(len, obsolete.values()))
        counts = ((new, "new"), (changed, "changed"), (removed, "removed"))
        what = ", ".join(f"{number:,} {word}" for number, word in counts if number)
        self._said.append((f"{self._shown(file)}: snapshots written: {what}", False))

    def _finish_folder(self, folder: Path) -> None:
        """Drop, or tell of, files of snapshots whose file of tests is gone."""
        for file in sorted(folder.glob("*.json")):
            if (folder.parent / f"{file.stem}.py").exists():
                continue
            if self._is_updated:
                file.unlink(missing_ok=True)
                self._said.append((f"{self._shown(file)}: removed", False))
            else:
                tests = f"{file.stem}.py"
                said = f"{self._shown(file)}: there is no {tests} any more: delete it"
                self._said.append((said, True))

    @property
    def _is_partial(self) -> bool:
        """Whether some of the tests in a file may have been left out of this run."""
        option = self._config.option
        chosen = (getattr(option, name, None) for name in _CHOICES)
        return any(chosen) or any("::" in argument for argument in self._config.args)

    def _shown(self, file: Path) -> Path:
        return file.relative_to(self._config.rootpath, walk_up=True)


# pytest's own options that leave out tests, or end a run early.
_CHOICES = ("keyword", "markexpr", "deselect", "lf", "stepwise", "maxfail")
