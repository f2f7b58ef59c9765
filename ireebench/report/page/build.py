"""Puts the page together: tiles, charts and tables in HTML, the rest packed for its script."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, fields
from importlib import resources

from ireebench import __version__
from ireebench.measure.job import CachePolicy
from ireebench.outcome import Status
from ireebench.report.compare_tables import (
    Duel,
    duels,
    geometric_mean,
    lowering_table,
    results_table,
    scaling_table,
    shuffle_pairs,
    tuned_table,
    words,
)
from ireebench.report.evidence import Evidence
from ireebench.report.page.charts import bandwidth_chart, shuffle_chart, speedup_chart
from ireebench.report.page.payload import Lints, Place, make_payload, places_of
from ireebench.report.ranking import Standing, speedup
from ireebench.report.sweep_tables import coverage_table, failure_table
from ireebench.report.table import Table, cell_text, is_number
from ireebench.store.trial import Environment


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure to read first: what it is, the figure, and what must be known to read it."""

    name: str
    figure: str
    note: str


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """A table as the template prints it: each cell is (text, whether it is a number)."""

    title: str
    heads: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[tuple[str, bool], ...], ...]


@dataclass(frozen=True, slots=True)
class CacheView:
    """What there is to see of one environment under one cache policy; charts are SVG or None."""

    cache: CachePolicy
    lines: tuple[str, ...]
    results: HtmlTable
    bandwidth: str | None
    ceiling: str
    speedups: str | None
    shuffles: str | None
    more: tuple[HtmlTable, ...]


@dataclass(frozen=True, slots=True)
class PlaceView:
    """One environment."""

    name: str
    tiles: tuple[Tile, ...]
    facts: tuple[tuple[str, str], ...]
    caches: tuple[CacheView, ...]
    failures: HtmlTable | None
    more: tuple[HtmlTable, ...]


def _html(table: Table) -> HtmlTable:
    right = [is_number(i, table) for i in range(len(table.columns))]
    rows = tuple(
        tuple((cell_text(v, c.digits), r) for v, c, r in zip(row, table.columns, right, strict=True))
        for row in table.rows
    )
    return HtmlTable(table.title or "", tuple((c.title, r) for c, r in zip(table.columns, right, strict=True)), rows)


def _verdict_first(table: Table) -> Table:
    """The results with the verdict right after the problem: the times of many variants do not fit beside it."""
    order = [*range(3), *range(len(table.columns) - 5, len(table.columns)), *range(3, len(table.columns) - 5)]
    return Table(
        tuple(table.columns[i] for i in order), tuple(tuple(r[i] for i in order) for r in table.rows), table.title
    )


def facts_of(environment: Environment | None) -> tuple[tuple[str, str], ...]:
    """Where the trials were made, as (what, value); unknown is said to be unknown."""
    if environment is None:
        return (("environment", "not recorded"),)
    plain = [f.name for f in fields(Environment) if f.name != "details"]
    known = [(name.replace("_", " "), str(getattr(environment, name) or "unknown")) for name in plain]
    return (*known, *environment.details)


def _tiles(place: Place) -> tuple[Tile, ...]:
    trials = {r.trial.key: r.trial for r in place.rows}.values()
    candidates = [t for t in trials if t.variant]
    good = sum(t.status is Status.OK for t in candidates)
    failed = len(candidates) - good
    problems = len(place.evidence.problems)
    tiles = [
        Tile("problems", str(problems), f"{len(candidates)} candidates, {len(trials) - len(candidates)} baselines"),
        Tile(
            "candidates ok",
            f"{good:,} / {len(candidates):,}",
            f"{failed:,} refused or failed, each with its reason" if failed else "none refused or failed",
        ),
    ]
    for cache, standings in place.standings.items():
        tiles += _speed_tiles(cache, standings)
    return tuple(tiles)


