"""`ireebench emulate` through the real command line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ireebench.outcome import Stage
from ireebench.store.database import Store
from ireebench.store.trial import NOT_EMULATED

Run = Callable[..., subprocess.CompletedProcess[str]]
FILE = Path(__file__).parents[1] / "data" / "emulate" / "argmax_rows_32x131072xbf16_gfx942.rocmasm"
BINDINGS = ("--binding", "in:32x131072xbf16=iota", "--binding", "out:32xbf16", "--binding", "out:320xi8")


def test_a_problem_is_compiled_executed_and_checked(ireebench: Run) -> None:
    done = ireebench("emulate", "resnet50", "--config", "SG=1,PR=512,TH=4", "--rows", "2", "--format", "json")
    assert done.returncode == 0, done.stderr
    (emulation,) = json.loads(done.stdout)["emulations"]
    assert emulation["status"] == "ok"
    assert emulation["check"]["by"] == "emulator"
    assert emulation["rows"] == 2
    assert emulation["faults"] == []
    assert emulation["executed"][0]["total"] > 100
    assert not any("ns" in key.split("_") or "time" in key for key in emulation["executed"][0])


SWEEP = (
    *("sweep", "argmax", "--shape", "4x4096", "--dtype", "f32", "--target", "gfx942", "--variants", "vd"),
    *("--check", "emulated", "--limit", "2", "--quiet"),
)


def test_a_sweep_checks_on_the_emulator_and_shows_counts_and_no_time(ireebench: Run) -> None:
    done = ireebench(*SWEEP, "--format", "json")
    assert done.returncode == 0, done.stderr
    trials = json.loads(done.stdout)["trials"]
    assert len(trials) == 2
    for trial in trials:
        assert trial["check"] == {"ok": True, "first_index": True, "by": "emulator"}
        assert (trial["stage"], trial["median_ns"], trial["timer"]) == ("checked", None, None)
        (counts,) = trial["counts"]
        # One row of 4096 f32 by vector loads of 4 or 16 bytes; 16 KiB are 128 lines.
        vector_loads = sum(n for name, n in counts["bytes"].items() if name in ("global load b128", "global load b32"))
        assert vector_loads >= 16384
        assert counts["cache_lines"] >= 128
        assert counts["dpp"] > 0
        assert counts["total"] == sum(counts["instructions"].values())
    shown = ireebench(*SWEEP)  # from the store
    assert "executed by the emulator" in shown.stdout
    assert f"{trials[0]['counts'][0]['total']}" in shown.stdout


FOUR_BITS = """
[[problem]]
id = "q4"
op = "gemv"
shape = [1, 64, 1024]
dtype = "q4_0"
[[problem]]
id = "nf4"
op = "gemv"
shape = [1, 64, 1024]
dtype = "nf4"
"""


def test_4_bit_gemvs_whose_tables_are_constants_of_the_module_are_checked(ireebench: Run, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(FOUR_BITS)
    sweep = ("sweep", "gemv", "--problems", "own.toml", "--target", "gfx942", "--check", "emulated", "--limit", "1")
    done = ireebench(*sweep, "--variants", "vd_words,vd_pairs", "--quiet")
    assert done.returncode == 0, done.stderr
    assert "4 of 4 compiled candidates executed by the emulator, 4 right." in done.stdout


def test_a_sweep_that_stopped_before_the_emulator_goes_on_there(ireebench: Run, tmp_path: Path) -> None:
    arguments = (*SWEEP, "--format", "json", "--db", "kept.db")
    assert ireebench(*arguments).returncode == 0
    with Store.open(tmp_path / "kept.db", write=True) as store:
        first, second = store.trials()
        # As after a Ctrl-C while candidates compiled, and as an emulator left it that lacked something.
        store.put_trials([replace(first, stage=Stage.COMPILED, check=None, counts=())])
        store.put_trials(
            [replace(second, stage=Stage.COMPILED, check=None, counts=(), reason=f"{NOT_EMULATED}a reason")]
        )
    done = ireebench(*arguments)
    assert done.returncode == 0, done.stderr
    trials = json.loads(done.stdout)["trials"]
    assert [(t["stage"], t["check"]["by"], t["reason"]) for t in trials] == [("checked", "emulator", None)] * 2


def test_a_file_is_executed_with_the_bindings_that_the_user_describes(ireebench: Run) -> None:
    done = ireebench("emulate", FILE, *BINDINGS, "--format", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    # bfloat16 counts up to 131072 in steps of 512 at the end, and rounds: the maximum is 2^17 at the first of its ties.
    assert document["bindings"][1]["values"][0] == 131072.0
    assert document["executed"][0]["workgroups"] == 1


def test_a_fault_in_a_file_ends_with_3_and_says_where(ireebench: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.rocmasm"
    broken.write_text(FILE.read_text().replace("\ts_waitcnt vmcnt(0)\n", "", 1))
    done = ireebench("emulate", broken, *BINDINGS)
    assert done.returncode == 3
    assert "missing_wait" in done.stdout
    assert "before a wait on vmcnt for buffer_load_dwordx4" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((*SWEEP[:6], "--target", "cpu", "--check", "emulated"), "--check emulated executes AMD assembly"),
        (("emulate", "lama3"), "no model matches 'lama3'"),
        (("emulate", "nowhere.s"), "nowhere.s"),
        (("emulate", "llama3-8b", "--target", "sm_89"), "is no AMD target"),
        (("emulate", "llama3-8b", "--binding", "in:4xf32"), "--binding, --constant and --kernel are for a FILE"),
        (("emulate", str(FILE), "--binding", "4xf32"), "needs in, out or inout"),
        (("emulate", "llama3-8b", "--conformance", "--limit", "2"), "--conformance takes one candidate"),
        (("emulate", str(FILE), "--binding", "in:4xf32=what"), "is none of random, zeros, ones, iota"),
        (("emulate", str(FILE), "--binding", "in:4xf32"), "takes more than the 1 bindings"),
        (("emulate", str(FILE), "--grid", "0", *BINDINGS), "--grid '0'"),
        (("emulate", str(FILE), "--kernel", "argmix", *BINDINGS), "no kernel matches 'argmix'"),
    ],
)
def test_a_mistake_is_one_line(ireebench: Run, arguments: tuple[str, ...], says: str) -> None:
    done = ireebench(*arguments)
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""
