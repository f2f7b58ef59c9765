"""Stored trials with what a comparison needs: rows, raw samples on demand, noise floors, the ceiling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ireebench.measure.job import CachePolicy
from ireebench.measure.result import Samples
from ireebench.problems.problem import Problem
from ireebench.report.ranking import DEFAULT_NOISE, Standing, standing, step_share
from ireebench.report.rows import CeilingLookup, Row, all_rows, no_ceiling
from ireebench.report.verdict import Verdict, judge
from ireebench.store.trial import Environment, Trial

Noise = Mapping[tuple[Problem, CachePolicy], tuple[float, ...]]
# (trial key, cache policy, by) -> samples in ns, an array a process; `by` is "kernel" or "span".
SampleLookup = Callable[[str, CachePolicy, str], Sequence[Samples]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Trials of one environment and all that verdicts on them rest on. `rows`: one a trial and cache policy.

    `beaten` says, in lines a cache policy, which checked kernels are faster than the ceiling.
    """

    trials: tuple[Trial, ...]
    noise: Noise
    samples: SampleLookup
    environment: Environment | None = None
    ceiling: CeilingLookup = no_ceiling
    beaten: Mapping[CachePolicy, tuple[str, ...]] = field(default_factory=dict)
    rows: tuple[Row, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", all_rows(self.trials, self.ceiling))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems, in the order of their first trial."""
        return tuple(dict.fromkeys(t.problem for t in self.trials))

    @property
    def caches(self) -> tuple[CachePolicy, ...]:
        """The cache policies that something was timed under, hot first."""
        seen = {r.cache for t in self.trials for r in t.runs}
        known: tuple[CachePolicy, ...] = ("hot", "cold")
        return tuple(c for c in known if c in seen)

    @property
    def sees_kernels(self) -> bool:
        """Whether a timer told kernels apart; without that a span is no figure of its own."""
        return any(r.kernels for t in self.trials for r in t.runs)

    def floor(self, problem: Problem, cache: CachePolicy) -> float:
        """The noise floor of a problem: the largest A/A difference of its final processes, 2% where there is none."""
        return max(self.noise.get((problem, cache), ()), default=DEFAULT_NOISE)

    def typical_floor(self, cache: CachePolicy) -> float | None:
        """The upper quartile of the problems' noise floors; None where no A/A pair was run.

        A problem's own floor is the largest of a few A/A differences, and may be small by luck: where two runs are
        compared, nothing is called different within what is typical of the machine.
        """
        floors = [max(values) for (_, policy), values in self.noise.items() if policy == cache and values]
        return float(np.percentile(floors, 75)) if floors else None

    def standings(self, cache: CachePolicy, by: str = "kernel") -> tuple[Standing, ...]:
        """Every problem that something was timed for under `cache`, ranked."""
        rows = self.rows
        all_standings = (standing(p, rows, cache, self.noise.get((p, cache), ()), by=by) for p in self.problems)
        return tuple(s for s in all_standings if s.candidates or s.baselines)

    def judge(self, baseline: Row | None, candidate: Row | None, by: str = "kernel") -> Verdict | None:
        """The verdict of one row against another of the same problem; None where one is missing or has no samples."""
        if baseline is None or candidate is None or candidate.cache is None:
            return None
        sides = [self.samples(r.trial.key, candidate.cache, by) for r in (baseline, candidate)]
        if not all(any(len(s) for s in side) for side in sides):
            return None
        steps = [step_share(r, by) for r in (baseline, candidate)]
        return judge(sides[0], sides[1], max(self.floor(candidate.trial.problem, candidate.cache), *steps))
