"""Owns the tests of ``scaly-viz run``."""
