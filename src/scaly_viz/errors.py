"""Owns the exceptions and warnings that scaly-viz shows to its users."""


class ScalyVizError(Exception):
    """Base of every error that scaly-viz raises on purpose; its text is fit to be shown as it is."""


class RecordingFileError(ScalyVizError):
    """Input that cannot be read: names the file, the line where there is one, and the cause."""


class BackendError(ScalyVizError):
    """A tracing backend that cannot be read: names its address and the cause, and no credentials."""


class RecordingFolderError(ScalyVizError, RuntimeError):
    """There is no folder for recordings: the user has no home folder, and none was given.

    A ``RuntimeError`` as well, which is what pathlib, and so ``scaly.viz``, raises there.
    """


class PayloadError(ScalyVizError):
    """A payload that cannot be rebuilt: a missing part or base, a wrong digest, an implausible size."""


class RecordingWarning(UserWarning):
    """What a tolerant reader left out, with the file, the line and the cause."""
