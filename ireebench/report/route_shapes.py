"""What a routing rule is learnt from: how much each measured choice loses against the best of each shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ireebench.candidate import Candidate
from ireebench.measure.job import CachePolicy
from ireebench.outcome import Status
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem
from ireebench.report.best import device_of
from ireebench.report.evidence import Evidence
from ireebench.report.ranking import Standing, median_ns, standing
from ireebench.report.rows import Row
from ireebench.space.config import Config
from ireebench.space.constraint import first_broken
from ireebench.space.constraints import constraints_of
from ireebench.store.trial import Trial
from ireebench.targets import TARGETS
from ireebench.variants import FORMS, VARIANTS, Ship

Value = int | str
NOT_TRIED = "not tried"


@dataclass(frozen=True, slots=True)
class Feature:
    """What a rule may ask of a problem: known to a compiler before it chooses. Whole numbers are compared by size."""

    name: str
    meaning: str
    of: Callable[[Problem], Value]


def _align(size: int) -> int:
    return size & -size


_ALIGN = "largest power of two that divides {}: tiles must divide it"
_BYTES = Feature("bytes", "bytes that one call must move", lambda p: op_of(p).bytes_moved(p))
_ARGCOMPARE = (
    Feature("rows", "independent reductions of one call", lambda p: p.rows),
    Feature("reduction", "length of the reduced dimension, elements", lambda p: p.reduction),
    Feature("dtype", "element type", lambda p: p.dtype),
    Feature("reduction_align", _ALIGN.format("reduction"), lambda p: _align(p.reduction)),
    _BYTES,
    Feature("rank", "dimensions of the input", lambda p: len(p.shape)),
    Feature("index_dtype", "type of the index result", lambda p: str(p.index_dtype)),
)
# An earlier feature is asked first where two would tell the learnt shapes apart equally well.
FEATURES: dict[str, tuple[Feature, ...]] = {
    "argmax": _ARGCOMPARE,
    "argmin": _ARGCOMPARE,
    "gemv": (
        Feature("N", "rows of the weight: length of a result", lambda p: p.shape[1]),
        Feature("K", "columns of the weight: length of the reduction", lambda p: p.shape[2]),
        Feature("dtype", "format of the weight", lambda p: p.dtype),
        Feature("K_align", _ALIGN.format("K"), lambda p: _align(p.reduction)),
        _BYTES,
        Feature("M", "activations of one call", lambda p: p.shape[0]),
        Feature("out_dtype", "type of the result", lambda p: str(p.out_dtype)),
        Feature("layout", "how the weight is stored: nk has a row's elements side by side", lambda p: str(p.layout)),
    ),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What a rule routes to."""

    variant: str
    form: str
    config: Config

    @property
    def label(self) -> str:
        """As a trial's: "vd/rows SG=4,PR=2048"."""
        return f"{self.variant}/{self.form} {self.config}"


@dataclass(frozen=True, slots=True)
class Shape:
    """Problems that no feature tells apart, as one: a rule must choose the same for all of them.

    `losses` are shares of the best's time (0.03: 3% slower), of every choice that passed the check and was timed; the
    worst where several problems or trials say different. `failed` says how choices ended that have no time. `noise` is
    the relative A/A difference within which a choice is as good as the best.
    """

    problem: Problem
    ids: tuple[str, ...]
    features: Mapping[str, Value]
    best: Choice
    best_ns: float
    losses: Mapping[Choice, float]
    ships: Mapping[Choice, Ship]
    failed: Mapping[Choice, str]
    noise: float
    target: str

    @property
    def name(self) -> str:
        """For people: the first problem's, with its shape and type."""
        return f"{self.ids[0]} ({self.problem.shape_text} {self.problem.dtype})"

    def why_unmeasured(self, choice: Choice) -> str:
        """How a choice without a time ended here, or which constraint refuses it, or NOT_TRIED."""
        if choice in self.failed:
            return self.failed[choice]
        target = TARGETS.get(self.target)
        if target is None:
            return NOT_TRIED
        candidate = Candidate(self.problem, VARIANTS[choice.variant], FORMS[choice.form], choice.config, target)
        broken = first_broken(candidate, constraints_of(candidate))
        return NOT_TRIED if broken is None else f"refused: {broken.name}"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A problem that has trials and teaches nothing, and why."""

    problem: Problem
    reason: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where and how times were taken; shapes of different places are never in one rule. Unknown is None."""

    device: str
    driver: str | None
    compiler_version: str | None
    target: str
    timer: str


