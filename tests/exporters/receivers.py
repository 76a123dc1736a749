"""Owns backends that do as a test says: a real HTTP server and a real gRPC server, on loopback."""

from __future__ import annotations

import gzip
import http.server
import json
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from scaly_viz_exporters.span_lines import spans_of


@dataclass
class Received:
    """One request. ``names`` are those of its spans, in order; ``size`` is its bytes uncompressed."""

    path: str
    headers: dict[str, str]
    request: ExportTraceServiceRequest
    size: int
    at: float = field(default_factory=time.monotonic)

    @property
    def names(self) -> list[str]:
        return [
            span.name
            for resource in self.request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@dataclass(frozen=True)
class Answer:
    """What the HTTP receiver does with a request."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    delay_s: float = 0.0
    resets: bool = False
    raw: bytes = b""


OK = Answer(headers={"content-type": "application/x-protobuf"})


def partly(rejected: int, message: str) -> Answer:
    """Return the answer that takes a message but for ``rejected`` spans."""
    response = ExportTraceServiceResponse()
    response.partial_success.rejected_spans = rejected
    response.partial_success.error_message = message
    return Answer(
        headers={"content-type": "application/x-protobuf"}, body=response.SerializeToString()
    )


type Decide = Callable[[Received], Answer]


class HttpReceiver:
    """An OTLP/HTTP receiver that answers as ``decide`` says."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.decide: Decide = lambda received: OK
        self.url = ""
        self.closes = threading.Event()

    def answers(self, *answers: Answer) -> None:
        """Give ``answers`` one after the other, the last one for ever."""
        left = list(answers)
        self.decide = lambda received: left.pop(0) if len(left) > 1 else left[0]

    @property
    def names(self) -> list[str]:
        """The names of all spans received."""
        return [name for received in self.received for name in received.names]

    def endpoint(self) -> dict[str, str]:
        """Return the environment that leads here."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url}


@contextmanager
def http_receiver(port: int = 0, tls: Any = None) -> Iterator[HttpReceiver]:
    """Run an HTTP receiver."""
    receiver = HttpReceiver()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            received = _received(self.path, headers, body)
            answer = receiver.decide(received)
            receiver.received.append(received)
            self._give(answer)

        def _give(self, answer: Answer) -> None:
            receiver.closes.wait(answer.delay_s)
            if answer.resets:
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
                self.close_connection = True
                return
            if answer.raw:
                self.wfile.write(answer.raw)
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def process_request(self, request: Any, client_address: Any) -> None:
            connections.append(request)
            super().process_request(request, client_address)

        def finish_request(self, request: Any, client_address: Any) -> None:
            with suppress(OSError):
                super().finish_request(request, client_address)

    connections: list[socket.socket] = []
    server = Server(("127.0.0.1", port), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=lambda: server.serve_forever(0.01))
    thread.start()
    try:
        yield receiver
    finally:
        receiver.closes.set()
        server.shutdown()
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        server.server_close()
        thread.join()


def _received(path: str, headers: dict[str, str], body: bytes) -> Received:
    encoding = headers.get("content-encoding")
    data = body
    if encoding:
        data = gzip.decompress(body) if encoding == "gzip" else zlib.decompress(body)
    if headers["content-type"] == "application/json":
        json.loads(data)
        request = encode_spans(spans_of(data))
    else:
        request = ExportTraceServiceRequest.FromString(data)
    return Received(path, headers, request, len(data))


@dataclass(frozen=True)
class Refusal:
    """What the gRPC receiver answers instead of taking a message."""

    code: grpc.StatusCode
    details: str = ""
    retry_s: float | None = None


type DecideGrpc = Callable[[Received], Refusal | ExportTraceServiceResponse]


class GrpcReceiver(trace_service_pb2_grpc.TraceServiceServicer):
    """An OTLP/gRPC receiver that answers as ``decide`` says."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.decide: DecideGrpc = lambda received: ExportTraceServiceResponse()
        self.address = ""

    def answers(self, *answers: Refusal | ExportTraceServiceResponse) -> None:
        """Give ``answers`` one after the other, the last one for ever."""
        left = list(answers)
        self.decide = lambda received: left.pop(0) if len(left) > 1 else left[0]

    @property
    def names(self) -> list[str]:
        """The names of all spans received."""
        return [name for received in self.received for name in received.names]

    def Export(self, request: ExportTraceServiceRequest, context: Any) -> Any:  # noqa: N802
        headers = {str(key): str(value) for key, value in context.invocation_metadata()}
        received = Received("", headers, request, request.ByteSize())
        answer = self.decide(received)
        self.received.append(received)
        if isinstance(answer, Refusal):
            if answer.retry_s is not None:
                info = RetryInfo()
                info.retry_delay.FromNanoseconds(int(answer.retry_s * 1e9))
                status = Status(code=answer.code.value[0], message=answer.details)
                status.details.add().Pack(info)
                packed = ("grpc-status-details-bin", status.SerializeToString())
                context.set_trailing_metadata((packed,))
            context.abort(answer.code, answer.details)
        return answer


@contextmanager
def grpc_receiver(
    credentials: grpc.ServerCredentials | None = None, options: Sequence[tuple[str, int]] = ()
) -> Iterator[GrpcReceiver]:
    """Run a gRPC receiver."""
    receiver = GrpcReceiver()
    pool = ThreadPoolExecutor(4)
    server = grpc.server(pool, options=options)
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(receiver, server)  # type: ignore[no-untyped-call]  # generated
    if credentials is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        port = server.add_secure_port("127.0.0.1:0", credentials)
    receiver.address = f"127.0.0.1:{port}"
    server.start()
    try:
        yield receiver
    finally:
        server.stop(None).wait()
        pool.shutdown()


def waiting(folder: Path) -> list[str]:
    """Return the names of the spans in the files of ``folder``, in the order in which they are sent."""
    files = sorted(folder.glob("*.jsonl"), key=lambda file: (file.name == "spans.jsonl", file.name))
    return [
        span.name
        for file in files
        for line in file.read_bytes().splitlines()
        for span in spans_of(line)
    ]
