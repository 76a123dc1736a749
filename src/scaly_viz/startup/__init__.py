"""Owns the way of ``scaly-viz run`` into a script's process: a folder that is on its path while Python starts.

Python imports ``sitecustomize`` from there before it runs the script. What is here runs in front of any
script, also of another Python, so it imports nothing that a script could have a module of its own for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

# Between `scaly-viz run` and the process that the script runs in, which removes them at once.
CONFIG = "_SCALY_VIZ_RUN"
STAYS = "_SCALY_VIZ_RUN_STAYS"
PYTHONPATH = "_SCALY_VIZ_RUN_PYTHONPATH"


def environment(environ: Mapping[str, str], config: str, *, stays: bool) -> dict[str, str]:
    """Return ``environ`` with what has a Python record; if it ``stays``, those that this one starts, too."""
    before = environ.get("PYTHONPATH")
    with_ours = {**environ, CONFIG: config}
    if stays:
        with_ours[STAYS] = "1"
    if before is not None:
        with_ours[PYTHONPATH] = before
    with_ours["PYTHONPATH"] = os.pathsep.join(filter(None, (str(Path(__file__).parent), before)))
    return with_ours
