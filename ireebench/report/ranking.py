"""Who won on a problem, by how much, and whether the difference is more than noise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ireebench.measure.job import CachePolicy
from ireebench.measure.timers.table import step_ns
from ireebench.outcome import Status
from ireebench.problems.problem import Problem
from ireebench.report.rows import Row

# Without an A/A pair a difference below this share is still called a tie: it is the policy's floor for short kernels.
DEFAULT_NOISE = 0.02


@dataclass(frozen=True, slots=True)
class Standing:
    """One problem's result under one cache policy: candidates and baselines that are checked and timed, fastest first.

    `noise` is the relative A/A difference within which two medians are a tie.
    """

    problem: Problem
    cache: CachePolicy
    candidates: tuple[Row, ...]
    baselines: tuple[Row, ...]
    failed: tuple[Row, ...]
    noise: float

    @property
    def best(self) -> Row | None:
        """The fastest candidate."""
        return self.candidates[0] if self.candidates else None

    @property
    def best_shipping(self) -> Row | None:
        """The fastest candidate that a user can have without rewriting IR."""
        return next((r for r in self.candidates if r.trial.ship.ships), None)

    @property
    def default(self) -> Row | None:
        """Stock IREE's fastest."""
        return next((r for r in self.candidates if r.trial.variant == "default"), None)

    @property
    def best_baseline(self) -> Row | None:
        """The fastest baseline that was measured."""
        return self.baselines[0] if self.baselines else None


def median_ns(row: Row, *, by: str = "kernel") -> float:
    """The figure that rows are ranked by: the sum of kernels, or the span."""
    assert row.timing is not None
    return row.timing.median_ns if by == "kernel" else row.timing.span_ns


def step_share(row: Row, by: str = "kernel") -> float:
    """What one step of the timer is of a row's figure: a smaller difference cannot be told."""
    return step_ns(row.trial.timer) / median_ns(row, by=by) if row.timing is not None else 0.0


def speedup(baseline: Row | None, candidate: Row | None, *, by: str = "kernel") -> float | None:
    """baseline / candidate: above 1 the candidate is faster. None where one of them is missing."""
    if baseline is None or candidate is None:
        return None
    return median_ns(baseline, by=by) / median_ns(candidate, by=by)


def _is_final(row: Row) -> bool:
    return row.timing is not None and row.timing.final


def standing(
    problem: Problem, rows: Iterable[Row], cache: CachePolicy, noise: Iterable[float] = (), *, by: str = "kernel"
) -> Standing:
    """Ranks one problem's rows. `noise` are the A/A figures of the final processes; the largest counts.

    Finalists come first: what only the search timed was timed once, and briefly, and may owe its place to luck.
    """
    mine = [r for r in rows if r.trial.problem == problem]
    timed = [r for r in mine if r.cache == cache and r.timing is not None and r.trial.status is Status.OK]
    timed.sort(key=lambda r: (not _is_final(r), median_ns(r, by=by)))
    return Standing(
        problem=problem,
        cache=cache,
        candidates=tuple(r for r in timed if r.trial.variant),
        baselines=tuple(r for r in timed if r.trial.baseline),
        failed=tuple(r for r in mine if r.trial.status is not Status.OK),
        noise=max(noise, default=DEFAULT_NOISE),
    )
