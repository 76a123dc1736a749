"""Owns the viewer in notebooks: which recordings are shown, the frame around them, and ``%%visualize``."""

from __future__ import annotations

import argparse
import ast
import html
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scaly_viz import settings
from scaly_viz.errors import ScalyVizError
from scaly_viz.recording import Recording
from scaly_viz.scaly_viz_dict import from_dict
from scaly_viz.settings import recording_path

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

type Asked = str | Mapping[str, Any]

_HEIGHT = 640
_SECONDS = 12.0  # a cell is waited for
_ELSEWHERE = (
    "scaly_viz.show() displays the viewer in notebooks; here, `scaly-viz serve` (or scaly_viz.serve())"
    " shows what was recorded, and `scaly-viz export ID --to page.html` writes it as a page.\n"
)
# The frame has no origin: what was recorded cannot reach the notebook around it.
_FRAME = """<div style="height: {height}px; min-height: 240px; resize: vertical; overflow: hidden">
<iframe title="{title}" style="width: 100%; height: 100%; border: 0" allow="clipboard-write"
 sandbox="allow-scripts allow-downloads" srcdoc="{page}"></iframe>
</div>"""


def show(asked: Asked | Sequence[Asked] | None, height: int = _HEIGHT) -> None:
    """Display recordings below the current cell; see ``scaly_viz.show``."""
    if not _is_notebook():
        sys.stderr.write(_ELSEWHERE)
        return
    _display([_last()] if asked is None else [_found(each) for each in _each(asked)], height)


def _each(asked: object) -> list[Asked]:
    several = [asked] if isinstance(asked, str | Mapping) else asked
    each = [*several] if isinstance(several, Sequence) else []
    found = [one for one in each if isinstance(one, str | Mapping)]
    if not found or len(found) < len(each):
        raise TypeError(
            f"an id, a dict of recordings(), or some of these are shown, not {asked!r:.60}"
        )
    return found


def _is_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


def _display(recordings: Sequence[Recording], height: int) -> None:
    from IPython.display import display

    from scaly_viz_viewer.responses import well_formed
    from scaly_viz_viewer.standalone.page import write_html

    page = write_html(recordings, source="this notebook", seconds=_SECONDS).decode()
    names = well_formed(", ".join(recording.name for recording in recordings))
    frame = _FRAME.format(
        height=height, title=html.escape(f"scaly-viz: {names}"), page=html.escape(page)
    )
    plain = f"scaly-viz: {names} (trust the notebook to see the viewer)"
    display({"text/html": frame, "text/plain": plain}, raw=True)


def _recorded() -> list[Recording]:
    session = sys.modules.get("scaly_viz.frontend.session")
    return [] if session is None else session.SESSION.recorded()


def _last() -> Recording:
    found = _recorded() or _in_file()
    if not found:
        raise ScalyVizError(
            "nothing is recorded yet: mark a function with scaly_viz.visualize(f) and render it,"
            " or begin a cell with %%visualize"
        )
    return found[-1]


def _in_file() -> list[Recording]:
    from scaly_viz import sources

    return [*sources.load(recording_path(), lambda _: None)]


def _found(asked: Asked) -> Recording:
    id_ = asked if isinstance(asked, str) else str(asked.get("id", ""))
    for source in (_recorded, _in_file):
        found = [each for each in source() if id_ and each.id.startswith(id_)]
        if len(found) > 1 and len({each.id for each in found}) > 1:
            raise ScalyVizError(f"{id_}: {len(found):,} recordings begin with it")
        if found:
            return found[-1]
    if isinstance(asked, str):
        raise ScalyVizError(f"{id_}: neither this process nor {recording_path()} has it")
    return from_dict(asked, "a dict")


def register(shell: InteractiveShell) -> None:
    """Make ``%%visualize`` known to ``shell``."""

    def visualize(line: str, cell: str) -> object:
        """Record every render in the cell, and display the viewer.

        Options: --label TEXT, the name to show instead of the function's; --functions GLOBS, record only
        functions of these names, with commas between; --height PIXELS, of the viewer.
        """
        return _visualize(shell, cell, _options(line))

    shell.register_magic_function(visualize, "cell", "visualize")  # type: ignore[arg-type]  # its types miss self


class _Options(argparse.Namespace):
    label: str | None
    functions: str
    height: int


def _options(line: str) -> _Options:
    parser = argparse.ArgumentParser(prog="%%visualize", add_help=False, exit_on_error=False)
    parser.add_argument("--label")
    parser.add_argument("--functions", default="*")
    parser.add_argument("--height", type=int, default=_HEIGHT)
    try:
        given, unknown = parser.parse_known_args(shlex.split(line), namespace=_Options())
    except (argparse.ArgumentError, ValueError) as error:
        raise ScalyVizError(f"%%visualize: {error}") from error
    if unknown:
        raise ScalyVizError(
            f"%%visualize: {unknown[0]} is none of --label, --functions and --height"
        )
    return given


def _visualize(shell: InteractiveShell, cell: str, options: _Options) -> object:
    from scaly_viz.frontend.session import SESSION

    before = {recording.id for recording in SESSION.recorded()}
    try:
        with SESSION.watching(settings.items(options.functions), options.label):
            return _run(shell, cell)
    finally:
        made = [recording for recording in SESSION.recorded() if recording.id not in before]
        if not made:
            sys.stderr.write("%%visualize: nothing was rendered in this cell\n")
        elif _is_notebook():
            _display(made, options.height)
        else:
            sys.stderr.write(_ELSEWHERE)


def _run(shell: InteractiveShell, cell: str) -> object:
    """Run ``cell`` as IPython does; return the value of an expression at its end."""
    source = shell.transform_cell(cell)
    name = shell.compile.cache(source, shell.execution_count)
    tree = shell.transform_ast(shell.compile.ast_parse(source, name))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), shell.user_ns)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), name, "eval"), shell.user_ns)
