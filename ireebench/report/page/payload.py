"""What the page's script reads: rows at once, details of candidates in chunks that are unpacked when one is opened."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ireebench.measure.job import CachePolicy
from ireebench.outcome import Status
from ireebench.problems.problem import Problem
from ireebench.report.best import device_of
from ireebench.report.evidence import Evidence
from ireebench.report.page.samples import Distribution, distribution
from ireebench.report.ranking import Standing, speedup
from ireebench.report.rows import Row
from ireebench.report.sweep_tables import title_of
from ireebench.store.trial import Trial

CHUNK = 200  # trials a chunk: one is unpacked in a few milliseconds
Lints = Mapping[str, tuple[str, ...]]  # trial key -> what the linter said of its assembly


def pack(value: Any) -> str:
    """JSON, deflated, as base64: what the page's script unpacks."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


@dataclass(frozen=True, slots=True)
class Place:
    """One environment's evidence with its standings, so that they are ranked once. `name` is unique in the page."""

    name: str
    evidence: Evidence
    standings: Mapping[CachePolicy, tuple[Standing, ...]]

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of the evidence."""
        return self.evidence.rows


def places_of(found: Sequence[Evidence]) -> list[Place]:
    """Ranks every problem under every cache policy; environments of one device get numbers."""
    devices = [device_of(e) for e in found]
    places = []
    for i, e in enumerate(found):
        again = devices[:i].count(devices[i]) + 1
        name = devices[i] if devices.count(devices[i]) == 1 else f"{devices[i]}, environment {again}"
        places.append(Place(name, e, {c: e.standings(c) for c in e.caches}))
    return places


@dataclass(frozen=True, slots=True)
class Payload:
    """The packed parts: `rows` is the table and the charts' data, `chunks` the details by trial number // CHUNK."""

    rows: str
    chunks: tuple[str, ...]
    trials: int


def make_payload(places: Sequence[Place], lints: Lints) -> Payload:
    """Packs all that the script shows."""
    trials = list(dict.fromkeys(r.trial for place in places for r in place.rows))
    number = {t.key: i for i, t in enumerate(trials)}
    problems = list(dict.fromkeys(t.problem for t in trials))
    columns = _columns(places, number, {p: i for i, p in enumerate(problems)})
    spreads = [_spread(i, problems.index(s.problem), s, d) for i, s, d in _distributions(places)]
    document = {
        "problems": [title_of(p) for p in problems],
        "columns": columns,
        "spreads": spreads,
        "devices": [p.name for p in places],
        "chunk": CHUNK,
    }
    chunks = [trials[i : i + CHUNK] for i in range(0, len(trials), CHUNK)]
    return Payload(pack(document), tuple(pack(_details(c, lints)) for c in chunks), len(trials))


def _distributions(places: Sequence[Place]) -> Iterator[tuple[int, Standing, Distribution]]:
    for i, place in enumerate(places):
        for standings in place.standings.values():
            for s in standings:
                found = distribution(place.evidence, s)
                if found is not None:
                    yield i, s, found


def _spread(place: int, problem: int, standing: Standing, d: Distribution) -> dict[str, Any]:
    return {
        "e": place,
        "p": problem,
        "cache": standing.cache,
        "low": round(d.low, 3),
        "high": round(d.high, 3),
        "rows": [
            {
                "label": s.row.trial.label,
                "us": _round(s.median_ns / 1000),
                "samples": s.samples,
                "processes": s.processes,
                "counts": s.counts,
                "baseline": s.row.trial.baseline is not None,
            }
            for s in d.spreads
        ],
    }


def _round(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(value, digits)


def _columns(
    places: Sequence[Place], number: Mapping[str, int], problem: Mapping[Problem, int]
) -> dict[str, list[Any]]:
    """One list a column, in the same order; `t` is the trial's number, `p` the problem's, `e` the environment's."""
    columns: dict[str, list[Any]] = {}
    for i, place in enumerate(places):
        standings = {(s.problem, c): s for c, all_ in place.standings.items() for s in all_}
        for row in place.rows:
            t = row.trial
            against = standings.get((t.problem, row.cache)) if row.cache else None
            cells = {"t": number[t.key], "p": problem[t.problem], "e": i, **_cells(row, against)}
            for name, value in cells.items():
                columns.setdefault(name, []).append(value)
    return columns


def _cells(row: Row, against: Standing | None) -> dict[str, Any]:
    t, timing = row.trial, row.timing
    ranked = against if timing and t.status is Status.OK else None
    default = speedup(ranked.default, row) if ranked else None
    baseline = speedup(ranked.best_baseline, row) if ranked else None
    return {
        "label": t.label,
        "variant": t.variant or "baseline",
        "form": t.form or "",
        "config": t.config.as_dict(),
        "ship": t.ship.value,
        "status": t.status.value,
        "stage": t.stage.value,
        "cache": row.cache or "",
        "us": _round(timing.median_ns / 1000) if timing else None,
        "iqr": _round((timing.q3_ns - timing.q1_ns) / 1000) if timing else None,
        "span": _round(timing.span_ns / 1000) if timing else None,
        "gbs": _round(row.gb_per_s, 2),
        "ceil": _round(row.percent_of_ceiling, 2),
        "doubt": row.plausible is False,
        "vsd": _round(default),
        "vsb": _round(baseline),
        "best": bool(ranked and ranked.best == row),
        "ships": bool(ranked and ranked.best_shipping == row),
        "reason": t.reason or "",
    }


def _details(trials: Sequence[Trial], lints: Lints) -> dict[str, Any]:
    """Trials with all that the store says of them; each distinct text once, named by its number."""
    texts: dict[str, int] = {}

    def text(content: str | None) -> int | None:
        return None if content is None else texts.setdefault(content, len(texts))

    found = [_detail(t, lints) | {n: text(getattr(t, n)) for n in ("mlir", "spec", "command")} for t in trials]
    return {"trials": found, "texts": list(texts)}


def _detail(t: Trial, lints: Lints) -> dict[str, Any]:
    check = t.check
    return {
        "key": t.key,
        "target": t.target,
        "reason": t.reason,
        "known": t.known,
        "applied": t.applied,
        "check": {k: v for k, v in asdict(check).items() if v is not None} if check else None,
        "kernels": [{k: v for k, v in asdict(e).items() if v is not None} for e in t.kernels],
        "lints": list(lints[t.key]) if t.key in lints else None,
        "compile_key": t.compile_key,
        "measure_key": t.measure_key,
        "compile_s": _round(t.compile_s, 2),
        "timer": t.timer,
        "runs": [
            {
                "process": r.process,
                "cache": r.cache,
                "samples": r.samples,
                "us": [_round(v / 1000) for v in (r.q1_ns, r.median_ns, r.q3_ns, r.span_ns)],
                "kernels": [[k.name, _round(k.median_ns / 1000), k.registers, k.shared_bytes] for k in r.kernels],
                "foreign": r.foreign,
            }
            for r in t.runs
        ],
    }
