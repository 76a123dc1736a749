"""Owns listening: the socket, waitress on it, and what the user is told of both."""

from __future__ import annotations

import errno
import ipaddress
import logging
import os
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from types import FrameType

import click
import waitress  # type: ignore[import-untyped]  # it comes without types

from scaly_viz.errors import ScalyVizError
from scaly_viz_viewer.api import STREAMS
from scaly_viz_viewer.app import make_app
from scaly_viz_viewer.config import Config
from scaly_viz_viewer.requested import EXTENSION
from scaly_viz_viewer.streams import MAX_STREAMS, Streams

# A browser opens six connections at once, and a stream of events keeps its thread.
_THREADS = 8 + MAX_STREAMS
_MAX_PORT = 65_535
# On Windows SO_REUSEADDR would let a second server, anybody's, listen at our port.
_BIND_OPTION: int = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)


def run(
    host: str,
    port: int,
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None,
    *,
    open_browser: bool,
    page: str = "",
) -> None:
    """Serve until interrupted; see ``scaly_viz_viewer.serve``."""
    app = make_app(path, Config(host=host))
    # It warns of every request that waits for a thread, as all may while a big file is first read.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    streams: Streams = app.extensions[STREAMS]
    with listen(host, port) as listening, suppress(KeyboardInterrupt), _on_interrupt(streams.close):
        server = waitress.create_server(
            app,
            sockets=[listening],
            threads=_THREADS,
            ident=None,
            max_request_body_size=1024,
            channel_request_lookahead=1,  # without it nobody tells that a client has gone
        )
        with closing(server):
            _announce(host, url := url_of(host, listening.getsockname()[1]))
            # A big file takes seconds to read the first time, and a console browser runs until it is quit.
            _in_background(app.extensions[EXTENSION].recordings)
            if open_browser:
                _in_background(webbrowser.open, url + page)
            server.run()


@contextmanager
def _on_interrupt(call: Callable[[], None]) -> Iterator[None]:
    """Have ``call`` called at Ctrl-C, before the server waits for its threads to end.

    From then on waitress is quiet: whoever stops a server knows that requests were under way.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    log = logging.getLogger("waitress")
    level = log.level

    def interrupted(_: int, __: FrameType | None) -> None:
        call()
        log.setLevel(logging.ERROR)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        log.setLevel(level)


def _announce(host: str, url: str) -> None:
    with suppress(BrokenPipeError):  # nobody reads it: that is no reason not to serve
        click.echo(f"scaly-viz serves at {url} (Ctrl-C stops it)")
        if is_reachable_by_others(host):
            click.echo(f"It listens on {host}: whoever can reach it can read the recordings")


def _in_background(function: Callable[..., object], *arguments: object) -> None:
    threading.Thread(target=function, args=arguments, daemon=True).start()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket bound to ``host`` and ``port``.

    Raises:
        ScalyVizError: it cannot be had; says what to do instead.
    """
    if not 0 <= port <= _MAX_PORT:  # which getaddrinfo would take modulo 65,536
        raise ScalyVizError(f"cannot listen on {host}:{port}: a port is a number up to {_MAX_PORT}")
    try:
        (family, kind, number, _, address), *_ = socket.getaddrinfo(
            host.strip("[]") or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as error:
        raise ScalyVizError(f"cannot listen on {host}:{port}: {_cause(error)}") from error
    listening = socket.socket(family, kind, number)
    try:
        listening.setsockopt(socket.SOL_SOCKET, _BIND_OPTION, 1)
        listening.bind(address)
        # Of two servers that bind one after the other, Linux refuses the second only now.
        listening.listen()
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise ScalyVizError(
                f"port {port} of {host} is in use: stop what listens there, or choose another"
                " with --port (0 takes a free one)"
            ) from error
        raise ScalyVizError(f"cannot listen on {host}:{port}: {_cause(error)}") from error
    return listening


def url_of(host: str, port: int) -> str:
    """Return the address of the page for a browser on this machine."""
    name = host.strip("[]")
    address = _address(name)
    if not name or (address is not None and address.is_unspecified):
        name = "127.0.0.1" if address is None or address.version == 4 else "::1"
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"


def is_reachable_by_others(host: str) -> bool:
    """Tell whether a server on ``host`` may be reached from other machines."""
    name = host.strip("[]")
    address = _address(name)
    return not address.is_loopback if address is not None else name != "localhost"


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _cause(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
