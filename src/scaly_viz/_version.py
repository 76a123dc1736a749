"""Owns the version of scaly-viz."""

__version__ = "0.1.0"
