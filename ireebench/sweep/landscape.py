"""What a recorded sweep found on a problem: every candidate that was tried, with its cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ireebench.candidate import Candidate
from ireebench.measure.job import CachePolicy
from ireebench.outcome import Status
from ireebench.problems.problem import Problem
from ireebench.store.trial import Trial
from ireebench.targets import find_target
from ireebench.variants import FORMS, VARIANTS


@dataclass(frozen=True, slots=True)
class Landscape:
    """What one recorded sweep found on a problem: every candidate that was tried, with its cost.

    A cost is the median (ns) of the search, in which all candidates were timed alike; None for what did not work.
    """

    problem: Problem
    target: str
    costs: Mapping[Candidate, float | None]

    @property
    def best_ns(self) -> float:
        """The exhaustive best."""
        return min(c for c in self.costs.values() if c is not None)


def landscapes(trials: Iterable[Trial], cache: CachePolicy = "hot") -> tuple[Landscape, ...]:
    """The landscape of each problem and target that has candidates which were timed under `cache`."""
    found: dict[tuple[Problem, str], dict[Candidate, float | None]] = {}
    for t in trials:
        if t.variant is None or t.form is None or t.status is Status.REJECTED:
            continue
        cost = _cost(t, cache) if t.status is Status.OK else None
        if t.status is Status.OK and cost is None:
            continue  # compiled only
        candidate = Candidate(t.problem, VARIANTS[t.variant], FORMS[t.form], t.config, find_target(t.target))
        found.setdefault((t.problem, t.target), {})[candidate] = cost
    timed = {k: v for k, v in found.items() if any(c is not None for c in v.values())}
    return tuple(Landscape(problem, target, costs) for (problem, target), costs in timed.items())


def _cost(trial: Trial, cache: CachePolicy) -> float | None:
    searched = next((r.median_ns for r in trial.runs if r.process == 0 and r.cache == cache), None)
    if searched is not None:
        return searched
    timing = trial.timing(cache)  # stock IREE is timed in the finals alone
    return None if timing is None else timing.median_ns
