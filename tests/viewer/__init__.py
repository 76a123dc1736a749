"""Tests of the viewer: its API, what it refuses, and the page in a real browser."""
