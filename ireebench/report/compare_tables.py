"""The tables of the published report, from one's own trials: results, lowering, tuned, scaling, DPP against shuffle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ireebench.measure.job import CachePolicy
from ireebench.problems.problem import Problem
from ireebench.report.evidence import Evidence
from ireebench.report.ranking import DEFAULT_NOISE, Standing, median_ns, speedup
from ireebench.report.rows import Row
from ireebench.report.table import Cell, Column, Table
from ireebench.report.verdict import Verdict

_BY = {"kernel": "sum of kernels", "span": "span"}


def _measure(standings: Sequence[Standing], by: str) -> str:
    """ "sum of kernels (rocprofv3)"; "whole invocation (host)" where no timer told kernels apart."""
    rows = [r for s in standings for r in (*s.candidates, *s.baselines)]
    timers = ", ".join(sorted({r.timing.timer for r in rows if r.timing}))
    kernels = any(run.kernels for r in rows for run in r.trial.runs)
    return f"{_BY[by] if kernels else 'whole invocation'} ({timers})"


def _us(row: Row | None, by: str) -> float | None:
    return None if row is None else median_ns(row, by=by) / 1000.0


def _best_of(standing: Standing, variant: str) -> Row | None:
    return next((r for r in standing.candidates if r.trial.variant == variant), None)


def _baseline(standing: Standing, name: str) -> Row | None:
    return next((r for r in standing.baselines if r.trial.baseline == name), None)


def _columns(standings: Sequence[Standing]) -> tuple[list[str], list[str]]:
    variants = dict.fromkeys(r.trial.variant or "" for s in standings for r in s.candidates)
    baselines = dict.fromkeys(r.trial.baseline or "" for s in standings for r in s.baselines)
    return sorted(variants), sorted(baselines)


@dataclass(frozen=True, slots=True)
class Duel:
    """A problem's best candidate against its best baseline."""

    standing: Standing
    verdict: Verdict | None


def duels(evidence: Evidence, cache: CachePolicy, by: str = "kernel") -> tuple[Duel, ...]:
    """Every problem's best candidate against its best baseline, with a verdict on the raw samples."""
    return tuple(
        Duel(s, evidence.judge(s.best_baseline, s.best, by) if s.best and s.best_baseline else None)
        for s in evidence.standings(cache, by)
    )


def results_table(found: Sequence[Duel], by: str = "kernel") -> Table:
    """Each variant's best and each baseline, us, with the winner; no winner is named inside the noise."""
    standings = [d.standing for d in found]
    variants, baselines = _columns(standings)
    heads = ["problem", "shape", "dtype", *(f"{v} us" for v in variants), *(f"[{b}] us" for b in baselines)]
    heads += ["best / best baseline", "95% interval", "noise %", "best baseline", "verdict", "winner"]
    body: list[tuple[Cell, ...]] = []
    for d in found:
        s, p, v = d.standing, d.standing.problem, d.verdict
        times = [_us(_best_of(s, n), by) for n in variants] + [_us(_baseline(s, n), by) for n in baselines]
        interval = f"{v.low:.2f} to {v.high:.2f}" if v else None
        ratio = v.ratio if v else speedup(s.best_baseline, s.best, by=by)
        versus = s.best_baseline.trial.baseline if s.best_baseline else None
        tail = (ratio, interval, 100 * (v.noise if v else s.noise), versus, v.word if v else None, _winner(d))
        body.append((p.id, p.shape_text, p.dtype, *times, *tail))
    cache = standings[0].cache if standings else "hot"
    return Table.of(heads, body, f"Results, {cache}, by {_measure(standings, by)}")


def _winner(duel: Duel) -> str | None:
    if duel.verdict is None:
        return None
    best, baseline = duel.standing.best, duel.standing.best_baseline
    assert best is not None
    assert baseline is not None
    match duel.verdict.word:
        case "win":
            return best.trial.variant
        case "loss":
            return baseline.trial.baseline
        case word:
            return f"({word})"


