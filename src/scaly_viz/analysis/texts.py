"""Owns which payloads are texts, and which earlier text of the same thing a text is compared with."""

from __future__ import annotations

from collections.abc import Iterator

from scaly_viz.codec import EncodedPayload
from scaly_viz.errors import PayloadError
from scaly_viz.recording import Recording, Step

# scaly names the step of a normalized function after it; other steps are about the whole program.
_OF_ONE_FUNCTION = "normalized:"


def is_text(payload: EncodedPayload) -> bool:
    """Tell whether ``payload`` is a text, by its media type."""
    return payload.media_type.partition(";")[0].strip().lower().startswith("text/")


def text_kinds(step: Step) -> Iterator[str]:
    """The kinds of the texts that ``step`` has, readable or not."""
    return (kind for kind, payload in step.payloads.items() if is_text(payload))


def text_of(recording: Recording, step: Step, kind: str) -> str:
    """Return the text of ``kind`` that ``step`` has.

    Raises:
        PayloadError: it has none, or it cannot be rebuilt, or is no text.
    """
    payload = step.payloads.get(kind)
    if payload is not None and not is_text(payload):
        raise PayloadError(f"the {kind} of step {step.index} is no text but {payload.media_type}")
    try:
        return recording.text(step, kind)
    except UnicodeDecodeError as error:
        raise PayloadError(f"the {kind} of step {step.index} is no text: {error}") from error


def previous_step(recording: Recording, step: Step, kind: str) -> Step | None:
    """Return the latest step before ``step`` whose text of ``kind`` is another one of the same thing.

    The same thing is in the same dialect and, where the text is of one function, of that function.
    """
    payload = step.payloads.get(kind)
    return next(
        (
            earlier
            for earlier in _steps_before(recording, step, kind)
            if payload is not None and earlier.payloads[kind].digest != payload.digest
        ),
        None,
    )


def step_before(recording: Recording, step: Step, kind: str) -> Step | None:
    """Return the latest step before ``step`` that has a text of ``kind`` of the same thing, changed or not."""
    return next(_steps_before(recording, step, kind), None)


def _steps_before(recording: Recording, step: Step, kind: str) -> Iterator[Step]:
    subject = _subject(recording, step)
    for earlier in reversed(recording.steps):
        other = earlier.payloads.get(kind)
        if (
            earlier.index < step.index
            and other is not None
            and not other.error
            and _subject(recording, earlier) == subject
        ):
            yield earlier


def _subject(recording: Recording, step: Step) -> tuple[str, str]:
    """What the texts of ``step`` are about: a dialect, and a function where they are of one."""
    if step.name.startswith(_OF_ONE_FUNCTION):
        return step.dialect, step.name.removeprefix(_OF_ONE_FUNCTION)
    return step.dialect, recording.function
