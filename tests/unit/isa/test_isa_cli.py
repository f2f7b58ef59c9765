"""`ireebench isa` through the real entry point."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ireebench.cli.main import cli
from ireebench.errors import UserError

DATA = Path(__file__).parents[2] / "data" / "isa"
GFX942 = str(DATA / "argmax_gfx942.s")


def run(*args: str) -> Result:
    return CliRunner().invoke(cli, ["isa", *args])


def complaint(*args: str) -> str:
    result = run(*args)
    assert isinstance(result.exception, UserError)
    assert "\n" not in str(result.exception)
    return str(result.exception)


def test_json_has_the_keys_of_the_contract():
    result = run(GFX942, "--format", "json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["schema_version"] == 1
    (kernel,) = document["kernels"]
    assert kernel["name"] == "argmax_dispatch_0_arg_compare_131072xbf16"
    assert (kernel["target"], kernel["vgpr"], kernel["agpr"], kernel["sgpr"]) == ("gfx942", 61, 0, 30)
    assert (kernel["lds_bytes"], kernel["scratch_bytes"], kernel["vgpr_spills"]) == (64, 0, 0)
    assert (kernel["occupancy_waves_per_simd"], kernel["limited_by"]) == (8, "hardware")
    assert kernel["mix"]["dpp"] == 8
    (loop,) = kernel["loops"]
    assert (loop["line"], loop["depth"], loop["string"], loop["mix"]["buffer_load.16"]) == (43, 1, "a G a20 v a48 ^", 1)
    assert [(f["id"], f["line"]) for f in kernel["lints"]] == [("hoisted-reduction", 129), ("full-wait", 68)]
    assert all(f["message"] for f in kernel["lints"])


def test_a_table_shows_resources_loops_lints_and_the_mix():
    text = run(GFX942).stdout
    assert "waves/" in text.splitlines()[1]
    assert "SIMD" in text.splitlines()[2]
    assert "a G a20 v a48 ^" in text
    assert "hoisted-reduction" in text
    assert "dpp.row_bcast:15" in text


def test_several_files_and_a_folder_say_where_each_kernel_is_from():
    rows = run(str(DATA / "lints"), "--format", "csv").stdout.splitlines()
    assert rows[0].startswith("from,target,kernel,VGPR")
    assert sum("full-wait.hit.s,gfx942,k," in row for row in rows) == 1


def csv_tables(*args: str) -> list[list[dict[str, str]]]:
    parts = run(*args, "--format", "csv").stdout.split("\n\n")
    return [list(csv.DictReader(io.StringIO(part))) for part in parts]


def test_csv_names_the_kernel_of_each_row_of_the_mix():
    other = str(DATA / "argmax_gfx1201.s")
    mixes = csv_tables(GFX942, other)[-1]
    assert {r["from"] for r in mixes} == {GFX942, other}
    mine = {r["class"]: (r["hot loop"], r["outside"]) for r in mixes if r["from"] == GFX942}
    (kernel,) = json.loads(run(GFX942, "--format", "json").stdout)["kernels"]
    assert mine["buffer_load.16"] == ("1", "0")  # of the loop "a G a20 v a48 ^"
    assert {c: int(hot) + int(outside) for c, (hot, outside) in mine.items() if hot != "0" or outside != "0"} == {
        c: n for c, n in kernel["mix"].items() if n
    }
    assert csv_tables(GFX942)[-1][0]["kernel"] == "argmax_dispatch_0_arg_compare_131072xbf16"


def test_csv_leaves_the_hot_loop_empty_where_there_is_none():
    mixes = csv_tables(str(DATA / "lints"))[-1]
    loops = {
        k["source"]: bool(k["loops"])
        for k in json.loads(run(str(DATA / "lints"), "--format", "json").stdout)["kernels"]
    }
    assert set(loops.values()) == {True, False}
    assert {(r["from"], r["hot loop"] != "") for r in mixes} == set(loops.items())


def test_a_comparison_in_csv_names_both_kernels_in_each_row():
    (rows,) = csv_tables("--compare", GFX942, str(DATA / "argmax_gfx1201.s"))
    assert {(r["kernel A"], r["kernel B"]) for r in rows} == {
        ("argmax_dispatch_0_arg_compare_131072xbf16", "argmax_dispatch_0_arg_compare_131072xbf16")
    }
    assert [r["A"] for r in rows if r["figure"] == "vgpr"] == ["61"]


def test_where_keeps_the_kernels_that_pass():
    result = run(str(DATA / "a36_rdna_granule.s"), "--where", "scratch > 0 and occupancy < 9", "--format", "json")
    assert [k["name"] for k in json.loads(result.stdout)["kernels"]] == ["tile_192"]


def test_where_that_nothing_passes_prints_an_empty_table():
    result = run(GFX942, "--where", "spills > 0")
    assert result.exit_code == 0
    assert "VGPR" in result.stdout


def test_compare_shows_both_files():
    result = run("--compare", GFX942, str(DATA / "argmax_gfx1201.s"), "--format", "json")
    (pair,) = json.loads(result.stdout)["comparisons"]
    assert pair["differ"]["vgpr"] == [61, 53]
    assert pair["same"]["loops"] == 1


def test_unknown_lines_are_a_warning(tmp_path):
    file = tmp_path / "k.s"
    file.write_text(Path(GFX942).read_text() + "\nthis is nonsense\n")
    result = run(str(file))
    assert result.exit_code == 0
    assert "1 line is no AMDGCN assembly" in result.stderr


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("hello\nworld\n", "no kernel found (2 lines are no AMDGCN assembly)"),
        ("//\n.version 8.0\n.target sm_89\n", "is PTX"),
        ("k:\n s_endpgm\n", "names no target; give --target"),
    ],
)
def test_a_file_that_is_no_kernel_is_one_line(tmp_path, content, says):
    file = tmp_path / "k.s"
    file.write_text(content)
    assert says in complaint(str(file))


def test_a_fragment_with_a_target_is_read(tmp_path):
    file = tmp_path / "k.s"
    file.write_text("k:\n s_endpgm\n")
    result = run(str(file), "--target", "gfx90a", "--format", "json")
    (kernel,) = json.loads(result.stdout)["kernels"]
    assert (kernel["name"], kernel["vgpr"], kernel["occupancy_waves_per_simd"]) == ("k", None, None)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((), "which kernel?"),
        (("nothing.rocmasm",), "no such file"),
        (("lamma3",), "no model matches 'lamma3'"),
        ((GFX942, "--target", "gfx9420"), "no AMD processor matches 'gfx9420'"),
        ((GFX942, "--where", "vgprs < 3"), "no figure matches 'vgprs'"),
        ((GFX942, "--where", "vgpr <"), "expected a value"),
        (("--compare", GFX942, GFX942, "more.s"), "--compare takes two files"),
        (("--compare", GFX942, GFX942, "--where", "spills == 0"), "leave it out with --compare"),
        (("--dpp-shuffle", GFX942), "leave out the files"),
        (("--dpp-shuffle", "llama3-8b", "--where", "spills == 0"), "leave it out with --dpp-shuffle"),
        (("llama3-8b", "--config", "SG=3,PR=2048"), "vd on gfx942"),
        (("llama3-8b", "--suite", "published"), "exclude each other"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(args, says):
    assert says in complaint(*args)


def test_an_empty_folder_says_what_would_fill_it(tmp_path):
    assert "--iree-hal-dump-executable-files-to" in complaint(str(tmp_path))


def test_the_command_as_a_process_ends_with_2_on_a_mistake():
    command = [sys.executable, "-m", "ireebench.cli.main", "isa", "nothing.rocmasm"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("error: nothing.rocmasm")
    assert len(ended.stderr.splitlines()) == 1


def test_help_has_examples():
    assert run("--help").stdout.count("ireebench isa ") >= 3
