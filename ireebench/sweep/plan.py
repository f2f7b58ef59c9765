"""Plans a sweep: candidates, baselines and what was refused, each with its key."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ireebench.candidate import Candidate
from ireebench.measure.baselines.table import is_for
from ireebench.problems.problem import Problem
from ireebench.space.constraints import Rejection
from ireebench.space.enumerate import enumerate_space
from ireebench.space.gemv import serves
from ireebench.space.knobs import Place
from ireebench.sweep.request import Request, Subject, trial_key
from ireebench.variants import Variant


@dataclass(frozen=True, slots=True)
class Planned:
    """Something to do, and the key of the trial that it becomes."""

    key: str
    subject: Subject


@dataclass(frozen=True, slots=True)
class Refused:
    """A variant that has nothing to try on a problem, with the constraint that refused most of its space."""

    key: str
    candidate: Candidate
    constraint: str
    reason: str


@dataclass(frozen=True, slots=True)
class ProblemPlan:
    """One problem's work. `rejected` counts refused configurations by constraint, over all variants."""

    problem: Problem
    candidates: tuple[Planned, ...]
    baselines: tuple[Planned, ...]
    refused: tuple[Refused, ...]
    rejected: tuple[tuple[str, int], ...]

    @property
    def everything(self) -> tuple[Planned | Refused, ...]:
        """Whatever becomes a trial, in order."""
        return (*self.refused, *self.candidates, *self.baselines)


def _main_reason(rejections: tuple[Rejection, ...]) -> Rejection:
    name, _ = Counter(r.constraint for r in rejections).most_common(1)[0]
    return next(r for r in rejections if r.constraint == name)


def _refusals(request: Request, environment: str, rejections: tuple[Rejection, ...]) -> tuple[Refused, ...]:
    chosen = rejections if request.config is not None else (_main_reason(rejections),)
    refused = []
    for r in chosen:
        subject = Subject(r.candidate.problem, r.candidate)
        refused.append(Refused(trial_key(request, environment, subject), r.candidate, r.constraint, r.reason))
    return tuple(refused)


def _plan_variant(
    request: Request, environment: str, problem: Problem, variant: Variant
) -> tuple[tuple[Planned, ...], tuple[Rejection, ...], tuple[Refused, ...]]:
    place = Place(problem, variant, request.target)
    space = enumerate_space(
        problem,
        variant,
        request.target,
        limit=request.limit,
        seed=request.seed,
        config=request.config,
        configs=request.configs.configs_for(place) if request.configs else None,
    )
    subjects = [Subject(problem, c) for c in space.accepted]
    planned = tuple(Planned(trial_key(request, environment, s), s) for s in subjects)
    nothing_left = not planned and bool(space.rejected)
    return planned, space.rejected, _refusals(request, environment, space.rejected) if nothing_left else ()


def _variants(request: Request, problem: Problem) -> tuple[Variant, ...]:
    """Those that were named; of the usual ones those that have a form for the problem's weights."""
    if request.variants_named or problem.op != "gemv":
        return request.variants
    return tuple(v for v in request.variants if serves(problem, v))


def plan(request: Request, environment: str) -> tuple[ProblemPlan, ...]:
    """All work of a sweep, problem by problem. `environment` is `environment.identity` of where it runs."""
    plans = []
    for problem in request.problems:
        parts = [_plan_variant(request, environment, problem, v) for v in _variants(request, problem)]
        fitting = [b for b in request.baselines if b in request.named or is_for(b, problem)]
        baselines = [Subject(problem, baseline=b) for b in fitting]
        counts = Counter(r.constraint for _, rejected, _ in parts for r in rejected)
        plans.append(
            ProblemPlan(
                problem=problem,
                candidates=tuple(p for planned, _, _ in parts for p in planned),
                baselines=tuple(Planned(trial_key(request, environment, s), s) for s in baselines),
                refused=tuple(r for _, _, refused in parts for r in refused),
                rejected=tuple(counts.most_common()),
            )
        )
    return tuple(plans)
