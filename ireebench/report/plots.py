"""Plots as PNG and SVG files: bandwidth against the ceiling, speedups, scaling, heat maps. Needs matplotlib."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ireebench.measure.job import CachePolicy
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem
from ireebench.report.compare_tables import Duel, duels
from ireebench.report.evidence import Evidence
from ireebench.report.heat import HeatMap, heat_maps
from ireebench.report.page.charts import bandwidth_points, ceiling_curve
from ireebench.report.ranking import Standing, median_ns
from ireebench.report.sweep_tables import title_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# One colour and one marker a series, the same as on the page; shapes tell them apart without colour.
_SERIES = {
    "best": ("best", "o", "#1d5fa8"),
    "ships": ("best that ships", "s", "#0f7b5f"),
    "default": ("stock IREE", "D", "#6b7280"),
    "baseline": ("best baseline", "^", "#b4540a"),
    "published": ("published, not measured here", "x", "#8b3fa0"),
}
# So many sizes make a line of the scaling plot.
_LINE = 3
# What problems on one line have in common.
_ALIKE: tuple[Callable[[Problem], tuple[str, str, int]], ...] = (
    lambda p: (p.op, p.dtype, p.rows),
    lambda p: (p.op, p.dtype, p.reduction),
)
_WORDS = {"win": "#1d5fa8", "loss": "#b4540a", "tie": "#8a929c", "unclear": "#8a929c"}


def draw_plots(found: Sequence[Evidence], folder: Path, *, published: bool = False) -> Iterator[Path]:
    """Draws all plots into `folder` (which exists) and yields each file's path; raises OSError."""
    several = len([e for e in found if e.caches]) > 1
    for number, evidence in enumerate(found):
        for cache in evidence.caches:
            prefix = f"{number}-{cache}" if several else cache
            for name, figure in _figures(evidence, cache, published):
                yield from _save(figure, folder / f"{prefix}-{name}")


def _figures(evidence: Evidence, cache: CachePolicy, published: bool) -> Iterator[tuple[str, Figure]]:
    standings = evidence.standings(cache)
    where = f"{evidence.environment.device if evidence.environment else 'unknown device'}, {cache}"
    judged = [d for d in duels(evidence, cache) if d.verdict]
    yield "bandwidth", _bandwidth(evidence, cache, standings, where, published)
    if judged:
        yield "speedup", _speedup(judged, where)
    if len(standings) > 1:
        yield "scaling", _scaling(standings, where)
    for s in standings:
        for variant, maps in heat_maps(s).items():
            name = re.sub(r"[^A-Za-z0-9.-]+", "_", f"{s.problem.op}-{s.problem.id}-{s.problem.shape_text}-{variant}")
            yield f"heat-{name}", _heat(maps, f"{title_of(s.problem)}, {variant}; {where}")


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _save(figure: Figure, stem: Path) -> Iterator[Path]:
    import matplotlib as mpl

    # The same trials give the same SVG: no date, no random ids.
    with mpl.rc_context({"svg.hashsalt": "ireebench", "svg.fonttype": "none"}):
        for ending, metadata in ((".png", None), (".svg", {"Date": None})):
            path = stem.with_name(stem.name + ending)
            figure.savefig(path, dpi=150, metadata=metadata)
            yield path


def _bandwidth(
    evidence: Evidence, cache: CachePolicy, standings: Sequence[Standing], where: str, published: bool
) -> Figure:
    figure, axes = _figure(9, 5.5)
    points = [p for p in bandwidth_points(standings) if published or p.series != "published"]
    for series, (label, marker, colour) in _SERIES.items():
        mine = [p for p in points if p.series == series]
        if mine:
            sizes, rates = [p.bytes_moved for p in mine], [p.gb_per_s for p in mine]
            axes.scatter(
                sizes, rates, label=label, marker=marker, color=colour, s=36, zorder=2 if series == "published" else 3
            )
    sizes = [p.bytes_moved for p in points] or [1]
    curve = ceiling_curve(evidence, cache, min(sizes) / 2, max(sizes) * 2)
    if curve:
        axes.plot(*zip(*curve, strict=True), "k--", linewidth=1.2, label="measured streaming-read ceiling")
    axes.set(xscale="log", yscale="log", xlabel="bytes that one call must move", ylabel="GB/s (1e9 bytes a second)")
    axes.set_title(f"Bandwidth: {where}")
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    return figure


