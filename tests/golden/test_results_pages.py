"""The pages that quote measured results say what the stores beside them hold, and those hold what is claimed."""

from __future__ import annotations

import importlib.util
import math
import sqlite3
import statistics
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

from ireebench.cli.main import cli

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "results_tables.py"


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("results_tables", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["results_tables"] = module
    spec.loader.exec_module(module)
    return module


def test_no_page_quotes_a_figure_that_its_store_does_not_hold() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


STORES = sorted((ROOT / "docs" / "results").rglob("*.db"))


@pytest.mark.parametrize("path", STORES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_a_committed_store_is_small_and_one_plain_file(path: Path) -> None:
    assert path.stat().st_size < 5e6
    # 1 is a rollback journal, 2 a write-ahead log, which wants files beside it (sqlite.org/fileformat2.html).
    assert path.read_bytes()[18:20] == b"\x01\x01"


def test_a_changed_figure_is_noticed(tables: ModuleType) -> None:
    page = "a\n<!-- table large again -->\n\n| x |\n\n<!-- end -->\nb"
    assert "| recsys-1m | 64x1048576 | f32 | 268.4 | 61.57 | 4360 | 94.6 |" in tables.rewritten(page)
    assert tables.rewritten(tables.rewritten(page)) == tables.rewritten(page)


@pytest.mark.parametrize(
    ("part", "problems", "unclear", "mean"),
    [
        (("padded", "hot"), 18, 0, 1.46),
        (("padded", "hot", "span"), 18, 5, 1.59),
        (("padded", "cold"), 18, 0, 1.40),
        (("original", "hot"), 17, 0, 1.45),
        (("original", "cold"), 17, 0, 1.47),
        (("scaling", "hot"), 27, 0, 1.59),
        (("gemv", "cold", "kernel", ("bf16",)), 39, 0, 1.24),
        (("gemv-4bit", "cold"), 14, 0, 2.20),
    ],
)
def test_no_h200_problem_is_lost_to_a_library(
    tables: ModuleType, part: tuple[str, ...], problems: int, unclear: int, mean: float
) -> None:
    found = tables.found(tables.Part(*part))
    words = [d.verdict.word for d in found]
    assert (len(words), words.count("loss"), words.count("unclear")) == (problems, 0, unclear)
    assert math.exp(statistics.fmean(math.log(d.verdict.ratio) for d in found)) >= mean


@pytest.mark.parametrize(
    ("problem", "least"),
    [
        ("mlp-8192x28672-q4_0", 3.1),
        ("mlp-28672x8192-q4_0", 2.95),
        ("mlp-8192x28672-nf4", 2.4),
        ("mlp-28672x8192-nf4", 2.15),
    ],
)
def test_four_bit_weights_are_read_more_than_twice_as_fast_as_any_library_does(
    tables: ModuleType, problem: str, least: float
) -> None:
    (verdict,) = (d.verdict for d in tables.found(tables.FOUR_BITS) if d.standing.problem.id == problem)
    assert verdict.low > least


def test_every_quoted_final_of_argmax_argmin_and_gemv_has_three_processes(tables: ModuleType) -> None:
    parts = (tables.PADDED, tables.ORIGINAL, tables.BF16, tables.FOUR_BITS)
    assert {tables._processes(d) for part in parts for d in tables.found(part)} == {3}


def test_large_gemv_reach_95_percent_of_the_ceiling_and_none_more_than_all_of_it(tables: ModuleType) -> None:
    shares = [row[-1] for row in tables.large(tables.BF16, 200).rows]
    assert len(shares) == 14
    assert 95 < min(shares) <= max(shares) < 100.5


def test_what_the_search_alone_found_faster_by_span_is_said_and_not_ranked() -> None:
    recorded = str(ROOT / "docs" / "results" / "h200" / "padded.db")
    of_variant = (
        "SELECT min(span_ns) / 1000 FROM run JOIN trial ON trial.id = trial_id JOIN problem ON problem.id = problem_id "
        "WHERE body LIKE '%\"gpt2\"%' AND cache = 'hot' AND variant = ? AND process {}"
    )
    with closing(sqlite3.connect(recorded)) as db:
        (searched,) = db.execute(of_variant.format("= 0"), ("vd",)).fetchone()
        (ranked,) = db.execute(of_variant.format("> 0"), ("vd_split",)).fetchone()
        assert db.execute(of_variant.format("> 0"), ("vd",)).fetchone() == (None,)
    assert searched < 0.5 * ranked
    done = CliRunner().invoke(cli, ["compare", "argmax", "--from", recorded, "--models", "gpt2", "--by", "span"])
    assert f"ranks no finalist: gpt2 vd ({searched:.2f} us)." in done.stdout
    sums = CliRunner().invoke(cli, ["compare", "argmax", "--from", recorded, "--models", "gpt2", "--by", "kernel"])
    assert "Faster in the search alone" not in sums.stdout
