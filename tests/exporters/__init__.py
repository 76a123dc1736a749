"""Owns the tests of the exporters."""
