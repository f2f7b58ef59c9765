"""The charts that are drawn when the page is made: bandwidth against the ceiling, speedups, DPP against shuffles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ireebench.measure.baselines.published import PublishedFigure, figures_for
from ireebench.measure.job import CachePolicy
from ireebench.problems.ops.table import op_of
from ireebench.report.compare_tables import Duel, ShufflePair
from ireebench.report.evidence import Evidence
from ireebench.report.page import svg
from ireebench.report.ranking import Standing, median_ns
from ireebench.report.rows import Row
from ireebench.report.sweep_tables import title_of

_WIDTH = 940.0
_ROW = 24.0


@dataclass(frozen=True, slots=True)
class Point:
    """A mark in the bandwidth chart: bytes that must move, GB/s (1e9 bytes), what it stands for."""

    series: str
    bytes_moved: int
    gb_per_s: float
    label: str


def bandwidth_points(standings: Sequence[Standing]) -> tuple[Point, ...]:
    """Each problem's best, best that ships where that is another, stock IREE, best baseline, and published figures."""
    found: list[Point] = []
    for s in standings:
        chosen = (
            ("default", s.default),
            ("baseline", s.best_baseline),
            ("ships", s.best_shipping if s.best_shipping is not s.best else None),
            ("best", s.best),
        )
        moved = op_of(s.problem).bytes_moved(s.problem)
        found += [_published_point(f, moved) for f in figures_for(s.problem)]
        found += [_point(series, row) for series, row in chosen if row is not None and row.gb_per_s]
    return tuple(found)


def _point(series: str, row: Row) -> Point:
    share = "" if row.percent_of_ceiling is None else f", {row.percent_of_ceiling:.1f}% of the ceiling"
    label = f"{title_of(row.trial.problem)}: {row.trial.label}, {median_ns(row) / 1000:.2f} us{share}"
    assert row.bytes_moved is not None
    assert row.gb_per_s is not None
    return Point(series, row.bytes_moved, row.gb_per_s, label)


def _published_point(figure: PublishedFigure, moved: int) -> Point:
    doubt = figure.implausible or figure.remark
    note = f"{figure.label} on {figure.target}: {figure.us:g} us, not measured here{f'; {doubt}' if doubt else ''}"
    return Point("published", moved, figure.gb_per_s, f"{figure.problem}: {note}")


def ceiling_curve(evidence: Evidence, cache: CachePolicy, low: float, high: float) -> list[tuple[float, float]]:
    """(bytes, GB/s) of the measured ceiling from `low` to `high` bytes; empty where none was measured."""
    sizes = np.geomspace(low, high, 60)
    found = [(float(s), evidence.ceiling(int(s), cache)) for s in sizes]
    return [(s, rate) for s, rate in found if rate is not None]


def bandwidth_chart(evidence: Evidence, cache: CachePolicy, standings: Sequence[Standing], name: str) -> str | None:
    """GB/s over bytes, both logarithmic, with the measured ceiling as a line. None where nothing has a rate."""
    points = bandwidth_points(standings)
    measured = [p for p in points if p.series != "published"]
    if not measured:
        return None
    height, left, bottom, right = 420.0, 70.0, 372.0, _WIDTH - 20
    x = svg.log_scale([p.bytes_moved for p in points], left, right, 1.6)
    curve = ceiling_curve(evidence, cache, x.low, x.high)
    y = svg.log_scale([*(p.gb_per_s for p in measured), *(rate for _, rate in curve)], bottom, 40, 1.8)
    inside = [p for p in points if y.low <= p.gb_per_s <= y.high]
    body = [svg.line(left, y(t), right, y(t), "grid") + svg.text(left - 8, y(t) + 4, f"{t:g}", "tick", "end")
            for t in y.ticks()]  # fmt: skip
    body += [svg.line(x(t), 40, x(t), bottom, "grid") + svg.text(x(t), bottom + 18, _size(t), "tick", "middle")
             for t in x.ticks()]  # fmt: skip
    body.append(svg.text((left + right) / 2, height - 8, "bytes that one call must move", "axis", "middle"))
    body.append(svg.text(left - 56, 24, "GB/s (1e9 bytes a second)", "axis"))
    if curve:
        path = " ".join(f"{x(s):g},{y(r):g}" for s, r in curve)
        body.append(f'<polyline points="{path}" class="ceiling"/>')
        body.append(svg.text(right - 4, y(curve[-1][1]) - 9, "measured streaming-read ceiling", "ceiling-label", "end"))
    body += [svg.mark(x(p.bytes_moved), y(p.gb_per_s), p.series, p.label) for p in inside]
    names = [("best", "best"), ("ships", "best that ships"), ("default", "stock IREE"), ("baseline", "best baseline")]
    shown = [(s, what) for s, what in names if any(p.series == s for p in points)]
    if len(measured) < len(points):
        outside = len(points) - len(inside)
        shown.append(("published", f"published, not measured here{f' ({outside} off chart)' if outside else ''}"))
    body.append(svg.legend(left + 110, 24, shown))
    title = f"Bandwidth of {len(standings)} problems against bytes moved, {cache}; the results table has the figures"
    return svg.picture(_WIDTH, height, name, title, "".join(body))


