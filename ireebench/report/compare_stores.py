"""Two runs side by side: the same candidate under two compilers, drivers or machines, or twice under the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields

from ireebench.measure.job import CachePolicy
from ireebench.report.evidence import Evidence
from ireebench.report.ranking import step_share
from ireebench.report.rows import Row
from ireebench.report.table import Cell, Table
from ireebench.report.verdict import Verdict, judge
from ireebench.store.trial import Environment, Trial

Identity = tuple[str, ...]

# Fields of an environment that may differ without making two figures incomparable.
_HARMLESS = frozenset({"ireebench_version", "python", "details"})


@dataclass(frozen=True, slots=True)
class Pair:
    """One candidate or baseline in both runs. `verdict` takes A as the baseline: a loss is a regression in B.

    There is none where a store keeps no samples of it. `change_percent` is B's time over A's, minus 100.
    """

    a: Row
    b: Row
    cache: CachePolicy
    verdict: Verdict | None

    @property
    def change_percent(self) -> float:
        """How much longer B takes, percent."""
        if self.verdict is not None:
            return 100.0 * (1.0 / self.verdict.ratio - 1.0)
        assert self.a.timing is not None
        assert self.b.timing is not None
        return 100.0 * (self.b.timing.median_ns / self.a.timing.median_ns - 1.0)

    def regressed(self, percent: float) -> bool:
        """Whether B is slower beyond doubt, and by more than `percent`."""
        return self.verdict is not None and self.verdict.word == "loss" and self.change_percent > percent


@dataclass(frozen=True, slots=True)
class Comparison:
    """All pairs; `only_a` and `only_b` have no partner; `differences` are what the environments do not share."""

    pairs: tuple[Pair, ...]
    only_a: tuple[Row, ...]
    only_b: tuple[Row, ...]
    differences: tuple[str, ...]


def _identity(trial: Trial) -> Identity:
    p = trial.problem
    what = trial.baseline or f"{trial.variant} {trial.form} {trial.config}"
    return (p.id, p.op, p.shape_text, p.dtype, str(p.index_dtype), p.shape_kind, trial.target, what)


def differences(a: Environment | None, b: Environment | None) -> tuple[str, ...]:
    """What the two environments do not share, in words; harmless fields are left out."""
    if a is None or b is None:
        return ("one run does not say where it was made",)
    found = []
    for field in fields(Environment):
        x, y = getattr(a, field.name), getattr(b, field.name)
        if field.name in _HARMLESS or x == y:
            continue
        if field.name == "protocol":
            found += _protocol_differences(x, y)
        else:
            found.append(f"{field.name.replace('_', ' ')}: {x} against {y}")
    # What one run alone tells may be an older ireebench's silence.
    x, y = dict(a.details), dict(b.details)
    found += [f"{name.replace('_', ' ')}: {x[name]} against {y[name]}" for name in x if y.get(name, x[name]) != x[name]]
    return tuple(found)


def _protocol_differences(a: str, b: str) -> list[str]:
    """The settings of two protocols (JSON) that are not the same."""
    x, y = (json.loads(text) if text else {} for text in (a, b))
    keys = sorted(k for k in x.keys() | y.keys() if x.get(k) != y.get(k))
    return [f"protocol's {k}: {x.get(k)} against {y.get(k)}" for k in keys]


def compare(a: Sequence[Evidence], b: Sequence[Evidence]) -> Comparison:
    """Matches timed rows by what they are; the environments are compared, never joined."""
    left, right = _timed(a), _timed(b)
    both = [key for key in left if key in right]
    pairs = [_pair(left[key], right[key]) for key in both]
    told = [d for x in a for y in b if x.caches and y.caches for d in differences(x.environment, y.environment)]
    timers = {
        f"timer: {p.a.trial.timer} against {p.b.trial.timer}" for p in pairs if p.a.trial.timer != p.b.trial.timer
    }
    return Comparison(
        tuple(pairs),
        tuple(row for key, (_, row) in left.items() if key not in right),
        tuple(row for key, (_, row) in right.items() if key not in left),
        tuple(dict.fromkeys([*told, *sorted(timers)])),
    )


def _timed(evidence: Sequence[Evidence]) -> dict[tuple[Identity, CachePolicy], tuple[Evidence, Row]]:
    found = {}
    for e in evidence:
        for row in e.rows:
            if row.cache is not None and row.timing is not None:
                found[_identity(row.trial), row.cache] = (e, row)
    return found


def _pair(left: tuple[Evidence, Row], right: tuple[Evidence, Row]) -> Pair:
    (ea, a), (eb, b) = left, right
    assert a.cache is not None
    cache = a.cache
    floors = [e.floor(r.trial.problem, cache) for e, r in (left, right)]
    typical = [f for e in (ea, eb) if (f := e.typical_floor(cache)) is not None]
    noise = max(*floors, *typical, step_share(a), step_share(b))
    sides = [e.samples(r.trial.key, cache, "kernel") for e, r in (left, right)]
    sampled = all(any(len(s) for s in side) for side in sides)
    return Pair(a, b, cache, judge(sides[0], sides[1], noise) if sampled else None)


_WORDS = {"win": "faster", "loss": "slower", "tie": "tie", "unclear": "unclear"}


def pairs_table(comparison: Comparison) -> Table:
    """Both medians, the change and the verdict, the largest change first."""
    heads = ("problem", "what", "cache", "A us", "B us", "change %", "95% interval of A / B", "noise %", "verdict")
    body: list[tuple[Cell, ...]] = []
    for p in sorted(comparison.pairs, key=lambda p: -abs(p.change_percent)):
        assert p.a.timing is not None
        assert p.b.timing is not None
        times = (p.a.timing.median_ns / 1000, p.b.timing.median_ns / 1000, p.change_percent)
        judged: tuple[Cell, ...] = (None, None, None)
        if v := p.verdict:
            judged = (f"{v.low:.3f} to {v.high:.3f}", 100 * v.noise, _WORDS[v.word])
        body.append((p.a.trial.problem.id, p.a.trial.label, p.cache, *times, *judged))
    return Table.of(heads, body, "A against B")


def comparison_words(comparison: Comparison, percent: float | None) -> tuple[str, ...]:
    """How many rows agree, what regressed, what has no partner, and what the runs do not share."""
    total = len(comparison.pairs)
    if not total:
        lines = ["No row was timed in both."]
    else:
        words: Counter[str] = Counter(p.verdict.word for p in comparison.pairs if p.verdict)
        judged = words.total()
        told = [f"{words[w]} {name}" for w, name in _WORDS.items() if words[w]]
        lines = [f"{total} rows in both."]
        if judged:
            lines = [f"{total} rows in both: {', '.join(told)} ({100 * words['tie'] / judged:.0f}% tie)."]
        if judged < total:
            lines.append(f"Without a verdict, for want of samples in one of the stores: {total - judged}.")
    alone = [
        f"{len(rows)} only in {name}" for rows, name in ((comparison.only_a, "A"), (comparison.only_b, "B")) if rows
    ]
    if alone:
        lines.append(f"Without a partner: {', '.join(alone)}.")
    if comparison.differences:
        lines.append(f"The runs differ in {'; '.join(comparison.differences)}: a change may come from that.")
    if percent is not None:
        worse = sorted({p.a.trial.problem.id for p in comparison.pairs if p.regressed(percent)})
        found = (
            f"slower by more than {percent:g}%: {', '.join(worse)}"
            if worse
            else f"nothing slower by more than {percent:g}%"
        )
        lines.append(f"Regression check: {found}.")
    return tuple(lines)
