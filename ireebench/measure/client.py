"""Runs a job in worker processes, and turns whatever happens to them into one outcome an entry."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ireebench.errors import OutputError
from ireebench.measure import journal, progress
from ireebench.measure.job import Job
from ireebench.measure.journal import Event, Item, Journal, Tail
from ireebench.measure.progress import Progress
from ireebench.measure.result import EntryResult
from ireebench.outcome import Failure, Stage, Status
from ireebench.procs import Supervised, describe_exit

JOB = "job.json"
LOG = "worker.log"

# From the start of a worker to its first event, and between items: imports, opening the device, starting a profiler.
BETWEEN_ITEMS_S = 300.0
# Making inputs and their reference is host work that grows with the problem: this many times an entry's time.
PREPARE_FACTOR = 10.0
# Workers in a row that end without having moved the job on: then the rest of the job is given up.
MOST_FRUITLESS_STARTS = 2
# What a worker may have wanted to write last: a turn's samples with a few kernels.
_PROBE_BYTES = 256 * 1024
_KEPT = "what is measured is kept; run it again when that is mended"
# Each look at the journal takes a little of the machine that is being measured.
_POLL_S = 0.05

OnEvent = Callable[[Event], None]


def run_job(
    job: Job,
    folder: Path,
    *,
    python: str = sys.executable,
    on_event: OnEvent | None = None,
    wrap: tuple[str, ...] = (),
    deadline: float | None = None,
) -> Iterator[EntryResult]:
    """Runs a job and yields the outcome of each entry as soon as it is known; every entry gets exactly one.

    At `deadline` (of `time.monotonic`) the worker is killed, and the entries that are not over then get none.

    `folder` keeps the job, its journal and samples: a folder of the same job is gone on with, of another is begun
    anew. `wrap` is put before the worker's command line (a profiler). A worker that dies or hangs costs the entry that
    it was at; the rest go on in a fresh one. When the iterator is closed, or this process dies, the worker is killed.
    Raises OutputError when the folder cannot be written.
    """
    try:
        _prepare_folder(job, folder)
    except OSError as e:
        raise OutputError(f"{folder}: cannot be written: {e.strerror}") from e
    command = (*wrap, python, "-m", "ireebench.measure.worker", str(folder.resolve()))
    return _Run(job, folder, command, on_event or (lambda event: None), deadline).results()


def _prepare_folder(job: Job, folder: Path) -> None:
    """Writes `job.json`; drops what another job left in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / JOB
    text = job.to_json()
    if not path.exists() or path.read_text() != text:
        for name in (journal.JOURNAL, journal.SAMPLES):
            (folder / name).unlink(missing_ok=True)
        temporary = folder / f"{JOB}.new"
        temporary.write_text(text)
        temporary.replace(path)