def tuned_table(evidence: Evidence, cache: CachePolicy, by: str = "kernel") -> Table:
    """Stock IREE, the best of all, the best that ships with its configuration, and each against the baselines."""
    standings = evidence.standings(cache, by)
    _, baselines = _columns(standings)
    heads = ["problem", "shape", "default us", "best us", "best", "best that ships us", "best that ships", "ships by"]
    heads += [f"best vs {b}" for b in baselines] + [f"ships vs {b}" for b in baselines]
    body: list[tuple[Cell, ...]] = []
    for s in standings:
        ships, best = s.best_shipping, s.best
        versus = [speedup(_baseline(s, b), row, by=by) for row in (best, ships) for b in baselines]
        body.append(
            (
                s.problem.id,
                s.problem.shape_text,
                _us(s.default, by),
                _us(best, by),
                best.trial.label if best else None,
                _us(ships, by),
                ships.trial.label if ships else None,
                ships.trial.ship.value if ships else None,
                *versus,
            )
        )
    return Table.of(heads, body, f"Tuned, {cache}, by {_measure(standings, by)}; speedups are baseline / candidate")


def lowering_table(evidence: Evidence, cache: CachePolicy | None) -> Table:
    """What the compiler did for each problem's best candidate of each variant, read from its dumps."""
    heads = ["problem", "shape", "dtype", "variant", "form", "config", "workgroup size", "subgroup size", "subgroups"]
    heads += ["thread loads", "partial reduction", "elements/workgroup", "iterations", "VGPRs", "spills", "registers"]
    body: list[tuple[Cell, ...]] = []
    every = evidence.rows
    for p in evidence.problems:
        seen: set[str | None] = set()
        rows = [r for r in every if r.trial.problem == p and r.trial.kernels and r.cache == cache]
        rows.sort(key=lambda r: median_ns(r) if r.timing else math.inf)
        for r in rows:
            t = r.trial
            if t.variant in seen:
                continue
            seen.add(t.variant)
            k = t.kernels[0]
            timed = next((run.kernels[0] for run in t.runs if run.kernels), None)
            size = str(list(k.workgroup_size)) if k.workgroup_size else None
            shape = (k.subgroup_size, k.subgroups, k.thread_loads, k.partial_reduction, k.elements_per_workgroup)
            tail = (k.iterations, k.vgpr, k.vgpr_spills, timed.registers if timed else None)
            body.append((p.id, p.shape_text, p.dtype, t.variant, t.form, str(t.config), size, *shape, *tail))
    where = f", {cache}" if cache else ""
    return Table.of(heads, body, f"Lowering configuration of each variant's best{where} (first kernel)")


def scaling_table(evidence: Evidence, cache: CachePolicy) -> Table:
    """Median us of each variant's best and each baseline over rows and length."""
    standings = sorted(evidence.standings(cache), key=lambda s: (s.problem.dtype, s.problem.rows, s.problem.reduction))
    variants, baselines = _columns(standings)
    columns = [Column(c) for c in ("rows", "elements a row", "dtype", "MB")]
    columns += [Column(f"{v} us") for v in variants] + [Column(f"[{b}] us") for b in baselines]
    columns += [Column("best GB/s", 0), Column("% of ceiling", 1)]
    body: list[tuple[Cell, ...]] = []
    for s in standings:
        p, best = s.problem, s.best
        times = [_us(_best_of(s, v), "kernel") for v in variants] + [_us(_baseline(s, b), "kernel") for b in baselines]
        moved = best.bytes_moved / 1e6 if best and best.bytes_moved is not None else None
        tail = (best.gb_per_s, best.percent_of_ceiling) if best else (None, None)
        body.append((p.rows, p.reduction, p.dtype, moved, *times, *tail))
    return Table(tuple(columns), tuple(body), f"Scaling, {cache}")


_PAIRS = (("vd", "vd_shuffle"), ("vd_split", "vd_split_shuffle"))


@dataclass(frozen=True, slots=True)
class ShufflePair:
    """A ballot row and its shuffle twin of the same form and configuration; the verdict takes shuffles as baseline."""

    ballot: Row
    shuffle: Row
    verdict: Verdict | None


def shuffle_pairs(evidence: Evidence, cache: CachePolicy) -> tuple[ShufflePair, ...]:
    """Each problem's fastest ballot row that has a twin, with one kernel and with a split."""
    twins = (_same_config(s, *names) for s in evidence.standings(cache) for names in _PAIRS)
    return tuple(ShufflePair(a, b, evidence.judge(b, a)) for a, b in filter(None, twins))


