"""Owns sending over HTTP with the official exporters, once, and learning what was answered."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from http.client import BadStatusLine, IncompleteRead, RemoteDisconnected
from typing import Any

import requests
from opentelemetry.exporter.http.transport._requests import RequestsHTTPTransport
from opentelemetry.exporter.otlp.common.http import Compression
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from scaly_viz_exporters import otlp_settings
from scaly_viz_exporters.otlp_settings import OtlpSettings
from scaly_viz_exporters.outcome import DELIVERED, Fate, Outcome, of_http, shown
from scaly_viz_exporters.quiet import quiet

_MOST_OF_A_BODY = 64 * 1024
_CHUNK = 8 * 1024


class HttpTransport:
    """Sends by OTLP/HTTP, as protobuf or as JSON."""

    def __init__(self, settings: OtlpSettings) -> None:
        self._settings = settings
        self._session = _Session(settings)
        with quiet():
            self._exporter = self._json() if self._is_json else self._protobuf()

    def send(self, spans: Sequence[ReadableSpan]) -> Outcome:
        """Send ``spans`` as one message; never raises."""
        self._session.forget()
        try:
            with quiet():
                result = self._exporter.export(spans)
        except Exception as error:
            return Outcome(Fate.REFUSED, f"cannot be encoded: {type(error).__name__}: {error}")
        if self._session.outcome is not None:
            return self._session.outcome
        if result is SpanExportResult.SUCCESS:
            return DELIVERED
        return Outcome(Fate.CLOSED, "the exporter failed before it could send")

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    @property
    def _is_json(self) -> bool:
        return self._settings.protocol == otlp_settings.HTTP_JSON

    def _protobuf(self) -> SpanExporter:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter(
            endpoint=self._settings.endpoint,
            certificate_file=self._settings.certificate or None,
            client_key_file=self._settings.client_key or None,
            client_certificate_file=self._settings.client_certificate or None,
            headers=self._settings.headers,
            timeout=self._settings.timeout_s,
            compression=Compression(self._settings.compression),
            session=self._session,
        )

    def _json(self) -> SpanExporter:
        from opentelemetry.exporter.otlp.json.http.trace_exporter import OTLPSpanExporter

        key, certificate = self._settings.client_key, self._settings.client_certificate
        return OTLPSpanExporter(
            endpoint=self._settings.endpoint,
            headers=self._settings.headers,
            timeout=self._settings.timeout_s,
            compression=Compression(self._settings.compression),
            # It has no parameter for a session, and its own transport does not tell what was answered.
            _transport=RequestsHTTPTransport(
                verify=self._settings.certificate or True,
                cert=(certificate, key) if certificate and key else certificate or None,
                session=self._session,
            ),
        )


class _ToldError(Exception):
    """Keeps the official exporters from trying again: when to do so is the outbox's matter."""


class _Session(requests.Session):
    """A session that notes what was answered, and raises where it was no success."""

    def __init__(self, settings: OtlpSettings) -> None:
        super().__init__()
        self._settings = settings
        self.outcome: Outcome | None = None

    def forget(self) -> None:
        """Forget the last answer."""
        self.outcome = None

    def request(self, *args: Any, **kwargs: Any) -> requests.Response:
        """Send a request, and read a bounded part of the answer."""
        try:
            # Given here, OTEL_EXPORTER_OTLP_CERTIFICATE wins over REQUESTS_CA_BUNDLE.
            ours = {"stream": True, "verify": self.verify}
            response = super().request(*args, **(kwargs | ours))
            with response:
                body = _body(response)
            self.outcome = of_http(response.status_code, response.reason, response.headers, body)
        except (requests.RequestException, OSError, ValueError) as error:
            self.outcome = _of_error(error, self._settings)
        if self.outcome.fate not in (Fate.DELIVERED, Fate.PARTLY):
            raise _ToldError(self.outcome.cause)
        return response


def _body(response: requests.Response) -> bytes:
    body = b""
    for chunk in response.iter_content(_CHUNK):
        body += chunk
        if len(body) > _MOST_OF_A_BODY:
            break
    return body


def _of_error(error: Exception, settings: OtlpSettings) -> Outcome:
    if isinstance(error, requests.Timeout):
        return Outcome(Fate.LATER, f"no answer within {settings.timeout_s:g} s")
    if isinstance(error, requests.ConnectionError | requests.exceptions.ChunkedEncodingError):
        return Outcome(Fate.LATER, _innermost(error) + _hint(settings))
    if isinstance(error, requests.exceptions.InvalidSchema | requests.exceptions.MissingSchema):
        return Outcome(Fate.CLOSED, "not an address such as http://localhost:4318")
    return Outcome(Fate.CLOSED, shown(str(error)) or type(error).__name__)


def _hint(settings: OtlpSettings) -> str:
    speaks_grpc = settings.endpoint.partition("://")[2].partition("/")[0].endswith(":4317")
    return " (port 4317 is gRPC's by custom, HTTP's is 4318)" if speaks_grpc else ""


def _innermost(error: BaseException) -> str:
    """Return what the system said of a failed connection, beneath what requests and urllib3 wrap it in."""
    found = str(error)
    for inner in _chain(error):
        if isinstance(inner, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted: {inner.verify_message}"
        if isinstance(inner, RemoteDisconnected | IncompleteRead):
            return "it closed the connection before its answer was whole"
        if isinstance(inner, BadStatusLine):
            return "it answers something else than HTTP/1 (gRPC, perhaps)"
        if isinstance(inner, OSError) and inner.strerror:
            found = inner.strerror
    return shown(found)


def _chain(error: BaseException) -> Iterator[BaseException]:
    pending: list[object] = [error]
    seen: set[int] = set()
    while pending:
        inner = pending.pop(0)
        if isinstance(inner, BaseException) and id(inner) not in seen:
            seen.add(id(inner))
            yield inner
            pending += [*inner.args, getattr(inner, "reason", None), inner.__cause__]
            pending.append(inner.__context__)
