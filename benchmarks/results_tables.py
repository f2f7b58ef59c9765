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
import shutil
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from click.testing import CliRunner

from ireebench.cli.main import cli
from ireebench.measure.job import CachePolicy
from ireebench.report.compare_tables import Duel, duels
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


@contextmanager
def copied(name: str) -> Iterator[Path]:
    """A copy of a store for as long as it is needed: opening one may bring its schema up to date."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(shutil.copy(H200 / f"{name}.db", folder))


@cache
def found(part: Part) -> tuple[Duel, ...]:
    """Every problem's best candidate against its best baseline, in the order of the store; finals alone."""
    result: list[Duel] = []
    with copied(part.store) as path, Store.open(path) as store:
        for evidence in load_evidence(store):
            result += [d for d in duels(evidence, part.cache, part.by) if d.verdict and _wanted(d, part)]
    return tuple(sorted(result, key=lambda d: _ratio(d) or 0.0))


@cache
def searched(store: str, cache_policy: CachePolicy) -> dict[str, dict[str, float]]:
    """The best of each variant that the search timed, us, by problem."""
    best: dict[str, dict[str, float]] = {}
    with copied(f"search/{store}") as path, Store.open(path) as opened:
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


def _how(duel: Duel) -> str:
    t = _sides(duel)[0].trial
    return f"`{t.form}` {t.config}".replace(",", " ")


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
    body = [(d.standing.problem.id, median_ns(_sides(d)[0], by=part.by) / 1000, _how(d)) for d in found(part)]
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


def unmeasured(part: Part) -> Table:
    """What only the search timed: no library was measured beside it."""
    done = {d.standing.problem.id for d in found(part)}
    best = searched(part.store, part.cache)
    body = [(name, min(times.values())) for name, times in best.items() if name not in done]
    return Table.of(("problem", "best IREE us, search"), body)


def replayed() -> Table:
    """How much of each recorded search the coarse-to-fine strategy needs."""
    body: list[tuple[Cell, ...]] = []
    searches: tuple[tuple[str, CachePolicy], ...] = (("padded", "hot"), ("original", "hot"), ("gemv", "cold"))
    for name, policy in searches:
        with copied(f"search/{name}") as path, Store.open(path) as store:
            lands = landscapes(store.trials(), policy)
        shares = [replay(x, STRATEGIES["coarse_to_fine"], 1.0, seeds=5).share_near() or math.inf for x in lands]
        counts = [len(x.costs) for x in lands]
        row = (f"{name}, {policy}", len(lands), f"{min(counts)} to {max(counts)}", 100 * statistics.median(shares))
        body.append((*row, 100 * max(shares), sum(s <= 0.2 for s in shares)))
    heads = ("search", "problems", "candidates a problem")
    return Table((*map(Column, heads), Column("median %", 0), Column("worst %", 0), Column("within 20%")), tuple(body))


def repeated() -> str:
    """Problems that an earlier run finished as well, hot, beside the run that is quoted, and how much they differ."""
    again = {(p.id, p.shape): d for part in (PADDED, ORIGINAL) for d in found(part) for p in (d.standing.problem,)}
    body: list[tuple[Cell, ...]] = []
    differences: list[list[float]] = [[], [], []]
    for earlier in found(Part("earlier", "hot")):
        p = earlier.standing.problem
        pairs = [
            (old, new)
            for old, new in zip(_times(earlier, "kernel"), _times(again[p.id, p.shape], "kernel"), strict=True)
            if isinstance(old, float) and isinstance(new, float)
        ]
        body.append((*_problem(earlier), *(x for pair in pairs for x in pair)))
        for known, (old, new) in zip(differences, pairs, strict=True):
            known.append(abs(new / old - 1))
    heads = ("best IREE us, earlier", "quoted", "library us, earlier", "quoted", "speed-up, earlier", "quoted")
    told = ", ".join(
        f"{what} differ by {statistics.median(d):.1%} in the median and {max(d):.1%} at most"
        for what, d in zip(("best candidates", "best libraries", "speed-ups"), differences, strict=True)
    )
    return f"Of {len(body)}: {told}.\n\n{to_markdown(Table.of(('problem', 'shape', 'type', *heads), body))}"


def decoded() -> Table:
    """Tokens a second that bandwidth alone and the measured GEMVs allow, by `ireebench decode`."""
    body: list[tuple[Cell, ...]] = []
    for model in ("llama3-8b", "llama3.1-70b", "mistral-7b-v0.3", "qwen3-4b"):
        with copied("gemv") as path:
            command = ["decode", "--model", model, "--from", str(path), "--format", "json"]
            answer = json.loads(CliRunner().invoke(cli, command, catch_exceptions=False).stdout)
        bound = answer["bounds"][0]["tokens_per_second"]
        rate = answer["measured_tokens_per_second"]
        body.append((answer["model"], answer["bytes_per_token"] / 1e9, bound, rate, 100 * rate / bound))
    heads = ("model, bf16", "GB a token", "bandwidth alone, tokens/s", "measured GEMVs, tokens/s", "% of it")
    digits = (0, 2, 1, 1, 0)
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
    "padded configurations": lambda: to_markdown(configurations(PADDED)),
    "original configurations": lambda: to_markdown(configurations(ORIGINAL)),
    "padded libraries": lambda: to_markdown(against_each(PADDED)),
    "large cold": lambda: to_markdown(large(replace(PADDED, cache="cold"), 128)),
    "gemv": lambda: with_sentence(full, BF16),
    "gemv large": lambda: to_markdown(large(BF16, 200)),
    "gemv configurations": lambda: to_markdown(configurations(BF16)),
    "gemv unmeasured": lambda: to_markdown(unmeasured(Part("gemv", "cold"))),
    "four bits": lambda: to_markdown(against_each(FOUR_BITS)),
    "two runs": repeated,
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