def _speed_tiles(cache: CachePolicy, standings: Sequence[Standing]) -> list[Tile]:
    tiles = []
    for what, ratios in (
        ("best", [speedup(s.best_baseline, s.best) for s in standings]),
        ("best that ships", [speedup(s.best_baseline, s.best_shipping) for s in standings]),
    ):
        known = [r for r in ratios if r is not None]
        mean = geometric_mean(known)
        if mean is not None:
            note = f"geometric mean over {len(known)} problems, {cache}"
            tiles.append(Tile(f"best baseline / {what}", f"{mean:.2f}x", note))
    shares = [s.best.percent_of_ceiling for s in standings if s.best and s.best.percent_of_ceiling is not None]
    if shares:
        note = f"median over {len(shares)} problems, {cache}; the ceiling is measured"
        tiles.append(Tile("of the ceiling", f"{statistics.median(shares):.0f}%", note))
    doubtful = sum(r.plausible is False for s in standings for r in (*s.candidates, *s.baselines))
    if doubtful:
        tiles.append(
            Tile("implausible", str(doubtful), f"faster than the measured ceiling, {cache}: a bug until shown")
        )
    return tiles


def _verdict_tile(fought: Sequence[Duel], cache: CachePolicy) -> Tile | None:
    judged = [d.verdict.word for d in fought if d.verdict]
    if not judged:
        return None
    counts = " / ".join(str(judged.count(w)) for w in ("win", "tie", "loss"))
    unclear = judged.count("unclear")
    note = f"{len(judged)} problems against the best baseline, {cache}{f'; {unclear} unclear' if unclear else ''}"
    return Tile("won / tied / lost", counts, note)


def _view(place: Place, cache: CachePolicy, fought: Sequence[Duel], number: int) -> CacheView:
    evidence, name = place.evidence, f"p{number}-{cache}"
    more = [tuned_table(evidence, cache)]
    if evidence.sees_kernels:
        span = duels(evidence, cache, "span")
        more += [results_table(span, "span"), tuned_table(evidence, cache, "span")]
    more += [lowering_table(evidence, cache), scaling_table(evidence, cache)]
    pairs = shuffle_pairs(evidence, cache)
    return CacheView(
        cache=cache,
        lines=words(fought),
        results=_html(_verdict_first(results_table(fought))),
        bandwidth=bandwidth_chart(evidence, cache, place.standings[cache], f"bandwidth-{name}"),
        ceiling=_ceiling_words(evidence, cache),
        speedups=speedup_chart(fought, f"speedup-{name}"),
        shuffles=shuffle_chart(pairs, f"shuffle-{name}"),
        more=tuple(_html(t) for t in more if t.rows),
    )


def _ceiling_words(evidence: Evidence, cache: CachePolicy) -> str:
    measured = evidence.ceiling(1 << 20, cache) is not None
    if not measured:
        return "no ceiling was measured on this device"
    return "; ".join(["against the ceiling measured on this device", *evidence.beaten.get(cache, ())])


def _place_view(place: Place, number: int) -> PlaceView:
    evidence = place.evidence
    tiles, views = list(_tiles(place)), []
    for cache in evidence.caches:
        fought = duels(evidence, cache)
        verdicts = _verdict_tile(fought, cache)
        tiles += [verdicts] if verdicts else []
        views.append(_view(place, cache, fought, number))
    failed = failure_table(place.rows)
    more = [coverage_table(place.rows)]
    if not evidence.caches:
        more.append(lowering_table(evidence, None))
    return PlaceView(
        name=place.name,
        tiles=tuple(tiles),
        facts=facts_of(evidence.environment),
        caches=tuple(views),
        failures=_html(_shortened(failed)) if failed else None,
        more=tuple(_html(t) for t in more if t.rows),
    )


def _shortened(table: Table, most: int = 60) -> Table:
    return Table(table.columns, table.rows[:most], table.title)


def build_page(evidence: Sequence[Evidence], lints: Lints, *, published: bool = False) -> str:
    """The whole page as HTML. `lints` by trial key; `published`: published figures are shown from the start."""
    import jinja2

    here = resources.files("ireebench.report.page")
    template = (here / "page.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    places = places_of(evidence)
    payload = make_payload(places, lints)
    ops = sorted({p.op for e in evidence for p in e.problems})
    views = [_place_view(p, i) for i, p in enumerate(places)]
    return environment.from_string(template).render(
        title=f"{', '.join(ops)} on {', '.join(dict.fromkeys(v.name for v in views))}",
        version=__version__,
        places=views,
        payload=payload,
        published=published,
        css=(here / "page.css").read_text(encoding="utf-8"),
        script=(here / "page.js").read_text(encoding="utf-8"),
    )
