"""The process that runs kernels: `python -m ireebench.measure.worker JOB_FOLDER`.

It reads `job.json`, and for each group makes the inputs, loads and checks every entry alone, then times the good ones
in interleaved rounds. It announces and reports every step in the journal, so that its death costs one entry; started
again on the same folder, it goes on where the journal ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn

from ireebench.errors import UserError
from ireebench.measure import progress
from ireebench.measure.device import describe, kind_of
from ireebench.measure.group_run import RUN_ERRORS, GroupRun
from ireebench.measure.job import Job
from ireebench.measure.journal import Item, Journal
from ireebench.measure.timers import table as timers
from ireebench.measure.timers.base import Timer
from ireebench.outcome import Failure, Status

if TYPE_CHECKING:
    from ireebench.measure.artifact_runner import Device

JOB = "job.json"
LOCK = "worker.lock"
LOCK_WAIT_S = 10.0

# The worker asks to be started again: after an error a GPU's context fails every later call, whoever makes it.
EXIT_RESTART = 75
EXIT_FATAL = 70

# The longest that leaving may take: a runtime whose device has failed can wait for it for ever.
EXIT_SECONDS = 20


class Worker:
    """One process's work on a job."""

    def __init__(self, folder: Path, job: Job, timer: Timer) -> None:
        self._folder = folder
        self._job = job
        self._timer = timer
        self._progress = progress.read(folder)
        self._journal = Journal(folder)
        self._device: Device | None = None

    def run(self) -> None:
        """Goes through all groups."""
        self._journal.write("session", pid=os.getpid(), device=self._job.device)
        with self._timer.session(self._job.device):
            for number, group in enumerate(self._job.groups):
                if any(not self._progress.over(e.key) for e in group.entries):
                    GroupRun(self, number, group).run()
        self._journal.write("done")
        self._journal.close()

    @property
    def job(self) -> Job:
        """The job."""
        return self._job

    @property
    def folder(self) -> Path:
        """The job's folder."""
        return self._folder

    @property
    def timer(self) -> Timer:
        """The timer of every entry."""
        return self._timer

    @property
    def progress(self) -> progress.Progress:
        """What is known so far, earlier processes included."""
        return self._progress

    @property
    def journal(self) -> Journal:
        """Where everything is written."""
        return self._journal

    @property
    def device(self) -> Device:
        """The IREE device; opened when first needed, so that a job of baselines alone needs none."""
        if self._device is None:
            from ireebench.measure.artifact_runner import Device

            self._device = Device(self._job.device)
        return self._device

    def fail(self, item: Item, failure: Failure, **data: object) -> None:
        """Records an entry's outcome."""
        self._journal.write("failed", item, **progress.failure_data(failure), **data)
        self._progress.failures[item.entry] = failure

    @contextlib.contextmanager
    def item(self, item: Item) -> Iterator[dict[str, object]]:
        """Journals begin and end around a step; what the caller puts in the dictionary goes with the end.

        An error of the step becomes the entry's failure (something missing: unavailable). After an error on a GPU this
        process ends, and a fresh one goes on.
        """
        self._journal.write("begin", item)
        data: dict[str, object] = {}
        try:
            yield data
        except UserError as e:
            self.fail(item, Failure(Status.UNAVAILABLE, _one_line(e), progress.stage_before(item)))
        except RUN_ERRORS as e:
            reason = f"{_one_line(e)} (while {item})"
            self.fail(item, Failure(Status.RUN_FAILED, reason, progress.stage_before(item)))
            if kind_of(self._job.device) != "cpu" and item.phase != "prepare":
                self._restart()
        else:
            if not self._progress.failures.get(item.entry):
                self._journal.write("end", item, **data)

    def _restart(self) -> NoReturn:
        """Ends this process at once: taking a failed device down in order may never end.

        A profiler around the process writes its files at an orderly exit, so there that is tried, for a while.
        """
        self._journal.close()
        if timers.find_timer(self._job.timer).whole_process:
            signal.alarm(EXIT_SECONDS)
            sys.exit(EXIT_RESTART)
        os._exit(EXIT_RESTART)


def _one_line(error: BaseException) -> str:
    """An error's first line, without the VM's trail ("; while invoking ...")."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].partition("; while ")[0] if lines else type(error).__name__


def _lock(folder: Path) -> IO[bytes]:
    """Holds the folder: a worker of an ireebench that was just killed may need a moment to die.

    Raises TimeoutError when another worker keeps it.
    """
    file = (folder / LOCK).open("ab")
    deadline = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{folder}: another worker is measuring here") from None
            time.sleep(0.05)
        else:
            return file


def _unusable(job: Job) -> str | None:
    """None when this process can measure the job; else what is missing."""
    if kind_of(job.device) != "cpu":
        describe(job.device)  # raises where there is no such device
    return timers.missing(job.timer, job.device) or timers.refuses(job.timer, job.protocol.cache)


def main(folder: Path) -> int:
    """Works on a job; returns 0 when all entries are over, EXIT_RESTART or EXIT_FATAL."""
    with _lock(folder):
        try:
            job = Job.read(folder / JOB)
            reason = _unusable(job)
            if reason is None:
                Worker(folder, job, timers.load(job.timer)).run()
                return 0
        except UserError as e:
            reason = str(e)
        log = Journal(folder)
        log.write("fatal", **progress.failure_data(Failure(Status.UNAVAILABLE, reason)))
        log.close()
        return EXIT_FATAL


if __name__ == "__main__":
    _code = main(Path(sys.argv[1]))
    signal.alarm(EXIT_SECONDS)
    sys.exit(_code)