def shuffle_table(evidence: Evidence, cache: CachePolicy) -> Table:
    """Ballot against shuffles with the same form and configuration: shuffle / ballot, and the verdict."""
    heads = ["problem", "shape", "dtype", "pair", "form and config"]
    heads += ["ballot us", "shuffle us", "shuffle / ballot", "verdict"]
    body: list[tuple[Cell, ...]] = []
    for pair in shuffle_pairs(evidence, cache):
        t, p = pair.ballot.trial, pair.ballot.trial.problem
        times = (_us(pair.ballot, "kernel"), _us(pair.shuffle, "kernel"), speedup(pair.shuffle, pair.ballot))
        word = pair.verdict.word if pair.verdict else None
        body.append((p.id, p.shape_text, p.dtype, t.variant, f"{t.form} {t.config}", *times, word))
    return Table.of(heads, body, f"Ballot (DPP) against shuffles, {cache}; a win is the ballot's")


def _same_config(standing: Standing, plain: str, shuffle: str) -> tuple[Row, Row] | None:
    """The fastest ballot row that has a shuffle twin of the same form and configuration."""
    twins = {(r.trial.form, r.trial.config): r for r in standing.candidates if r.trial.variant == shuffle}
    for row in standing.candidates:
        if row.trial.variant == plain and (row.trial.form, row.trial.config) in twins:
            return row, twins[row.trial.form, row.trial.config]
    return None


def geometric_mean(ratios: Sequence[float]) -> float | None:
    """The geometric mean of positive ratios; None of none."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def problems_of(found: Sequence[Duel], word: str) -> tuple[Problem, ...]:
    """The problems whose verdict is `word`."""
    return tuple(d.standing.problem for d in found if d.verdict and d.verdict.word == word)


def words(found: Sequence[Duel], by: str = "kernel") -> tuple[str, ...]:
    """The summary: won, tied, lost, by how much, and where the split decides."""
    judged = [d for d in found if d.verdict is not None]
    if not judged:
        return ("No problem has both a timed candidate and a timed baseline.",)
    cache = judged[0].standing.cache
    counts = ", ".join(
        f"{len(problems_of(judged, word))} {name}"
        for word, name in (("win", "won"), ("tie", "tied"), ("loss", "lost"), ("unclear", "unclear"))
    )
    mean = geometric_mean([d.verdict.ratio for d in judged if d.verdict])
    figure = _measure([d.standing for d in judged], by)
    lines = [
        f"{cache}, by {figure}: {counts} of {len(judged)} against the best baseline; "
        f"geometric mean of best baseline / best candidate {mean:.2f}."
    ]
    for word, text in (("loss", "Lost"), ("unclear", "Unclear")):
        named = [d for d in judged if d.verdict and d.verdict.word == word]
        if named:
            listed = ", ".join(f"{d.standing.problem.id} ({d.verdict.ratio:.2f})" for d in named if d.verdict)
            lines.append(f"{text}: {listed}.")
    searched = [text for d in judged for text in _faster_in_search(d.standing, by)]
    if searched:
        lines.append(f"Faster in the search alone, which is brief and ranks no finalist: {', '.join(searched)}.")
    critical = _where_split_decides([d.standing for d in judged], by)
    if critical:
        listed = ", ".join(f"{p} ({r:.1f}x)" for p, r in critical)
        lines.append(f"Splitting the reduction is critical (1.2x or more over one kernel) for {listed}.")
    return tuple(lines)


def _faster_in_search(standing: Standing, by: str) -> list[str]:
    """A variant's best that no final process timed and that beats the best finalist by more than noise.

    Finalists are chosen by the sum of kernels under one cache policy: by span another may be faster.
    """
    best = standing.best
    assert best is not None
    limit_us = median_ns(best, by=by) / 1000 / (1 + max(standing.noise, DEFAULT_NOISE))
    timed = {r.trial.variant: _us(r, by) for r in reversed(standing.candidates)}  # a variant's best comes last
    found = ((name, us) for name, us in timed.items() if us is not None and us < limit_us)
    return [f"{standing.problem.id} {name} ({us:.2f} us)" for name, us in found]


def _where_split_decides(standings: Sequence[Standing], by: str) -> list[tuple[str, float]]:
    found = []
    for s in standings:
        ratio = speedup(_best_of(s, "vd"), _best_of(s, "vd_split"), by=by)
        if ratio is not None and ratio >= 1.2:
            found.append((s.problem.id, ratio))
    return sorted(found, key=lambda f: -f[1])
