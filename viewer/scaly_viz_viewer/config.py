"""Owns what an application can be told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Config:
    """Choices of an application; each has a default that suits one user on one machine.

    Attributes:
        host: what the server listens on; requests that name it are answered, besides loopback.
    """

    host: str = "127.0.0.1"
