"""Owns the map of a program's memory: what lies where in the caller's ``w[]``, from when until when.

Time is counted in the statements directly in a procedure, buffer declarations left out: a loop is one,
and what it uses lives through all of it. So does ``pack_workspace``. A buffer lives from the first to
the last statement that uses it or an alias of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

import msgspec

from scaly_viz import attributes as a
from scaly_viz.analysis.workspace_history import History
from scaly_viz.analysis.workspace_tenants import Life, lives, local_buffers, owner_of
from scaly_viz.analysis.workspace_text import Declaration, ProcedureText, read_program
from scaly_viz.analysis.workspace_windows import Windows
from scaly_viz.recording import Recording, Step

_ASSEMBLY = "assembly"


class Tenant(msgspec.Struct, frozen=True):
    """A buffer of the program before packing, in the slot that it was put into."""

    name: str
    bytes: int
    first: int
    last: int


class WorkspaceBuffer(msgspec.Struct, frozen=True):
    """A local buffer. ``place`` is workspace, private (the C stack), or unpacked: not yet decided.

    ``offset`` counts bytes from the begin of the procedure's window, None outside ``w[]``. ``first`` and
    ``last`` are statements, -1 where none uses it. ``shares`` names the other buffers, aliases and
    calls that occupy the same bytes: at other times, or as another name. ``tenants`` are the buffers
    that packing put into it, empty where that is not known. ``alias_of`` names whose memory an alias
    points into; its own ``bytes`` begin ``alias_offset`` bytes in there.
    """

    name: str
    scope: str
    place: str
    offset: int | None
    bytes: int
    type: str
    first: int
    last: int
    line: int
    shares: list[str]
    tenants: list[Tenant]
    alias_of: str | None
    alias_offset: int


class WorkspaceCall(msgspec.Struct, frozen=True):
    """A call whose callee needs ``bytes`` of ``w[]``, which it gets from ``offset`` of the window on."""

    callee: str
    statement: int
    line: int
    offset: int
    bytes: int


class WorkspaceProcedure(msgspec.Struct, frozen=True):
    """A procedure's window of ``w[]`` and its private memory, in bytes.

    ``window_bytes`` is what it needs with its callees, ``own_bytes`` what its own buffers take of that;
    None before packing. ``bases`` says where its window begins in the entry's ``w[]``, once for each
    chain of calls that differs, empty where nothing reaches it. ``peak_bytes`` is the most that is in
    use at one statement, ``peak_statement``; ``waste_bytes`` is what the window has beyond that. Before
    packing the peak is that of all local buffers: no packing needs less. ``live`` says how many bytes
    are in use at each statement, ``lines`` where it is.
    """

    name: str
    line: int
    statements: int
    lines: list[int]
    live: list[int]
    window_bytes: int | None
    own_bytes: int | None
    bases: list[int]
    private_bytes: int
    peak_bytes: int
    peak_statement: int
    waste_bytes: int | None
    buffers: list[WorkspaceBuffer]
    calls: list[WorkspaceCall]


class Workspace(msgspec.Struct, frozen=True):
    """The memory of a program. ``entries`` are the procedures that are called from outside.

    ``workspace_bytes``, None before packing, and ``private_bytes`` agree with the step's figures of
    the same names; where they do not, ``problems`` says so. ``packed_in`` is the step that packed.
    """

    step: int
    is_packed: bool
    packed_in: int | None
    workspace_bytes: int | None
    private_bytes: int
    entries: list[str]
    procedures: list[WorkspaceProcedure]
    problems: list[str]


def workspace(recording: Recording, step: Step) -> Workspace:
    """Return the map of the memory of the program of ``step``.

    Raises:
        PayloadError: the step has no assembly, or it cannot be rebuilt.
    """
    program = read_program(recording.text(step, _ASSEMBLY))
    history = History(recording, step)
    windows = Windows(program)
    bases = windows.bases()
    procedures = [
        _procedure(each, windows, bases.get(each.name, []), history.tenants(each))
        for each in program.procedures
    ]
    total = windows.total()
    private = sum(each.private_bytes for each in procedures)
    return Workspace(
        step=step.index,
        is_packed=total is not None,
        packed_in=history.packed.index if history.packed else None,
        workspace_bytes=total,
        private_bytes=private,
        entries=windows.entries(),
        procedures=procedures,
        problems=[
            *_difference("workspace", total, step.figure(a.WORKSPACE_BYTES)),
            *_difference("private", private, step.figure(a.PRIVATE_BYTES)),
        ],
    )


def _difference(what: str, found: int | None, recorded: int | None) -> Iterable[str]:
    if recorded is not None and recorded != found:
        yield (
            f"the assembly gives {found if found is not None else 'no number of'} {what} bytes,"
            f" the compiler's program had {recorded:,}"
        )


def _procedure(
    procedure: ProcedureText,
    windows: Windows,
    bases: list[int],
    by_slot: Mapping[str, Sequence[Life]],
) -> WorkspaceProcedure:
    aliases: dict[str, list[str]] = {}
    for each in procedure.declarations.values():
        if each.alias_of:
            owner = owner_of(procedure.declarations, each.name)
            aliases.setdefault(owner, []).append(each.name)
    own = procedure.own or 0
    calls = [
        WorkspaceCall(callee, i, statement.line, own, need)
        for i, statement in enumerate(procedure.statements)
        for callee in dict.fromkeys(statement.callees)
        if (need := windows.need(callee))
    ]
    found = lives(procedure)
    buffers = [
        _buffer(
            each,
            procedure,
            found[each.name],
            by_slot.get(each.name, ()),
            aliases.get(each.name, ()),
        )
        for each in local_buffers(procedure)
    ]
    buffers += _aliases(procedure, buffers)
    live = _live(buffers, calls, len(procedure.statements))
    peak = max(live, default=0)
    return WorkspaceProcedure(
        name=procedure.name,
        line=procedure.line,
        statements=len(procedure.statements),
        lines=[each.line for each in procedure.statements],
        live=live,
        window_bytes=procedure.size,
        own_bytes=procedure.own,
        bases=bases,
        private_bytes=sum(
            each.bytes for each in buffers if each.place != "workspace" and not each.alias_of
        ),
        peak_bytes=peak,
        peak_statement=live.index(peak) if peak else -1,
        waste_bytes=None if procedure.size is None else procedure.size - peak,
        buffers=buffers,
        calls=calls,
    )


def _buffer(
    declaration: Declaration,
    procedure: ProcedureText,
    life: Life,
    tenants: Sequence[Life],
    aliases: Sequence[str],
) -> WorkspaceBuffer:
    in_workspace = declaration.offset is not None
    several = [each.name for each in tenants] if len(tenants) > 1 else []
    return WorkspaceBuffer(
        name=declaration.name,
        scope=procedure.name,
        place="workspace" if in_workspace else "unpacked" if procedure.size is None else "private",
        offset=declaration.offset,
        bytes=declaration.bytes,
        type=declaration.type,
        first=life.first,
        last=life.last,
        line=declaration.line,
        shares=[*several, *aliases],
        tenants=[Tenant(each.name, each.bytes, each.first, each.last) for each in tenants],
        alias_of=None,
        alias_offset=0,
    )


def _aliases(procedure: ProcedureText, buffers: Sequence[WorkspaceBuffer]) -> list[WorkspaceBuffer]:
    owners = {each.name: each for each in buffers}
    uses: dict[str, list[int]] = {}
    for i, statement in enumerate(procedure.statements):
        for name in {name for line in statement.names for name in line}:
            uses.setdefault(name, []).append(i)
    found = []
    for each in procedure.declarations.values():
        owner = owners.get(owner_of(procedure.declarations, each.name))
        if owner is None or each.alias_of is None:
            continue
        offset = _alias_offset(procedure.declarations, each)
        used = uses.get(each.name, [-1])
        found.append(
            WorkspaceBuffer(
                name=each.name,
                scope=procedure.name,
                place=owner.place,
                offset=None if owner.offset is None else owner.offset + offset,
                bytes=each.bytes,
                type=each.type,
                first=used[0],
                last=used[-1],
                line=each.line,
                shares=[owner.name],
                tenants=[],
                alias_of=owner.name,
                alias_offset=offset,
            )
        )
    return found


def _alias_offset(declarations: Mapping[str, Declaration], alias: Declaration) -> int:
    """Return where ``alias``, maybe of another alias, begins in its owner; chains end at an owner."""
    offset, each = 0, alias
    while each.alias_of is not None:
        offset += each.alias_offset
        each = declarations[each.alias_of]
    return offset


def _live(
    buffers: Sequence[WorkspaceBuffer], calls: Sequence[WorkspaceCall], statements: int
) -> list[int]:
    """Return how many bytes are in use at each statement."""
    changes = [0] * (statements + 1)
    for each in buffers:
        if each.alias_of or each.place == "private":
            continue
        own = Tenant(each.name, each.bytes, each.first, each.last)
        for life in each.tenants or [own]:
            if life.first >= 0:
                changes[life.first] += life.bytes
                changes[life.last + 1] -= life.bytes
    needs = [0] * statements
    for call in calls:
        needs[call.statement] = max(needs[call.statement], call.bytes)
    return [used + need for used, need in zip(accumulate(changes[:-1]), needs, strict=True)]