@dataclass(slots=True)
class _Run:
    """One call of `run_job`."""

    job: Job
    folder: Path
    command: tuple[str, ...]
    on_event: OnEvent
    deadline: float | None
    _progress: Progress = field(default_factory=Progress)
    _yielded: set[str] = field(default_factory=set)

    def results(self) -> Iterator[EntryResult]:
        """Starts workers until every entry is over."""
        self._progress = progress.read(self.folder)
        self._give_up_repeaters()
        yield from self._news()
        fruitless = 0
        while self._pending() and not self._late():
            before = self._steps_done()
            try:
                yield from self._one_worker()
            except OSError as e:  # the folder was removed, or its disk is full
                raise OutputError(f"{self.folder}: cannot be written any more: {e.strerror}; {_KEPT}") from e
            moved = self._steps_done() != before
            fruitless = 0 if moved else fruitless + 1
            if fruitless >= MOST_FRUITLESS_STARTS:
                self._abandon(self._last_words())
                yield from self._news()

    def _late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _pending(self) -> list[str]:
        return [e.key for e in progress.entries_of(self.job) if not self._progress.over(e.key)]

    def _steps_done(self) -> tuple[int, int, int, int]:
        p = self._progress
        return len(p.failures), len(p.checks), len(p.turns), len(p.finished)

    def _news(self) -> Iterator[EntryResult]:
        """Results of entries that are over and were not yielded yet."""
        for entry in progress.entries_of(self.job):
            if self._progress.over(entry.key) and entry.key not in self._yielded:
                self._yielded.add(entry.key)
                yield progress.result_of(self.job, entry, self._progress, self.folder)

    def _one_worker(self) -> Iterator[EntryResult]:
        """Follows one worker from start to end, and books its death, if any."""
        tail = Tail(self.folder)
        ended: int | None = None
        last_event = time.monotonic()
        with (self.folder / LOG).open("ab") as log, Supervised(self.command, stdout=log, stderr=log) as worker:
            log.seek(0, os.SEEK_END)
            while ended is None:
                # Asked before the journal is read, so that a dying worker's last lines are not missed.
                ended = worker.poll()
                for event in tail.events():
                    last_event = time.monotonic()
                    self._progress.add(event)
                    self.on_event(event)
                yield from self._news()
                if ended is None:
                    if self._late():
                        worker.close()
                        break
                    if (overdue := self._overdue(time.monotonic() - last_event)) is not None:
                        worker.close()
                        for event in tail.events():
                            self._progress.add(event)
                        self._book_timeout(overdue)
                        break
                    time.sleep(_POLL_S)
        if ended is not None:
            if ended != 0:
                self._ensure_writable()
            self._book_end(ended)
        yield from self._news()

    def _ensure_writable(self) -> None:
        """Raises OSError where a worker may have died because it could not write: nobody's outcome but the disk's."""
        probe = self.folder / "probe"
        try:
            with probe.open("wb") as file:
                file.write(bytes(_PROBE_BYTES))
                file.flush()
                os.fsync(file.fileno())
        finally:
            probe.unlink(missing_ok=True)

    def _overdue(self, quiet_s: float) -> float | None:
        """The limit in seconds that the worker has exceeded since its last event; None while it has not."""
        item = self._progress.in_flight
        limit = self.job.protocol.entry_timeout_s
        if item is None:
            limit = max(BETWEEN_ITEMS_S, limit)
        elif item.phase == "prepare":
            limit *= PREPARE_FACTOR
        return limit if quiet_s > limit else None

    def _book_timeout(self, limit_s: float) -> None:
        item = self._progress.in_flight
        if item is not None:
            self._lose(item, Status.RUN_TIMEOUT, f"killed after {limit_s:g} s while {item}")

    def _book_end(self, code: int) -> None:
        """What a worker's end means for the entry it was at."""
        if self._progress.fatal is not None:
            self._abandon(self._progress.fatal)
            return
        item = self._progress.in_flight
        if item is not None and code != 0:
            hint = " (out of memory?)" if describe_exit(code) == "SIGKILL" else ""
            words = f"worker died with {describe_exit(code)}{hint} while {item}"
            self._lose(item, Status.RUN_FAILED, f"{words}{self._log_tail() if code > 0 else ''}")

    def _lose(self, item: Item, status: Status, reason: str) -> None:
        """Books the outcome of what was in flight: one entry's, or a whole group's while its inputs were made."""
        failure = Failure(status, reason, progress.stage_before(item))
        if item.phase == "prepare":
            group = self.job.groups[int(item.entry.removeprefix("group "))]
            lost = [Item(e.key, "load") for e in group.entries if not self._progress.over(e.key)]
        else:
            lost = [item]
        self._write([(item, failure), *((i, failure) for i in lost if i != item)])

    def _abandon(self, failure: Failure) -> None:
        """Gives everything that is left the same outcome; not journalled, so that a later run tries again."""
        self._progress.failures |= dict.fromkeys(self._pending(), failure)

    def _write(self, outcomes: list[tuple[Item, Failure]]) -> None:
        book = Journal(self.folder)
        tail = Tail(self.folder)
        for item, failure in outcomes:
            book.write("lost", item, **progress.failure_data(failure))
        book.close()
        for event in tail.events():
            self._progress.add(event)
            self.on_event(event)

    def _give_up_repeaters(self) -> None:
        """Entries that were in flight when ireebench or the machine ended, more than once."""
        for item, count in list(self._progress.begins.items()):
            if count >= progress.MOST_BEGINS:
                reason = f"ireebench or the machine ended {count} times while {item}"
                self._lose(item, Status.RUN_FAILED, reason)

    def _last_words(self) -> Failure:
        tail = self._log_tail() or f": see {self.folder / LOG}"
        return Failure(Status.RUN_FAILED, f"the worker ends before it measures anything{tail}", Stage.COMPILED)

    def _log_tail(self) -> str:
        lines = [line for line in (self.folder / LOG).read_text(errors="replace").splitlines() if line.strip()]
        return f": {lines[-1].strip()}" if lines else ""
