"""Owns what tells of people and machines in a recording, and how texts are cleared of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath, PureWindowsPath

from scaly_viz import attributes as a
from scaly_viz.span_record import AttributeValue, SpanRecord

PATHS = "paths"
HOSTS = "hosts"
USERS = "users"
PROCESSES = "processes"
STACKTRACES = "stacktraces"
LABELS = "labels"
OTHERS = "others"

# What stands where something was taken out: an identifier, so that programs stay programs.
_MARKS = {
    PATHS: "redacted_path",
    HOSTS: "redacted_host",
    USERS: "redacted_user",
    PROCESSES: "redacted_argument",
    LABELS: "redacted_label",
}

_PEOPLE = (_MARKS[USERS], _MARKS[HOSTS])

# Shorter ones are found everywhere by chance, and those shorter than this within longer words.
_SHORTEST = 3
_LOOSE = 5
# These say nothing of anybody, and their like stand in every text.
_COMMON = frozenset(
    """
    admin bin build code desktop dev dist-packages documents downloads etc examples home lib
    lib64 local localhost main nobody opt private program programs project projects python
    python3 root run scaly scaly-viz scaly_viz site-packages src srv test tests tmp temp user
    users usr var venv .venv volumes windows work workspace worker
    """.split()  # noqa: SIM905 - a list of them would take a screen
)
# Without these no text is a program any more: C's keywords, and what scaly's languages and C call functions.
_LANGUAGE = frozenset(
    """
    auto bool break case char const constexpr continue default do double else enum extern false float
    for goto if inline int long register restrict return short signed sizeof static struct switch
    true typedef union unsigned void volatile while
    abs acos add asin atan call ceil cos cosh dot div exp expr floor fma fmax fmin func function load
    log loop max maximum min minimum mod module mul neg norm pow prog range reduce round select sign
    sin sinh sqrt store sub sum tan tanh trunc
    """.split()  # noqa: SIM905
)
_VERSIONED = re.compile(r"(python|pip|py|cpython-|pypy)[\d.]+", re.IGNORECASE)
_FRAME = re.compile(r'File "([^"\n]+)"')
_HOMES = ("home", "users")
_INSTALLED = re.compile(r".*[\\/](?:site|dist)-packages(?=[\\/]scaly(?:_viz\w*)?[\\/])")

_POSIX = r"(?<![\w./])(?:file://)?(?:~[\w.-]*)?(?:/[\w.@%+=~-]+){2,}/?"
_TILDE = r"(?<!\w)~[\w.-]*/[\w.@%+=~/-]+"
_WINDOWS = r"(?<!\w)[A-Za-z]:[\\/]+(?:[^\s\\/:*?\"'<>|]+[\\/]+)*[^\s\\/:*?\"'<>|]*"
_NETWORK = r"\\\\[\w.-]+(?:\\+[\w.$@%+=~-]+)+"
_ANY_PATH = re.compile(f"{_POSIX}|{_TILDE}|{_WINDOWS}|{_NETWORK}")
# In a program's strings backslashes are escapes.
_PLAIN_PATH = re.compile(f"{_POSIX}|{_TILDE}")
# Comments and strings, of C and of the compiler's own languages.
_REMARK = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


type Marks = Mapping[str, str]
"""Strings, each with what stands in its place."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """What is to be taken out: ``words`` everywhere, ``parts`` only where prose or a string is.

    Parts are words that a program may well have, too: of paths and command lines, labels of one word,
    and what C's keywords are. With ``any_path`` goes there whatever looks like a path, too.
    """

    words: Marks
    parts: Marks
    any_path: bool

    def of_message(self, text: str) -> str:
        """Return a text for people, such as an exception's message, without them and without any path."""
        return self._of_prose(text, _whole, _ANY_PATH)

    def of_program(self, text: str) -> str:
        """Return a program's text without them: its own names stay, unless they are a user's, say."""
        text = _replaced(text, self.words, _whole)
        return _REMARK.sub(lambda match: self._of_remark(match[0]), text)

    def _of_remark(self, text: str) -> str:
        # A string may be a name, too: "check_bounds" has nothing to do with a folder called check.
        return self._of_prose(text, lambda part: rf"(?<!\w){re.escape(part)}(?!\w)", _PLAIN_PATH)

    def _of_prose(self, text: str, of_part: Callable[[str], str], path: re.Pattern[str]) -> str:
        def pattern(word: str) -> str:
            if word not in self.words:
                return of_part(word)
            is_loose = self.words[word] in _PEOPLE and len(word) >= _LOOSE
            return re.escape(word) if is_loose else _whole(word)

        text = _replaced(text, {**self.parts, **self.words}, pattern)
        return path.sub(_MARKS[PATHS], text) if self.any_path else text


