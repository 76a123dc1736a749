"""Owns what recordings mean: pure functions from recordings to figures, for the viewer and the command line."""
