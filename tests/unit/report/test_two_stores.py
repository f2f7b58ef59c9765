from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from synthetic_store import ENVIRONMENT, PROBLEMS, Recipe, make_store

from ireebench.cli.main import cli


def compare(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The real command line, in a process of its own."""
    command = [sys.executable, "-m", "ireebench.cli.main", "compare", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def document(*arguments: str | Path) -> dict[str, Any]:
    result = CliRunner().invoke(cli, ["compare", *map(str, arguments), "--format", "json"])
    assert result.exit_code == 0
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_two_stores_of_the_same_code_tie_on_at_least_95_percent_of_rows(store: Path, same_again: Path) -> None:
    pairs = document(store, same_again)["pairs"]
    words = [p["verdict"] for p in pairs]
    assert len(words) == 72
    assert words.count("tie") >= 0.95 * len(words)
    assert not {"win", "loss"} & set(words)


@pytest.mark.parametrize("seed", [10, 20, 30])
def test_other_draws_of_the_same_code_tie_too(store: Path, tmp_path: Path, seed: int) -> None:
    words = [p["verdict"] for p in document(store, make_store(tmp_path / "x.db", Recipe(seed=seed)))["pairs"]]
    assert words.count("tie") >= 0.95 * len(words)


def test_five_percent_added_to_one_problem_is_called_out_for_it_and_no_other(store: Path, one_slower: Path) -> None:
    pairs = document(store, one_slower)["pairs"]
    slower = {p["problem"] for p in pairs if p["verdict"] == "loss"}
    assert slower == {"llama3-8b-batch"}
    its = [p for p in pairs if p["problem"] == "llama3-8b-batch"]
    assert len(its) == 20
    assert all(p["verdict"] == "loss" and 4 < p["change_percent"] < 6 for p in its)


def test_a_regression_of_more_than_asked_for_exits_4_and_names_the_problem(store: Path, one_slower: Path) -> None:
    result = compare(store, one_slower, "--fail-on-regression", "3")
    assert result.returncode == 4
    assert result.stdout.rstrip().endswith("Regression check: slower by more than 3%: llama3-8b-batch.")


def test_the_same_code_passes_the_regression_check(store: Path, same_again: Path) -> None:
    result = compare(store, same_again, "--fail-on-regression", "3")
    assert result.returncode == 0
    assert "nothing slower by more than 3%" in result.stdout


def test_a_regression_smaller_than_asked_for_passes(store: Path, one_slower: Path) -> None:
    document(store, one_slower, "--fail-on-regression", "8")


def test_faster_is_no_regression(store: Path, one_slower: Path) -> None:
    document(one_slower, store, "--fail-on-regression", "3")


def test_runs_that_differ_in_driver_and_protocol_are_said_to_differ(store: Path, tmp_path: Path) -> None:
    other = replace(ENVIRONMENT, driver="9.9", protocol='{"invocations": 7}')
    told = document(store, make_store(tmp_path / "x.db", Recipe(seed=1, environment=other)))
    assert told["differences"] == [
        "driver: 0.0 against 9.9",
        "protocol's invocations: 100 against 7",
        "protocol's warmup: 10 against None",
    ]
    assert "The runs differ in driver: 0.0 against 9.9" in told["summary"][1]


def test_rows_without_a_partner_are_counted(store: Path, tmp_path: Path) -> None:
    fewer = make_store(tmp_path / "x.db", Recipe(seed=1, problems=PROBLEMS[:2]))
    told = document(store, fewer)
    assert {p["problem"] for p in told["pairs"]} == {"llama2-7b", "llama3-8b-batch"}
    assert any("only in A" in line for line in told["summary"])


def test_a_store_that_is_not_there_is_one_line(store: Path, tmp_path: Path) -> None:
    result = compare(store, tmp_path / "none.db")
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


def test_a_library_that_both_runs_tell_differently_is_said_to_differ(tmp_path: Path) -> None:
    old = replace(ENVIRONMENT, details=(("torch", "2.5.1"), ("numpy", "2.1.0"), ("cub", "2.7.1")))
    new = replace(ENVIRONMENT, details=(("torch", "2.6.0"), ("numpy", "2.1.0")))
    stores = [make_store(tmp_path / f"{n}.db", Recipe(environment=e)) for n, e in enumerate((old, new))]
    assert document(*stores)["differences"] == ["torch: 2.5.1 against 2.6.0"]


def test_rows_without_samples_have_times_and_no_verdict(store: Path, same_again: Path, tmp_path: Path) -> None:
    bare = Path(shutil.copy(same_again, tmp_path / "bare.db"))
    with closing(sqlite3.connect(bare)) as db:
        db.execute("DELETE FROM samples WHERE run_id IN (SELECT id FROM run WHERE cache = 'hot')")
        db.commit()
    pairs = document(store, bare)["pairs"]
    without = [p for p in pairs if p["verdict"] is None]
    assert {p["cache"] for p in without} == {"hot"}
    assert {p["cache"] for p in pairs if p["verdict"] is not None} <= {"cold"}
    assert all(abs(p["change_percent"]) < 5 for p in without)
    told = compare(store, bare, "--fail-on-regression", "3")
    assert told.returncode == 0
    assert f"Without a verdict, for want of samples in one of the stores: {len(without)}." in told.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--cache", "hot"), "--from shows what was measured: leave --cache out"),
        (("--target", "gfx942", "--limit", "3"), "--from shows what was measured: leave --target, --limit out"),
    ],
)
def test_options_of_measuring_are_refused_where_nothing_is_measured(
    store: Path, options: tuple[str, ...], message: str
) -> None:
    command = [sys.executable, "-m", "ireebench.cli.main", "compare"]
    one = subprocess.run([*command, "argmax", "--from", store, *options], capture_output=True, text=True, check=False)
    assert (one.returncode, one.stdout, one.stderr) == (2, "", f"error: {message}\n")
    two = subprocess.run([*command, store, store, "--limit", "3"], capture_output=True, text=True, check=False)
    assert two.stderr == "error: two stores are compared: leave --limit out\n"
