"""Owns what ``scaly-viz doctor`` looks at, and how a finding is told: what is so, and what to do about it."""

from __future__ import annotations

import enum

import msgspec


class Verdict(enum.Enum):
    """How a finding is."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    PROBLEM = "problem"


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at; ``advice`` says what to do, where something is to be done."""

    area: str
    verdict: Verdict
    text: str
    advice: str = ""
