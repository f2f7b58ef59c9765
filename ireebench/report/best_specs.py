"""The spec file to ship: that of each problem's best candidate that ships by a tuning spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ireebench.candidate import Candidate
from ireebench.ir.build import build_program
from ireebench.ir.layouts import layouts_of
from ireebench.ir.specs import emit_spec
from ireebench.report.ranking import Standing, median_ns
from ireebench.report.rows import Row
from ireebench.targets import Target
from ireebench.variants import FORMS, VARIANTS, Ship


def best_by_spec(standing: Standing) -> Row | None:
    """The fastest candidate that a tuning spec (with or without flags) carries; None where there is none."""
    return next((r for r in standing.candidates if r.trial.ship in (Ship.SPEC, Ship.SPEC_FLAGS)), None)


def candidate_of(row: Row, target: Target) -> Candidate:
    """The candidate that a stored trial was made of."""
    t = row.trial
    assert t.variant is not None
    assert t.form is not None
    return Candidate(t.problem, VARIANTS[t.variant], FORMS[t.form], t.config, target)


@dataclass(frozen=True, slots=True)
class ShippedSpec:
    """A spec file for one problem: its name, its text with the figure in its header, and what it configures."""

    file: str
    text: str
    candidate: Candidate


def spec_of(row: Row, target: Target) -> ShippedSpec | None:
    """The spec file of a timed row; None where a spec has nothing to say: the compiler's own choice, or flags alone."""
    if row.trial.ship not in (Ship.SPEC, Ship.SPEC_FLAGS):
        return None
    candidate = candidate_of(row, target)
    if not layouts_of(candidate):
        return None
    problem = row.trial.problem
    measured = f"// Measured: {median_ns(row) / 1000:.2f} us ({row.cache}, timer {row.trial.timer}).\n"
    text = measured + emit_spec([build_program(candidate)])
    return ShippedSpec(f"{problem.id}-{problem.op}-{target.name}.mlir", text, candidate)


def best_specs(standings: Sequence[Standing], target: Target) -> tuple[tuple[str, str], ...]:
    """(file name, text) of a spec for each problem that has one, with its figure in the header."""
    files: dict[str, str] = {}
    for s in standings:
        row = best_by_spec(s)
        spec = spec_of(row, target) if row else None
        if spec is not None:
            files.setdefault(spec.file, spec.text)
    return tuple(files.items())
