"""Owns requests to a tracing backend: who asks, how long it may take, and what went wrong in one line."""

from __future__ import annotations

import ipaddress
import json
import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self
from urllib.parse import urljoin, urlsplit

import requests
import urllib3
from requests.auth import AuthBase, HTTPBasicAuth

from scaly_viz._version import __version__
from scaly_viz.errors import BackendError
from scaly_viz.settings import BACKEND_HEADERS, BACKEND_TIMEOUT, BackendSettings, read_backend
from scaly_viz.sources.address import Address

MAX_TRACE_BYTES = 256 * 1024**2

_CHUNK_BYTES = 64 * 1024
_ERROR_BYTES = 64 * 1024
_CONNECT_S = 10.0
_MOST_REDIRECTS = 5
_SHOWN_LETTERS = 200
_PORTS = {"jaeger": "query service, port 16686", "tempo": "HTTP API, port 3200"}

type Parameters = Mapping[str, str]


class StatusError(BackendError):
    """An answer of another status than 200; ``reason`` is what the API says, empty where it was no API."""

    def __init__(self, message: str, status: int, reason: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class NoApiError(BackendError):
    """An answer that is no JSON: something else than the API is at that path."""


class Body:
    """The body of an answer. ``read`` fails where too much comes without a call of ``allow_more``."""

    def __init__(self, chunks: Iterator[bytes], client: HttpClient) -> None:
        self._chunks = chunks
        self._client = client
        self._left = MAX_TRACE_BYTES
        self._held = b""
        self.tail = b""
        """The last kilobytes that were read."""

    def allow_more(self) -> None:
        """Allow ``MAX_TRACE_BYTES`` from here on: what was read is done with."""
        self._left = MAX_TRACE_BYTES

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, empty at the end; ``size`` only tells whether there may be any."""
        if size == 0:
            return b""
        chunk, self._held = self._held or next(self._chunks, b""), b""
        self._left -= len(chunk)
        if self._left < 0:
            size_said = f"{MAX_TRACE_BYTES / 1e6:,.0f} MB"
            raise self._client.error(f"answers a trace of more than {size_said}; it was not read")
        self.tail = (self.tail + chunk)[-_ERROR_BYTES:]
        return chunk

    def read_all(self) -> bytes:
        """Return the rest."""
        return b"".join(iter(self.read, b""))

    def start(self) -> bytes:
        """Return the first bytes that are no white space, without reading them."""
        while not self._held.lstrip():
            chunk = next(self._chunks, b"")
            if not chunk:
                break
            self._held = chunk
        return self._held.lstrip()


class HttpClient:
    """Asks one backend. Credentials go to its own host, port and scheme only."""

    def __init__(self, address: Address, settings: BackendSettings | None = None) -> None:
        self._address = address
        self._settings = settings or read_backend()
        self._session = requests.Session()
        self._session.headers["User-Agent"] = f"scaly-viz/{__version__}"
        self._session.auth = _Credentials(address, self._settings)
        if _is_loopback(address.host):
            self._session.proxies = {"http": "", "https": ""}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._session.close()

    @contextmanager
    def get(self, path: str, parameters: Parameters) -> Iterator[Body]:
        """Ask for ``path`` below the base path and yield the body of the answer, which is JSON.

        Raises:
            StatusError: the status is not 200.
            NoApiError: the answer is no JSON.
            BackendError: there is no answer, or it breaks off.
        """
        with self._explained():
            response = self._response(self._address.url + path, parameters)
            try:
                body = Body(response.iter_content(_CHUNK_BYTES), self)
                self._check(response, body, path)
                yield body
            finally:
                response.close()

    def error(self, text: str) -> BackendError:
        """Return an error that names the backend."""
        return BackendError(f"{self._address}: {text}")

    def _response(self, url: str, parameters: Parameters) -> requests.Response:
        timeout = self._settings.timeout_s
        for _ in range(_MOST_REDIRECTS):
            response = self._session.get(
                url,
                params=parameters,
                headers={"Accept": "application/json"},
                stream=True,
                allow_redirects=False,
                timeout=(min(timeout, _CONNECT_S), timeout),
            )
            if not response.is_redirect:
                return response
            target = urljoin(url, response.headers["location"])
            response.close()
            if _origin(target) != _origin(url):
                where = _clean(f"{urlsplit(target).scheme}://{urlsplit(target).hostname}")
                raise self.error(
                    f"redirects to {where}, where credentials are not sent: a login page? If the"
                    " backend is there, give that address"
                )
            url, parameters = target, {}
        raise self.error("redirects in a circle")

    def _check(self, response: requests.Response, body: Body, path: str) -> None:
        status = response.status_code
        is_page = "html" in response.headers.get("Content-Type", "").lower()
        if status != 200:
            data = body.read()[:_ERROR_BYTES]
            reason = "" if is_page else _reason(data)
            raise StatusError(
                f"{self._address}: {self._status_in_words(response, path, reason)}", status, reason
            )
        start = body.start()
        if is_page or start.startswith(b"<"):
            raise NoApiError(
                f"{self._address}: answers an HTML page ({_title(start)}) instead of JSON at {path}:"
                f" no {self._address.system} API is there; its {_PORTS[self._address.kind]}, or a base"
                " path is missing in the address, as in http://HOST/jaeger/ui"
            )
        if not start.startswith(b"{"):
            raise NoApiError(f"{self._address}: does not answer JSON at {path}")

    def _status_in_words(self, response: requests.Response, path: str, reason: str) -> str:
        status = response.status_code
        said = f": {reason}" if reason else ""
        if status in (401, 407):
            return (
                f"{status}: it wants credentials{said}; give them in {BACKEND_HEADERS.name}, as"
                " Authorization=Bearer%20TOKEN, or as http://USER:PASSWORD@HOST"
            )
        if status == 403:
            return f"403: these credentials are not allowed to read it{said}"
        if status == 404 and not reason:
            return (
                f"404: there is no {path}; its {_PORTS[self._address.kind]}, or a base path is missing"
                " in the address"
            )
        if status in (429, 503):
            wait = _clean(response.headers.get("Retry-After", ""))
            return f"{status}: too busy{said}; try again {f'in {wait} s' if wait else 'later'}"
        return f"{status} {_clean(response.reason or '')}{said}"

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise self.error(self._in_words(error)) from None  # whose text may hold the URL

    def _in_words(self, error: BaseException) -> str:
        causes = [*_chain(error)]
        tls = next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None)
        if tls is not None or isinstance(error, requests.exceptions.SSLError):
            why = getattr(tls, "verify_message", "") or getattr(tls, "reason", "") or "no agreement"
            return (
                f"TLS failed: {_clean(str(why))}; REQUESTS_CA_BUNDLE names the file of an authority's"
                " certificates"
            )
        if any(isinstance(cause, requests.exceptions.ProxyError) for cause in causes):
            return "the proxy of HTTP_PROXY or HTTPS_PROXY cannot be reached or refuses"
        if any(isinstance(cause, urllib3.exceptions.NameResolutionError) for cause in causes):
            return f"there is no host {_clean(self._address.host)!r}"
        if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
            return (
                f"connection refused: is {self._address.system} running (its"
                f" {_PORTS[self._address.kind]})?"
            )
        # Last of these: urllib3 calls some of the others a kind of time-out.
        if any(isinstance(cause, _TIMEOUTS) for cause in causes):
            return (
                f"no answer within {self._settings.timeout_s:g} s;"
                f" {BACKEND_TIMEOUT.name} sets how long to wait"
            )
        system = next((c for c in causes if isinstance(c, OSError) and c.strerror), None)
        if isinstance(error, requests.exceptions.ConnectionError):
            cause = f": {system.strerror}" if system else ""
            return f"the connection failed or broke off{cause}"
        return f"the answer broke off or is damaged ({type(error).__name__})"


_TIMEOUTS = (
    requests.exceptions.Timeout,
    urllib3.exceptions.TimeoutError,
    TimeoutError,
)


class _Credentials(AuthBase):
    """Sets what the environment and the address say, and keeps ``.netrc`` from setting anything else."""

    def __init__(self, address: Address, settings: BackendSettings) -> None:
        self._address = address
        self._settings = settings

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._address.user or self._address.password:
            # requests would encode text as Latin-1.
            user, password = self._address.user.encode(), self._address.password.encode()
            HTTPBasicAuth(user, password)(request)
        for name, value in self._settings.headers:
            request.headers[name] = value
        return request


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield ``error`` and all that it was made from."""
    pending, seen = [error], set[int]()
    while pending:
        current = pending.pop()
        if isinstance(current, BaseException) and id(current) not in seen:
            seen.add(id(current))
            yield current
            reason = getattr(current, "reason", None)
            inner = [argument for argument in current.args if isinstance(argument, BaseException)]
            pending += [current.__cause__, current.__context__, reason, *inner]


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    with suppress(ValueError):
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
        return parts.scheme, parts.hostname or "", port
    return "", "", None


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def _reason(data: bytes) -> str:
    """Return what the API says of an error: as Jaeger does, else as plain text."""
    text = data.decode("utf-8", "replace").strip()
    if text.startswith("<"):
        return ""
    with suppress(ValueError, RecursionError, TypeError, KeyError):
        error = json.loads(text)["error"]
        return _clean(str(error["message"] if isinstance(error, dict) else error))
    return _clean(text.partition("\n")[0])


def _title(data: bytes) -> str:
    title = re.search(rb"<title[^>]*>([^<]{1,200})", data, re.IGNORECASE)
    return repr(_clean(title[1].decode("utf-8", "replace").strip())) if title else "without a title"


def _clean(text: str) -> str:
    """Return text from elsewhere so that it can neither flood nor steer a terminal."""
    return "".join(c if c.isprintable() else " " for c in text[:_SHOWN_LETTERS])
