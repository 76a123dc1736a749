"""Owns sending over gRPC with the official exporter, once, and learning what was answered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import grpc
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from scaly_viz_exporters.otlp_settings import OtlpSettings
from scaly_viz_exporters.outcome import (
    DELIVERED,
    Fate,
    Outcome,
    bounded_wait,
    of_response,
    shown,
)
from scaly_viz_exporters.quiet import quiet

_COMPRESSION = {
    "gzip": grpc.Compression.Gzip,
    "deflate": grpc.Compression.Deflate,
    "none": grpc.Compression.NoCompression,
}
_LATER = {
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DATA_LOSS,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.UNAVAILABLE,
}
_NEW_CHANNEL = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
_SPEAKS_HTTP = "it speaks HTTP: gRPC's port is 4317 by custom, or set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"

type _Metadata = Sequence[tuple[str, str | bytes]]


class GrpcTransport:
    """Sends by OTLP/gRPC."""

    def __init__(self, settings: OtlpSettings) -> None:
        self._settings = settings
        self._exporter: _Exporter | None = None

    def send(self, spans: Sequence[ReadableSpan]) -> Outcome:
        """Send ``spans`` as one message; never raises."""
        try:
            with quiet():
                exporter = self._exporter = self._exporter or _exporter(self._settings)
                result = exporter.export(spans)
        except grpc.RpcError as error:
            return self._of_error(error)
        except _ToldError as told:
            return Outcome(Fate.CLOSED, shown(str(told.__cause__)))
        except OSError as error:
            return Outcome(Fate.CLOSED, f"{error.filename}: {error.strerror}")
        except Exception as error:
            return Outcome(Fate.REFUSED, f"cannot be sent: {type(error).__name__}: {error}")
        if exporter.response is not None:
            return of_response(exporter.response)
        if result is SpanExportResult.SUCCESS:
            return DELIVERED
        return Outcome(Fate.LATER, "the exporter reported a failure")

    def close(self) -> None:
        """Close the channel."""
        if self._exporter is not None:
            with quiet():
                self._exporter.shutdown()
            self._exporter = None

    def _of_error(self, error: Exception) -> Outcome:
        if not isinstance(error, grpc.Call):
            return Outcome(Fate.LATER, shown(str(error)))
        code, details = error.code(), error.details() or ""
        if code in _NEW_CHANNEL:
            # A channel backs off by itself; a new one connects at once when we ask again.
            self.close()
        if code is grpc.StatusCode.DEADLINE_EXCEEDED:
            return Outcome(Fate.LATER, f"no answer within {self._settings.timeout_s:g} s")
        cause = f"answered {code.name}{f': {shown(details)}' if details else ''}{_hint(details)}"
        if code is grpc.StatusCode.INVALID_ARGUMENT or "larger than max" in details:
            return Outcome(Fate.REFUSED, cause)
        if code in _LATER:
            return Outcome(Fate.LATER, cause, _retry_delay(error.trailing_metadata() or ()))
        return Outcome(Fate.CLOSED, cause)


def _hint(details: str) -> str:
    # What gRPC says of a server that speaks HTTP/1, such as a receiver's port for OTLP/HTTP.
    return f" ({_SPEAKS_HTTP})" if "Failed parsing HTTP/2" in details else ""


class _Stub(Protocol):
    def Export(  # noqa: N802  # the service's own name
        self, request: ExportTraceServiceRequest, metadata: _Metadata, timeout: float
    ) -> ExportTraceServiceResponse: ...


class _ToldError(Exception):
    """Wraps what the official exporter would try again by itself: when to is the outbox's matter."""


class _Noting:
    """Passes calls to the official stub, and notes the answer in the exporter."""

    def __init__(self, stub: _Stub, exporter: _Exporter) -> None:
        self._stub = stub
        self._exporter = exporter

    def Export(  # noqa: N802  # the service's own name
        self, request: ExportTraceServiceRequest, metadata: _Metadata, timeout: float
    ) -> ExportTraceServiceResponse:
        try:
            response = self._stub.Export(request=request, metadata=metadata, timeout=timeout)
        except (grpc.RpcError, TypeError, ValueError) as error:
            # The latter two are what gRPC says of headers that it cannot send.
            raise _ToldError from error
        self._exporter.response = response
        return response


class _Exporter(OTLPSpanExporter):
    """The official exporter, which keeps the answer."""

    response: ExportTraceServiceResponse | None = None

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send once.

        Raises:
            grpc.RpcError: what was answered, or why there is no answer.
            _ToldError: it cannot even be sent, whatever it is.
        """
        self.response = None
        try:
            return super().export(spans)
        except _ToldError as told:
            if isinstance(told.__cause__, grpc.RpcError):
                raise told.__cause__ from None
            raise

    def _initialize_channel_and_stub(self) -> None:
        super()._initialize_channel_and_stub()  # type: ignore[no-untyped-call]  # the official exporter's
        self._client = _Noting(self._client, self)  # type: ignore[assignment,arg-type]  # declared as None there


def _exporter(settings: OtlpSettings) -> _Exporter:
    return _Exporter(
        endpoint=settings.endpoint,
        insecure=_insecure(settings),
        credentials=_credentials(settings),
        headers=dict(settings.headers) or None,
        timeout=settings.timeout_s,
        compression=_COMPRESSION[settings.compression],
    )


def _insecure(settings: OtlpSettings) -> bool | None:
    """Return what the scheme says: only without one does the variable count, as the specification has it."""
    return {"http": True, "https": False}.get(urlsplit(settings.endpoint).scheme, settings.insecure)


def _credentials(settings: OtlpSettings) -> grpc.ChannelCredentials | None:
    """Return what the certificates' files hold; None leaves it to the official exporter."""
    files = (settings.certificate, settings.client_key, settings.client_certificate)
    if not any(files):
        return None
    root, key, chain = (Path(file).read_bytes() if file else None for file in files)
    return grpc.ssl_channel_credentials(root, key, chain)


def _retry_delay(metadata: _Metadata) -> float | None:
    """Return the seconds of the RetryInfo: in the status details, as the Collector sends it, or bare."""
    info = RetryInfo()
    for key, value in metadata:
        if not isinstance(value, bytes):
            continue
        try:
            if key == "google.rpc.retryinfo-bin":
                return bounded_wait(
                    RetryInfo.FromString(value).retry_delay.ToTimedelta().total_seconds()
                )
            if key == "grpc-status-details-bin":
                for detail in Status.FromString(value).details:
                    if detail.Unpack(info):
                        return bounded_wait(info.retry_delay.ToTimedelta().total_seconds())
        except (DecodeError, OverflowError):
            continue
    return None
