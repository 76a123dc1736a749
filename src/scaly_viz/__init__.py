"""Traces what the scaly compiler does to chosen functions, as OpenTelemetry spans.

``visualize(f)`` marks a function; each render of it then leaves one recording: in memory
(``recordings()``), in the local file (``load_recordings()``), and wherever ``SCALY_VIZ_EXPORTERS``
says. Importing this package costs little and watches nothing; the first mark does.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scaly_viz._version import __version__
from scaly_viz.errors import (
    BackendError,
    PayloadError,
    RecordingFileError,
    RecordingFolderError,
    RecordingWarning,
    ScalyVizError,
)

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import TracerProvider

    from scaly_viz.frontend.scaly_types import Markable
    from scaly_viz.settings import recording_dir, recording_path

__all__ = [
    "BackendError",
    "PayloadError",
    "RecordingFileError",
    "RecordingFolderError",
    "RecordingWarning",
    "ScalyVizError",
    "__version__",
    "capture",
    "clear_recordings",
    "configure",
    "flush",
    "load_recordings",
    "recording_dir",
    "recording_path",
    "recordings",
    "serve",
    "show",
    "unvisualize_function",
    "visualize",
    "visualize_function",
]


def __getattr__(name: str) -> object:
    """Import what needs the settings when it is asked for: the command is to start quickly."""
    if name in ("recording_dir", "recording_path"):
        from scaly_viz import settings

        return getattr(settings, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def visualize_function[F: Markable](fun: F, *, label: str | None = None) -> F:
    """Mark ``fun`` so that each future render of it, ahead of time or by the JIT, is recorded.

    A declaration marks all its present and future instances without tracing any; the mark of a
    concrete instance takes precedence over its declaration's. A solver marks its function. Marks
    are weak: they end with the function.

    Args:
        fun: a scaly ``Function``, ``ConcreteFunction`` or ``Solver``.
        label: the name to show instead of the function's.

    Returns:
        ``fun`` itself.

    Raises:
        TypeError: ``fun`` is none of these, or ``label`` is no text.
    """
    from scaly_viz.frontend.session import SESSION

    SESSION.armed().add(fun, label)
    return fun


visualize = visualize_function


def unvisualize_function(fun: Markable) -> None:
    """Remove the mark of ``fun``, if it has one; marks of other instances or declarations stay.

    Raises:
        TypeError: ``fun`` is no function of scaly.
    """
    from scaly_viz.frontend.session import SESSION

    SESSION.armed().remove(fun)


@contextmanager
def capture[F: Markable](fun: F, *, label: str | None = None) -> Generator[F]:
    """Record renders of ``fun`` only inside a ``with`` block, which yields ``fun``.

    Raises:
        TypeError: ``fun`` is no function of scaly.
    """
    visualize_function(fun, label=label)
    try:
        yield fun
    finally:
        unvisualize_function(fun)


def recordings() -> list[dict[str, Any]]:
    """Return this process's recordings as scaly.viz would have them, in the order of their ends.

    Each is a dict with ``id``, ``name``, ``function``, ``started_at`` (seconds since the epoch),
    ``error`` (None, or the exception's ``repr``) and ``steps``. Waits until what has ended is encoded;
    not where a signal handler calls it in the middle of scaly-viz's own work.
    """
    from scaly_viz.frontend.session import SESSION

    return SESSION.recordings()


def flush(timeout_s: float = 30.0) -> bool:
    """Wait until the renders that have ended are written, and exporters have delivered what they can.

    An ordinary exit does so by itself; before ``os._exit``, or an end by a signal, it is yours to call.
    Where a signal handler calls it in the middle of scaly-viz's own work, it does not wait.

    Returns:
        Whether all is written; False where ``timeout_s`` seconds were not enough.
    """
    import sys

    session = sys.modules.get("scaly_viz.frontend.session")
    return session is None or bool(session.SESSION.flush(timeout_s))


def load_recordings(
    path: str | os.PathLike[str] | None = None, *, strict: bool = False
) -> list[dict[str, Any]]:
    """Read recordings, those of other processes too, in the order of their ends.

    Args:
        path: a file, or a folder of files: ours, any other OTLP JSON lines, or scaly.viz's
            ``recordings.json``; plain, ``.gz`` or ``.zst``. Or the address of a tracing backend,
            ``jaeger:http://host:16686`` or ``tempo:http://host:3200``, see ``docs/sources.md``. The
            local file where none is given.
        strict: raise at the first thing that cannot be read, instead of warning and going on.

    Returns:
        Dicts as ``recordings()`` has them. A recording that lacks spans has ``incomplete`` true;
        ``problems`` lists in words what is missing or damaged. Nothing there: an empty list.

    Raises:
        RecordingFileError: with ``strict``, something cannot be read: file, line and cause.
        RecordingFolderError: no ``path`` is given, and the user has no home folder.
        BackendError: the backend does not answer as it should: its address and the cause.

    Warns:
        RecordingWarning: without ``strict``, for each such thing.
    """
    import sys

    from scaly_viz import settings, sources

    session = sys.modules.get("scaly_viz.frontend.session")
    if session is not None:
        session.SESSION.drain()
    return sources.load_dicts(settings.recording_path() if path is None else path, strict=strict)


def clear_recordings(*, disk: bool = False) -> None:
    """Forget the recordings made in this process; with ``disk=True`` delete the local file too.

    Raises:
        RecordingFolderError: with ``disk``, the user has no home folder, and none was given.
    """
    from scaly_viz.frontend.session import SESSION

    SESSION.clear()
    if disk:
        import shutil

        from scaly_viz.settings import INDEX_FOLDER, recording_dir, recording_path
        from scaly_viz_exporters.json_file import delete

        delete(recording_path())
        shutil.rmtree(recording_dir() / INDEX_FOLDER, ignore_errors=True)


def configure(
    *,
    exporters: str | Sequence[str | SpanExporter] | None = None,
    tracer_provider: TracerProvider | None = None,
    directory: str | os.PathLike[str] | None = None,
) -> None:
    """Say where recordings go; what is not given is as the environment says.

    Args:
        exporters: names as in ``SCALY_VIZ_EXPORTERS`` (one, a comma list or a sequence), and
            exporter objects of OpenTelemetry's SDK.
        tracer_provider: send a copy of each span through this provider, an application's own, and
            the recordings to no exporter that is not given here. ``recordings()`` and these have them
            whole, whatever limits and sampler the provider has; what it loses is told once.
        directory: the folder of the local file.

    Raises:
        TypeError: ``tracer_provider`` is no provider of tracers.
    """
    from pathlib import Path

    from scaly_viz import settings
    from scaly_viz.frontend.session import SESSION

    if isinstance(exporters, str):
        exporters = settings.names(exporters)
    SESSION.configure(
        exporters, tracer_provider, None if directory is None else Path(directory).expanduser()
    )


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    open_browser: bool = False,
) -> None:
    """Serve the viewer for the recordings at ``path``, by default the local file, until interrupted.

    Several paths are shown together.

    Raises:
        ScalyVizError: the port is in use, or ``path`` cannot be served.
    """
    from scaly_viz_viewer import serve as serve_viewer

    serve_viewer(host=host, port=port, path=path, open_browser=open_browser)


def show(
    recording: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | None = None,
    *,
    height: int = 640,
) -> None:
    """Display the viewer below the cell of a notebook; a saved notebook still shows it.

    Elsewhere it says on standard error where recordings can be seen.

    Args:
        recording: the id of a recording (or its start), a dict that ``recordings()`` or
            ``load_recordings()`` returned, or several of them; this process's last one where none is given,
            or else that of the local file.
        height: of the viewer in pixels; its lower edge can be dragged.

    Raises:
        ScalyVizError: there is no such recording.
        TypeError: ``recording`` is none of these.
    """
    from scaly_viz_viewer.notebook import show as show_in_notebook

    show_in_notebook(recording, height)


def load_ipython_extension(shell: Any) -> None:  # InteractiveShell, which need not be installed
    """Register ``%%visualize``, which records the renders of a cell: ``%load_ext scaly_viz`` calls this."""
    from scaly_viz_viewer.notebook import register

    register(shell)