def _size(count: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:g} {unit}"
    return f"{count:g} B"


def speedup_chart(duels: Sequence[Duel], name: str) -> str | None:
    """Best baseline / best candidate a problem, with its 95% interval; None where nothing was compared."""
    judged = [d for d in duels if d.verdict is not None]
    if not judged:
        return None
    left, right = 300.0, _WIDTH - 110
    ratios = [r for d in judged if d.verdict for r in (d.verdict.low, d.verdict.high, 1.0)]
    x = svg.log_scale(ratios, left, right, 1.15)
    bottom = 34 + _ROW * len(judged)
    body = [svg.line(x(t), 26, x(t), bottom, "grid") + svg.text(x(t), bottom + 16, f"{t:g}", "tick", "middle")
            for t in x.ticks()]  # fmt: skip
    body.append(svg.line(x(1.0), 22, x(1.0), bottom, "one"))
    body += [part for i, d in enumerate(judged) for part in _bar(d, x, 34 + _ROW * i)]
    body.append(svg.text((left + right) / 2, bottom + 36, "best baseline / best candidate (log)", "axis", "middle"))
    title = f"Speedups of {len(judged)} problems over their best baseline, with 95% intervals"
    return svg.picture(_WIDTH, bottom + 46, name, title, "".join(body))


def _bar(duel: Duel, x: svg.LogScale, top: float) -> Iterator[str]:
    s, v = duel.standing, duel.verdict
    assert v is not None
    one, end = x(1.0), x(v.ratio)
    start, width = min(one, end), abs(end - one)
    tip = f"{title_of(s.problem)}: {v.ratio:.3f} ({v.low:.3f} to {v.high:.3f}), {v.word}"
    yield svg.text(x.start - 10, top + 14, f"{s.problem.id} {s.problem.shape_text} {s.problem.dtype}", "label", "end")
    yield (
        f'<g class="bar {v.word}"><title>{tip}</title>'
        f'<rect x="{start:g}" y="{top + 3:g}" width="{max(width, 1):g}" height="{_ROW - 9:g}"/></g>'
    )
    yield svg.line(x(v.low), top + 10, x(v.high), top + 10, "whisker")
    yield svg.text(x.end + 12, top + 14, f"{v.ratio:.2f} {v.word}", "label")


def shuffle_chart(pairs: Sequence[ShufflePair], name: str) -> str | None:
    """Ballot and shuffle times side by side, us; None where there is no pair."""
    if not pairs:
        return None
    left, right = 330.0, _WIDTH - 130
    times = [median_ns(r) / 1000 for p in pairs for r in (p.ballot, p.shuffle)]
    x = svg.log_scale(times, left, right)
    bottom = 40 + _ROW * len(pairs)
    body = [svg.line(x(t), 30, x(t), bottom, "grid") + svg.text(x(t), bottom + 16, f"{t:g}", "tick", "middle")
            for t in x.ticks()]  # fmt: skip
    body.append(svg.legend(left, 18, [("best", "DPP + ballot"), ("shuffle", "shuffles")]))
    for i, p in enumerate(pairs):
        y = 52 + _ROW * i
        a, b = median_ns(p.ballot) / 1000, median_ns(p.shuffle) / 1000
        kind = p.ballot.trial.variant or ""
        problem = p.ballot.trial.problem
        tip = f"{title_of(problem)}, {kind} {p.ballot.trial.form} {p.ballot.trial.config}"
        body.append(svg.text(left - 10, y + 4, f"{problem.id} {problem.shape_text} {problem.dtype}, {kind}", "label",
                             "end"))  # fmt: skip
        body.append(svg.line(x(a), y, x(b), y, "link"))
        body.append(svg.mark(x(b), y, "shuffle", f"{tip}: shuffles {b:.2f} us"))
        body.append(svg.mark(x(a), y, "best", f"{tip}: DPP + ballot {a:.2f} us"))
        word = f" {p.verdict.word}" if p.verdict else ""
        body.append(svg.text(right + 12, y + 4, f"{b / a:.2f}x{word}", "label"))
    body.append(svg.text((left + right) / 2, bottom + 34, "us a call (log); shuffle / ballot at the right", "axis",
                         "middle"))  # fmt: skip
    title = f"DPP and ballot against shuffles for {len(pairs)} pairs with the same form and configuration"
    return svg.picture(_WIDTH, bottom + 44, name, title, "".join(body))
