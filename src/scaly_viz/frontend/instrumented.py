"""Owns which functions are recorded without a mark of ours while the instrumentor is on."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from opentelemetry.instrumentation.utils import is_instrumentation_enabled

from scaly_viz import settings

if TYPE_CHECKING:
    from scaly_viz.application import Application
    from scaly_viz.frontend.guard import Guard
    from scaly_viz.frontend.scaly_types import Concrete

# The module of scaly in which visualize() of scaly.viz keeps its marks.
_SCALY_VIZ = "scaly.viz.recording"
_MOST_PASSED_OVER = 20


class Instrumented:
    """What ``ScalyInstrumentor`` asked for: functions by name, and a provider for their spans."""

    def __init__(
        self,
        application: Application,
        functions: Sequence[str] | None,
        guard: Guard,
        label: str | None = None,
    ) -> None:
        self.application = application
        self.passed_over: dict[str, None] = {}
        """Names of functions that were rendered and not recorded, the first of them."""
        self._functions = functions
        self._guard = guard
        self.label = label
        """The label of what has none of its own."""

    def label_of(self, function: Concrete) -> tuple[str | None] | None:
        """Return the label that scaly.viz has for ``function``, none where only its name is meant, in a tuple.

        None where it is not to be recorded.
        """
        what = "looking up a mark of scaly.viz"
        marked = self._guard.run(what, _label_in_scaly_viz, function)
        if marked is not None:
            return marked
        patterns = settings.functions() if self._functions is None else self._functions
        named = any(fnmatchcase(function.name, pattern) for pattern in patterns)
        if named and is_instrumentation_enabled():
            return (self.label,)
        if len(self.passed_over) < _MOST_PASSED_OVER:
            self.passed_over[function.name] = None
        return None


def _label_in_scaly_viz(function: Concrete) -> tuple[str | None] | None:
    module: Any = sys.modules.get(_SCALY_VIZ)
    if module is None:
        return None
    with module._RECORDING_LOCK:
        targets: Mapping[Any, str | None] = module._VIZ_TARGETS
        # scaly 0.1.0a1 keeps marks by id.
        for key in (function, id(function)):
            if key in targets:
                return (targets[key],)
        for target, label in targets.items():
            instances = getattr(target, "instances", {})
            if any(instance is function for instance in tuple(instances.values())):
                return (label,)
    return None
