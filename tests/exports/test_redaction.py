"""Owns the tests of redaction: nothing of people and machines is left, and the recording is as whole as before."""

from __future__ import annotations

import json
import string

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.recorded import record
from scaly_viz import attributes as a
from scaly_viz import codec
from scaly_viz.assembling import assemble
from scaly_viz.codec import Encoder, Payload, text_payload
from scaly_viz.exports.chosen import Chosen, chosen
from scaly_viz.exports.formats import FORMATS, Options
from scaly_viz.exports.redaction import KINDS, redacted
from scaly_viz.exports.secrets import Secrets, secrets_of
from scaly_viz.respan import span_of_record
from scaly_viz.scaly_viz_dict import from_dict
from scaly_viz.span_record import AttributeValue, EventRecord, SpanRecord
from scaly_viz_exporters.span_lines import line_of

NOTHING: frozenset[str] = frozenset()
# Where the checkout is, and whose it is, cannot sway a test that keeps these.
ALL_BUT_LABELS = frozenset(KINDS) - {"labels"}
# Words that neither the formats nor the compiler use.
WORD = st.text("bqxz" + string.digits, min_size=5, max_size=9).map(lambda text: f"q{text}z")


class Leaky(msgspec.Struct, frozen=True):
    """What a recording tells of somebody, for the tests to look for."""

    user: str
    host: str
    folder: str
    file: str
    label: str
    argument: str

    @property
    def home(self) -> str:
        return f"/home/{self.user}"

    @property
    def path(self) -> str:
        return f"{self.home}/{self.folder}/{self.file}.py"

    def words(self) -> list[str]:
        return [self.user, self.host, self.folder, self.file, self.label, self.argument]


def leaky_recording(of: Leaky) -> Chosen:
    """Return a recording that has ``of`` in every place where it can be."""
    everywhere = f"{of.label} by {of.user}@{of.host}.lan, see {of.path}:12 and {of.argument}"
    trace = f'Traceback:\n  File "{of.path}", line 7, in {of.file}\n    {everywhere}\n'
    texts = {
        "assembly": f'prog.module {{ // {everywhere}\n  "{of.folder}" %x\n}}\n' * 200,
        "listing": f"for i in 0..3  // {of.path}\n",
        "code": f'/* {everywhere} in {of.folder} */\n#line 3 "{of.path}"\nvoid f(void) {{}}\n',
    }
    graph = {
        "nodes": [{"id": "p0", "label": f"PROGRAM\n%0\n{of.user}", "color": "#fff"}],
        "edges": [],
        "outputs": ["p0"],
    }
    resource: dict[str, AttributeValue] = {
        "service.name": of.folder,
        "telemetry.sdk.name": "opentelemetry",
        "host.name": f"{of.host}.lan",
        "host.arch": "amd64",
        "process.owner": of.user,
        "process.pid": 4711,
        "process.command_args": ["python", of.path, f"--{of.argument}", of.argument],
        "process.executable.path": f"{of.home}/.venv/bin/python3.12",
        "process.runtime.version": "3.12.1",
        "deployment.environment.name": of.label,
    }
    head: dict[str, AttributeValue] = {
        a.RECORDING_ID: "7c0e9a50f1d94c3f9f9d6a2f6f3f2d10",
        a.SCHEMA: a.SCHEMA_VERSION,
        a.FUNCTION_NAME: "chain",
        a.LABEL: of.label,
    }
    encoder = Encoder()
    spans = []
    for index, dialect in enumerate(("prog", "prog", "c")):
        kinds = ("code",) if dialect == "c" else ("assembly", "listing")
        payloads: list[Payload] = [text_payload(kind, texts[kind] + "\n" * index) for kind in kinds]
        if dialect != "c":
            payloads.append(Payload("graph", json.dumps(graph).encode(), codec.JSON))
        payloads.append(Payload("odd", of.user.encode() + b"\0\xff", "application/octet-stream"))
        events = [
            EventRecord(f"scaly.{payload.kind}", 5, attributes)
            for payload in payloads
            for attributes in encoder.encode(payload)
        ]
        step: dict[str, AttributeValue] = {
            a.STEP_NAME: f"pass:number_{index}",
            a.STEP_INDEX: index,
            a.STEP_DIALECT: dialect,
            a.FILE_PATH: f"{of.home}/lib/python3.12/site-packages/scaly/passes/number.py",
            a.UNCOUNTED: [everywhere],
            "custom.note": everywhere,
        }
        spans.append(_span(index + 2, f"pass number_{index}", head | step, events, resource))
    root: dict[str, AttributeValue] = {
        a.RECORDING_STEPS: 3,
        a.FILE_PATH: of.path,
        a.LINE_NUMBER: 7,
        a.CODE_FUNCTION: of.file,
        a.STACKTRACE: trace,
        a.ERROR: f"ValueError({everywhere!r})",
        a.ERROR_TYPE: f"{of.folder}.{of.file}.Oops",
    }
    failed = EventRecord(
        "exception", 9, {"exception.message": everywhere, "exception.stacktrace": trace}
    )
    note = EventRecord("note", 9, {"text": everywhere})
    spans.append(_span(1, "render chain", head | root, [failed, note], resource, everywhere))
    return Chosen(assemble(spans)[0], [line_of(span_of_record(span)) for span in spans])


