"""Owns the tests of what recordings are exported to."""