def secrets_of(spans: Iterable[SpanRecord], keep: frozenset[str]) -> Secrets:
    """Return what the attributes of a recording's ``spans`` tell, but for the kinds to ``keep``."""
    spans = [*spans]
    collected = _Collected(_compiler_folders(spans))
    for span in spans:
        collected.add(span)
    words = {
        form: _MARKS[kind]
        for kind in (PATHS, HOSTS, LABELS, USERS)
        for word in (() if kind in keep else collected.words(kind))
        if _says_something(word) and (kind == USERS or not collected.is_name(word))
        if not _may_be_of_the_program(kind, word)
        for form in _forms(word)
    }
    parts = {
        form: _MARKS[kind]
        for kind, found in (
            (PROCESSES, collected.words(PROCESSES)),
            (PATHS, collected.parts()),
            *((kind, collected.words(kind)) for kind in (LABELS, HOSTS, USERS)),
        )
        for part in (() if kind in keep else found)
        if kind in (PROCESSES, PATHS) or _may_be_of_the_program(kind, part)
        if _says_something(part) and (kind == USERS or not collected.is_name(part))
        for form in _forms(part)
    }
    return Secrets(words, parts, PATHS not in keep)


def _replaced(text: str, marks: Marks, pattern_of: Callable[[str], str]) -> str:
    """Replace the words in ``marks``, found by a pattern of each, in any case of letters, the longest first."""
    lowered = text.lower()
    # Most words are nowhere in a program: to look for all at once would take far longer.
    words = sorted((word for word in marks if word.lower() in lowered), key=len, reverse=True)
    patterns = [f"({pattern_of(word)})" for word in words]
    if not patterns:
        return text
    pattern = re.compile("|".join(patterns), re.IGNORECASE)
    return pattern.sub(lambda match: marks[words[(match.lastindex or 1) - 1]], text)


def _whole(word: str) -> str:
    """Return the pattern of ``word`` as a whole; an underscore ends one, too."""
    before = r"(?<![^\W_])" if word[0].isalnum() else ""
    after = r"(?![^\W_])" if word[-1].isalnum() else ""
    return f"{before}{re.escape(word)}{after}"


def _pattern(word: str) -> re.Pattern[str]:
    return re.compile(_whole(word), re.IGNORECASE)


def _forms(word: str) -> set[str]:
    """Return ``word`` as texts have it: as it is, as Python or JSON quote it, with slashes of either kind."""
    forms = {
        word,
        repr(word)[1:-1],
        json.dumps(word)[1:-1],
        json.dumps(word, ensure_ascii=False)[1:-1],
    }
    return {*forms, word.replace("\\", "/")}


