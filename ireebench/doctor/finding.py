"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How it stands with one thing."""

    OK = "ok"
    MISSING = "missing"  # not here; the remedy says how to get it, and the name what it is for
    WARNING = "warning"  # here, but something about it makes figures worse or stops a feature
    UNKNOWN = "unknown"  # the check itself failed


@dataclass(frozen=True, slots=True)
class Finding:
    """One line. `essential`: nothing works without it. `remedy` is set for every state but ok."""

    area: str
    name: str
    state: State
    detail: str
    remedy: str | None = None
    essential: bool = False
