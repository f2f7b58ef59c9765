"""The process that runs kernels: `python -m ireebench.measure.worker JOB_FOLDER`.

It reads `job.json`, and for each group makes the inputs, loads and checks every entry alone, then times the good ones
in interleaved rounds. It announces and reports every step in the journal, so that its death costs one entry; started
again on the same folder, it goes on where the journal ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn

from ireebench.measure import checking, progress, protocol
from ireebench.measure.baselines import table as baselines
from ireebench.measure.device import describe, kind_of
from ireebench.measure.job import CachePolicy, Entry, Group, Job
from ireebench.measure.journal import Item, Journal
from ireebench.measure.runnable import Array, Runnable
from ireebench.measure.sampling import collect
from ireebench.measure.timers import table as timers
from ireebench.measure.timers.base import Invocation, Timer
from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.ops.table import op_of

if TYPE_CHECKING:
    from ireebench.measure.artifact_runner import Device, DeviceInputs

JOB = "job.json"
LOCK = "worker.lock"
LOCK_WAIT_S = 10.0

# The worker asks to be started again: after an error a GPU's context fails every later call, whoever makes it.
EXIT_RESTART = 75
EXIT_FATAL = 70

# What the runtime, a library or the operating system raise when a launch, a load or an allocation fails.
_RUN_ERRORS = (RuntimeError, ValueError, OSError, MemoryError, LookupError, TypeError, ImportError)


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

        An error of the step becomes the entry's failure; on a GPU this process ends and a fresh one goes on.
        """
        self._journal.write("begin", item)
        data: dict[str, object] = {}
        try:
            yield data
        except _RUN_ERRORS as e:
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


