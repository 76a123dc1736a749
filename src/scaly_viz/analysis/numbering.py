"""Owns what a text says apart from how its made-up names are numbered.

A compiler that numbers its values gives new numbers to all that follow an insertion. Two lines that
differ in such names only are the same line where one renaming, one to one within a procedure,
explains all of its lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain

_SKELETON_NAME = "·"
# With a sigil only names are looked at; without one types are taken as well, but never renamed.
_SIGIL = r"%[^\W\d]*\d\w*"
_WORD = r"\b[^\W\d]+\d\w*"
_SIGIL_NAME = re.compile(_SIGIL)
_WORD_NAME = re.compile(_WORD)
# The same with less to look up, for texts that are ASCII; split, names and what is between take turns.
_ASCII_SPLIT = {
    True: re.compile(f"({_SIGIL})", re.ASCII),
    False: re.compile(f"({_WORD})", re.ASCII),
}
_ASCII_NAME = {True: re.compile(_SIGIL, re.ASCII), False: re.compile(_WORD, re.ASCII)}
_HAS_SIGILS = re.compile(r"[ \t]*%\w+(?:, ?%\w+)* = ")
_LOOKED_AT = 4_096
# Longer lines are compared as they are: looking at each of a million names is not worth its time.
_LONG_LINE = 50_000
# Names that compilers make up: %12 of SSA forms; scaly's temporaries, variables, workspace slots,
# constants and vector registers, and the loops and copies that it names after them.
_MADE_UP = re.compile(
    r"%?(?:\d+|(?:(?:[a-z]\d*|it|ib|lane)_)*(?:[tvsk]\d+|[lbr]_\d+s?)(?:_(?:chunk|lane|\d+))*)"
)
_SCOPE_HEAD = re.compile(r"[ \t]*(?:prog\.proc|prog\.kernel|expr\.func|proc)\s")

_DEFINITION = r"((?:%|(?<![\w%]))\w+) = "
_DEFINED = re.compile(_DEFINITION)
_DEFINED_ASCII = re.compile(_DEFINITION, re.ASCII)
_DEFINES = f"{_SKELETON_NAME} = "
_DEFINITION_VOTES = 3

type Block = tuple[int, int, int]
"""``n`` lines from ``i`` on the left belong to those from ``j`` on the right."""


def has_sigils(lines: Sequence[str]) -> bool:
    """Tell whether names in this text carry a ``%``, as in MLIR and LLVM."""
    return any(_HAS_SIGILS.match(line[:_LOOKED_AT]) for line in lines[:_LOOKED_AT])


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Lines with one sign in the place of every name that has a number in it, and these names apart.

    ``names`` are those of all lines in a row, ``starts`` says where those of each line begin. Where
    ``is_plain``, no line has the sign itself, and every name was looked for.
    """

    keys: list[str]
    names: list[str]
    starts: Sequence[int]
    is_plain: bool

    @classmethod
    def of(cls, lines: Sequence[str], *, sigils: bool) -> Skeleton:
        """Return the skeleton of ``lines``."""
        text = "\n".join(lines)
        if lines and text.isascii() and len(max(lines, key=len)) <= _LONG_LINE:
            parts = _ASCII_SPLIT[sigils].split(text)
            keys = _SKELETON_NAME.join(parts[::2]).split("\n")
            counts = [key.count(_SKELETON_NAME) for key in keys]
            return cls(keys, parts[1::2], [*accumulate(counts, initial=0)], is_plain=True)
        name = _SIGIL_NAME if sigils else _WORD_NAME
        found = [[] if len(line) > _LONG_LINE else name.findall(line) for line in lines]
        keys = [
            name.sub(_SKELETON_NAME, line) if names else line
            for line, names in zip(lines, found, strict=True)
        ]
        # With the sign in it a line is not known apart from its skeleton.
        known = [
            [] if _SKELETON_NAME in line else names
            for line, names in zip(lines, found, strict=True)
        ]
        starts = [*accumulate(map(len, known), initial=0)]
        return cls(keys, [*chain.from_iterable(known)], starts, is_plain=False)


