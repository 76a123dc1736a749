"""Owns the formats that recordings are exported to: a module each, listed in ``formats.py``."""
