"""Writes the tables of measured results into the pages that quote them, from the stores beside them.

python benchmarks/results_tables.py [--check]

A page holds `<!-- table NAME -->`, the table, `<!-- end -->`; what lies between is replaced, so no figure in it is
typed by hand. With --check nothing is written, and a page that would change is named: exit code 1.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from click.testing import CliRunner

from ireebench.cli.main import cli
from ireebench.measure.job import CachePolicy
from ireebench.report.compare_tables import Duel, duels, shuffle_pairs
from ireebench.report.load import load_evidence
from ireebench.report.ranking import median_ns
from ireebench.report.replay import replay
from ireebench.report.rows import Row
from ireebench.report.table import Cell, Column, Table, to_markdown
from ireebench.space.strategies.table import STRATEGIES
from ireebench.store.database import Store
from ireebench.sweep.landscape import landscapes

ROOT = Path(__file__).parents[1]
H200 = ROOT / "docs" / "results" / "h200"
PAGES = (ROOT / "README.md", H200 / "README.md")
MARKED = re.compile(r"(<!-- table ([a-z0-9 .-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Part:
    """Which results a table shows: a store, a cache policy, by sum of kernels or span, and element types (all)."""

    store: str
    cache: CachePolicy
    by: str = "kernel"
    dtypes: tuple[str, ...] = ()


def stored(name: str) -> Path:
    """The file of a store."""
    return H200 / f"{name}.db"


@cache
def fought(part: Part) -> tuple[Duel, ...]:
    """Every problem's best candidate and its best baseline, in the order of the store; finals alone."""
    result: list[Duel] = []
    with Store.open(stored(part.store)) as store:
        for evidence in load_evidence(store):
            result += [d for d in duels(evidence, part.cache, part.by) if _wanted(d, part)]
    return tuple(d for d in result if d.standing.best and d.standing.best_baseline)


@cache
def found(part: Part) -> tuple[Duel, ...]:
    """Those with a verdict, the closest first."""
    return tuple(sorted((d for d in fought(part) if d.verdict), key=lambda d: _ratio(d) or 0.0))


@cache
def searched(store: str, cache_policy: CachePolicy) -> dict[str, dict[str, float]]:
    """The best of each variant that the search timed, us, by problem."""
    best: dict[str, dict[str, float]] = {}
    with Store.open(stored(f"search/{store}")) as opened:
        for landscape in landscapes(opened.trials(), cache_policy):
            mine = best.setdefault(landscape.problem.id, {})
            for candidate, cost in landscape.costs.items():
                if cost is not None:
                    name = candidate.variant.name
                    mine[name] = min(cost / 1000, mine.get(name, math.inf))
    return best


def _wanted(duel: Duel, part: Part) -> bool:
    return not part.dtypes or duel.standing.problem.dtype in part.dtypes


def _ratio(duel: Duel) -> float | None:
    return None if duel.verdict is None else duel.verdict.ratio


def _sides(duel: Duel) -> tuple[Row, Row]:
    """The best candidate and the best baseline, which a duel with a verdict has."""
    best, baseline = duel.standing.best, duel.standing.best_baseline
    assert best is not None
    assert baseline is not None
    return best, baseline


def _problem(duel: Duel) -> tuple[Cell, ...]:
    p = duel.standing.problem
    return p.id, p.shape_text, p.dtype


def _times(duel: Duel, by: str) -> tuple[Cell, ...]:
    best, baseline = _sides(duel)
    assert duel.verdict is not None
    versus = f"`{baseline.trial.baseline}`"
    return median_ns(best, by=by) / 1000, median_ns(baseline, by=by) / 1000, versus, duel.verdict.ratio


def _processes(duel: Duel) -> int:
    best, _ = _sides(duel)
    assert best.timing is not None
    return best.timing.processes


def _how(row: Row) -> str:
    return f"`{row.trial.form}` {row.trial.config}".replace(",", " ")


