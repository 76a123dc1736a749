"""Owns the tests of the backends that compose/ describes."""
