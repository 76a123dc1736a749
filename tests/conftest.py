"""Owns what every test stands on: a recording folder of its own, and no traces of the test left behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from choice import has_to_do_with_scaly

_FD = Path("/proc/self/fd")

# How long an example takes says more about the machine than about the code.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")
# For the suites with other versions: that examples hold for the main one is known by then.
settings.register_profile(
    "few examples", parent=settings.get_profile("any machine"), max_examples=20
)

# A shell starts what it runs in the background with Ctrl-C ignored, and so would be the programs
# that tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the suite with another scaly leave out what that cannot change."""
    parser.addoption("--scaly-only", action="store_true", help="only test files that name scaly")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a test file out where it is not asked for."""
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    if config.getoption("--scaly-only") and is_test and not has_to_do_with_scaly(collection_path):
        return True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, lest one worker be left with them at the end."""
    heavy = ("backend", "browser", "slow")
    files = {item.path for item in items if any(map(item.get_closest_marker, heavy))}
    items.sort(key=lambda item: item.path not in files)


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fail a test that leaks a thread, a file handle or an environment variable."""
    threads = set(threading.enumerate())
    handles = _handles()
    environment = _environment()
    yield
    _forget_recordings()
    for thread in set(threading.enumerate()) - threads:
        thread.join(10)
    assert set(threading.enumerate()) <= threads, "the test left a thread behind"
    assert _handles() <= handles, "the test left a file open"
    assert _environment() == environment, "the test changed the environment"


@pytest.fixture(autouse=True)
def recording_folder(
    nothing_left_behind: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Give the test a folder for recordings, and have our own errors raised."""
    folder = tmp_path / "recordings"
    monkeypatch.setenv("SCALY_VIZ_DIR", str(folder))
    monkeypatch.setenv("SCALY_VIZ_STRICT", "1")
    monkeypatch.setenv("SCALY_CACHE_DIR", str(tmp_path / "jit"))
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    return folder


def _environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}


def _handles() -> set[str]:
    """Return the files under a temporary folder that this process has open."""
    if not _FD.exists():
        return set()
    opened = set()
    for link in _FD.iterdir():
        try:
            target = str(link.readlink())
        except OSError:
            continue
        if "pytest-" in target:
            opened.add(target)
    return opened


def _forget_recordings() -> None:
    """Undo what a test told the process-wide session."""
    module = sys.modules.get("scaly_viz.frontend.session")
    if module is not None:
        module.SESSION.configure(None, None, None)
        module.SESSION.clear()
        if module.SESSION.marks is not None:
            module.SESSION.marks.clear()
