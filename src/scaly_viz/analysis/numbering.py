"""Owns what a text says apart from how its made-up names are numbered.

A compiler that numbers its values gives new numbers to all that follow an insertion. Two lines that
differ in such names only are the same line where one renaming, one to one within a procedure,
explains all of its lines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

_SKELETON_NAME = "·"
# With a sigil only names are looked at; without one types are taken as well, but never renamed.
_SIGIL_NAME = re.compile(r"%\w*\d\w*")
_WORD_NAME = re.compile(r"\b[^\W\d]\w*\d\w*")
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

_DEFINED = re.compile(r"(%?\w+) = ")
_DEFINITION_VOTES = 3

type Pair = tuple[int, int]


def has_sigils(lines: Sequence[str]) -> bool:
    """Tell whether names in this text carry a ``%``, as in MLIR and LLVM."""
    return any(_HAS_SIGILS.match(line[:_LOOKED_AT]) for line in lines[:_LOOKED_AT])


def skeletons(lines: Sequence[str], *, sigils: bool) -> list[str]:
    """Return ``lines`` with one sign in the place of every name that has a number in it."""
    if not lines:
        return []
    name = _SIGIL_NAME if sigils else _WORD_NAME
    if len(max(lines, key=len)) > _LONG_LINE:
        return [
            line if len(line) > _LONG_LINE else name.sub(_SKELETON_NAME, line) for line in lines
        ]
    return name.sub(_SKELETON_NAME, "\n".join(lines)).split("\n")


def is_made_up(name: str) -> bool:
    """Tell whether a compiler made up ``name`` and numbered it."""
    return _MADE_UP.fullmatch(name) is not None


def is_scope_head(line: str) -> bool:
    """Tell whether ``line`` opens a procedure: names mean something else from there on."""
    is_function = line.endswith("{") and "(" in line and line[0] not in " \t#/}"
    return is_function or _SCOPE_HEAD.match(line) is not None


def unrenamed(
    left: Sequence[str], right: Sequence[str], pairs: Iterable[Pair], *, sigils: bool
) -> set[Pair]:
    """Return the pairs of lines that differ although no renaming explains it.

    ``pairs`` ascend and are of one skeleton. Within a procedure each name has at most one new name:
    the one that most lines speak for, and that its definition speaks for most.
    """
    unexplained: set[Pair] = set()
    scope: list[Pair] = []
    for pair in pairs:
        if is_scope_head(left[pair[0]]):
            unexplained |= _unexplained(left, right, scope, sigils)
            scope = []
        scope.append(pair)
    return unexplained | _unexplained(left, right, scope, sigils)


def _unexplained(
    left: Sequence[str], right: Sequence[str], scope: Sequence[Pair], sigils: bool
) -> set[Pair]:
    find = (_SIGIL_NAME if sigils else _WORD_NAME).findall
    differing = [(i, j) for i, j in scope if left[i] != right[j]]
    if not differing:
        return set()
    names = {(i, j): _zipped(left[i], right[j], find) for i, j in differing}
    votes: Counter[tuple[str, str]] = Counter()
    for (i, _), found in names.items():
        votes.update(found)
        if found and f"{found[0][0]} = " in left[i]:
            votes[found[0]] += _DEFINITION_VOTES
    concerned = {name for pair in votes for name in pair}
    same = "\n".join([left[i] for i, j in scope if left[i] == right[j]])
    defined = set(_DEFINED.findall(same))
    for name, count in Counter(find(same)).items():
        if name in concerned:
            votes[name, name] += count + _DEFINITION_VOTES * (name in defined)
    renaming = _one_to_one(votes)
    return {
        pair
        for pair, found in names.items()
        if not found or any(renaming.get(one) != other for one, other in found)
    }


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
