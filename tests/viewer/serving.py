"""Owns running the server as a user does: in a process of its own, ended by Ctrl-C."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_CODE = "import sys; from scaly_viz_viewer import serve; serve(path=sys.argv[1], port=0)"


@contextmanager
def serving(path: Path) -> Generator[str]:
    """Serve ``path``, yield the page's address, and see to a quiet end."""
    command = [sys.executable, "-c", _CODE, str(path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            address = re.search(r"http://\S+", line)
            assert address is not None, line
            yield address[0]
        finally:
            process.send_signal(signal.SIGINT)
            _, complaints = process.communicate(timeout=30)
    assert (process.returncode, complaints) == (0, ""), (process.returncode, complaints)