def full(part: Part) -> Table:
    """Who is how fast with what, and how far from the ceiling."""
    heads = ("problem", "shape", "type", "best IREE us", "library us", "library", "speed-up", "95% interval", "noise %")
    columns = (*map(Column, heads), *map(Column, ("verdict",)), Column("% of ceiling", 1), *map(Column, ("processes",)))
    body: list[tuple[Cell, ...]] = []
    for d in found(part):
        v, best = d.verdict, _sides(d)[0]
        assert v is not None
        interval = f"{v.low:.2f} to {v.high:.2f}"
        row = (*_problem(d), *_times(d, part.by), interval, 100 * v.noise, v.word, best.percent_of_ceiling)
        body.append((*row, _processes(d)))
    return Table(columns, tuple(body))


def short(part: Part) -> Table:
    """The times, the speed-up and the verdict."""
    heads = ("problem", "shape", "type", "best IREE us", "library us", "library", "speed-up", "verdict")
    body = [(*_problem(d), *_times(d, part.by), d.verdict.word if d.verdict else None) for d in found(part)]
    return Table.of(heads, body)


def configurations(part: Part) -> Table:
    """The configuration behind each best."""
    body = [
        (d.standing.problem.id, median_ns(_sides(d)[0], by=part.by) / 1000, _how(_sides(d)[0])) for d in found(part)
    ]
    return Table.of(("problem", "best IREE us", "form and configuration"), body)


def headline(part: Part) -> Table:
    """For the README: the best of all, the best that ships, the best library."""
    heads = ("problem", "shape", "type", "best IREE us", "that ships us", "best library us", "library", "speed-up")
    body: list[tuple[Cell, ...]] = []
    for d in found(part):
        ships = d.standing.best_shipping
        stock = searched(part.store, part.cache)[d.standing.problem.id].get("default")
        us = median_ns(ships, by=part.by) / 1000 if ships else stock
        best, *rest = _times(d, part.by)
        body.append((*_problem(d), best, us, *rest))
    return Table.of(heads, body)


def large(part: Part, least_mb: float) -> Table:
    """Problems of at least so many megabytes (1e6) against the ceiling at their size."""
    heads = ("problem", "shape", "type", "MB", "best IREE us", "GB/s")
    columns = (*(Column(h, 1) for h in heads[:4]), Column(heads[4]), Column(heads[5], 0), Column("% of ceiling", 1))
    body: list[tuple[Cell, ...]] = []
    for d in found(part):
        best = _sides(d)[0]
        if best.bytes_moved is None or best.bytes_moved < least_mb * 1e6:
            continue
        row = (*_problem(d), best.bytes_moved / 1e6, median_ns(best, by=part.by) / 1000, best.gb_per_s)
        body.append((*row, best.percent_of_ceiling))
    return Table(columns, tuple(body))


def against_each(part: Part) -> Table:
    """Every baseline's time, us, beside the best candidate's."""
    names = sorted({b.trial.baseline or "" for d in found(part) for b in d.standing.baselines})
    body: list[tuple[Cell, ...]] = []
    for d in found(part):
        times = {b.trial.baseline: median_ns(b, by=part.by) / 1000 for b in d.standing.baselines}
        best = _sides(d)[0]
        own = (median_ns(best, by=part.by) / 1000, best.percent_of_ceiling)
        body.append((*_problem(d), *own, *(times.get(n) for n in names)))
    heads = ("problem", "shape", "type", "best IREE us")
    return Table(
        (*map(Column, heads), Column("% of ceiling", 1), *(Column(f"`{n}`") for n in names)),
        tuple(body),
    )


def scaling(part: Part) -> Table:
    """One row of growing length, then growing numbers of rows."""
    heads = ("rows", "elements a row", "best IREE us", "form and configuration", "library us", "library", "speed-up")
    columns = (*map(Column, heads), Column("GB/s", 0))
    body: list[tuple[Cell, ...]] = []
    for d in sorted(found(part), key=lambda d: (d.standing.problem.rows, d.standing.problem.reduction)):
        p = d.standing.problem
        us, *rest = _times(d, part.by)
        body.append((p.rows, p.reduction, us, _how(_sides(d)[0]), *rest, _sides(d)[0].gb_per_s))
    return Table(columns, tuple(body))


