"""Owns what scaly-viz knows of scaly: marks, the render observer, and taking payloads from its objects."""
