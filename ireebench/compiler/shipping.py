"""Spec files to ship: which candidates a spec can carry, and what a reader of the file must know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ireebench.candidate import Candidate
from ireebench.errors import UsageError
from ireebench.ir.build import build_program
from ireebench.ir.layouts import layouts_of
from ireebench.ir.specs import emit_spec
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import enumerate_space
from ireebench.targets import Target
from ireebench.variants import FORMS, Ship, Variant


@dataclass(frozen=True, slots=True)
class SpecFile:
    """A spec's text, and notes for the person who asked for it."""

    text: str
    notes: tuple[str, ...]


def spec_file(candidates: Sequence[Candidate], provenance: str) -> SpecFile:
    """One file for all candidates, with its provenance ("unmeasured: ...") in its first line."""
    text = emit_spec([build_program(c) for c in candidates])
    return SpecFile(f"// {provenance}\n{text}", tuple(_clashes(candidates)))


def _clashes(candidates: Iterable[Candidate]) -> Iterable[str]:
    """Types that two candidates configure differently: a spec tells ops apart by type alone, and the first one wins."""
    first: dict[tuple[str, str], tuple[Candidate, object]] = {}
    for candidate in candidates:
        for layout in layouts_of(candidate):
            owner, given = first.setdefault((layout.op, layout.operand), (candidate, layout))
            if given != layout:
                yield f"{layout.operand} is configured as for {owner}; what {candidate} wants is left out"


def unmeasured_spec(problems: Iterable[Problem], variant: Variant, config: Config | None, target: Target) -> SpecFile:
    """The spec of a given configuration, or of the first heuristic one, for each problem.

    Raises UsageError with the constraint that refuses a configuration in every form that a spec can carry.
    """
    shipping = tuple(name for name in variant.forms if FORMS[name].ship in (Ship.SPEC, Ship.SPEC_FLAGS))
    if not variant.tuned or not shipping or variant.comparator != "ballot":
        raise UsageError(
            f"variant '{variant.name}' is not something that a tuning spec can ask for; use vd or vd_split"
        )
    chosen = []
    for problem in problems:
        found = enumerate_space(problem, replace(variant, forms=shipping), target, limit=1, config=config)
        if not found.accepted:
            first = found.rejected[0] if found.rejected else None
            why = f"{first.reason} (constraint {first.constraint})" if first else "no configuration fits"
            raise UsageError(
                f"no spec for {problem.id} {problem.op} {problem.shape_text}x{problem.dtype} on {target.name}: {why}"
            )
        chosen.append(found.accepted[0])
    kind = "a given configuration" if config else "a heuristic configuration"
    return spec_file(chosen, f"unmeasured: {kind}, nobody has timed it")
