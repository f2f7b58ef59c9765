"""Enumerates candidates: every configuration in the first form that can carry it, or the constraint that refused it."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from ireebench.candidate import Candidate
from ireebench.errors import UsageError
from ireebench.problems.problem import Problem
from ireebench.space.complete import complete
from ireebench.space.config import Config
from ireebench.space.constraints import Rejection, common_constraints, first_broken, form_constraints
from ireebench.space.heuristics import preferred
from ireebench.space.knobs import Place, grid
from ireebench.targets import Target
from ireebench.variants import FORMS, Variant


@dataclass(frozen=True, slots=True)
class Enumeration:
    """What a sweep tries, and what it refuses and why."""

    accepted: tuple[Candidate, ...]
    rejected: tuple[Rejection, ...]


def place_config(problem: Problem, variant: Variant, target: Target, config: Config) -> Candidate | Rejection:
    """The candidate of `config` in the variant's first form that can carry it; else the refusal of the form that came
    closest (that satisfied most of its constraints)."""
    refusals: list[tuple[int, Rejection]] = []
    for name in variant.forms_of(problem.op):
        candidate = Candidate(problem, variant, FORMS[name], config, target)
        broken = first_broken(candidate, common_constraints(candidate))
        if broken is not None:  # no form can do it
            return Rejection(candidate, broken.name, broken.reason(candidate))
        constraints = form_constraints(candidate)
        broken = first_broken(candidate, constraints)
        if broken is None:
            return candidate
        refusals.append((constraints.index(broken), Rejection(candidate, broken.name, broken.reason(candidate))))
    return max(refusals, key=lambda r: r[0])[1]


def place_untuned(problem: Problem, variant: Variant, target: Target) -> Iterable[Candidate | Rejection]:
    """A variant that takes no configuration, once in each form that carries the problem; else the first refusal."""
    candidates = [Candidate(problem, variant, FORMS[n], Config(), target) for n in variant.forms_of(problem.op)]
    refusals = []
    for candidate in candidates:
        broken = first_broken(candidate, (*common_constraints(candidate), *form_constraints(candidate)))
        if broken is None:
            yield candidate
        else:
            refusals.append(Rejection(candidate, broken.name, broken.reason(candidate)))
    if len(refusals) == len(candidates):
        yield refusals[0]


def enumerate_space(
    problem: Problem,
    variant: Variant,
    target: Target,
    *,
    limit: int | None = None,
    seed: int = 0,
    config: Config | None = None,
    configs: Iterable[Config] | None = None,
) -> Enumeration:
    """The candidates of a problem and variant on a target, in a fixed order.

    `limit` keeps that many accepted ones: a heuristic set first, then a sample drawn with `seed`. `config` tries that
    one alone and `configs` those alone, in place of the grid and completed where they leave knobs out; a variant that
    takes no configuration is there all the same, since the others are compared with it. Raises UsageError where no form
    of the variant carries the op.
    """
    if not variant.forms_of(problem.op):
        raise UsageError(f"variant {variant.name} has no form for {problem.op}; it serves {', '.join(variant.ops)}")
    place = Place(problem, variant, target)
    placed: Iterable[Candidate | Rejection]
    if not variant.tuned:
        placed = place_untuned(problem, variant, target)
    else:
        given = configs if config is None else (config,)
        tried = grid(place) if given is None else (complete(place, c) for c in given)
        placed = [place_config(problem, variant, target, c) for c in dict.fromkeys(tried)]
    accepted: list[Candidate] = []
    rejected: list[Rejection] = []
    for item in placed:
        if isinstance(item, Candidate):
            accepted.append(item)
        else:
            rejected.append(item)
    return Enumeration(tuple(accepted if limit is None else sample(accepted, limit, seed)), tuple(rejected))


def sample(accepted: list[Candidate], limit: int, seed: int) -> list[Candidate]:
    """`limit` of the accepted: half by the heuristic, which come first, half drawn with `seed` from the rest."""
    if len(accepted) <= limit:
        return accepted
    best = preferred(accepted)[: max((limit + 1) // 2, 1)]
    chosen = set(best)
    rest = [c for c in accepted if c not in chosen]
    return best + random.Random(f"{seed} {accepted[0].problem} {accepted[0].variant.name}").sample(
        rest, limit - len(best)
    )
