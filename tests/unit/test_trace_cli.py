"""`ireebench trace` as a user runs it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ireebench.cli.main import cli

DATA = Path(__file__).parents[1] / "data" / "rocprof"
IREE = "mv$async_dispatch_0_matvec_like_8192x2048_f16xf16xf32"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["trace", *arguments])


def test_json_has_the_keys_that_programs_read() -> None:
    done = run(str(DATA / "gen_d_out_kernel_trace.csv"), "--format", "json", "--by-invocation", "mv$")
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    assert document["schema_version"] == 1
    kernel = document["kernels"][0]
    assert kernel == kernel | {
        "name": IREE,
        "agent": "4",
        "calls": 3,
        "median_ns": 74600,
        "q1_ns": 74400,
        "q3_ns": 74800,
        "min_ns": 74200,
        "max_ns": 75000,
        "total_ns": 223800,
        "vgpr": 20,
        "lds_bytes": 1024,
        "workgroup": [256, 1, 1],
        "grid_workgroups": [256, 1, 1],
    }
    assert [k["name"] for k in document["helpers"]] == ["__amd_rocclr_fillBufferAligned"]
    assert document["dropped"] == {"runtime helper (fill, copy)": 2}
    (invocation,) = document["invocations"]
    assert (invocation["sequence"], invocation["calls"], invocation["median_ns"]) == ([IREE], 3, 74600)


def test_unknown_registers_are_null_and_never_zero() -> None:
    document = json.loads(run(str(DATA / "gen_b_4242_kernel_trace.csv"), "--format", "json").stdout)
    assert [k["vgpr"] for k in document["kernels"]] == [None, None]


def test_an_invocation_is_the_sequence_that_repeats() -> None:
    # Without the fills the kernels alternate: 74600+38600, 74200+38200, 75000+39000; gaps of 1500 ns.
    done = run(str(DATA / "gen_c_4242_kernel_trace.csv"), "--format", "json", "--by-invocation", "")
    (found,) = json.loads(done.stdout)["invocations"]
    assert len(found["sequence"]) == 2
    assert (found["calls"], found["incomplete"]) == (3, 0)
    assert (found["median_ns"], found["span_ns"], found["gap_ns"]) == (113_200, 114_700, 1_500)


def test_an_invocation_that_was_cut_off_is_left_out_and_counted(tmp_path: Path) -> None:
    text = (DATA / "gen_c_4242_kernel_trace.csv").read_text().splitlines(keepends=True)
    path = tmp_path / "4242_kernel_trace.csv"
    path.write_text("".join(text[:-1]))  # the last gemv_rows is gone
    (found,) = json.loads(run(str(path), "--format", "json", "--by-invocation", "").stdout)["invocations"]
    assert (found["calls"], found["incomplete"]) == (2, 1)


def test_several_files_are_one_table() -> None:
    done = run(str(DATA / "gen_b_4242_kernel_trace.csv"), str(DATA / "gen_f_4242_results.db"), "--format", "json")
    assert [k["calls"] for k in json.loads(done.stdout)["kernels"]] == [6, 6]


def test_csv_keeps_a_name_with_commas_in_one_field() -> None:
    rows = list(csv.reader(run(str(DATA / "gen_c_4242_kernel_trace.csv"), "--format", "csv").stdout.splitlines()))
    assert rows[2][0] == "void bench::gemv_rows<half, 64, 4>(half const*, half const*, half*, int, int)"
    assert float(rows[2][rows[0].index("median us")]) == 38.6


def test_a_file_goes_where_it_is_told(tmp_path: Path) -> None:
    done = run(str(DATA / "gen_c_4242_kernel_trace.csv"), "--format", "markdown", "-o", str(tmp_path / "t.md"))
    assert done.stdout == ""
    assert "| --- |" in (tmp_path / "t.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nowhere.csv"], 2, "nowhere.csv: no such file or folder"),
        ([str(DATA / "header_only_kernel_trace.csv")], 1, "0 dispatches"),
        ([str(DATA / "gen_c_4242_kernel_trace.csv"), "--kernel", "gemm"], 1, "kernel not found"),
        ([str(DATA / "gen_c_4242_kernel_trace.csv"), "--kernel", "(", "--regex"], 2, "no regular expression"),
        ([str(DATA / "README.md")], 1, "unknown column set"),
        ([], 2, "Missing argument"),
    ],
)
def test_mistakes_are_one_line_with_an_exit_code(arguments: list[str], code: int, words: str) -> None:
    command = [sys.executable, "-m", "ireebench.cli.main", "trace", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_help_has_three_examples() -> None:
    assert run("--help").stdout.count("\n    ireebench trace ") == 3