class GroupRun:
    """One group in one process: inputs, the loaded entries, and the turns they take."""

    def __init__(self, worker: Worker, number: int, group: Group) -> None:
        self._worker = worker
        self._number = number
        self._problem = group.problem
        self._entries = group.entries
        self._inputs: tuple[Array, ...] = ()
        self._reference: tuple[Array, ...] = ()
        self._device_inputs: DeviceInputs | None = None
        self._copies = 1
        self._rotation = protocol.Rotation(1)
        self._loaded: dict[str, Runnable] = {}

    def run(self) -> None:
        """Checks, times and closes every entry that is not over yet."""
        self._refuse()
        if not self._pending() or not self._prepare():
            return
        for entry in self._pending():
            self._load(entry)
            self._check(entry)
        self._time()
        for entry in self._entries:
            self._finish(entry)

    def _pending(self) -> list[Entry]:
        return [e for e in self._entries if not self._worker.progress.over(e.key)]

    def _live(self) -> list[str]:
        return [key for key in self._loaded if key not in self._worker.progress.failures]

    def _prepare(self) -> bool:
        """Makes the inputs; a failure here is every pending entry's."""
        item = Item(f"group {self._number}", "prepare")
        with self._worker.item(item):
            job = self._worker.job
            op = op_of(self._problem)
            self._inputs = op.make_inputs(self._problem, job.protocol.seed)
            self._reference = op.reference(self._problem, self._inputs)
            if "cold" in job.protocol.cache:
                cache_bytes = job.cache_bytes or describe(job.device).cache_bytes
                if cache_bytes is None:
                    raise ValueError(f"cold runs need the size of the cache of {job.device}; give cache_bytes")
                self._copies = protocol.cold_copies(sum(a.nbytes for a in self._inputs), cache_bytes)
            self._rotation = protocol.Rotation(self._copies)
        failure = self._worker.progress.failures.get(item.entry)
        if failure is None:
            return True
        for entry in self._pending():
            self._worker.fail(Item(entry.key, "load"), failure)
        return False

    def _refuse(self) -> None:
        """Ends the baselines that are absent or do not serve the problem, before any inputs are made."""
        for entry in self._pending():
            if entry.baseline is not None and (failure := self._refusal(entry.baseline)):
                self._worker.fail(Item(entry.key, "load"), failure)

    def _refusal(self, name: str) -> Failure | None:
        timer = self._worker.job.timer
        if not timers.find_timer(timer).baselines:
            reason = f"timer {timer} sees the dispatches of IREE modules only; --timer host times baselines too"
            return Failure(Status.REJECTED, reason)
        return baselines.refusal(name, self._problem, self._worker.job.device)

    def _load(self, entry: Entry) -> None:
        """Puts an entry on the device."""
        with self._worker.item(Item(entry.key, "load")):
            self._loaded[entry.key] = self._baseline(entry.baseline) if entry.baseline else self._artifact(entry)

    def _baseline(self, name: str) -> Runnable:
        return baselines.load(name).prepare(self._problem, self._inputs, self._copies, self._worker.job.device)

    def _artifact(self, entry: Entry) -> Runnable:
        from ireebench.measure.artifact_runner import ArtifactRunner, input_tensors, output_tensors, upload_inputs

        if entry.vmfb is None or entry.function is None:
            raise ValueError(f"entry {entry.key} names neither a baseline nor a vmfb with a function")
        op = op_of(self._problem)
        if self._device_inputs is None:
            specs = input_tensors(op.input_specs(self._problem))
            self._device_inputs = upload_inputs(self._worker.device, self._inputs, specs, self._copies)
        outputs = output_tensors(op.output_specs(self._problem))
        return ArtifactRunner(
            self._worker.device, self._worker.folder / entry.vmfb, entry.function, self._device_inputs, outputs
        )

    def _check(self, entry: Entry) -> None:
        """Checks an entry, unless an earlier process did: a wrong one is not timed."""
        if entry.key not in self._loaded or entry.key in self._worker.progress.checks:
            return
        item = Item(entry.key, "check")
        with self._worker.item(item) as data:
            checked = checking.check_entry(
                self._loaded[entry.key],
                self._problem,
                self._inputs,
                self._reference,
                self._worker.job.protocol.repeat_check,
            )
            result = checked.result
            if result.ok:
                data |= {"check": asdict(result), "digest": checked.digest, "launches": checked.launches}
                self._worker.progress.checks[entry.key] = result
                self._worker.progress.digests[entry.key] = checked.digest
            else:
                failure = Failure(Status.WRONG_RESULT, result.reason or "wrong result", Stage.CHECKED)
                self._worker.fail(item, failure, check=asdict(result), launches=checked.launches)

    def _time(self) -> None:
        """All rounds of all policies; what an earlier process has done is left out."""
        plan = self._worker.job.protocol
        for cache in plan.cache:
            warm: set[str] = set()
            for number in range(plan.rounds):
                order = protocol.turn_order(self._live(), plan.seed, self._worker.job.process, cache, number)
                for key in order:
                    if (key, cache, number) in self._worker.progress.turns:
                        continue
                    if key not in warm:
                        self._warm_up(key, cache)
                        warm.add(key)
                    if key not in self._worker.progress.failures:
                        self._turn(key, cache, number)

    def _launches(self, key: str, cache: CachePolicy, budget: protocol.Budget) -> protocol.Stretch:
        """Untimed launches within a budget."""
        runnable = self._loaded[key]

        def launch(count: int) -> None:
            for copy in self._rotation.take(count, cache):
                runnable.launch(copy)
                runnable.sync()

        return protocol.run_stretch(budget, launch, time.perf_counter_ns)

    def _warm_up(self, key: str, cache: CachePolicy) -> None:
        with self._worker.item(Item(key, "warmup", cache)) as data:
            data["launches"] = self._launches(key, cache, protocol.warmup_budget(self._worker.job.protocol)).launches

    def _turn(self, key: str, cache: CachePolicy, number: int) -> None:
        """One entry's turn in one round: a few untimed launches, then samples until its share is spent."""
        plan = self._worker.job.protocol
        invocations: list[Invocation] = []
        with self._worker.item(Item(key, "round", cache, number)) as data:
            rewarm = self._launches(key, cache, protocol.rewarm_budget(plan))
            if hasattr(self._worker.timer, "cache"):  # a timer that launches more often than it is asked to
                self._worker.timer.cache = cache

            def sample(count: int) -> None:
                copies = self._rotation.take(count, cache)
                invocations.extend(self._worker.timer.sample(self._loaded[key], copies))

            window = [_clocks()]
            with _no_collector():
                budget = protocol.turn_budget(plan)
                stretch = protocol.run_stretch(budget, sample, time.perf_counter_ns, rewarm.launch_ns)
            window.append(_clocks())
            turn = collect(invocations)
            data |= {
                "samples": self._worker.journal.write_samples(turn.columns()),
                "kernels": turn.describe_kernels(),
                "timer": self._worker.job.timer,
                "launches": stretch.launches,
                "rewarm": rewarm.launches,
                "window": window,
                "foreign": dict(getattr(self._worker.timer, "foreign", {})),
            }
            self._worker.progress.turns[key, cache, number] = data

    def _finish(self, entry: Entry) -> None:
        """Checks once more that the outputs are the checked ones, frees the entry and says that it is over."""
        runnable = self._loaded.pop(entry.key, None)
        if runnable is None:
            return
        if entry.key not in self._worker.progress.failures:
            item = Item(entry.key, "recheck")
            with self._worker.item(item):
                if checking.digest(checking.run_once(runnable, 0)) != self._worker.progress.digests[entry.key]:
                    reason = "non-deterministic: the outputs after timing differ from the checked ones"
                    self._worker.fail(item, Failure(Status.WRONG_RESULT, reason, Stage.TIMED))
        with contextlib.suppress(*_RUN_ERRORS):
            runnable.close()
        if entry.key not in self._worker.progress.failures:
            self._worker.journal.write("finished", Item(entry.key, "close"))
            self._worker.progress.finished.add(entry.key)


def _clocks() -> dict[str, int]:
    """Now, in ns, on both clocks that profilers stamp records with."""
    return {"monotonic_ns": time.monotonic_ns(), "boottime_ns": time.clock_gettime_ns(time.CLOCK_BOOTTIME)}


@contextlib.contextmanager
def _no_collector() -> Iterator[None]:
    """Keeps Python's cyclic collector out of the samples."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


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
    from ireebench.errors import UserError

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
