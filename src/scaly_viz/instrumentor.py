"""Owns the door for ``opentelemetry-instrument``: an instrumentor that records scaly's renders without marks."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from types import ModuleType

from opentelemetry.instrumentation.instrumentor import (  # type: ignore[attr-defined]  # it is untyped
    BaseInstrumentor,
)
from opentelemetry.trace import TracerProvider
from wrapt import register_post_import_hook

from scaly_viz import log, settings


class ScalyInstrumentor(BaseInstrumentor):  # type: ignore[misc]  # see the import
    """Records every function that scaly renders, or those that ``SCALY_VIZ_FUNCTIONS`` names.

    What is marked through ``scaly.viz`` is recorded too, whatever its name, under the label it has
    there. ``instrument()`` imports neither scaly nor the SDK: watching begins when the application
    imports scaly. Spans go through the application's own provider where it has one; see
    ``docs/instrumentation.md``.

    ``instrument()`` takes, all of them optional:

    - ``tracer_provider``: the provider for the spans, instead of the global one.
    - ``functions``: globs of function names (one, a comma list, or a sequence), instead of
      ``SCALY_VIZ_FUNCTIONS``.
    """

    _wanted: tuple[TracerProvider | None, Sequence[str] | None] | None = None

    def instrumentation_dependencies(self) -> Collection[str]:
        """Return what is instrumented, as a requirement."""
        return ("scaly >= 0.1.0a1",)

    def _instrument(
        self,
        tracer_provider: TracerProvider | None = None,
        functions: str | Sequence[str] | None = None,
        **_: object,
    ) -> None:
        if isinstance(functions, str):
            functions = settings.items(functions)
        self._wanted = tracer_provider, functions
        register_post_import_hook(self._watch, "scaly")

    def _uninstrument(self, **_: object) -> None:
        self._wanted = None
        module = sys.modules.get("scaly_viz.frontend.session")
        if module is not None:
            module.SESSION.uninstrument()

    def _watch(self, _: ModuleType) -> None:
        if self._wanted is None:
            return
        try:
            from scaly_viz.frontend.session import SESSION

            SESSION.instrument(*self._wanted)
        except Exception as error:
            # We are inside the application's own import of scaly, which must not fail by us.
            log.debug("watching scaly failed", error=error)
            log.warn("scaly cannot be instrumented, nothing is recorded: %s", log.said(error))
