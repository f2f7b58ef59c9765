"""A store of 100,000 trials: seconds to plan going on with a sweep, and to make the sweep's tables.

    python benchmarks/store_scale.py [--trials 100000] [--keep FILE]

The store is made up: every trial belongs to the sweep that is asked for, so nothing can be skipped. Figures are of this
process alone; `fill` writes with `synchronous` off, since it stands for weeks of sweeps.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from ireebench.candidate import Candidate
from ireebench.compiler.artifact import KernelEvidence
from ireebench.measure.job import Protocol
from ireebench.measure.result import KernelSamples, RunResult
from ireebench.outcome import Stage, Status
from ireebench.problems.check import CheckResult
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.store.database import Store
from ireebench.store.trial import Environment, Trial
from ireebench.sweep.loop import Outcome, Share, resume, trial_keys
from ireebench.sweep.plan import Planned, ProblemPlan
from ireebench.sweep.request import Measuring, Request, Subject, trial_key
from ireebench.targets import find_target
from ireebench.variants import FORMS, VARIANTS

T = TypeVar("T")
PROBLEMS = 50
PROCESSES = 3
FINALISTS = 4


@dataclass(frozen=True, slots=True)
class Made:
    """A filled store with the sweep that it holds."""

    request: Request
    plans: tuple[ProblemPlan, ...]
    environment: int


def the_request() -> Request:
    """A sweep over PROBLEMS shapes on a GPU."""
    problems = tuple(Problem(f"shape-{i}", "argmax", (32, 4096 * (1 + i)), "bf16") for i in range(PROBLEMS))
    protocol = Protocol()
    measuring = Measuring("hip://0", "rocprofv3", protocol, protocol, PROCESSES, FINALISTS)
    return Request("argmax", problems, find_target("gfx942"), (VARIANTS["vd"],), measuring=measuring)


def planned(request: Request, trials: int) -> tuple[ProblemPlan, ...]:
    """`trials` invented candidates, a share a problem."""
    plans = []
    for problem in request.problems:
        made = []
        for n in range(trials // len(request.problems)):
            config = Config(sg=1 + n % 16, pr=64 * (1 + n // 16), th=8)
            subject = Subject(problem, Candidate(problem, VARIANTS["vd"], FORMS["rows"], config, request.target))
            made.append(Planned(trial_key(request, "bench", subject), subject))
        plans.append(ProblemPlan(problem, tuple(made), (), (), ()))
    return tuple(plans)


def _trial(p: Planned, environment: int, failed: bool) -> Trial:
    c = p.subject.candidate
    assert c is not None
    kernel = KernelEvidence(
        "argmax_dispatch_0", "VectorDistribute", (256, 1, 1), 64, 4, 8, 2048, vgpr=24, sgpr=20, lds_bytes=64,
        scratch_bytes=0, input_shape=(32, 131072),
    )  # fmt: skip
    good = Trial(
        key=p.key, problem=c.problem, target=c.target.name, variant=c.variant.name, baseline=None, form=c.form.name,
        ship=c.ship, config=c.config, status=Status.OK, stage=Stage.TIMED, applied=True, timer="rocprofv3",
        check=CheckResult(ok=True, first_index=True), kernels=(kernel,), compile_key=p.key, compile_s=0.4,
        mlir="func.func @argmax() { return }", command="iree-compile module.mlir", environment=environment,
    )  # fmt: skip
    if not failed:
        return good
    return Trial(
        key=p.key, problem=c.problem, target=c.target.name, variant=c.variant.name, baseline=None, form=c.form.name,
        ship=c.ship, config=c.config, status=Status.COMPILE_FAILED, stage=Stage.PLANNED, environment=environment,
        reason="failed to distribute",
    )  # fmt: skip


def _runs(key: str, base_ns: int, processes: int) -> Iterator[RunResult]:
    for process in range(processes):
        ns = np.arange(20, dtype=np.int64) + base_ns
        kernel = KernelSamples("argmax_dispatch_0", ns, registers=24)
        yield RunResult(key, process, "hot", "rocprofv3", ns, ns, np.zeros_like(ns), (kernel,))


def fill(store: Store, trials: int) -> Made:
    """Stores a finished sweep: one in ten failed to compile, the fastest were timed in all processes."""
    request = the_request()
    environment = store.put_environment(
        Environment("bench", "hip://0", "0", "3.13.0", "3.13.0", "0.1.0", "x86_64", "3.11", "{}")
    )
    plans = planned(request, trials)
    store._db.execute("PRAGMA synchronous = OFF")
    for plan in plans:
        store.put_trials(_trial(p, environment, True) for p in plan.candidates[::10])
        store.put_many(
            (_trial(p, environment, False), tuple(_runs(p.key, 5000 + n, 1 + PROCESSES if n <= FINALISTS else 1)))
            for n, p in enumerate(plan.candidates)
            if n % 10
        )
    return Made(request, plans, environment)


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """The result and the seconds that it took."""
    begin = time.monotonic()
    result = work()
    return result, time.monotonic() - begin


def plan_again(store: Store, made: Made) -> int:
    """What a sweep does before it compiles: how many candidates are left."""
    return len(resume(made.plans, made.request, store).todo)


def tables(store: Store, made: Made) -> int:
    """The sweep's tables, as it prints them; the number of characters."""
    from ireebench.cli.sweep_run import report_of
    from ireebench.report.table import to_text

    share = Share("local-task", made.environment, made.request.problems)
    report = report_of(store, Outcome(made.plans, trial_keys(made.plans), (share,)), made.request, 10)
    assert len(report.standings) == len(made.plans)
    return sum(len(to_text(t)) for t in report.tables)


def main() -> None:
    """Prints a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="keep the store here")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Store.open(args.keep or Path(folder) / "s.db", write=True) as store:
        made, filling = timed(lambda: fill(store, args.trials))
        print(f"filled in {filling:.0f} s", file=sys.stderr)
        print(f"| {args.trials:,} trials, {PROBLEMS} problems | seconds |\n| --- | ---: |")
        left, seconds = timed(lambda: plan_again(store, made))
        print(f"| what is left to do ({left} candidates) | {seconds:.2f} |")
        _, seconds = timed(lambda: tables(store, made))
        print(f"| the sweep's tables | {seconds:.2f} |")


if __name__ == "__main__":
    main()
