"""What an emulation found: reports of the sanitizer and counts of what was executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Fault(StrEnum):
    """Kinds of fault."""

    OUT_OF_BOUNDS = "out_of_bounds"
    MISALIGNED = "misaligned"
    UNINITIALISED = "uninitialised"
    RACE = "race"
    MISSING_WAIT = "missing_wait"
    OVERLAP = "overlap"


@dataclass(frozen=True, slots=True)
class Report:
    """One fault, at the first place that showed it; `times` counts lanes that showed it at this line.

    `workgroup` is (x, y, z); `wave` the wave within the workgroup; `lane` within the wave.
    """

    fault: Fault
    kernel: str
    line: int
    lane: int
    wave: int
    workgroup: tuple[int, int, int]
    message: str
    times: int = 1

    def __str__(self) -> str:
        group = ",".join(map(str, self.workgroup))
        where = f"{self.kernel} line {self.line}, lane {self.lane}, wave {self.wave}, workgroup ({group})"
        return f"{self.fault}: {where}: {self.message} ({self.times} lanes)"


@dataclass(slots=True)
class Reports:
    """Collects reports of one kernel, one for each (fault, line, subject)."""

    kernel: str
    first: dict[tuple[Fault, int, str], Report] = field(default_factory=dict)
    times: Counter[tuple[Fault, int, str]] = field(default_factory=Counter)

    def add(self, subject: str, report: Report) -> None:
        """Keeps the first report of a subject at a line and counts the rest."""
        key = (report.fault, report.line, subject)
        self.first.setdefault(key, report)
        self.times[key] += report.times

    def collected(self) -> tuple[Report, ...]:
        """All reports, by line."""
        out = [
            Report(r.fault, r.kernel, r.line, r.lane, r.wave, r.workgroup, r.message, self.times[key])
            for key, r in self.first.items()
        ]
        return tuple(sorted(out, key=lambda r: (r.line, r.fault)))


@dataclass(frozen=True, slots=True)
class Counts:
    """What one dispatch really executed. Never a time.

    `instructions` counts wave-instructions by class, `dpp` those with DPP of any class; `bytes` moved by
    "<space> <direction> b<width>" of the active lanes; `cache_lines` touched by the waves' global accesses, summed over
    instructions (128-byte lines); `lds_conflicts` extra LDS passes (see docs/emulator.md); `loads_in_flight` the most
    loads that one wave had outstanding; `clamped_lanes` lanes whose buffer access the resource's range turned into
    nothing.
    """

    kernel: str
    workgroups: int
    waves: int
    instructions: Mapping[str, int]
    dpp: int
    bytes: Mapping[str, int]
    cache_lines: int
    lds_conflicts: int
    loads_in_flight: int
    clamped_lanes: int

    @property
    def total(self) -> int:
        """All wave-instructions."""
        return sum(self.instructions.values())


@dataclass(slots=True)
class Tally:
    """Counts while they grow."""

    bytes: Counter[str] = field(default_factory=Counter)
    cache_lines: int = 0
    lds_conflicts: int = 0
    loads_in_flight: int = 0
    clamped_lanes: int = 0
