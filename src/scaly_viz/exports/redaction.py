"""Owns a recording without what tells of people and machines; it still loads, and its digests are right."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from scaly_viz import attributes as a
from scaly_viz import graph_table
from scaly_viz.assembling import assemble
from scaly_viz.codec import Encoder, FailedPayload, Payload
from scaly_viz.errors import PayloadError
from scaly_viz.exports import secrets
from scaly_viz.exports.chosen import Chosen
from scaly_viz.exports.secrets import Secrets, exact, secrets_of
from scaly_viz.recording import Recording, Step
from scaly_viz.respan import span_of_record
from scaly_viz.sources.otlp_json import decode_line
from scaly_viz.span_record import (
    Attributes,
    AttributeValue,
    EventRecord,
    JsonValue,
    SpanRecord,
)
from scaly_viz.spans import Value, clean, put_together
from scaly_viz_exporters.span_lines import line_of

KINDS = (
    secrets.PATHS,
    secrets.HOSTS,
    secrets.USERS,
    secrets.PROCESSES,
    secrets.STACKTRACES,
    secrets.LABELS,
    secrets.OTHERS,
)

# What of a resource tells which software ran, not whose.
_SOFTWARE = ("host.arch", "os.type", "process.runtime.name", "process.runtime.version")
_SERVICE = "service.name"
_OUR_SERVICE = "scaly"
_KNOWN = {attribute.key for attribute in a.ATTRIBUTES}
# Names in the program, which its texts have, too.
_NAMES = (a.FUNCTION_NAME, a.STEP_NAME, a.FAILED_STEP, a.CODE_FUNCTION)
_EXCEPTION = ("exception.type", "exception.message")


def redacted(chosen: Chosen, keep: frozenset[str]) -> Chosen:
    """Return ``chosen`` with every kind of ``KINDS`` taken out that is not among those to ``keep``.

    Attributes, events and links that are not scaly-viz's own go as a whole; what remains is searched
    for the paths, hosts, users, arguments and labels that were known. Payloads are encoded anew.
    """
    spans = [span for line in chosen.lines for span in decode_line(line, "")]
    recordings = assemble(spans)
    redactor = _Redactor(secrets_of(spans, keep), keep)
    made = [span for each in recordings for span in redactor.spans(each)]
    return Chosen(assemble(made)[0], [line_of(span_of_record(span)) for span in made])


class _Redactor:
    def __init__(self, found: Secrets, keep: frozenset[str]) -> None:
        self._secrets = found
        self._keep = keep
        self._done: dict[str, bytes] = {}

    def spans(self, recording: Recording) -> Iterator[SpanRecord]:
        """Yield the spans of ``recording`` in their order; payloads that continue a step follow it."""
        steps = {step.index: step for step in recording.steps if not step.placeholder}
        encoder = Encoder()
        encoded = {i: self._payloads(recording, steps[i], encoder) for i in sorted(steps)}
        for span in recording.spans:
            index = span.attributes.get(a.STEP_INDEX)
            if index is None:
                yield self._span(span, [*self._events(span)])
            elif isinstance(index, int) and a.STEP_NAME in span.attributes and index in steps:
                parts = [*put_together(encoded.pop(index, []))] or [[]]
                payloads = _payload_events(parts[0], span.end_ns)
                step = self._span(span, [*payloads, *self._events(span)])
                yield step
                for number, part in enumerate(parts[1:]):
                    yield _continued(step, number, _payload_events(part, span.end_ns))
            elif index not in steps:
                yield self._span(span, [])

    def _span(self, span: SpanRecord, events: list[EventRecord]) -> SpanRecord:
        return SpanRecord(
            trace_id=span.trace_id,
            span_id=span.span_id,
            parent_span_id=span.parent_span_id,
            name=self._secrets.of_program(span.name),
            start_ns=span.start_ns,
            end_ns=span.end_ns,
            attributes=self._attributes(span.attributes),
            events=events,
            status=span.status,
            status_message=self._secrets.of_message(span.status_message),
            resource=self._resource(span.resource),
            scope=a.SCOPE,
        )

    def _attributes(self, attributes: Attributes) -> Attributes:
        is_step = a.STEP_NAME in attributes
        found = {
            key: self._value(key, exact(attributes, key) if isinstance(value, str) else value)
            for key, value in attributes.items()
            if not _is_exact_form(key, attributes) and self._stays(_kind_of(key, is_step))
        }
        return clean(found)

    def _resource(self, resource: Attributes) -> Attributes:
        found = {
            key: self._value(key, value)
            for key, value in resource.items()
            if self._stays(_kind_of_resource(key, value))
        }
        return clean({_SERVICE: _OUR_SERVICE} | found)

    def _stays(self, kind: str | None) -> bool:
        return kind is None or kind in self._keep

    def _value(self, key: str, value: AttributeValue) -> Value:
        if isinstance(value, str):
            clear = self._secrets.of_program if key in _NAMES else self._secrets.of_message
            return clear(value)
        if isinstance(value, bool | int | float):
            return value
        if isinstance(value, list | tuple):
            return [self._secrets.of_message(str(item)) for item in value]
        return self._secrets.of_message(str(value))

    def _events(self, span: SpanRecord) -> Iterator[EventRecord]:
        """Yield what is no payload: how the render failed, and what others added if that is to stay."""
        for event in span.events:
            is_ours = event.name == a.EVENT_EXCEPTION
            if is_ours or (self._stays(secrets.OTHERS) and not _is_payload(event)):
                name = event.name if is_ours else self._secrets.of_message(event.name)
                yield EventRecord(name, event.time_ns, self._attributes(event.attributes))

    def _payloads(
        self, recording: Recording, step: Step, encoder: Encoder
    ) -> list[tuple[str, dict[str, str | int]]]:
        return [
            (kind, encoded)
            for kind in step.payloads
            for encoded in encoder.encode(self._payload(recording, step, kind))
        ]

    def _payload(self, recording: Recording, step: Step, kind: str) -> Payload | FailedPayload:
        """Return a payload to be encoded; what cannot be looked through does not pass."""
        media_type = step.payloads[kind].media_type
        try:
            digest = step.payloads[kind].digest
            if digest and digest in self._done:
                return Payload(kind, self._done[digest], media_type)
            data = recording.data(step, kind)
            if media_type.startswith("text/"):
                text = data.decode("utf-8", "surrogatepass")
                data = self._secrets.of_program(text).encode("utf-8", "surrogatepass")
            elif media_type.endswith("json"):
                data = self._json(data)
            else:
                return FailedPayload(
                    kind, f"left out by redaction, as {media_type} may hold anything"
                )
        except (PayloadError, ValueError, RecursionError) as error:
            return FailedPayload(kind, self._secrets.of_message(str(error)))
        self._done[digest] = data
        return Payload(kind, data, media_type)

    def _json(self, data: bytes) -> bytes:
        value: JsonValue = json.loads(data)
        cleared = self._cleared(value)
        return data if cleared == value else graph_table.encode_json(cleared)

    def _cleared(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self._secrets.of_program(value)
        if isinstance(value, list):
            # The columns of a graph are lists of numbers, a million of them.
            return [item if isinstance(item, int) else self._cleared(item) for item in value]
        if isinstance(value, dict):
            return {self._secrets.of_program(k): self._cleared(item) for k, item in value.items()}
        return value


def _is_exact_form(key: str, attributes: Attributes) -> bool:
    """Tell the JSON form of a text from the text itself, of which ``clean`` makes it again."""
    base = key.removesuffix(a.JSON_SUFFIX)
    return base != key and base in attributes


def _is_payload(event: EventRecord) -> bool:
    return a.PAYLOAD_ENCODING in event.attributes or a.PAYLOAD_ERROR in event.attributes


def _kind_of(key: str, is_step: bool) -> str | None:
    """Return what an attribute of a span tells of, None for what has to stay."""
    if key == a.LABEL:
        return secrets.LABELS
    if key in (a.FILE_PATH, a.LINE_NUMBER):
        return secrets.PATHS
    if key in (a.STACKTRACE, "exception.stacktrace") or (key == a.CODE_FUNCTION and not is_step):
        return secrets.STACKTRACES
    return None if key in _KNOWN or key in _EXCEPTION else secrets.OTHERS


def _kind_of_resource(key: str, value: AttributeValue) -> str | None:
    if key in _SOFTWARE or key.startswith("telemetry.sdk."):
        return None
    if key == _SERVICE:
        return None if value == _OUR_SERVICE else secrets.OTHERS
    if key == "process.owner" or key.startswith(("user.", "enduser.")):
        return secrets.USERS
    if key.startswith("host."):
        return secrets.HOSTS
    return secrets.PROCESSES if key.startswith("process.") else secrets.OTHERS


def _payload_events(
    events: Iterable[tuple[str, Mapping[str, Value]]], time_ns: int
) -> list[EventRecord]:
    return [EventRecord(f"{a.EVENT_PREFIX}{kind}", time_ns, clean(each)) for kind, each in events]


def _continued(step: SpanRecord, number: int, events: list[EventRecord]) -> SpanRecord:
    """Return a span for what does not fit into that of ``step``."""
    seed = f"{step.trace_id}{step.span_id}{number}".encode()
    shared = (a.RECORDING_ID, a.SCHEMA, a.FUNCTION_NAME, a.LABEL, a.STEP_INDEX)
    return msgspec.structs.replace(
        step,
        span_id=hashlib.sha256(seed).hexdigest()[:16],
        parent_span_id=step.span_id,
        name=a.SPAN_PAYLOAD,
        attributes={key: step.attributes[key] for key in shared if key in step.attributes},
        events=events,
    )
