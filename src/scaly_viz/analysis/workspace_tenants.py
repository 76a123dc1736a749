"""Owns finding again, in a packed procedure, the buffers that were put into its slots.

``pack_workspace`` renames buffers to slots and leaves all else as it was. So the procedure before and
after it is compared name by name; later steps are aligned with the packed one by their statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from scaly_viz.analysis.workspace_text import Declaration, ProcedureText

# Longer procedures with other numbers of statements are not aligned.
_ALIGNABLE = 5_000


@dataclass(frozen=True, slots=True)
class Life:
    """A buffer and the first and the last of the statements that use it, -1 where none does."""

    name: str
    bytes: int
    first: int
    last: int


def lives(procedure: ProcedureText) -> dict[str, Life]:
    """Return the life of each local buffer with memory of its own; an alias lengthens its owner's."""
    found = {each.name: Life(each.name, each.bytes, -1, -1) for each in local_buffers(procedure)}
    uses = (
        (owner_of(procedure.declarations, name), i)
        for i, statement in enumerate(procedure.statements)
        for name in {name for line in statement.names for name in line}
    )
    return _extended(found, uses)


def local_buffers(procedure: ProcedureText) -> Iterator[Declaration]:
    """Yield the declarations that own memory of the procedure, in ``w[]`` or private."""
    for each in procedure.declarations.values():
        if each.space in ("private", "local") and each.alias_of is None:
            yield each


def owner_of(declarations: Mapping[str, Declaration], name: str) -> str:
    """Return whose memory ``name`` means: its own, or that of the buffer it is an alias of."""
    seen = set()
    while name in declarations and name not in seen:
        seen.add(name)
        name = declarations[name].alias_of or name
    return name


def tenants(before: ProcedureText, packed: ProcedureText) -> dict[str, list[Life]] | None:
    """Return by slot of ``packed`` the buffers of ``before`` in it, by their first use.

    None where the two are not the same but for names.
    """
    slots = {each.name for each in local_buffers(packed)}
    sizes = {each.name: each.bytes for each in local_buffers(before)}
    found: dict[tuple[str, str], Life] = {}
    if len(before.statements) != len(packed.statements):
        return None
    for i, (old, new) in enumerate(zip(before.statements, packed.statements, strict=True)):
        if [len(names) for names in old.names] != [len(names) for names in new.names]:
            return None
        pairs = {
            (owner_of(packed.declarations, b), owner_of(before.declarations, a))
            for olds, news in zip(old.names, new.names, strict=True)
            for a, b in zip(olds, news, strict=True)
        }
        for slot, name in pairs:
            if slot in slots and name in sizes:
                known = found.setdefault((slot, name), Life(name, sizes[name], i, i))
                found[slot, name] = replace(known, last=i)
    by_slot: dict[str, list[Life]] = {}
    for (slot, _), life in found.items():
        by_slot.setdefault(slot, []).append(life)
    return {
        slot: sorted(group, key=lambda life: (life.first, life.name))
        for slot, group in by_slot.items()
    }


def moved(
    by_slot: Mapping[str, list[Life]], packed: ProcedureText, later: ProcedureText
) -> dict[str, list[Life]] | None:
    """Return ``by_slot`` counted in the statements of ``later``, which came from ``packed``."""
    olds = ["\n".join(statement.text) for statement in packed.statements]
    news = ["\n".join(statement.text) for statement in later.statements]
    if len(olds) == len(news):
        return dict(by_slot)
    if max(len(olds), len(news)) > _ALIGNABLE:
        return None
    place = [0] * len(olds)
    blocks = SequenceMatcher(None, olds, news, autojunk=False).get_matching_blocks()
    done_old = done_new = 0
    for block in blocks:
        for i in range(done_old, block.a):
            place[i] = min(done_new + i - done_old, max(block.b - 1, done_new))
        for i in range(block.size):
            place[block.a + i] = block.b + i
        done_old, done_new = block.a + block.size, block.b + block.size
    last = len(news) - 1
    return {
        slot: [
            replace(life, first=min(place[life.first], last), last=min(place[life.last], last))
            for life in group
        ]
        for slot, group in by_slot.items()
    }


def _extended(found: dict[str, Life], uses: Iterator[tuple[str, int]]) -> dict[str, Life]:
    for name, i in uses:
        life = found.get(name)
        if life is not None:
            first = i if life.first < 0 else min(life.first, i)
            found[name] = replace(life, first=first, last=max(life.last, i))
    return found