def ballots() -> Table:
    """Ballot against shuffles, the same form and configuration."""
    body: list[tuple[Cell, ...]] = []
    with Store.open(stored("ballot")) as store:
        pairs = [p for evidence in load_evidence(store) for p in shuffle_pairs(evidence, "hot")]
    for pair in pairs:
        t, v = pair.ballot.trial, pair.verdict
        us, twin = (median_ns(row) / 1000 for row in (pair.ballot, pair.shuffle))
        body.append((t.problem.id, t.problem.shape_text, _how(pair.ballot), us, twin, twin / us, v.word if v else None))
    heads = ("problem", "shape", "form and configuration", "ballot us", "shuffles us", "shuffles / ballot", "verdict")
    return Table.of(heads, body)


def replayed() -> Table:
    """How much of each recorded search the coarse-to-fine strategy needs."""
    body: list[tuple[Cell, ...]] = []
    searches: tuple[tuple[str, CachePolicy], ...] = (("padded", "hot"), ("original", "hot"), ("gemv", "cold"))
    for name, policy in searches:
        with Store.open(stored(f"search/{name}")) as store:
            lands = landscapes(store.trials(), policy)
        shares = [replay(x, STRATEGIES["coarse_to_fine"], 1.0, seeds=5).share_near() or math.inf for x in lands]
        counts = [len(x.costs) for x in lands]
        row = (f"{name}, {policy}", len(lands), f"{min(counts)} to {max(counts)}", 100 * statistics.median(shares))
        body.append((*row, 100 * max(shares), sum(s <= 0.2 for s in shares)))
    heads = ("search", "problems", "candidates a problem")
    return Table((*map(Column, heads), Column("median %", 0), Column("worst %", 0), Column("within 20%")), tuple(body))


@dataclass(frozen=True, slots=True)
class Change:
    """A problem in two runs: quoted over earlier, for the best candidate and the fastest library that both had."""

    candidate: float
    library: float

    @classmethod
    def of(cls, earlier: Duel, quoted: Duel) -> Change:
        """From the medians of both."""
        sides = [{b.trial.baseline: median_ns(b) for b in d.standing.baselines} for d in (earlier, quoted)]
        both = sides[0].keys() & sides[1].keys()
        old, new = (min(side[name] for name in both) for side in sides)
        return cls(median_ns(_sides(quoted)[0]) / median_ns(_sides(earlier)[0]), new / old)


def repeated() -> Table:
    """How far an earlier run and the quoted one differ where both finished a problem."""
    runs = (
        ("padded, hot", Part("earlier/padded", "hot"), PADDED),
        ("original, hot", Part("earlier/original", "hot"), ORIGINAL),
        ("GEMV, bf16, cold", replace(BF16, store="earlier/gemv"), BF16),
    )
    body: list[tuple[Cell, ...]] = []
    for name, before, now in runs:
        quoted = {(p.id, p.shape): d for d in fought(now) for p in (d.standing.problem,)}
        changes = [Change.of(d, quoted[p.id, p.shape]) for d in fought(before) for p in (d.standing.problem,)]
        row: list[Cell] = [name, len(changes)]
        for ratios in (
            [c.candidate for c in changes],
            [c.library for c in changes],
            [c.library / c.candidate for c in changes],
        ):
            row += [100 * (statistics.median(ratios) - 1), 100 * max(abs(r - 1) for r in ratios)]
        body.append(tuple(row))
    heads = ("IREE: median %", "most %", "library: median %", "most %", "speed-up: median %", "most %")
    return Table((Column("results"), Column("problems"), *(Column(h, 1) for h in heads)), tuple(body))


def decoded() -> Table:
    """Tokens a second that bandwidth alone and the measured GEMVs allow, by `ireebench decode`."""
    body: list[tuple[Cell, ...]] = []
    models = [(m, "bf16", "gemv") for m in ("llama3-8b", "llama3.1-70b", "gemma2-27b", "mistral-7b-v0.3", "qwen3-4b")]
    for model, weights, name in (*models, ("llama3-8b", "q4_0", "gemv-4bit"), ("llama3-8b", "nf4", "gemv-4bit")):
        command = ["decode", "--model", model, "--weights", weights, "--from", str(stored(name)), "--format", "json"]
        answer = json.loads(CliRunner().invoke(cli, command, catch_exceptions=False).stdout)
        bound = answer["bounds"][0]["tokens_per_second"]
        rate = answer["measured_tokens_per_second"]
        body.append((answer["model"], weights, answer["bytes_per_token"] / 1e9, bound, rate, 100 * rate / bound))
    heads = ("model", "weights", "GB a token", "bandwidth alone, tokens/s", "measured GEMVs, tokens/s", "% of it")
    digits = (0, 0, 2, 1, 1, 0)
    return Table(tuple(Column(h, d) for h, d in zip(heads, digits, strict=True)), tuple(body))


