"""Which configurations to try first: a few that are rarely bad, so that a small `--limit` is useful."""

from __future__ import annotations

import math

from ireebench.candidate import Candidate
from ireebench.space.gemv import preference
from ireebench.space.geometry import partials
from ireebench.space.knob import Place

# Workgroups that keep a large GPU busy: a few for each of about 130 to 300 compute units.
_BUSY_WORKGROUPS = 512


def preferred(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates from the most to the least promising; those that differ in subgroups or split alternate.

    Promising is a 16-byte load a lane, one load of every lane an iteration, about four iterations, the shortest second
    stage, no hint; a split whose first stage has some hundred workgroups.
    """
    ranked = sorted(candidates, key=_cost)
    seen: dict[tuple[int | None, int | None], int] = {}
    turns = []
    for order, candidate in enumerate(ranked):
        group = (candidate.config.sg, candidate.config.st)
        seen[group] = seen.get(group, -1) + 1
        turns.append((seen[group], order, candidate))
    return [candidate for _, _, candidate in sorted(turns, key=lambda t: t[:2])]


def _cost(candidate: Candidate) -> tuple[float, ...]:
    c, problem, target = candidate.config, candidate.problem, candidate.target
    if problem.op == "gemv":
        return (0.0,) if c.is_default else preference(candidate)
    place = Place(problem, candidate.variant, target)
    if not c.pr:
        return (abs(math.log2((c.st or problem.reduction) / 2048)),)  # on CPUs
    length = c.st or problem.reduction
    groups = problem.rows * partials(candidate) / (c.rw or 1)
    # Loads of every lane an iteration: one is best; less than one leaves lanes idle.
    loads = math.log2(c.pr / ((c.sg or 1) * target.subgroup_size * (c.th or 1)))
    return (
        place.load_elements / (c.th or 1),
        loads if loads >= 0 else 10 - loads,
        float(c.wpe is not None),
        (c.sg2 or 1) + (c.th2 or 1) - 2.0,
        partials(candidate) / (c.pr2 or partials(candidate)),
        float(c.rw is not None),
        # Four iterations have enough loads in flight and little to combine; a split wants some hundred groups.
        abs(math.log2(length / c.pr / 4)) + (abs(math.log2(groups / _BUSY_WORKGROUPS)) if c.st else 0.0),
        float(c.rw or 0),
    )
