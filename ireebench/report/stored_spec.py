"""The spec of the fastest stored trials, all problems in one file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ireebench.candidate import Candidate
from ireebench.compiler.shipping import SpecFile, spec_file
from ireebench.errors import UsageError
from ireebench.ir.layouts import layouts_of
from ireebench.outcome import Status
from ireebench.problems.problem import Problem
from ireebench.store.database import Store
from ireebench.store.trial import Trial
from ireebench.targets import Target
from ireebench.variants import FORMS, VARIANTS, Ship


@dataclass(frozen=True, slots=True)
class _Timed:
    candidate: Candidate
    median_ns: float
    timer: str
    environment: int | None


def _timed(trials: Iterable[Trial], op: str, target: Target) -> list[_Timed]:
    found = []
    for t in trials:
        timing = t.timing()
        carried = t.ship in (Ship.SPEC, Ship.SPEC_FLAGS) and t.status is Status.OK and t.variant and t.form
        if not carried or timing is None or (t.problem.op, t.target) != (op, target.name):
            continue
        assert t.variant is not None
        assert t.form is not None
        candidate = Candidate(t.problem, VARIANTS[t.variant], FORMS[t.form], t.config, target)
        if layouts_of(candidate):
            found.append(_Timed(candidate, timing.median_ns, timing.timer, t.environment))
    return found


def stored_spec(store: Store, op: str, target: Target) -> SpecFile:
    """The fastest trial of each problem that a spec can carry, by the median of its kernels, hot.

    Raises UsageError where there is none, or where they come from several devices.
    """
    timed = _timed(store.trials(op=op), op, target)
    if not timed:
        raise UsageError(f"the store holds no timed {op} trial on {target.name} that a tuning spec can carry")
    environments = store.environments()
    devices = {environments[t.environment].device for t in timed if t.environment in environments}
    if len(devices) > 1:
        raise UsageError(
            f"the store holds trials of several devices: {', '.join(sorted(devices))}; emit from one store each"
        )
    best: dict[Problem, _Timed] = {}
    for t in sorted(timed, key=lambda t: t.median_ns):
        best.setdefault(t.candidate.problem, t)
    winners = list(best.values())
    figures = "; ".join(f"{t.candidate.problem.id} {t.median_ns / 1000:.2f} us ({t.timer})" for t in winners)
    where = f" on {devices.pop()}" if devices else ""
    return spec_file([t.candidate for t in winners], f"measured{where}, medians, hot: {figures}")
