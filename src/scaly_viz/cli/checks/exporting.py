"""Owns checking where recordings go: each exporter, the backend behind it, and what waits for that."""

from __future__ import annotations

import dataclasses
import os
import threading
from collections.abc import Iterator
from importlib.metadata import entry_points

from scaly_viz import settings
from scaly_viz.cli.checks import Finding, Verdict
from scaly_viz.errors import RecordingFolderError
from scaly_viz.log import said
from scaly_viz_exporters import otlp_settings
from scaly_viz_exporters.courier import transport_to
from scaly_viz_exporters.otlp_settings import OtlpSettings
from scaly_viz_exporters.outbox import Outbox
from scaly_viz_exporters.outcome import Fate, Outcome

_AREA = "exporters"
_GROUP = "opentelemetry_traces_exporter"
_OURS = {"json": "scaly_json", "otlp": "scaly_otlp"}
_SDK_DISABLED = "OTEL_SDK_DISABLED"


def check(*, timeout_s: float) -> Iterator[Finding]:
    """Look at the exporters; a backend has ``timeout_s`` to answer."""
    if os.environ.get(_SDK_DISABLED, "").strip().lower() == "true":
        text = f"{_SDK_DISABLED}=true: no render is recorded"
        yield Finding(_AREA, Verdict.PROBLEM, text, f"unset {_SDK_DISABLED}")
    names = settings.read().exporters
    ours = {long: short for short, long in _OURS.items()}
    names = tuple(ours.get(name, name) for name in names)
    for name in names:
        yield _exporter(name)
    if "otlp" in names or otlp_settings.names_an_endpoint():
        yield _backend(timeout_s)
    yield from _outbox()


def _exporter(name: str) -> Finding:
    known = {entry.name: entry for entry in entry_points(group=_GROUP)}
    if name in _OURS and _OURS[name] not in known:
        text = f"{name}: scaly-viz's own exporter is not registered, and left out"
        return Finding(_AREA, Verdict.PROBLEM, text, "reinstall scaly-viz: pip install scaly-viz")
    if name == "json":
        return Finding(_AREA, Verdict.OK, f"json: appends to {_folder()}/{settings.FILE_NAME}")
    if name == "none":
        return Finding(_AREA, Verdict.NOTE, "none: recordings are kept in memory only")
    if name == "otlp":
        where = otlp_settings.read()
        text = f"otlp: sends to {where.where} by {where.protocol}, from the outbox"
        return Finding(_AREA, Verdict.OK, text)
    if name not in known:
        text = f"{name}: is not installed, and left out"
        advice = f"known are: {', '.join(sorted({*_OURS, 'none', *known}))}; see {settings.EXPORTERS.name}"
        return Finding(_AREA, Verdict.PROBLEM, text, advice)
    try:
        known[name].load()
    except Exception as error:
        text = f"{name}: cannot be imported, and is left out: {said(error)}"
        advice = f"repair it, or take it out of {settings.EXPORTERS.name}"
        return Finding(_AREA, Verdict.PROBLEM, text, advice)
    return Finding(_AREA, Verdict.OK, f"{name}: hands spans to {known[name].value}")


def _backend(timeout_s: float) -> Finding:
    where = dataclasses.replace(otlp_settings.read(), timeout_s=timeout_s)
    answered: list[Outcome] = []
    thread = threading.Thread(target=_ask, args=(where, answered), daemon=True)
    thread.start()
    thread.join(timeout_s + 1)
    outcome = answered[0] if answered else Outcome(Fate.LATER, f"no answer within {timeout_s:g} s")
    if outcome.fate in (Fate.DELIVERED, Fate.PARTLY):
        return Finding("backend", Verdict.OK, f"{where.where} takes OTLP by {where.protocol}")
    text = f"{where.where} ({where.protocol}): {outcome.cause}"
    advice = (
        "start it, or correct OTEL_EXPORTER_OTLP_ENDPOINT and ..._PROTOCOL; what is recorded meanwhile"
        " waits in the outbox"
    )
    return Finding("backend", Verdict.PROBLEM, text, advice)


def _ask(where: OtlpSettings, answered: list[Outcome]) -> None:
    """Send a message without spans."""
    try:
        transport = transport_to(where)
        answered.append(transport.send([]))
        transport.close()
    except Exception as error:
        answered.append(Outcome(Fate.CLOSED, said(error)))


def _outbox() -> Iterator[Finding]:
    folder = _folder()
    if not folder:
        return
    outbox = Outbox(settings.recording_dir() / settings.OUTBOX_NAME, 0)
    waiting, refused = outbox.waiting_bytes(), outbox.refused_bytes()
    if waiting:
        text = f"{waiting / 1e6:,.2f} MB wait in {outbox.folder} for a backend"
        advice = "scaly-viz ship --to URL, or the next program that exports to otlp, sends them"
        yield Finding("outbox", Verdict.NOTE, text, advice)
    if refused:
        text = f"{refused / 1e6:,.2f} MB were refused by a backend"
        advice = (
            f"{outbox.folder}/refused/reasons.txt says why; scaly-viz ship --to URL tries again"
        )
        yield Finding("outbox", Verdict.WARNING, text, advice)
    if not waiting and not refused:
        yield Finding("outbox", Verdict.OK, "nothing waits to be sent")


def _folder() -> str:
    try:
        return str(settings.recording_dir())
    except RecordingFolderError:
        return ""
