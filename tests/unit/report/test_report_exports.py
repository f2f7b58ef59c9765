from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result
from synthetic_store import PROBLEMS, Recipe, make_store

from ireebench.cli.main import cli
from ireebench.errors import OutputError, StoreError, UnknownNameError, UsageError

SCHEMAS = Path(__file__).parents[2] / "data" / "t4"
# Four problems: 64 timed candidates, 8 timed baselines, and 16 candidates that failed in four ways.
ROWS, TIMED, FAILED, BASELINES = 88, 72, 16, 8


def report(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["report", *map(str, arguments)])


@pytest.fixture(scope="module")
def files(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exports")
    names = ("t.csv", "t.json", "t.parquet", "t.md", "t.t4.json")
    result = report(store, *(part for name in names for part in ("-o", folder / name)))
    assert result.exit_code == 0
    assert result.stdout == ""
    return folder


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def test_json_has_the_stable_keys_and_null_for_what_is_not_known(files: Path) -> None:
    document = read(files / "t.json")
    assert document["schema_version"] == 1
    assert document["environment"]["device"] == "synthetic device"
    assert len(document["trials"]) == ROWS
    failed = next(t for t in document["trials"] if t["status"] == "compile_failed")
    assert failed["reason"] == "'func.func' op failed to distribute"
    assert (failed["median_ns"], failed["gb_per_s"], failed["percent_of_ceiling"], failed["cache"]) == (None,) * 4
    baseline = next(t for t in document["trials"] if t["baseline"] == "hipcub")
    assert baseline["variant"] is None
    assert baseline["config"] is None


def test_format_json_prints_the_same_document(store: Path, files: Path) -> None:
    result = report(store, "--format", "json")
    assert json.loads(result.stdout) == read(files / "t.json")


def test_csv_agrees_with_json_figure_by_figure(files: Path) -> None:
    with (files / "t.csv").open(newline="") as f:
        rows = list(csv.DictReader(f))
    trials = read(files / "t.json")["trials"]
    assert len(rows) == len(trials) == ROWS
    for row, trial in zip(rows, trials, strict=True):
        assert row["status"] == trial["status"]
        assert row["median_ns"] == ("" if trial["median_ns"] is None else repr(trial["median_ns"]))
        assert row["shape"] == "x".join(map(str, trial["shape"]))
        assert row["device"] == "synthetic device"


def test_parquet_keeps_types_and_nulls(files: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(files / "t.parquet").to_pydict()
    assert len(table["problem"]) == ROWS
    assert sum(v is None for v in table["median_ns"]) == FAILED
    assert all(isinstance(v, float) for v in table["median_ns"] if v is not None)
    assert all(isinstance(v, int) for v in table["bytes_moved"])


def test_markdown_has_the_tables_and_the_summary(files: Path) -> None:
    text = (files / "t.md").read_text()
    assert "**Results, hot, by sum of kernels (rocprofv3)**" in text
    assert "- hot, by sum of kernels (rocprofv3): 4 won, 0 tied, 0 lost, 0 unclear of 4" in text


@pytest.mark.parametrize("kind", ["results", "metadata"])
def test_t4_files_are_valid_by_the_schema(files: Path, kind: str) -> None:
    name = {"results": "t.t4.json", "metadata": "t.t4-metadata.json"}[kind]
    jsonschema.validate(read(files / name), read(SCHEMAS / f"{kind}.schema.json"))


def test_t4_counts_each_way_to_fail_and_leaves_baselines_out(files: Path) -> None:
    results = read(files / "t.t4.json")["results"]
    assert len(results) == ROWS - BASELINES
    told = Counter(r["invalidity"] for r in results)
    assert told == {"correct": 64, "compile": 4, "correctness": 4, "timeout": 4, "constraints": 4}
    assert all(r["correctness"] == (r["invalidity"] == "correct") for r in results)


def test_t4_times_are_milliseconds_and_the_raw_samples(files: Path) -> None:
    trials = {str(t["key"]): t for t in read(files / "t.json")["trials"] if t["variant"] == "vd"}
    trial = next(t for t in trials.values() if t["config"] == {"SG": 4, "PR": 2048, "TH": 8} and t["form"] == "native")
    result = next(
        r
        for r in read(files / "t.t4.json")["results"]
        if r["configuration"].items()
        >= {"problem": "llama2-7b", "variant": "vd", "SG": 4, "PR": 2048, "TH": 8, "cache": "hot"}.items()
    )
    (time,) = (m for m in result["measurements"] if m["name"] == "time")
    assert time == {"name": "time", "value": pytest.approx(trial["median_ns"] / 1e6), "unit": "ms"}
    assert len(result["times"]["runtimes"]) == 180  # three final processes of 60
    assert min(result["times"]["runtimes"]) < time["value"] < max(result["times"]["runtimes"])
    assert result["times"]["compilation_time"] == 400.0


def test_the_real_command_prints_tables_by_default(store: Path) -> None:
    command = [sys.executable, "-m", "ireebench.cli.main", "report", str(store)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0
    assert result.stdout.startswith("Results, hot, by sum of kernels (rocprofv3)\n")


def test_plots_are_png_and_svg(tmp_path: Path) -> None:
    small = make_store(tmp_path / "small.db", Recipe(problems=(PROBLEMS[0], PROBLEMS[2]), processes=1))
    result = report(small, "--op", "argmax", "--plots", tmp_path / "plots")
    assert result.exit_code == 0
    names = {p.name for p in (tmp_path / "plots").iterdir()}
    for stem in ("hot-bandwidth", "hot-speedup", "hot-scaling", "hot-heat-argmax-llama2-7b-32768-vd"):
        assert {f"{stem}.png", f"{stem}.svg"} <= names
    assert (tmp_path / "plots" / "hot-speedup.png").read_bytes().startswith(b"\x89PNG")
    svg = (tmp_path / "plots" / "hot-bandwidth.svg").read_text()
    assert "measured streaming-read ceiling" in svg
    assert "published" not in svg


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["-o", "x.txt"], UnknownNameError, "the ending says what to write"),
        (["-o", "/proc/none/x.csv"], OutputError, "cannot write /proc/none/x.csv"),
        (["--op", "gemv"], StoreError, "no gemv trial in this store"),
        (["--format", "csv", "-o", "a.csv", "-o", "b.csv"], UsageError, "leave --format out"),
    ],
)
def test_mistakes_say_what_to_do(store: Path, arguments: list[str], error: type[Exception], message: str) -> None:
    result = report(store, *arguments)
    assert isinstance(result.exception, error)
    assert message in str(result.exception)


def test_the_scaling_plot_joins_only_problems_that_grow_in_one_direction() -> None:
    from ireebench.problems.problem import Problem
    from ireebench.report.plots import _series

    def problem(*shape: int) -> Problem:
        return Problem(f"{shape}", "argmax", shape, "bf16", "i64")

    one_row = [problem(1, 1024), problem(1, 4096), problem(1, 65536)]
    many_rows = [problem(2, 65536), problem(8, 65536), problem(64, 65536)]
    alone = [problem(32, 1000), problem(7, 32768)]
    found = [[p.shape for p in series] for series in _series([*many_rows, *alone, *one_row])]
    assert [p.shape for p in one_row] in found
    # A single row of that length belongs to both lines.
    assert [(1, 65536), *(p.shape for p in many_rows)] in found
    assert sorted(s for s in found if len(s) == 1) == [[(7, 32768)], [(32, 1000)]]
