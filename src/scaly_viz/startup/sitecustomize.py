"""Owns the first moment of a script under ``scaly-viz run``: arms the hook, and leaves no trace of the way in."""

import os
import sys


def _arm() -> None:
    # The names that scaly_viz.startup has for them; it is not imported in front of a script.
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    config = os.environ.get("_SCALY_VIZ_RUN")
    try:
        if config is not None:
            __import__("_scaly_viz_hook").arm(config)
    finally:
        sys.path[:] = [path for path in sys.path if path != folder]
        sys.path_importer_cache.pop(folder, None)
        if config is not None and os.environ.get("_SCALY_VIZ_RUN_STAYS") is None:
            _restore_environment()


def _restore_environment() -> None:
    os.environ.pop("_SCALY_VIZ_RUN", None)
    before = os.environ.pop("_SCALY_VIZ_RUN_PYTHONPATH", None)
    if before is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = before


if __name__ == "sitecustomize":  # and not looked at as a part of scaly_viz
    _arm()
    # The one that Python would have found without us; where there is none, site expects just this ImportError.
    sys.modules.pop("sitecustomize", None)
    __import__("sitecustomize")