@lru_cache(maxsize=50_000)
def is_made_up(name: str) -> bool:
    """Tell whether a compiler made up ``name`` and numbered it."""
    return _MADE_UP.fullmatch(name) is not None


def is_scope_head(line: str) -> bool:
    """Tell whether ``line`` opens a procedure: names mean something else from there on."""
    is_function = line.endswith("{") and "(" in line and line[0] not in " \t#/}"
    return is_function or _SCOPE_HEAD.match(line) is not None


def scope_heads(lines: Sequence[str]) -> list[int]:
    """Return the lines that open a procedure, counted from 0."""
    return [
        at
        for at, line in enumerate(lines)
        if (line[-1:] == "{" or "proc" in line or "kernel" in line or "func" in line)
        and is_scope_head(line)
    ]


@dataclass(frozen=True, slots=True)
class Named:
    """A text with the names of its lines from line ``first`` on, counted from 0, as far as they were read."""

    lines: Sequence[str]
    skeleton: Skeleton
    first: int

    def names_of(self, line: int, count: int = 1) -> list[str]:
        """Return the names of ``count`` lines that were read, from ``line`` on."""
        starts = self.skeleton.starts
        at = line - self.first
        return self.skeleton.names[starts[at] : starts[at + count]]


def unrenamed(
    left: Named, right: Named, heads: Sequence[int], blocks: Iterable[Block], *, sigils: bool
) -> set[int]:
    """Return the lines of ``left`` that differ from their partners although no renaming explains it.

    ``blocks`` of lines of one skeleton ascend; lines that differ lie where names were read. Within a
    procedure, from one of the ``heads`` to the next, each name has at most one new name: the one that
    most lines speak for, and that its definition speaks for most.
    """
    unexplained: set[int] = set()
    scope: list[Block] = []
    for i, j, n in blocks:
        done = 0
        for head in heads[bisect_left(heads, i) : bisect_left(heads, i + n)]:
            scope.append((i + done, j + done, head - i - done))
            unexplained |= _unexplained(left, right, scope, sigils)
            scope = []
            done = head - i
        scope.append((i + done, j + done, n - done))
    return unexplained | _unexplained(left, right, scope, sigils)


def _unexplained(left: Named, right: Named, scope: Sequence[Block], sigils: bool) -> set[int]:
    runs, same = _differing(left.lines, right.lines, scope)
    if not runs:
        return set()
    unexplained: set[int] = set()
    if not (left.skeleton.is_plain and right.skeleton.is_plain):
        runs, unexplained = _readable(left, right, runs)
    ours = [*chain.from_iterable(left.names_of(i, n) for i, _, n in runs)]
    theirs = [*chain.from_iterable(right.names_of(j, n) for _, j, n in runs)]
    text = "\n".join(same)
    counts = Counter(_find(text, sigils))
    if _is_one_renaming(ours, theirs, counts):
        return unexplained
    votes = Counter(zip(ours, theirs, strict=True))
    differ = set(votes)
    votes.update([*_definitions(left, right, runs)] * _DEFINITION_VOTES)
    concerned = {*ours, *theirs}
    defined = {*(_DEFINED_ASCII if text.isascii() else _DEFINED).findall(text)}
    for name, count in counts.items():
        if name in concerned:
            votes[name, name] += count + _DEFINITION_VOTES * (name in defined)
    renaming = _one_to_one(votes)
    wrong = {(one, other) for one, other in differ if renaming.get(one) != other}
    if not wrong:
        return unexplained
    return unexplained | {
        i + k
        for i, j, n in runs
        for k in range(n)
        if not wrong.isdisjoint(zip(left.names_of(i + k), right.names_of(j + k), strict=True))
    }


