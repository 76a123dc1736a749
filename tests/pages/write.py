"""Owns what the pages show: runs them and writes what was really printed. python -m pages.write PAGE..., in tests/.

Only outputs that are not as the page shows them are written; to have one written first, show a ``?``.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from .gone_through import outcomes
from .page import Page
from .servers import needs_backends, running_backends, viewer_addresses
from .session import Session


def write(page: Page) -> None:
    """Go through ``page``, and write what differs."""
    port, addresses = viewer_addresses()
    lines = page.text.splitlines()
    changes: list[tuple[int, int, list[str]]] = []
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        folder = Path(temporary)
        if needs_backends(page):
            addresses |= stack.enter_context(running_backends(folder / "backends"))
        home = folder / "me"
        home.mkdir()
        session = stack.enter_context(Session(home, folder, addresses))
        for outcome in outcomes(page, session, port):
            if not outcome.ended_well:
                print(outcome)
            if not outcome.is_as_shown:
                printed = outcome.printed.replace(f":{port}", ":8000").strip("\n").splitlines()
                shown = outcome.shown.count("\n") + 1
                changes.append((outcome.line - 1, shown, [line.rstrip() for line in printed]))
    for start, count, printed in reversed(changes):
        lines[start : start + count] = printed
    page.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{page.name}: {len(changes)} outputs written")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write(Page(Path(name).resolve()))
