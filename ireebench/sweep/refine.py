"""A finer search: the best of a recorded sweep and their neighbours, in place of a sample of the whole space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ireebench.candidate import Candidate
from ireebench.measure.job import CachePolicy
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import enumerate_space
from ireebench.space.knobs import Place
from ireebench.space.strategies.base import distance
from ireebench.store.trial import Trial
from ireebench.sweep.landscape import landscapes
from ireebench.targets import Target

# So many of a variant's best are looked around, and kept themselves; one gets stuck in a dip.
BEAM = 6
# A variant whose best is slower than this many times the problem's best is not looked around.
HOPELESS = 1.3


@dataclass(frozen=True, slots=True)
class Refinement:
    """Where to look again: what was timed of each problem, and how many candidates a variant may have."""

    costs: Mapping[Problem, Mapping[Candidate, float | None]]
    limit: int

    def configs_for(self, place: Place) -> tuple[Config, ...] | None:
        """A variant's best configurations, then their untried neighbours, the nearest first, in turns.

        None (the space's own) for a problem of which nothing was timed; only the best for a variant far behind.
        """
        known = self.costs.get(place.problem)
        if not known:
            return None
        timed = [(cost, c) for c, cost in known.items() if cost is not None and c.variant.name == place.variant.name]
        if not timed or not place.variant.tuned:
            return ()
        ranked = sorted(timed, key=lambda t: t[0])
        leader_ns = min(cost for cost in known.values() if cost is not None)
        if ranked[0][0] > HOPELESS * leader_ns:
            return (ranked[0][1].config,)
        beam = [c for _, c in ranked[:BEAM]][: self.limit]
        fresh = [c for c in enumerate_space(place.problem, place.variant, place.target).accepted if c not in known]
        return tuple(dict.fromkeys(c.config for c in (*beam, *_around(beam, fresh, self.limit - len(beam)))))


def refinement(trials: Iterable[Trial], target: Target, cache: CachePolicy, limit: int) -> Refinement:
    """From what a store holds of times on `target` under `cache`, `limit` candidates a variant; empty where none."""
    found = (x for x in landscapes(trials, cache) if x.target == target.name)
    return Refinement({x.problem: x.costs for x in found}, limit)


def _around(beam: list[Candidate], fresh: list[Candidate], count: int) -> list[Candidate]:
    """`count` of `fresh`: each of `beam` in turn names the nearest that is still free."""
    queues = [iter(sorted(fresh, key=lambda c, b=best: distance(b, c))) for best in beam]  # type: ignore[misc]
    chosen: dict[Candidate, None] = {}
    while len(chosen) < min(count, len(fresh)):
        for queue in queues:
            nearest = next((c for c in queue if c not in chosen), None)
            if nearest is not None and len(chosen) < count:
                chosen[nearest] = None
    return list(chosen)
