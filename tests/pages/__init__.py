"""Owns the tests of what people read: README, CONTRIBUTING and the pages of docs/."""
