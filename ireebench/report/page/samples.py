"""Distributions of raw samples, in bins: enough to see spread, tails and two humps, small enough for a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ireebench.report.evidence import Evidence
from ireebench.report.ranking import Standing
from ireebench.report.rows import Row

BINS = 60
_MOST = 14  # rows a problem: a chart with more says less
_WIDEST = (-25.0, 75.0)  # percent of the row's own median; what lies outside is counted in the border bins


@dataclass(frozen=True, slots=True)
class Spread:
    """One row's samples: counts in `BINS` equal bins from `low` to `high` percent of its own median."""

    row: Row
    median_ns: float
    samples: int
    processes: int
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Distribution:
    """The rows worth comparing of one problem and cache policy, on one axis (percent off each one's median)."""

    low: float
    high: float
    spreads: tuple[Spread, ...]


def shown_rows(standing: Standing) -> tuple[Row, ...]:
    """The best candidate of each variant and the baselines, fastest first."""
    first: dict[str | None, Row] = {}
    for row in standing.candidates:
        first.setdefault(row.trial.variant, row)
    ships = [standing.best_shipping] if standing.best_shipping else []
    chosen = dict.fromkeys([*first.values(), *ships, *standing.baselines])
    return tuple(chosen)[:_MOST]


def distribution(evidence: Evidence, standing: Standing) -> Distribution | None:
    """Bins of the raw samples of a problem's rows; None where none are stored."""
    taken = []
    for row in shown_rows(standing):
        processes = [np.asarray(s, np.float64) for s in evidence.samples(row.trial.key, standing.cache, "kernel")]
        pooled = np.concatenate(processes) if processes else np.empty(0)
        if pooled.size:
            middle = float(np.median(pooled))
            taken.append((row, middle, len(processes), 100 * (pooled / middle - 1)))
    if not taken:
        return None
    low, high = _range([t[3] for t in taken])
    edges = np.linspace(low, high, BINS + 1)
    spreads = []
    for row, middle, count, off in taken:
        counts, _ = np.histogram(np.clip(off, low, high), edges)
        spreads.append(Spread(row, middle, len(off), count, tuple(int(c) for c in counts)))
    return Distribution(low, high, tuple(spreads))


def _range(percents: Sequence[np.typing.NDArray[np.float64]]) -> tuple[float, float]:
    low = min(float(np.percentile(p, 1)) for p in percents)
    high = max(float(np.percentile(p, 99)) for p in percents)
    room = max(0.5, 0.08 * (high - low))
    return max(_WIDEST[0], low - room), min(_WIDEST[1], high + room)
