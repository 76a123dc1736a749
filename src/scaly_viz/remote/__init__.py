"""Owns lists of what a tracing backend has: quick to ask again, each recording opened by itself."""

from __future__ import annotations

from scaly_viz.remote.listing import Listing

__all__ = ["Listing"]