def sentence(part: Part) -> str:
    """Wins, ties and losses, and the geometric mean."""
    words: Counter[str] = Counter(d.verdict.word for d in found(part) if d.verdict)
    ratios = [r for d in found(part) if (r := _ratio(d)) is not None]
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    told = ", ".join(f"{words[w]} {name}" for w, name in WORDS.items())
    return f"Of {len(ratios)}: {told}. Geometric mean of library / IREE: **{mean:.2f}**."


WORDS = {"win": "won", "tie": "tied", "loss": "lost", "unclear": "unclear"}
PADDED, ORIGINAL = Part("padded", "hot"), Part("original", "hot")
BF16, FOUR_BITS = Part("gemv", "cold", dtypes=("bf16",)), Part("gemv", "cold", dtypes=("q4_0", "nf4"))


def with_sentence(table: Callable[[Part], Table], part: Part) -> str:
    """The sentence above the table."""
    return f"{sentence(part)}\n\n{to_markdown(table(part))}"


TABLES: dict[str, Callable[[], str]] = {
    "headline": lambda: with_sentence(headline, PADDED),
    "padded hot": lambda: with_sentence(full, PADDED),
    "padded hot by span": lambda: with_sentence(short, replace(PADDED, by="span")),
    "padded cold": lambda: with_sentence(full, replace(PADDED, cache="cold")),
    "original hot": lambda: with_sentence(full, ORIGINAL),
    "original hot by span": lambda: sentence(replace(ORIGINAL, by="span")),
    "original cold": lambda: with_sentence(short, replace(ORIGINAL, cache="cold")),
    "original cold by span": lambda: sentence(replace(ORIGINAL, cache="cold", by="span")),
    "padded configurations": lambda: to_markdown(configurations(PADDED)),
    "original configurations": lambda: to_markdown(configurations(ORIGINAL)),
    "padded libraries": lambda: to_markdown(against_each(PADDED)),
    "large cold": lambda: to_markdown(large(replace(PADDED, cache="cold"), 128)),
    "gemv": lambda: with_sentence(full, BF16),
    "gemv large": lambda: to_markdown(large(BF16, 200)),
    "gemv configurations": lambda: to_markdown(configurations(BF16)),
    "gemv f16": lambda: with_sentence(short, Part("gemv", "cold", dtypes=("f16",))),
    "four bits": lambda: to_markdown(full(FOUR_BITS)),
    "four bits libraries": lambda: to_markdown(against_each(FOUR_BITS)),
    "four bits configurations": lambda: to_markdown(configurations(FOUR_BITS)),
    "four bits llama": lambda: with_sentence(full, Part("gemv-4bit", "cold")),
    "gpt-oss again": lambda: to_markdown(full(Part("gpt-oss", "cold"))),
    "large again": lambda: to_markdown(large(Part("large", "cold"), 128)),
    "scaling": lambda: with_sentence(scaling, Part("scaling", "hot")),
    "ballot": lambda: to_markdown(ballots()),
    "two runs": lambda: to_markdown(repeated()),
    "decode": lambda: to_markdown(decoded()),
    "replay": lambda: to_markdown(replayed()),
}


def rewritten(page: str) -> str:
    """The page with its tables as the stores have them; raises KeyError for a table that nothing makes."""
    return MARKED.sub(lambda m: f"{m[1]}\n{TABLES[m[2]]().strip()}\n\n{m[3]}", page)


def main() -> int:
    """Rewrites the pages, or checks them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 where a page would change")
    check = parser.parse_args().check
    stale = []
    for path in PAGES:
        old = path.read_text()
        new = rewritten(old)
        if new == old:
            continue
        stale.append(path)
        if not check:
            path.write_text(new)
    for path in stale:
        print(f"{path.relative_to(ROOT)}: {'would change' if check else 'rewritten'}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