def _speedup(judged: Sequence[Duel], where: str) -> Figure:
    figure, axes = _figure(9, 1.6 + 0.32 * len(judged))
    names = [f"{d.standing.problem.id} {d.standing.problem.shape_text} {d.standing.problem.dtype}" for d in judged]
    verdicts = [d.verdict for d in judged if d.verdict]
    ratios = np.array([v.ratio for v in verdicts])
    errors = np.abs(np.array([[v.low for v in verdicts], [v.high for v in verdicts]]) - ratios)
    places = np.arange(len(names))
    axes.barh(places, ratios - 1, left=1, color=[_WORDS[v.word] for v in verdicts], xerr=errors, capsize=2)
    axes.set_yticks(places, [f"{n}  {v.ratio:.2f} {v.word}" for n, v in zip(names, verdicts, strict=True)])
    axes.invert_yaxis()
    axes.axvline(1, color="black", linewidth=1)
    axes.set(xscale="log", xlabel="best baseline / best candidate (log), 95% intervals;\ngrey: tie or unclear")
    for axis in ("major", "minor"):
        getattr(axes.xaxis, f"set_{axis}_formatter")("{x:g}")
    axes.set_title(f"Against the best baseline: {where}")
    axes.margins(y=0.01)
    return figure


def _scaling(standings: Sequence[Standing], where: str) -> Figure:
    """Time of each variant's best and of each baseline over the bytes that the problem must move.

    A line joins problems of one type that differ in rows alone or in the length of a row alone; others are points.
    """
    figure, axes = _figure(9, 5.5)
    times: dict[tuple[bool, str], dict[Problem, float]] = {}
    for s in standings:
        for row in (*s.candidates, *s.baselines):
            key = (row.trial.baseline is not None, row.trial.variant or row.trial.baseline or "")
            times.setdefault(key, {}).setdefault(s.problem, median_ns(row) / 1000)
    for number, ((baseline, name), found) in enumerate(sorted(times.items())):
        marker = "^" if baseline else "o"
        label = f"[{name}]" if baseline else name
        for series in _series(found):
            sizes = [op_of(p).bytes_moved(p) for p in series]
            style = "None" if len(series) == 1 else "--" if baseline else "-"
            us = [found[p] for p in series]
            axes.plot(sizes, us, label=label, linestyle=style, color=f"C{number}", marker=marker, markersize=4)
            label = "_"  # the legend names each once
    axes.set(xscale="log", yscale="log", xlabel="bytes that one call must move", ylabel="median us of a call")
    axes.set_title(f"Scaling: {where}; baselines in brackets")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize=8)
    return figure


def _series(problems: Iterable[Problem]) -> Iterator[list[Problem]]:
    """Problems to join by a line, from small to large; one that fits into no line comes alone."""
    everything = sorted(problems, key=lambda p: op_of(p).bytes_moved(p))
    joined: set[Problem] = set()
    for same in _ALIKE:
        lines: dict[tuple[str, str, int], list[Problem]] = {}
        for p in everything:
            lines.setdefault(same(p), []).append(p)
        for line in lines.values():
            if len({op_of(p).bytes_moved(p) for p in line}) >= _LINE:
                joined |= set(line)
                yield line
    yield from ([p] for p in everything if p not in joined)


def _heat(maps: Sequence[HeatMap], title: str) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(4.5, 1.2 + 3.4 * len(maps)), 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=10)
    every = [us for m in maps for row in m.us for us in row if us is not None]
    low, high = min(every), max(every)
    for number, m in enumerate(maps):
        axes = figure.add_subplot(1, len(maps), number + 1)
        grid = np.array([[np.nan if us is None else us for us in row] for row in m.us])
        axes.imshow(grid, cmap="Blues_r", vmin=low, vmax=max(high, low * 1.001), aspect="auto")
        axes.set_xticks(range(len(m.xs)), [str(x) for x in m.xs])
        axes.set_yticks(range(len(m.ys)), [str(y) for y in m.ys])
        axes.set(xlabel=m.x, ylabel=m.y, title=f"ST {m.split}" if m.split else "no split")
        for (j, i), us in np.ndenumerate(grid):
            if not np.isnan(us):
                light = us < (low + high) / 2
                best = us == low
                text = f"{us:.2f}{' *' if best else ''}"
                axes.text(i, j, text, ha="center", va="center", fontsize=8, color="white" if light else "black",
                          weight="bold" if best else "normal")  # fmt: skip
    figure.supxlabel("median us, best over the other knobs; * the fastest", fontsize=8)
    return figure
