"""Owns the exporters that come with scaly-viz: they know OpenTelemetry's SDK, and nothing of scaly."""
