"""`ireebench compile`: status and evidence of any MLIR file, and one clear line for what is none."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ireebench.cli.main import cli
from ireebench.errors import UserError

MLIR = Path(__file__).parents[1] / "data" / "mlir"
SMALL = MLIR / "m04_argmax_dim0_small_lastindex.mlir"
VOCABULARY = MLIR / "m12_argcompare_128256_f32.mlir"
UNDISTRIBUTABLE = MLIR / "m11_argcompare_100352_f16.mlir"
HANGING = MLIR / "m10_argcompare_50257_f32.mlir"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def invoke(cache: Path, *args: object) -> Result:
    return CliRunner().invoke(cli, ["compile", "--cache-dir", str(cache), *map(str, args)])


def as_json(cache: Path, *args: object) -> tuple[int, dict[str, Any]]:
    result = invoke(cache, *args, "--format", "json")
    return result.exit_code, json.loads(result.stdout)


def test_a_good_file_gives_evidence_of_each_dispatch(cache: Path) -> None:
    code, document = as_json(cache, VOCABULARY, "--target", "gfx942")
    assert code == 0
    assert document["schema_version"] == 1
    assert (document["status"], document["reason"], document["target"]) == ("ok", None, "gfx942")
    (kernel,) = document["kernels"]
    # One row of 128256, one subgroup of 64 lanes with 4 elements each: 501 loads.
    assert kernel["pipeline"] == "VectorDistribute"
    assert kernel["workgroup_size"] == [64, 1, 1]
    assert (kernel["elements_per_workgroup"], kernel["iterations"]) == (256, 501)
    assert kernel["vgpr_spills"] == 0
    assert Path(document["vmfb"]).is_file()


def test_the_command_that_is_printed_compiles_the_file(cache: Path, tmp_path: Path) -> None:
    _, document = as_json(cache, SMALL, "--target", "gfx942")
    line = shlex.split(document["command"])
    assert line[:2] == ["iree-compile", str(SMALL)]
    script = Path(sys.executable).with_name("iree-compile")
    subprocess.run([str(script), *line[1:]], cwd=tmp_path, check=True, timeout=120)
    assert (tmp_path / "module.vmfb").stat().st_size > 0


def test_a_file_that_cannot_compile_is_an_answer(cache: Path) -> None:
    code, document = as_json(cache, UNDISTRIBUTABLE, "--target", "gfx942")
    assert code == 3
    assert document["status"] == "compile_failed"
    assert document["reason"].startswith("'func.func' op failed to distribute")
    assert "iree-org/iree#23005" in document["known"]
    assert document["vmfb"] is None
    assert document["kernels"][0]["subgroups"] == 4  # configured, though it did not compile
    assert document["kernels"][0]["vgpr"] is None  # unknown, and not 0


def test_a_hang_ends_with_the_time_limit(cache: Path) -> None:
    code, document = as_json(cache, HANGING, "--target", "gfx942", "--time-limit", "3")
    assert code == 3
    assert document["status"] == "compile_timeout"
    assert document["compile_s"] < 6


def test_flags_reach_the_compiler(cache: Path) -> None:
    flag = "--iree-dispatch-creation-enable-split-reduction"
    code, document = as_json(cache, MLIR / "m09_matvec_trace833.mlir", "--flags", flag)
    assert code == 0
    assert len(document["kernels"]) == 2  # one without the flag
    assert flag in document["command"]


def test_the_second_time_comes_from_the_cache(cache: Path) -> None:
    as_json(cache, SMALL, "--target", "gfx942")
    _, document = as_json(cache, SMALL, "--target", "gfx942")
    assert document["cached"] is True


def test_the_table_is_for_people(cache: Path) -> None:
    argv = [sys.executable, "-m", "ireebench.cli.main", "compile", str(UNDISTRIBUTABLE), "--cache-dir", str(cache)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3
    lines = done.stdout.splitlines()
    assert "m11_argcompare_100352_f16.mlir for gfx942: compile_failed, " in lines[0]
    assert lines[0].endswith("1 dispatch")
    assert lines[1].split() == ["status", "compile_failed"]
    assert [line.split()[0] for line in lines[3:5]] == ["reason", "known"]
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello world\n", ":1:1: not valid MLIR: custom op 'hello' is unknown"),
        ("", " is empty; give an MLIR file"),
        ("func.func @f() {\n  return %x : i32\n}\n", ":2:"),
    ],
)
def test_what_is_no_mlir_is_refused_with_its_place(cache: Path, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.mlir"
    path.write_text(text)
    result = invoke(cache, path)
    assert isinstance(result.exception, UserError)
    assert str(result.exception).startswith(f"{path}{message}")
    assert result.exception.exit_code == 2
    assert "\n" not in str(result.exception)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("nowhere.mlir",), "nowhere.mlir: no such file; give an MLIR file"),
        ((MLIR,), "mlir is a folder; give an MLIR file"),
        ((SMALL, "--target", "gfx9422"), "no target matches 'gfx9422'; nearest: gfx942"),
        ((SMALL, "--flags", "--nope"), "iree-compile has no '--nope'"),
        ((SMALL, "--flags", "nope"), "'nope' is no compiler flag"),
        ((SMALL, "--flags", "--a='"), "No closing quotation"),
    ],
)
def test_a_mistake_is_one_line(cache: Path, args: tuple[object, ...], message: str) -> None:
    result = invoke(cache, *args)
    assert isinstance(result.exception, UserError)
    assert message in str(result.exception)
    assert result.exception.exit_code == 2


def test_bytes_that_are_no_text_are_refused(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "module.bc"
    path.write_bytes(b"ML\xefR\x00\xff\xfe")
    result = invoke(cache, path)
    assert isinstance(result.exception, UserError)
    assert str(result.exception).startswith(f"{path} is not text")


def test_a_file_that_may_not_be_read_is_named(cache: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    path = tmp_path / "secret.mlir"
    path.write_text("module {}")
    path.chmod(0)
    result = invoke(cache, path)
    assert "Permission denied" in str(result.exception)


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = invoke(tmp_path / "file", SMALL)
    assert isinstance(result.exception, UserError)
    assert str(result.exception).startswith(f"cannot write the cache folder {tmp_path / 'file'}")
    assert result.exception.exit_code == 1
