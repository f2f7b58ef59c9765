"""Watches the device around each measuring process: a cooling gate before; clocks, power, throttling on both sides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ireebench.measure.campaign import RunJob
from ireebench.measure.job import Job
from ireebench.measure.result import EntryResult
from ireebench.measure.telemetry import Telemetry, read, wait_until_cool

# Below the temperatures at which H200 (about 87 C) and MI300X (about 100 C) cards begin to slow down.
COOL_BELOW_C = 80.0
WAIT_AT_MOST_S = 120.0


@dataclass(frozen=True, slots=True)
class Session:
    """One process's readings. `waited_s` is how long the gate held it back."""

    process: int
    device: str
    waited_s: float
    before: tuple[tuple[str, str], ...]
    after: tuple[tuple[str, str], ...]

    @property
    def throttled(self) -> str | None:
        """What slowed the device down at the end; None where nothing did or nothing is told."""
        told = dict(self.after).get("throttled")
        return None if told in (None, "no") else told


def watched(run_job: RunJob, keep: Callable[[Session], None], reading: Callable[[str], Telemetry] = read) -> RunJob:
    """`run_job` behind the gate; `keep` receives a Session when a process has ended."""

    def run(job: Job, folder: Path) -> Iterator[EntryResult]:
        cooling = wait_until_cool(job.device, COOL_BELOW_C, WAIT_AT_MOST_S, reading)
        before = reading(job.device).details()
        yield from run_job(job, folder)
        keep(Session(job.process, job.device, cooling.waited_s, before, reading(job.device).details()))

    return run