def _span(
    number: int,
    name: str,
    attributes: dict[str, AttributeValue],
    events: list[EventRecord],
    resource: dict[str, AttributeValue],
    message: str = "",
) -> SpanRecord:
    return SpanRecord(
        trace_id="4bf92f3577b34da6a3ce929d0e0e4736",
        span_id=f"{number:016x}",
        parent_span_id="" if number == 1 else f"{1:016x}",
        name=name,
        start_ns=1_796_000_000_000_000_000 + number,
        end_ns=1_796_000_000_000_000_100 + number,
        attributes=attributes,
        events=events,
        status="error" if message else "unset",
        status_message=message,
        resource=resource,
        scope=a.SCOPE,
    )


def everything_in(chosen: Chosen) -> str:
    """Return all that any format and any payload of ``chosen`` says."""
    texts = [line.decode() for line in chosen.lines]
    for format_ in FORMATS:
        texts.append(b"".join(format_.writer()([chosen], Options())).decode("utf-8", "replace"))
    recording = chosen.recording
    for step in recording.steps:
        texts += [
            recording.data(step, kind).decode("utf-8", "replace")
            for kind, payload in step.payloads.items()
            if not payload.error
        ]
    return "\n".join(texts)


leaks = st.builds(Leaky, WORD, WORD, WORD, WORD, st.lists(WORD, min_size=1).map(" ".join), WORD)


@pytest.mark.slow
@settings(max_examples=25)
@given(leaks)
def test_nothing_of_people_and_machines_is_left_in_any_format(of: Leaky) -> None:
    taken = leaky_recording(of)
    told = everything_in(taken)
    assert [word for word in of.words() if word not in told] == []

    left = everything_in(redacted(taken, NOTHING))

    assert [word for word in of.words() if word.lower() in left.lower()] == []
    assert "process.pid" not in left