class _Collected:
    """What the attributes of some spans tell."""

    def __init__(self, compiler: Iterable[str]) -> None:
        self._found: dict[str, set[str]] = {kind: set() for kind in _MARKS}
        self._paths: set[str] = set()
        self._folders: set[str] = set()
        self._names: set[str] = set()
        self._compiler = tuple(compiler)

    def is_name(self, word: str) -> bool:
        """Tell whether ``word`` is in the name of a function that was rendered, or that it calls."""
        return any(_pattern(word).search(name) for name in self._names)

    def words(self, kind: str) -> Iterable[str]:
        """Return the strings of ``kind``."""
        if kind == PATHS:
            ways = {way for path in self._paths for way in _ways(path)}
            return [way for way in ways if re.search(r"[/\\]", way)]
        return self._found[kind]

    def parts(self) -> Iterator[str]:
        """Yield the names of folders and files, those that say something."""
        for path in self._folders:
            for name in _pure(path).parts:
                yield from (name, name.partition(".")[0])

    def add(self, span: SpanRecord) -> None:
        """Look through ``span``."""
        attributes = span.attributes
        label = attributes.get(a.LABEL)
        if isinstance(label, str):
            self._found[LABELS] |= {label, exact(attributes, a.LABEL)}
        step = str(attributes.get(a.STEP_NAME, ""))
        called = step.partition(":")[2] if attributes.get(a.STEP_DIALECT) == "expr" else ""
        self._names |= {str(attributes.get(a.FUNCTION_NAME, "")), called}
        self._add_path(str(attributes.get(a.FILE_PATH, "")))
        for traced in (attributes.get(a.STACKTRACE), *_stacktraces(span)):
            self._add_path(*_FRAME.findall(str(traced or "")))
        self._add_resource(span.resource)

    def _add_resource(self, resource: Mapping[str, AttributeValue]) -> None:
        for key, value in resource.items():
            texts = [str(each) for each in (value if isinstance(value, list) else [value])]
            if key == "process.owner":
                self._found[USERS] |= {*texts}
            elif key.startswith("host.") and key not in ("host.arch", "host.type"):
                self._found[HOSTS] |= {*texts, *(text.partition(".")[0] for text in texts)}
            elif key in ("process.executable.path", "process.command"):
                self._add_path(*texts)
            elif key == "process.command_line":
                self._add_arguments(word for text in texts for word in text.split())
            elif key == "process.command_args":
                self._add_arguments(texts)

    def _add_arguments(self, words: Iterable[str]) -> None:
        for word in words:
            for each in (word, word.partition("=")[2]):
                # A program behind -c is one word, too.
                if re.fullmatch(r"\S*[/\\]\S*|\S+\.\w+", each):
                    self._add_path(each)
                else:
                    self._found[PROCESSES].add(each)

    def _add_path(self, *paths: str) -> None:
        """Note paths; of the compiler's own files the folder that it is installed in."""
        for path in filter(None, paths):
            self._paths.add(path)
            folder = next((each for each in self._compiler if path.startswith(each)), path)
            self._folders.add(folder)
            for home, name in pairwise(_pure(folder).parts):
                if home.lower() in _HOMES:
                    self._found[USERS].add(name)


def _compiler_folders(spans: Iterable[SpanRecord]) -> Iterator[str]:
    """Yield the folders of the package that the passes are in, which are no secret from there on."""
    for span in spans:
        path = str(span.attributes.get(a.FILE_PATH, ""))
        module = str(span.attributes.get(a.CODE_FUNCTION, "")).partition(".")[0]
        if a.STEP_NAME in span.attributes and module in _pure(path).parts:
            parts = _pure(path).parts
            inner = len(parts) - 1 - parts[::-1].index(module)
            yield str(_pure(path).parents[len(parts) - 1 - inner])
        for traced in _stacktraces(span):
            for file in _FRAME.findall(str(traced or "")):
                found = _INSTALLED.match(file)
                if found:
                    yield found[0]


def exact(attributes: Mapping[str, AttributeValue], key: str) -> str:
    """Return the text at ``key`` as it was before UTF-8."""
    try:
        return str(json.loads(str(attributes[key + a.JSON_SUFFIX])))
    except (KeyError, ValueError, RecursionError):
        return str(attributes.get(key, ""))


def _stacktraces(span: SpanRecord) -> Iterator[AttributeValue]:
    for event in span.events:
        yield event.attributes.get("exception.stacktrace")


def _pure(path: str) -> PurePosixPath | PureWindowsPath:
    is_windows = re.match(r"[A-Za-z]:[\\/]|\\\\", path) or ("\\" in path and "/" not in path)
    return PureWindowsPath(path) if is_windows else PurePosixPath(path)


def _ways(path: str) -> Iterator[str]:
    """Yield ``path`` and the folders above it that have a folder above them."""
    yield path
    for parent in _pure(path).parents:
        if len(parent.parts) > 2:
            yield str(parent)


def _may_be_of_the_program(kind: str, word: str) -> bool:
    """Tell whether a program may well have ``word`` without meaning anybody."""
    return word.lower() in _LANGUAGE or (kind == LABELS and word.isidentifier())


def _says_something(word: str) -> bool:
    """Tell whether ``word`` is found by more than chance, and not in every text."""
    return (
        len(word) >= _SHORTEST
        and word.lower() not in _COMMON
        and not _VERSIONED.fullmatch(word)
        and not word.isdigit()
        and not re.fullmatch(r"[A-Za-z]:[\\/]*|[\\/]+", word)
    )
