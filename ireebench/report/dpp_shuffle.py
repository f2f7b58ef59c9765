"""DPP against shuffles: each variant beside its shuffle twin with the same configuration, from the assembly alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ireebench.candidate import Candidate
from ireebench.compiler.artifact import Artifact
from ireebench.isa.summary import KernelSummary
from ireebench.outcome import Failure
from ireebench.problems.problem import Problem
from ireebench.report.isa import inspect_artifact
from ireebench.report.table import Table
from ireebench.space.config import Config
from ireebench.space.constraints import Rejection
from ireebench.space.enumerate import enumerate_space, place_config
from ireebench.targets import Target
from ireebench.variants import VARIANTS

# (what the published report calls it, DPP + ballot, shuffles only)
TWINS = (("standard", "vd", "vd_shuffle"), ("split", "vd_split", "vd_split_shuffle"))
Compile = Callable[[Candidate], Artifact | Failure]


@dataclass(frozen=True, slots=True)
class Counts:
    """Static counts of one variant, summed over its kernels; `vgpr` is the largest. `failure` in place of counts."""

    dpp: int | None = None
    bpermute: int | None = None
    swizzle: int | None = None
    permlane: int | None = None
    barriers: int | None = None
    vgpr: int | None = None
    kernels: int | None = None
    failure: str | None = None

    @property
    def exchanges(self) -> tuple[int | None, ...]:
        """Instructions that move values between lanes, by kind."""
        return (self.dpp, self.bpermute, self.swizzle, self.permlane)


@dataclass(frozen=True, slots=True)
class Twin:
    """One problem and pipeline: the same configuration with DPP and with shuffles."""

    problem: Problem
    pipeline: str
    form: str | None
    config: Config | None
    ballot: Counts
    shuffle: Counts

    @property
    def differ(self) -> bool | None:
        """Whether the two exchange values between lanes by other instructions; None when one of them is missing.

        On RDNA the compiler turns shuffles into DPP by itself, and the twin has more of them.
        """
        if self.ballot.failure or self.shuffle.failure:
            return None
        return self.ballot.exchanges != self.shuffle.exchanges


def static_twins(
    problems: Iterable[Problem], target: Target, compile_: Compile, config: Config | None = None
) -> tuple[Twin, ...]:
    """Compiles both variants of each problem and pipeline with one configuration: `config`, or the likeliest one."""

    def twin(problem: Problem, pipeline: str, ballot: str, shuffle: str) -> Twin:
        space = enumerate_space(problem, VARIANTS[ballot], target, limit=1, config=config)
        if not space.accepted:
            refused = Counts(failure=f"rejected: {space.rejected[0].reason}" if space.rejected else "rejected")
            return Twin(problem, pipeline, None, config, refused, refused)
        first = space.accepted[0]
        second = place_config(problem, VARIANTS[shuffle], target, first.config)
        if isinstance(second, Rejection):
            other = Counts(failure=f"rejected: {second.reason}")
        else:
            other = _counts(compile_(second))
        return Twin(problem, pipeline, first.form.name, first.config, _counts(compile_(first)), other)

    return tuple(twin(problem, *names) for problem in problems for names in TWINS)


def _counts(outcome: Artifact | Failure) -> Counts:
    if isinstance(outcome, Failure):
        return Counts(failure=f"{outcome.status}: {outcome.reason}")
    summaries = [k.summary for k in inspect_artifact("", outcome)]
    if not summaries:
        return Counts(failure="no assembly was dumped")

    def total(figure: Callable[[KernelSummary], int]) -> int:
        return sum(map(figure, summaries))

    return Counts(
        dpp=total(lambda s: s.dpp),
        bpermute=total(lambda s: s.bpermute),
        swizzle=total(lambda s: s.swizzle),
        permlane=total(lambda s: s.permlane),
        barriers=total(lambda s: s.barriers),
        vgpr=max((s.vgpr for s in summaries if s.vgpr is not None), default=None),
        kernels=len(summaries),
    )


TITLES = (
    *("problem", "op", "shape", "dtype", "pipeline", "form", "config"),
    *("DPP", "bpermute", "swizzle", "barriers", "VGPR"),
    *("shuffle: DPP", "bpermute", "swizzle", "barriers", "VGPR"),
    *("differ", "why not"),
)


def static_table(twins: Sequence[Twin]) -> Table:
    """One row a problem and pipeline: DPP, bpermute, swizzle, barrier and VGPR counts of both variants."""
    return Table.of(TITLES, [_row(t) for t in twins], "DPP + ballot against shuffles, static counts")


def _row(t: Twin) -> tuple[str | int | bool | None, ...]:
    p = t.problem
    return (
        *(p.id, p.op, p.shape_text, p.dtype, t.pipeline, t.form, str(t.config) if t.config else None),
        *_figures(t.ballot),
        *_figures(t.shuffle),
        *(t.differ, t.ballot.failure or t.shuffle.failure),
    )


def _figures(c: Counts) -> tuple[int | None, ...]:
    return (c.dpp, c.bpermute, c.swizzle, c.barriers, c.vgpr)


def static_document(twins: Sequence[Twin], target: Target) -> dict[str, Any]:
    """The table as JSON."""
    return {
        "target": target.name,
        "twins": [
            {
                "problem": t.problem.id,
                "op": t.problem.op,
                "shape": list(t.problem.shape),
                "dtype": t.problem.dtype,
                "pipeline": t.pipeline,
                "form": t.form,
                "config": t.config.as_dict() if t.config else None,
                "ballot": _counts_document(t.ballot),
                "shuffle": _counts_document(t.shuffle),
                "differ": t.differ,
            }
            for t in twins
        ],
    }


def _counts_document(c: Counts) -> dict[str, int | str | None]:
    return {
        "dpp": c.dpp,
        "bpermute": c.bpermute,
        "swizzle": c.swizzle,
        "permlane": c.permlane,
        "barriers": c.barriers,
        "vgpr": c.vgpr,
        "kernels": c.kernels,
        "failure": c.failure,
    }
