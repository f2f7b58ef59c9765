"""What a constraint and a refusal are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ireebench.candidate import Candidate


@dataclass(frozen=True, slots=True)
class Constraint:
    """Refuses a candidate, and can say why to a person; `why` may name figures of the candidate as {c.config.pr}."""

    name: str
    why: str
    holds: Callable[[Candidate], bool]

    def reason(self, candidate: Candidate) -> str:
        """`why` with this candidate's figures."""
        return self.why.format(c=candidate, p=candidate.problem, k=candidate.config, t=candidate.target)


@dataclass(frozen=True, slots=True)
class Rejection:
    """A candidate that a constraint refused; `constraint` is its name."""

    candidate: Candidate
    constraint: str
    reason: str


def first_broken(candidate: Candidate, constraints: Iterable[Constraint]) -> Constraint | None:
    """The first constraint that refuses the candidate, or None."""
    return next((c for c in constraints if not c.holds(candidate)), None)
