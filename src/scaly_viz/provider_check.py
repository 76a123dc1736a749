"""Owns what of an application's provider loses parts of recordings, and what to change about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import SpanKind
from opentelemetry.util.types import AnyValue

from scaly_viz import attributes as a
from scaly_viz import codec

# The most that a span of ours has, with room for what is added within schema version 1.
EVENTS = 32
SPAN_ATTRIBUTES = 64
EVENT_ATTRIBUTES = 16
# Of longer stack traces and messages, our own spans have a part only.
SPAN_TEXT = 60_000
# Receivers take 4 MiB a message by default, and a span of ours at most 900 kB.
BATCH_SPANS = 4
QUEUE_SPANS = 1_024
# Ratio samplers drop the traces with the highest ids first.
_LAST_TRACE = (1 << 128) - 1

_LENGTH_ADVICE = (
    "unset OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT, or give the provider"
    " SpanLimits(max_attribute_length=SpanLimits.UNSET)"
)
_SPAN_LENGTH_ADVICE = "unset OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT"
_EVENTS_ADVICE = f"set OTEL_SPAN_EVENT_COUNT_LIMIT to {EVENTS} or more"
_EVENT_ATTRIBUTES_ADVICE = f"set OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT to {EVENT_ATTRIBUTES} or more"
_SPAN_ATTRIBUTES_ADVICE = f"set OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT to {SPAN_ATTRIBUTES} or more"
SAMPLER_ADVICE = "use ALWAYS_ON or OTEL_TRACES_SAMPLER=parentbased_always_on to keep all"

type Losses = Iterator[tuple[str, str]]


def losses_by_configuration(provider: TracerProvider) -> Losses:
    """Yield a key and a sentence for each setting of ``provider`` that may lose parts of recordings.

    A sentence is empty where another one has told of the same setting.

    The SDK shows its sampler; limits and processors are looked up where its release 1.45 has them,
    and what cannot be looked up is found out when it happens, by ``losses_of_span``.
    """
    if getattr(provider, "_disabled", False):
        return  # OTEL_SDK_DISABLED: nothing is recorded at all, and the pipeline says so
    yield from _sampler(provider)
    yield from _limits(getattr(provider, "_span_limits", None))
    processors = _processors(getattr(provider, "_active_span_processor", None))
    if processors == ():
        yield "processors", "it has no span processor, so that its spans go nowhere"
    for processor in processors or ():
        yield from _batches(processor)


def losses_of_span(own: ReadableSpan, copy: ReadableSpan) -> Losses:
    """Yield a key and a sentence for each kind of thing that ``copy`` lost, ``own`` being complete."""
    if len(copy.events) < len(own.events):
        yield (
            "events",
            f"span {own.name!r} kept {len(copy.events)} of {len(own.events)} events:"
            f" {_EVENTS_ADVICE}",
        )
    yield from _changed(
        own.attributes or {}, copy.attributes or {}, f"span {own.name!r}", on_span=True
    )
    for event, copied in zip(own.events, copy.events, strict=False):
        where = f"event {event.name!r} of span {own.name!r}"
        if event.name == copied.name:
            yield from _changed(
                event.attributes or {}, copied.attributes or {}, where, on_span=False
            )


def _changed(
    own: Mapping[str, AnyValue], copy: Mapping[str, AnyValue], where: str, *, on_span: bool
) -> Losses:
    level = "span" if on_span else "event"
    for key, value in own.items():
        if key not in copy:
            advice = _SPAN_ATTRIBUTES_ADVICE if on_span else _EVENT_ATTRIBUTES_ADVICE
            yield f"{level} attributes", f"{where} lost its attribute {key}: {advice}"
        elif copy[key] != value:
            kept = copy[key]
            if isinstance(value, str) and isinstance(kept, str) and value.startswith(kept):
                advice = _SPAN_LENGTH_ADVICE if on_span else _LENGTH_ADVICE
                yield (
                    f"{level} length",
                    f"{key} of {where} was cut from {len(value):,} to {len(kept):,} characters:"
                    f" {advice}",
                )
            else:
                yield f"{level} change", f"{key} of {where} was changed by a span processor"


def _sampler(provider: TracerProvider) -> Losses:
    sampler = provider.sampler
    result = sampler.should_sample(
        Context(), _LAST_TRACE, a.SPAN_RENDER, SpanKind.INTERNAL, {a.RECORDING_ID: ""}, ()
    )
    if result.decision is not Decision.RECORD_AND_SAMPLE:
        yield (
            "sampler",
            f"its sampler {sampler.get_description()} leaves recordings out: {SAMPLER_ADVICE}",
        )


def _limits(limits: object) -> Losses:
    for key, name, needed, consequence, advice in (
        ("events", "max_events", EVENTS, "events a span", _EVENTS_ADVICE),
        (
            "span attributes",
            "max_span_attributes",
            SPAN_ATTRIBUTES,
            "attributes a span",
            _SPAN_ATTRIBUTES_ADVICE,
        ),
        (
            "event attributes",
            "max_event_attributes",
            EVENT_ATTRIBUTES,
            "attributes an event",
            _EVENT_ATTRIBUTES_ADVICE,
        ),
        (
            "event length",
            "max_attribute_length",
            codec.BODY_CHARS,
            "characters an attribute of an event",
            _LENGTH_ADVICE,
        ),
        (
            "span length",
            "max_span_attribute_length",
            SPAN_TEXT,
            "characters an attribute of a span",
            _SPAN_LENGTH_ADVICE,
        ),
    ):
        limit = getattr(limits, name, None)
        if not isinstance(limit, int) or limit >= needed:
            continue
        if key == "span length" and limit == getattr(limits, "max_attribute_length", None):
            # The same setting, of which the sentence before has told.
            yield key, ""
            continue
        yield (
            key,
            f"its limit of {limit:,} {consequence} is under the {needed:,} that recordings need:"
            f" {advice}",
        )


def _processors(processor: object) -> Sequence[SpanProcessor] | None:
    found = getattr(processor, "_span_processors", None)
    return found if isinstance(found, tuple) else None


def _batches(processor: SpanProcessor) -> Losses:
    if not isinstance(processor, BatchSpanProcessor):
        return
    batch = getattr(processor, "_batch_processor", None)
    queue = getattr(batch, "_max_queue_size", None)
    if isinstance(queue, int) and queue < QUEUE_SPANS:
        yield (
            "queue",
            f"a queue of {queue:,} spans overflows while large recordings are written:"
            f" set OTEL_BSP_MAX_QUEUE_SIZE to {QUEUE_SPANS:,} or more",
        )
    spans = getattr(batch, "_max_export_batch_size", None)
    exporter = type(processor.span_exporter)
    official = exporter.__module__.startswith("opentelemetry.exporter.otlp.")
    if official and isinstance(spans, int) and spans > BATCH_SPANS:
        yield (
            "batch",
            f"{exporter.__name__} sends up to {spans:,} spans in a message, and what exceeds the"
            " receiver's limit (4 MiB by default) is refused whole: export with scaly_otlp, which"
            f" splits by size, or set OTEL_BSP_MAX_EXPORT_BATCH_SIZE={BATCH_SPANS}",
        )
