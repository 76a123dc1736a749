"""Owns what ``scaly-viz run`` adds to a script: it waits for scaly to be imported, and has a last word.

Found by its bare name, through the folder that is on the path while Python starts. It imports nothing
that the script would not find imported anyway.
"""

import atexit
import os
import sys

TYPE_CHECKING = False  # typing itself could be a module of the script
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
_SCALY = "scaly"
_SPAWN = "multiprocessing.spawn"

_CHILD = """\
import sys
sys.path.insert(0, {folder!r})
try:
    import _scaly_viz_hook
    _scaly_viz_hook.arm({config!r})
except Exception as error:
    if sys.stderr is not None:
        sys.stderr.write("scaly-viz: warning: a child process is not recorded: %r\\n" % error)
finally:
    sys.path.remove({folder!r})
"""


def arm(config: str) -> None:
    """Record from the import of scaly on.

    ``config`` begins with the id of the process that has a last word; the rest is for ``scaly_viz.running``.
    """
    if config.partition(" ")[0] == str(os.getpid()):
        # The first to be registered is the last to be called: behind all that the script does at its exit.
        atexit.register(_end, config, os.getpid())
    finder = _Finder({_SCALY: _begin, _SPAWN: _follow}, config)
    sys.meta_path.insert(0, finder)
    for name in (_SCALY, _SPAWN):
        if name in sys.modules:
            finder.imported(name)


class _Finder:
    """Finds what the others find, and calls an action behind the first import of some modules."""

    def __init__(self, actions: "dict[str, Callable[[str], None]]", config: str) -> None:
        self._actions = actions
        self._config = config

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        """Return what the others find, with a loader that tells us."""
        if name not in self._actions:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find and find(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader, self, name)  # type: ignore[assignment]  # it is one by its methods
                return spec
        return None

    def imported(self, name: str) -> None:
        """Do what is to be done behind the import of ``name``."""
        action = self._actions.pop(name, None)
        if not self._actions and self in sys.meta_path:
            sys.meta_path.remove(self)
        if action is not None:
            action(self._config)


class _Loader:
    """Loads as ``loader`` does, which is all that the module gets to see, and tells the finder."""

    def __init__(self, loader: "Loader", finder: _Finder, name: str) -> None:
        self._loader = loader
        self._finder = finder
        self._name = name

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: "ModuleSpec") -> "ModuleType | None":
        """Return what ``loader`` makes."""
        return self._loader.create_module(spec)

    def exec_module(self, module: "ModuleType") -> None:
        """Run the module."""
        spec = module.__spec__
        if spec is not None:
            spec.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._finder.imported(self._name)


# By this name Python leaves its own import system out of tracebacks: the script's are then as ever.
_Loader.exec_module.__code__ = _Loader.exec_module.__code__.replace(
    co_filename="<frozen importlib._bootstrap>"
)


def _begin(config: str) -> None:
    try:
        from scaly_viz.running import run

        run.begin(config)
    except Exception as error:
        _warn(f"nothing is recorded: {error!r}")


def _warn(text: str) -> None:
    if sys.stderr is not None:  # it was closed when the script was started
        sys.stderr.write(f"scaly-viz: warning: {text}\n")


def _end(config: str, process: int) -> None:
    if os.getpid() != process:  # a forked child
        return
    interrupted = getattr(sys, "last_type", None) is KeyboardInterrupt
    try:
        from scaly_viz.cli import run_end

        run_end.end(config)
    except Exception as error:
        _warn(f"no summary: {error!r}")
    if interrupted:
        _end_interrupted()


def _end_interrupted() -> None:
    """Have Python end by SIGINT, as it would have: what it keeps of that, any code that is run resets."""
    try:  # noqa: SIM105 - without an import
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        pass


def _follow(config: str) -> None:
    """Have what ``multiprocessing`` starts by spawn or forkserver record, as well."""
    spawn = sys.modules[_SPAWN]
    prepared: Callable[[str], dict[str, object]] = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, object]:
        return {**prepared(name), "scaly_viz": _Child(config)}

    spawn.get_preparation_data = get_preparation_data  # type: ignore[attr-defined]  # of any module


class _Child:
    """Arms the process in which it is unpickled."""

    def __init__(self, config: str) -> None:
        self._config = config

    def __reduce__(self) -> tuple[object, ...]:
        return exec, (_CHILD.format(folder=_FOLDER, config=self._config), {})
