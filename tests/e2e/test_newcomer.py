"""What a newcomer does wrong, through the real command line: one clear line each, and nothing of theirs is touched."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data" / "isa"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("group", [(), ("spec",), ("bundle",)])
def test_a_group_without_a_command_prints_its_help_on_stderr(group: tuple[str, ...], ireebench: Run) -> None:
    done = ireebench(*group)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Usage: {' '.join(('ireebench', *group))} ")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("space",), 2, "Missing argument 'OP'; ireebench space --help has examples"),
        (("doctor", "extra"), 2, "Got unexpected extra argument (extra); ireebench doctor --help has examples"),
        (("replay", "empty", "--op", "sum"), 2, "Invalid value for '--op': 'sum' is not one of"),
        (("space", "argmax", "--models", "llama3", "--variants", ","), 2, "--variants names none; write vd,vd_split"),
        (("mlir", "argmax", "--models", "llama3", "--config", "SG=4,sg=8"), 2,
         "configuration 'SG=4,sg=8': sg is given twice"),
        (("space", "argmax", "--models", "llama3", "--where", "vgpr > 3"), 2, "No such option '--where'"),
        (("gain", "--instruction", "2", "--csv", "no.csv"), 2, "no.csv: can't be read: No such file or directory; "),
        (("gain", "--instruction", "2", "--csv", "folder"), 2, "folder: can't be read: Is a directory; give a CSV"),
        (("gain", "--instruction", "2", "--level", "a=1", "--noise", "-3"), 2, "Invalid value for '--noise': -3.0"),
        (("gain", "--instruction", "2", "--from", "empty", "--feature", "vdd"), 2, "no variant matches 'vdd'; nearest"),
        (("bundle", "create", "argmax", "--models", "llama3", "--target", "cuda", "-o", "empty"), 1,
         "cannot write the bundle empty: it is a file; name a new folder with -o"),
        (("sweep", "argmax", "--models", "llama3", "--seconds", "nan"), 2, "Invalid value for '--seconds': nan"),
        (("sweep", "argmax", "--models", "llama3", "--compile-timeout", "0"), 2,
         "Invalid value for '--compile-timeout': 0.0 is not in the range x>0"),
        (("sweep", "argmax", "--models", "llama3", "--device", "foo"), 2,
         "--device: device 'foo': ireebench measures on hip, cuda and local-task"),
        (("sweep", "argmax", "--models", "llama3", "--target", "cpu", "--where", "vgpr > 3"), 2,
         "--where reads AMD assembly; target cpu has none"),
        (("sweep", "argmax", "--models", "llama3", "--target", "cpu", "--out", "empty"), 1,
         "cannot write empty: File exists; name another folder with --out"),
        (("sweep", "argmax", "--models", "llama3", "--target", "cpu", "--variants", "vd_words"), 2,
         "variant vd_words has no form for argmax; it serves gemv"),
        (("isa", "llama3-8b-q", "--op", "gemv", "--variants", "ukernel"), 2,
         "variant ukernel has no form for gemv; it serves argmax"),
        (("mlir", "argmax", "--models", "gpt2", "--spec", "--show-command", "--target", "gfx942"), 2,
         "--spec and --show-command exclude each other"),
        (("emulate", "k.s", "--binding", "in:999999999999xf32"), 2,
         "--binding 'in:999999999999xf32': more than 4 GiB"),
        (("emulate", "k.s", "--grid", "999999999"), 2, "--grid '999999999': 999,999,999 workgroups; at most 1,048,576"),
        (("emulate", "k.s"), 2, "k.s: kernel 'argmax"),
        (("decode", "--model", "llama3-8b", "--ceiling", "nan"), 2, "--ceiling is nan GB/s; it is above 0"),
        (("decode", "--measured", "nan", "--efficiency", "49", "--at", "91"), 2, "measured rate is nan tokens"),
        (("ceiling", "--device", "local-task", "--sizes", "999999G", "--budget", "1"), 2,
         "no size was measured, so nothing is stored: "),
        (("bundle", "run", "folder"), 2, "folder: not a bundle: it has no manifest.json\n"),
        (("bundle", "join", "folder", "folder", "-o", "b"), 2, "folder: not a bundle: it has no manifest.json\n"),
        (("bundle", "join", "folder", "-o", "b"), 2,
         "bundle join makes one bundle of several: name another beside folder\n"),
        (("bundle", "import", "folder", "empty", "--db", "s.db"), 2,
         "folder: not a bundle: it has no manifest.json\n"),
    ],
)  # fmt: skip
def test_a_mistake_gets_one_line(
    arguments: tuple[str, ...], code: int, message: str, ireebench: Run, tmp_path: Path
) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "k.s").write_bytes((DATA / "argmax_gfx942.s").read_bytes())
    done = ireebench(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(f"error: {message}")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [("report",), ("best",), ("replay",), ("decode", "--model", "llama3-8b", "--db")])
def test_reading_an_empty_file_as_a_store_leaves_it_empty(
    command: tuple[str, ...], ireebench: Run, tmp_path: Path
) -> None:
    (tmp_path / "empty").touch()
    done = ireebench(*command, "empty")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: empty: an empty file, no store")
    assert (tmp_path / "empty").read_bytes() == b""


def test_somebody_elses_database_is_refused_and_left_as_it_is(ireebench: Run, tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()
    done = ireebench("report", "theirs.db")
    assert (done.returncode, done.stderr) == (
        1,
        "error: theirs.db: a database, but not one of ireebench's; name another file\n",
    )
    assert path.read_bytes() == before


def test_a_folder_given_as_a_store_names_the_store_in_it(ireebench: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "ireebench.db").touch()
    assert ireebench("best", "out").stderr == "error: out is a folder; name a store, such as out/ireebench.db\n"


def test_loops_and_lints_of_several_candidates_say_whose_they_are(ireebench: Run) -> None:
    config = ("--config", "SG=4,PR=2048,TH=8", "--format", "csv")
    done = ireebench("isa", "llama3-8b", "--target", "gfx942", "--variants", "vd,vd_shuffle", *config)
    assert done.returncode == 0
    _, loops, lints, *_ = done.stdout.split("\n\n")
    assert loops.splitlines()[0] == "from,line,depth,hot,in flight B,loop"
    assert lints.splitlines()[0] == "from,line,lint,what"
    for table in (loops, lints):
        named = {line.split(" ")[1] for line in table.splitlines()[1:]}
        assert named == {"vd/collapse", "vd_shuffle/collapse"}


def test_a_trace_that_is_not_text_is_not_quoted(ireebench: Run, tmp_path: Path) -> None:
    (tmp_path / "kernel_trace.csv").write_bytes(bytes(range(128, 256)) * 9)
    done = ireebench("trace", "kernel_trace.csv")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: kernel_trace.csv: not text, nor a rocpd database; give the files that rocprofv3 --kernel-trace wrote\n"
    )


def test_an_input_of_one_huge_line_is_not_quoted_whole(ireebench: Run, tmp_path: Path) -> None:
    (tmp_path / "huge.mlir").write_text("a" * 1_000_000)
    done = ireebench("compile", "huge.mlir")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: huge.mlir:1:1: not valid MLIR: custom op")
    assert len(done.stderr) < 400


def test_compare_shows_the_problems_asked_for_and_a_sweep_says_nothing_of_leaks(ireebench: Run) -> None:
    quick = (
        "--variants",
        "default",
        "--baselines",
        "numpy",
        "--target",
        "cpu",
        "--seconds",
        "0.05",
        "--processes",
        "1",
    )
    done = ireebench("sweep", "argmax", "--shape", "4x512", "--dtype", "f32", *quick)
    assert done.returncode == 0
    assert "nanobind" not in done.stderr
    asked = ("compare", "argmax", "--shape", "2x256", "--dtype", "f32", "--format", "json")
    for more in (quick, ("--from", "ireebench-out/ireebench.db")):
        done = ireebench(*asked, *more)
        assert done.returncode == 0
        assert {t["problem"] for t in json.loads(done.stdout)["trials"]} == {"custom-2x256-f32"}
    both = ireebench("compare", "argmax", "--from", "ireebench-out/ireebench.db", "--format", "json")
    assert {t["problem"] for t in json.loads(both.stdout)["trials"]} == {"custom-4x512-f32", "custom-2x256-f32"}
    none = ireebench("compare", "argmax", "--models", "gpt2", "--from", "ireebench-out/ireebench.db")
    assert (none.returncode, none.stdout) == (1, "")
    assert none.stderr == "error: ireebench-out/ireebench.db: no argmax trial of gpt2 in this store\n"
