"""Owns the viewer as one HTML file: recordings with all answers of the API that a page asks for, and the page."""
