"""One group of a job in one worker process: its inputs, the loaded entries, and the turns they take."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from ireebench.measure import checking, protocol
from ireebench.measure.baselines import table as baselines
from ireebench.measure.device import describe
from ireebench.measure.job import CachePolicy, Entry, Group
from ireebench.measure.journal import Item
from ireebench.measure.runnable import Array, Runnable
from ireebench.measure.sampling import collect
from ireebench.measure.timers import table as timers
from ireebench.measure.timers.base import Invocation
from ireebench.measure.workplace import RUN_ERRORS, Worker
from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.ops.table import op_of

if TYPE_CHECKING:
    from ireebench.measure.artifact_runner import DeviceInputs


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
        with _no_collector():
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
        with contextlib.suppress(*RUN_ERRORS):
            runnable.close()
        if entry.key not in self._worker.progress.failures:
            self._worker.journal.write("finished", Item(entry.key, "close"))
            self._worker.progress.finished.add(entry.key)


def _clocks() -> dict[str, int]:
    """Now, in ns, on both clocks that profilers stamp records with."""
    return {"monotonic_ns": time.monotonic_ns(), "boottime_ns": time.clock_gettime_ns(time.CLOCK_BOOTTIME)}


@contextlib.contextmanager
def _no_collector() -> Iterator[None]:
    """Keeps Python's cyclic collector out of the samples of a group.

    Not a turn at a time: a collection with PyTorch loaded walks half a million objects, 0.3 to 0.5 s.
    """
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
