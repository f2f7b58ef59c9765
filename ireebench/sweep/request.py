"""What the user asked a sweep for, and how its trials are keyed."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any
from typing import Protocol as Interface

from ireebench.candidate import Candidate
from ireebench.isa.where import Where
from ireebench.measure.job import Protocol
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.space.knobs import Place
from ireebench.store import codec
from ireebench.targets import Target
from ireebench.variants import Variant


@dataclass(frozen=True, slots=True)
class Measuring:
    """How to measure: device URI, timer, protocol.

    Where `devices` names several, of one kind and model, `device` is the first and each has problems of its own.
    Process 0 runs every candidate by the `search` protocol; then `processes` more run the `finalists` best of each
    problem, all baselines and an A/A pair by `protocol`. The final figures come from those.
    """

    device: str
    timer: str
    search: Protocol
    protocol: Protocol
    processes: int = 3
    finalists: int = 4
    devices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """What to collect of each problem's best candidate, in runs of its own after the sweep."""

    counters: tuple[str, ...] = ()
    thread_trace: bool = False

    def __bool__(self) -> bool:
        return bool(self.counters) or self.thread_trace


NO_PROFILE = Profile()


class ConfigSource(Interface):
    """What replaces the space's own configurations: a sweep definition, or the neighbours of what was found before."""

    def configs_for(self, place: Place) -> tuple[Config, ...] | None:
        """The configurations to try there; None leaves the space's own."""


@dataclass(frozen=True, slots=True)
class Request:
    """A sweep. `measuring` is None for compile-only; `config` forces one configuration; `limit` samples the space;
    `where` keeps candidates whose assembly does not pass from being measured; `emulated_rows` above 0 executes that
    many rows of each candidate's assembly in place of a device (AMD targets)."""

    op: str
    problems: tuple[Problem, ...]
    target: Target
    variants: tuple[Variant, ...]
    baselines: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()  # baselines that the user named: run or refused even where they do not fit
    config: Config | None = None
    limit: int | None = None
    seed: int = 0
    measuring: Measuring | None = None
    fresh: bool = False
    where: Where | None = None
    emulated_rows: int = 0
    profile: Profile = NO_PROFILE
    figures: tuple[str, ...] = ()  # of baselines.figures: shown beside what is measured
    configs: ConfigSource | None = None
    variants_named: bool = True  # by the user: one with no form for a problem's weights is refused, not left out


def deal(request: Request) -> tuple[Request, ...]:
    """One request a device that gets problems: dealt out in turn, those that move most bytes first.

    The same request is dealt the same way, so that it goes on where it was; and a trial's key is that of a sweep of
    its device alone.
    """
    measuring = request.measuring
    if measuring is None or len(measuring.devices) < 2:
        return (request,)
    problems = sorted(dict.fromkeys(request.problems), key=lambda p: -op_of(p).bytes_moved(p))
    shares = []
    for n, device in enumerate(measuring.devices):
        mine = frozenset(problems[n :: len(measuring.devices)])
        if mine:
            alone = replace(measuring, device=device, devices=())
            kept = tuple(p for p in request.problems if p in mine)
            shares.append(replace(request, problems=kept, measuring=alone))
    return tuple(shares)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a trial is of: a candidate, or a baseline on a problem."""

    problem: Problem
    candidate: Candidate | None = None
    baseline: str | None = None


def trial_key(request: Request, environment: str, subject: Subject) -> str:
    """Identifies a trial across runs: what is computed, how, where, and by which rules.

    `environment` is the digest of what must not change for a stored figure to stand (device, driver, versions).
    """
    candidate = subject.candidate
    parts = {
        "problem": _problem_part(subject.problem),
        "target": request.target.name,
        "variant": candidate.variant.name if candidate else None,
        "form": candidate.form.name if candidate else None,
        "config": str(candidate.config) if candidate else None,
        "baseline": subject.baseline,
        "environment": environment,
        "measuring": _measuring_part(request.measuring),
        "emulated_rows": request.emulated_rows,
    }
    return codec.digest(codec.to_json(parts))


# A sweep keys tens of thousands of candidates of a few problems.
@lru_cache(maxsize=4)
def _problem_part(problem: Problem) -> dict[str, Any]:
    return asdict(problem) | {"source": None, "model": None}


@lru_cache(maxsize=4)
def _measuring_part(m: Measuring | None) -> dict[str, Any] | None:
    return None if m is None else {"device": m.device, "timer": m.timer, "protocol": asdict(m.protocol)}
