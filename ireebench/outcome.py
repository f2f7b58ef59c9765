"""How a candidate can end: one enumeration of statuses, shared by compiler, worker, store and reports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """The outcome of a trial. Every status but `OK` carries a reason that a person can act on."""

    OK = "ok"
    REJECTED = "rejected"  # a constraint refused it before anything ran
    COMPILE_FAILED = "compile_failed"
    COMPILE_TIMEOUT = "compile_timeout"
    NOT_APPLIED = "not_applied"  # it compiled, but the dumps show another configuration than the one asked for
    RUN_FAILED = "run_failed"
    RUN_TIMEOUT = "run_timeout"
    WRONG_RESULT = "wrong_result"
    UNAVAILABLE = "unavailable"  # a tool, package, device or instruction that is not here


class Stage(StrEnum):
    """How far a trial came."""

    PLANNED = "planned"
    COMPILED = "compiled"
    CHECKED = "checked"
    TIMED = "timed"


@dataclass(frozen=True, slots=True)
class Failure:
    """An outcome other than ok. `reason` is one line; `known` is the upstream issue that explains it, if any."""

    status: Status
    reason: str
    stage: Stage = Stage.PLANNED
    known: str | None = None
    reproducer: str | None = None  # path of what the compiler left behind on a crash
