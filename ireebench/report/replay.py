"""Runs a search strategy on recorded trials: how many candidates it measures to come near the exhaustive best."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ireebench.report.table import Cell, Table
from ireebench.space.strategies.base import Search, Strategy
from ireebench.sweep.landscape import Landscape

NEAR = 0.02  # "as good as the best": within the noise floor of short kernels


@dataclass(frozen=True, slots=True)
class Run:
    """One search: candidates measured, the best cost (ns) at the end, and after how many it was near the best."""

    measured: int
    best_ns: float
    near_after: int | None


@dataclass(frozen=True, slots=True)
class Replay:
    """A strategy on one problem, with several seeds."""

    landscape: Landscape
    runs: tuple[Run, ...]

    @property
    def candidates(self) -> int:
        """How many an exhaustive search measures."""
        return len(self.landscape.costs)

    def share_near(self, worst: bool = False) -> float | None:
        """The share of candidates measured until within 2% of the best: median over seeds, or the worst seed's.

        None where the budget ended first (for the median: with half of the seeds).
        """
        after = sorted(math.inf if r.near_after is None else r.near_after for r in self.runs)
        chosen = after[-1] if worst else statistics.median_high(after)
        return None if math.isinf(chosen) else chosen / self.candidates


def replay_one(landscape: Landscape, search: Search, budget: int) -> Run:
    """Answers a search from the landscape until it ends or has had `budget` candidates."""
    target_ns = landscape.best_ns * (1 + NEAR)
    measured, best, near = 0, math.inf, None
    answers: Sequence[float | None] | None = None
    while measured < budget:
        try:
            asked = next(search) if answers is None else search.send(answers)
        except StopIteration:
            break
        answers = [landscape.costs[c] for c in asked]
        for cost in answers[: budget - measured]:
            measured += 1
            best = best if cost is None else min(best, cost)
            if near is None and best <= target_ns:
                near = measured
    search.close()
    return Run(measured, best, near)


def replay(landscape: Landscape, strategy: Strategy, budget: float | int, seeds: int) -> Replay:
    """A strategy on a landscape with seeds 0, 1, ...; `budget` is a share (float) or a number (int) of candidates."""
    count = len(landscape.costs)
    most = max(1, math.floor(budget * count + 1e-9)) if isinstance(budget, float) else budget
    candidates = tuple(landscape.costs)
    runs = tuple(replay_one(landscape, strategy(candidates, seed), min(most, count)) for seed in range(seeds))
    return Replay(landscape, runs)


def replay_table(name: str, replays: Sequence[Replay]) -> Table:
    """One row a problem. Shares are of the candidates that an exhaustive search measures."""
    heads = (
        *("problem", "op", "shape", "dtype", "target", "candidates", "best us", "near best after"),
        *("worst seed", "end: measured", "end: best / found"),
    )
    body: list[tuple[Cell, ...]] = []
    for r in replays:
        p = r.landscape.problem
        end = statistics.median(x.best_ns for x in r.runs)
        body.append(
            (
                p.id,
                p.op,
                p.shape_text,
                p.dtype,
                r.landscape.target,
                r.candidates,
                r.landscape.best_ns / 1000,
                _percent(r.share_near()),
                _percent(r.share_near(worst=True)),
                _percent(statistics.median(x.measured for x in r.runs) / r.candidates),
                r.landscape.best_ns / end if math.isfinite(end) else None,
            )
        )
    title = f"Strategy {name}: candidates measured until within {NEAR:.0%} of the exhaustive best"
    return Table.of(heads, body, title)


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{100 * share:.0f}%"


def replay_document(name: str, replays: Sequence[Replay]) -> dict[str, object]:
    """The same for programs; null where the budget ended before the search was near the best."""
    return {
        "strategy": name,
        "near": NEAR,
        "problems": [
            {
                "problem": r.landscape.problem.id,
                "op": r.landscape.problem.op,
                "shape": list(r.landscape.problem.shape),
                "dtype": r.landscape.problem.dtype,
                "target": r.landscape.target,
                "candidates": r.candidates,
                "best_ns": r.landscape.best_ns,
                "share_near": r.share_near(),
                "share_near_worst": r.share_near(worst=True),
                "runs": [
                    {
                        "measured": x.measured,
                        "best_ns": x.best_ns if math.isfinite(x.best_ns) else None,
                        "near_after": x.near_after,
                    }
                    for x in r.runs
                ],
            }
            for r in replays
        ],
    }


def replay_line(name: str, replays: Sequence[Replay]) -> str:
    """The conclusion in one sentence."""
    shares = [r.share_near() for r in replays]
    reached = [s for s in shares if s is not None]
    if not reached:
        return f"{name} came within {NEAR:.0%} of the exhaustive best on no problem."
    return (
        f"{name} came within {NEAR:.0%} of the exhaustive best on {len(reached)} of {len(shares)} problems, after "
        f"measuring {100 * statistics.median(reached):.0f}% of the candidates in the median and "
        f"{100 * max(reached):.0f}% at worst."
    )
