"""Owns which Host headers are answered, so that no foreign name that points here can read recordings."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass

_HEADER = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[0-9a-z._-]{1,253})(:[0-9]{1,5})?", re.ASCII)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names that a request may ask for, with any port.

    ``any_address`` allows every IP address: a page of another site can be at a name of its own that
    leads here, but not at our address.
    """

    names: frozenset[str]
    any_address: bool

    def allow(self, header: str | None) -> bool:
        """Tell whether ``header``, a request's Host, names this server."""
        match = _HEADER.fullmatch((header or "").lower())
        if match is None:
            return False
        name = match[1].strip("[]")
        address = _address(name)
        return (str(address) if address else name) in self.names or (
            self.any_address and address is not None
        )


def hosts_of(host: str) -> Hosts:
    """Return what a server that listens on ``host`` answers: loopback names, and ``host``.

    All interfaces (``0.0.0.0``, ``::``) have no name of their own: then it is every IP address, and
    this machine's name.
    """
    name = host.strip("[]").lower()
    address = _address(name)
    if not name or (address is not None and address.is_unspecified):
        return Hosts(_LOOPBACK | {socket.gethostname().lower()}, any_address=True)
    return Hosts(_LOOPBACK | {str(address) if address else name}, any_address=False)


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None