def test_what_is_left_is_a_whole_recording_with_right_digests() -> None:
    taken = leaky_recording(Leaky("alice", "bigbox", "secretproject", "model", "for Bob", "token7"))

    recording = redacted(taken, NOTHING).recording

    assert recording.problems == []
    assert recording.name == "chain"
    assert recording.error == (
        "ValueError('redacted_label by redacted_user@redacted_host, see redacted_path:12 and"
        " redacted_argument')"
    )
    assert [step.name for step in recording.steps] == [f"pass:number_{i}" for i in range(3)]
    assert recording.text(recording.steps[2], "code").splitlines()[1] == '#line 3 "redacted_path"'
    assert [*recording.steps[0].payloads] == ["assembly", "listing", "graph", "odd"]
    assert recording.graph(recording.steps[0])["nodes"][0]["label"] == "PROGRAM\n%0\nredacted_user"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_to_be_kept_is_kept(kind: str) -> None:
    of = Leaky("alice", "bigbox", "secretproject", "model", "for Bob", "token7")
    signs = {
        "paths": of.path.replace(of.user, "redacted_user"),
        "hosts": "bigbox.lan",
        "users": "process.owner",
        "processes": "process.pid",
        "stacktraces": "Traceback",
        "labels": "for Bob",
        "others": "custom.note",
    }

    left = everything_in(redacted(leaky_recording(of), frozenset([kind])))

    assert [each for each, sign in signs.items() if sign in left] == [kind]


@pytest.mark.parametrize("name", ["high_rank", "linear_mpc", "chain"])
def test_a_program_is_left_as_it_is_though_it_is_called_like_its_label(name: str) -> None:
    recording = record(name)
    assert recording.label is not None
    assert recording.label in recording.function

    left = redacted(chosen(recording), ALL_BUT_LABELS).recording

    assert left.label is None
    assert left.to_dict() | {"name": ""} == recording.to_dict() | {"name": ""}
    assert [step.attributes.get(a.CODE_FUNCTION) for step in left.steps] == [
        step.attributes.get(a.CODE_FUNCTION) for step in recording.steps
    ]


@pytest.mark.parametrize("label", ["double", "return", "scalarize"])
def test_a_label_that_is_a_word_of_the_language_leaves_the_program_as_it_is(label: str) -> None:
    recording = record("chain")
    spans = [
        msgspec.structs.replace(span, attributes={**span.attributes, a.LABEL: label})
        for span in recording.spans
    ]

    left = redacted(chosen(assemble(spans)[0]), ALL_BUT_LABELS).recording

    assert left.label is None
    assert left.to_dict()["steps"] == recording.to_dict()["steps"]


def test_what_scaly_viz_recorded_is_redacted_too() -> None:
    data = record("chain").to_dict() | {"name": "for Bob", "error": "see /home/alice/x/y.py"}

    left = redacted(chosen(from_dict(data, "recordings.json")), NOTHING).recording.to_dict()

    assert left == data | {"name": data["function"], "error": "see redacted_path"}


@pytest.mark.parametrize(
    ("resource", "code", "left"),
    [
        (
            {"process.executable.path": "/check/bounds/venv/bin/python"},
            'int check; s = "check_bounds"; // see check, bounds_of',
            'int check; s = "check_bounds"; // see redacted_path, bounds_of',
        ),
        (
            {"process.owner": "max", "host.name": "double.lan"},
            'double y = max(a, x_max); // by max on double.lan, "max" @ double',
            "double y = max(a, x_max); // by redacted_user on redacted_host,"
            ' "redacted_user" @ redacted_host',
        ),
        (
            {"process.owner": "alice", "host.name": "rig7"},
            "double alice_gain = x; // rig7: alice's",
            "double redacted_user_gain = x; // redacted_host: redacted_user's",
        ),
    ],
)
def test_names_of_the_program_stay_where_a_folder_or_a_user_is_called_like_them(
    resource: dict[str, AttributeValue], code: str, left: str
) -> None:
    assert secrets_of([_span(1, "render f", {}, [], resource)], NOTHING).of_program(code) == left


def test_what_only_looks_like_a_path_stays_in_a_program() -> None:
    texts = ['printf("%d:\\n x:\\n", a /b/ c);', '#include "coin-or/Ip.h"', "y = x / 2 /* m/s/s */"]
    empty = Secrets({}, {}, any_path=True)
    assert [empty.of_program(text) for text in texts] == texts
    assert empty.of_program('#line 1 "/home/alice/x.c"') == '#line 1 "redacted_path"'
    assert empty.of_message(r"C:\Users\alice\x.c and ~/x/y") == "redacted_path and redacted_path"
