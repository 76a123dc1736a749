"""Owns the tests of throwing recordings away."""
