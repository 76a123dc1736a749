"""Owns bringing recordings from files into a recording file, each once."""