def _is_one_renaming(ours: Sequence[str], theirs: Sequence[str], same: Iterable[str]) -> bool:
    """Whether each name has one new name, which no other has, and those of ``same`` lines keep theirs.

    This is mostly so, and sooner known than which names most lines speak for.
    """
    renaming = dict(zip(ours, theirs, strict=True))
    if [*map(renaming.__getitem__, ours)] != theirs:
        return False
    back = {new: name for name, new in renaming.items()}
    return (
        len(back) == len(renaming)
        and all(renaming.get(name, name) == name == back.get(name, name) for name in same)
        and all(
            name == new or (is_made_up(name) and is_made_up(new)) for name, new in renaming.items()
        )
    )


def _differing(
    left: Sequence[str], right: Sequence[str], scope: Sequence[Block]
) -> tuple[list[Block], list[str]]:
    """The runs of lines in ``scope`` that differ, and the lines that do not."""
    runs: list[Block] = []
    same: list[str] = []
    for i, j, n in scope:
        start = -1
        for k, (one, other) in enumerate(zip(left[i : i + n], right[j : j + n], strict=True)):
            if one == other:
                same.append(one)
                if start >= 0:
                    runs.append((i + start, j + start, k - start))
                    start = -1
            elif start < 0:
                start = k
        if start >= 0:
            runs.append((i + start, j + start, n - start))
    return runs, same


def _readable(left: Named, right: Named, runs: Sequence[Block]) -> tuple[list[Block], set[int]]:
    """The lines of ``runs`` one by one that have names in pairs, and those that have not."""
    pairs = [(i + k, j + k) for i, j, n in runs for k in range(n)]
    counts = [(len(left.names_of(i)), len(right.names_of(j))) for i, j in pairs]
    known = [one == other > 0 for one, other in counts]
    single = [(i, j, 1) for (i, j), is_known in zip(pairs, known, strict=True) if is_known]
    return single, {i for (i, _), is_known in zip(pairs, known, strict=True) if not is_known}


def _definitions(left: Named, right: Named, runs: Sequence[Block]) -> Iterator[tuple[str, str]]:
    """The first name of each line that gives it a value, with that of its partner."""
    ours, theirs = left.skeleton, right.skeleton
    for i, j, n in runs:
        for at, to in zip(
            range(i - left.first, i - left.first + n),
            range(j - right.first, j - right.first + n),
            strict=True,
        ):
            if _DEFINES in ours.keys[at]:
                name = ours.names[ours.starts[at]]
                if f"{name} = " in left.lines[at + left.first]:
                    yield name, theirs.names[theirs.starts[to]]


def _find(text: str, sigils: bool) -> list[str]:
    """The names in ``text``."""
    if text.isascii():
        return _ASCII_NAME[sigils].findall(text)
    return (_SIGIL_NAME if sigils else _WORD_NAME).findall(text)


def _zipped(line: str, other: str, find: Callable[[str], list[str]]) -> list[tuple[str, str]]:
    """The names of two lines of one skeleton by twos; none where a line has the sign for a name itself."""
    if _SKELETON_NAME in line or _SKELETON_NAME in other:
        return []
    return list(zip(find(line), find(other), strict=True))


def is_renaming(left: Sequence[str], right: Sequence[str], *, sigils: bool) -> bool:
    """Tell whether these lines, of the same skeletons, differ by a renaming of made-up names."""
    find = (_SIGIL_NAME if sigils else _WORD_NAME).findall
    renaming: dict[str, str] = {}
    for line, other in zip(left, right, strict=True):
        if line.strip() == other.strip():
            continue
        names = _zipped(line, other, find)
        if not names:
            return False
        for one, new in names:
            allowed = one == new or (is_made_up(one) and is_made_up(new))
            if not allowed or renaming.setdefault(one, new) != new:
                return False
    return len(set(renaming.values())) == len(renaming)


def _one_to_one(votes: Counter[tuple[str, str]]) -> dict[str, str]:
    renaming: dict[str, str] = {}
    taken: set[str] = set()
    for (one, other), _ in votes.most_common():
        allowed = one == other or (is_made_up(one) and is_made_up(other))
        if allowed and one not in renaming and other not in taken:
            renaming[one] = other
            taken.add(other)
    return renaming
