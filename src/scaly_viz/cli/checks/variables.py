"""Owns checking environment variables: values that make no sense, and names that nobody reads."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from scaly_viz import settings
from scaly_viz.cli.checks import Finding, Verdict
from scaly_viz_exporters import otlp_settings

_AREA = "environment"
_PREFIX = "SCALY_VIZ_"


def check() -> Iterator[Finding]:
    """Look at the variables that scaly-viz reads."""
    known = [variable.name for variable in settings.VARIABLES]
    found = sorted(name for name in os.environ if name.startswith(_PREFIX))
    for name in found:
        if name not in known:
            close = get_close_matches(name, known, 1)
            advice = f"is {close[0]} meant?" if close else f"known are: {', '.join(known)}"
            yield Finding(_AREA, Verdict.WARNING, f"{name} is set, and read by nobody", advice)
    with collected() as said:
        settings.read()
        settings.read_backend()
        otlp_settings.read()
    for text in said:
        yield Finding(_AREA, Verdict.PROBLEM, text, "correct the variable, or unset it")
    good = [name for name in found if name in known and not any(name in text for text in said)]
    if good:
        yield Finding(_AREA, Verdict.OK, f"set, and understood: {', '.join(good)}")
    elif not found and not said:
        yield Finding(_AREA, Verdict.OK, "no variable is set, so every default holds")


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: dict[str, None] = {}

    def emit(self, record: logging.LogRecord) -> None:
        self.texts[record.getMessage()] = None


@contextmanager
def collected() -> Iterator[list[str]]:
    """Yield what is warned of in the block, once it has ended; nobody else hears of it."""
    log = logging.getLogger("scaly_viz")
    collector, texts = _Collector(), list[str]()
    propagates = log.propagate
    log.addHandler(collector)
    log.propagate = False
    try:
        yield texts
    finally:
        log.propagate = propagates
        log.removeHandler(collector)
        texts += collector.texts
