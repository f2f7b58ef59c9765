"""The best configuration of each problem: of all, and of those that ship; with the spec file that carries it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ireebench.measure.job import CachePolicy
from ireebench.problems.problem import Problem
from ireebench.report.evidence import Evidence
from ireebench.report.ranking import Standing, median_ns, speedup
from ireebench.report.rows import Row, row_document
from ireebench.report.table import Cell, Table


@dataclass(frozen=True, slots=True)
class SpecAnswer:
    """A problem's spec file. `applied`: compiled and read back from the dumps; None where it was not tried.

    `text` is None where no spec carries the best that ships, and `reason` says why. `flags` are needed beside it.
    """

    file: str | None
    text: str | None
    flags: tuple[str, ...]
    applied: bool | None
    reason: str


@dataclass(frozen=True, slots=True)
class Best:
    """One problem under one cache policy on one device."""

    device: str
    standing: Standing
    spec: SpecAnswer

    @property
    def problem(self) -> Problem:
        """The problem."""
        return self.standing.problem

    @property
    def cache(self) -> CachePolicy:
        """The cache policy."""
        return self.standing.cache


def device_of(evidence: Evidence) -> str:
    """The device's name, for people."""
    return evidence.environment.device if evidence.environment else "unknown device"


_HEADS = ("problem", "op", "shape", "dtype", "best us", "best", "best that ships us", "best that ships", "ships by")
_TAIL = ("default / best", "default / ships", "best baseline", "best baseline / best", "best baseline / ships", "spec")


# What the table for a terminal tells apart from the times: what ships, with the spec that carries it.
_SHIPPING = ("problem", "op", "best that ships", "ships by", "spec")


def narrow(table: Table) -> list[Table]:
    """The table in two: times and speedups, then what ships, whose spec says much."""
    titles = [c.title for c in table.columns]
    apart = [titles.index(t) for t in _SHIPPING]
    kept = [i for i, t in enumerate(titles) if t not in _SHIPPING[2:]]
    rows = tuple(tuple(r[i] for i in kept) for r in table.rows)
    return [
        Table(tuple(table.columns[i] for i in kept), rows, table.title),
        Table.of(_SHIPPING, [[r[i] for i in apart] for r in table.rows]),
    ]


def best_tables(found: Sequence[Best]) -> list[Table]:
    """A table a device and cache policy. Speedups name both sides; times are us of one call, sum of kernels."""
    groups: dict[tuple[str, CachePolicy], list[Best]] = {}
    for b in found:
        groups.setdefault((b.device, b.cache), []).append(b)
    return [
        Table.of(
            (*_HEADS, *_TAIL),
            [_line(b) for b in members],
            f"Best configurations on {device}, {cache}{_timers(members)}",
        )
        for (device, cache), members in groups.items()
    ]


def _timers(found: Sequence[Best]) -> str:
    timers = {b.standing.best.timing.timer for b in found if b.standing.best and b.standing.best.timing}
    return f", timer {', '.join(sorted(timers))}" if timers else ""


def _us(row: Row | None) -> float | None:
    return None if row is None else median_ns(row) / 1000


def _line(b: Best) -> tuple[Cell, ...]:
    s, p = b.standing, b.problem
    best, ships, rival = s.best, s.best_shipping, s.best_baseline
    return (
        *(p.id, p.op, p.shape_text, p.dtype),
        *(_us(best), best.trial.label if best else None),
        *(_us(ships), ships.trial.label if ships else None, ships.trial.ship.value if ships else None),
        *(speedup(s.default, best), speedup(s.default, ships)),
        rival.trial.baseline if rival else None,
        *(speedup(rival, best), speedup(rival, ships)),
        _spec_word(b.spec),
    )


def _spec_word(spec: SpecAnswer) -> str:
    match spec.applied:
        case True:
            return f"{spec.file}: applied"
        case False:
            return f"{spec.file}: NOT applied: {spec.reason}"
    return spec.reason if spec.file is None else f"{spec.file}: not checked"


def best_document(found: Sequence[Best]) -> Mapping[str, Any]:
    """For programs: figures are null where there are none."""
    return {"problems": [_entry(b) for b in found]}


def _entry(b: Best) -> dict[str, Any]:
    s, p = b.standing, b.problem
    return {
        "problem": p.id,
        "op": p.op,
        "shape": list(p.shape),
        "shape_kind": p.shape_kind,
        "dtype": p.dtype,
        "device": b.device,
        "cache": b.cache,
        "best": _row(s.best),
        "best_shipping": _row(s.best_shipping),
        "default": _row(s.default),
        "best_baseline": _row(s.best_baseline),
        "speedups": {
            "default_over_best": speedup(s.default, s.best),
            "default_over_best_shipping": speedup(s.default, s.best_shipping),
            "baseline_over_best": speedup(s.best_baseline, s.best),
            "baseline_over_best_shipping": speedup(s.best_baseline, s.best_shipping),
        },
        "noise": s.noise,
        "spec": {
            "file": b.spec.file,
            "flags": list(b.spec.flags),
            "applied": b.spec.applied,
            "reason": b.spec.reason,
            "text": b.spec.text,
        },
    }


def _row(row: Row | None) -> dict[str, Any] | None:
    return None if row is None else row_document(row)
