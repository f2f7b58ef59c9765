"""The process that runs kernels: `python -m ireebench.measure.worker JOB_FOLDER`.

It reads `job.json`, and for each group makes the inputs, loads and checks every entry alone, then times the good ones
in interleaved rounds. It announces and reports every step in the journal, so that its death costs one entry; started
again on the same folder, it goes on where the journal ends.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ireebench.errors import UserError
from ireebench.measure import progress
from ireebench.measure.device import describe, kind_of
from ireebench.measure.group_run import GroupRun
from ireebench.measure.job import Job
from ireebench.measure.journal import Journal
from ireebench.measure.timers import table as timers
from ireebench.measure.workplace import EXIT_FATAL, EXIT_SECONDS, Worker
from ireebench.outcome import Failure, Status

if TYPE_CHECKING:
    pass

JOB = "job.json"
LOCK = "worker.lock"
LOCK_WAIT_S = 10.0


def work(worker: Worker) -> None:
    """Goes through all groups of the job."""
    worker.journal.write("session", pid=os.getpid(), device=worker.job.device)
    with worker.timer.session(worker.job.device):
        for number, group in enumerate(worker.job.groups):
            if any(not worker.progress.over(e.key) for e in group.entries):
                GroupRun(worker, number, group).run()
    worker.journal.write("done")
    worker.journal.close()


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
                work(Worker(folder, job, timers.load(job.timer)))
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