@dataclass(frozen=True, slots=True)
class Measured:
    """The shapes of one op that were measured at one place under one cache policy, in so many environments."""

    place: Place
    environments: int
    cache: CachePolicy
    shapes: tuple[Shape, ...]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which trials count. `ships`: only what a user can have without rewriting IR. `by`: sum of kernels, or span."""

    op: str
    cache: CachePolicy
    timer: str | None = None
    target: str | None = None
    ships: bool = False
    by: str = "kernel"


def measured(found: Iterable[Evidence], wanted: Wanted) -> tuple[Measured, ...]:
    """What was measured at each place, the shapes sorted by their features.

    Environments that differ in the host or the protocol alone go together: a loss compares times of one environment.
    """
    places: dict[Place, list[list[Shape | LeftOut]]] = {}
    for evidence in found:
        timed: dict[Place, list[Row]] = {}
        for row in _timed(evidence, wanted):
            timed.setdefault(_place(evidence, row), []).append(row)
        for place, rows in timed.items():
            places.setdefault(place, []).append(list(_taught(evidence, wanted, place, rows)))
    return tuple(_measured(place, wanted, parts) for place, parts in places.items())


def _measured(place: Place, wanted: Wanted, environments: Sequence[Sequence[Shape | LeftOut]]) -> Measured:
    parts = [part for environment in environments for part in environment]
    shapes = [p for p in parts if isinstance(p, Shape)]
    known = {p.problem for p in shapes}
    left_out = {p.problem: p for p in parts if isinstance(p, LeftOut) and p.problem not in known}
    return Measured(place, len(environments), wanted.cache, _joined(shapes), tuple(left_out.values()))


def _place(evidence: Evidence, row: Row) -> Place:
    assert row.timing is not None
    where = evidence.environment
    driver, compiler = (where.driver, where.compiler_version) if where else (None, None)
    return Place(device_of(evidence), driver, compiler, row.trial.target, row.timing.timer)


def _timed(evidence: Evidence, wanted: Wanted) -> list[Row]:
    """Candidates that are right, timed as wanted: a wrong result has no speed."""
    return [
        r
        for r in evidence.rows
        if r.trial.problem.op == wanted.op
        and r.trial.variant is not None
        and r.cache == wanted.cache
        and r.timing is not None
        and r.trial.status is Status.OK
        and r.trial.check is not None
        and r.trial.check.ok
        and wanted.timer in (None, r.timing.timer)
        and wanted.target in (None, r.trial.target)
    ]


def _taught(evidence: Evidence, wanted: Wanted, place: Place, rows: Sequence[Row]) -> Iterator[Shape | LeftOut]:
    """Each problem that has candidates for the place's target: its losses, or why it has none."""
    timed: dict[Problem, list[Row]] = {}
    for row in rows:
        timed.setdefault(row.trial.problem, []).append(row)
    failed: dict[Problem, dict[Choice, str]] = {}
    for t in evidence.trials:
        if t.target == place.target and t.problem.op == wanted.op and t.variant is not None:
            known = failed.setdefault(t.problem, {})
            if t.status is not Status.OK:
                known[_choice(t)] = t.status.value
    for problem, failures in failed.items():
        usable = [r for r in timed.get(problem, ()) if r.trial.ship.ships or not wanted.ships]
        if usable:
            noise = evidence.noise.get((problem, wanted.cache), ())
            yield _shape(standing(problem, usable, wanted.cache, noise, by=wanted.by), wanted, failures)
        else:
            what = "nothing that ships was timed" if problem in timed else "nothing was timed"
            yield LeftOut(problem, f"{what} {wanted.cache} by {place.timer}")


def _choice(trial: Trial) -> Choice:
    return Choice(str(trial.variant), str(trial.form), trial.config)


def _shape(s: Standing, wanted: Wanted, failed: Mapping[Choice, str]) -> Shape:
    losses: dict[Choice, float] = {}
    ships: dict[Choice, Ship] = {}
    for row in s.candidates:
        loss, choice = _loss(row, s, wanted), _choice(row.trial)
        if loss is not None:
            losses[choice] = max(loss, losses.get(choice, 0.0))
            ships[choice] = row.trial.ship
    assert s.best is not None
    return Shape(
        problem=s.problem,
        ids=(s.problem.id,),
        features={f.name: f.of(s.problem) for f in FEATURES[wanted.op]},
        best=_choice(s.best.trial),
        best_ns=median_ns(s.best, by=wanted.by),
        losses=losses,
        ships=ships,
        failed={c: status for c, status in failed.items() if c not in losses},
        noise=s.noise,
        target=s.best.trial.target,
    )


def _loss(row: Row, s: Standing, wanted: Wanted) -> float | None:
    """How much slower than the problem's best, from figures that were timed alike; None where there are none.

    Finalists are compared by the finals. What only the search timed is compared by the search with the fastest
    finalist that it timed too: the finals take longer, and a GPU is not as fast then as in a brief search.
    """
    assert s.best is not None
    assert s.best.timing is not None
    assert row.timing is not None
    time, best = median_ns(row, by=wanted.by), median_ns(s.best, by=wanted.by)
    if row.timing.final == s.best.timing.final:
        return time / best - 1
    for finalist in s.candidates:
        searched = _searched(finalist.trial, wanted)
        if searched is not None and finalist.timing is not None and finalist.timing.final:
            return max(0.0, time / searched * median_ns(finalist, by=wanted.by) / best - 1)
    return None


def _searched(trial: Trial, wanted: Wanted) -> float | None:
    run = next((r for r in trial.runs if r.process == 0 and r.cache == wanted.cache), None)
    if run is None:
        return None
    return run.median_ns if wanted.by == "kernel" else run.span_ns


def _joined(parts: Sequence[Shape]) -> tuple[Shape, ...]:
    """Problems with equal features as one shape, sorted by their features."""
    same: dict[tuple[Value, ...], list[Shape]] = {}
    for part in parts:
        same.setdefault(tuple(part.features.values()), []).append(part)
    return tuple(_join(same[key]) for key in sorted(same, key=lambda k: tuple((isinstance(v, str), v) for v in k)))


def _join(parts: Sequence[Shape]) -> Shape:
    first = min(parts, key=lambda p: p.best_ns)
    losses: dict[Choice, float] = {}
    for part in parts:
        for choice, loss in part.losses.items():
            losses[choice] = max(loss, losses.get(choice, 0.0))
    return Shape(
        problem=first.problem,
        ids=tuple(dict.fromkeys(i for p in parts for i in p.ids)),
        features=first.features,
        best=first.best,
        best_ns=first.best_ns,
        losses=losses,
        ships={c: s for p in parts for c, s in p.ships.items()},
        failed={c: s for p in parts for c, s in p.failed.items() if c not in losses},
        noise=max(p.noise for p in parts),
        target=first.target,
    )
