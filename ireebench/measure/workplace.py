"""What a worker process has at hand: the job, its journal, the timer, the device; and how its steps may fail."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ireebench.errors import UserError
from ireebench.measure import progress
from ireebench.measure.device import kind_of
from ireebench.measure.job import Job
from ireebench.measure.journal import Item, Journal
from ireebench.measure.timers import table as timers
from ireebench.measure.timers.base import Timer
from ireebench.outcome import Failure, Status

if TYPE_CHECKING:
    from ireebench.measure.artifact_runner import Device

# The worker asks to be started again: after an error a GPU's context fails every later call, whoever makes it.
EXIT_RESTART = 75
EXIT_FATAL = 70

# The longest that leaving may take: a runtime whose device has failed can wait for it for ever.
EXIT_SECONDS = 20


# What the runtime, a library or the operating system raise when a launch, a load or an allocation fails.
RUN_ERRORS = (RuntimeError, ValueError, OSError, MemoryError, LookupError, TypeError, ImportError)
# What writing the journal or the samples raises on a disk that is full.
DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Worker:
    """One process's work on a job."""

    def __init__(self, folder: Path, job: Job, timer: Timer) -> None:
        self._folder = folder
        self._job = job
        self._timer = timer
        self._progress = progress.read(folder)
        self._journal = Journal(folder)
        self._device: Device | None = None

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
            if isinstance(e, OSError) and e.errno in DISK_ERRORS:
                raise  # no outcome of the entry's: the client says so and the next run tries again
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
