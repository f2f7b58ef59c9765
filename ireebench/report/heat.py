"""Heat maps of a search: median us over two knobs, one map a split tile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ireebench.report.ranking import Standing, median_ns
from ireebench.report.rows import Row

# The knobs of a map: the first pair of which a candidate sets one. A CPU's split tile may be all that there is.
AXES = (("SG", "PR"), ("DIST", "VEC"), ("ST", "TH"))


@dataclass(frozen=True, slots=True)
class HeatMap:
    """`us[j][i]` is the fastest median us with knob `x` at `xs[i]` and `y` at `ys[j]`; None where nothing was timed.

    0 on an axis: the knob is not set. `split` is the split tile, 0 without one.
    """

    x: str
    y: str
    split: int
    xs: tuple[int, ...]
    ys: tuple[int, ...]
    us: tuple[tuple[float | None, ...], ...]


def heat_maps(standing: Standing) -> Mapping[str, tuple[HeatMap, ...]]:
    """Variant -> its maps, for variants of which at least two configurations were timed."""
    rows: dict[str, list[Row]] = {}
    for row in standing.candidates:
        if any(k in row.trial.config.as_dict() for axes in AXES for k in axes):
            rows.setdefault(row.trial.variant or "", []).append(row)
    return {variant: _maps(found) for variant, found in rows.items() if len(found) > 1}


def _maps(rows: list[Row]) -> tuple[HeatMap, ...]:
    knobs = [r.trial.config.as_dict() for r in rows]
    x, y = next(axes for axes in AXES if any(k in values for values in knobs for k in axes))
    by_split: dict[int, dict[tuple[int, int], float]] = {}
    for row, values in zip(rows, knobs, strict=True):
        cells = by_split.setdefault(0 if x == "ST" else values.get("ST", 0), {})
        at = (values.get(x, 0), values.get(y, 0))
        cells[at] = min(cells.get(at, float("inf")), median_ns(row) / 1000)
    return tuple(_map(x, y, split, cells) for split, cells in sorted(by_split.items()))


def _map(x: str, y: str, split: int, cells: Mapping[tuple[int, int], float]) -> HeatMap:
    xs = tuple(sorted({a for a, _ in cells}))
    ys = tuple(sorted({b for _, b in cells}))
    return HeatMap(x, y, split, xs, ys, tuple(tuple(cells.get((a, b)) for a in xs) for b in ys))
