"""The spec of the fastest stored trials: what a spec can carry, measured, on one device."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from ireebench.cli.main import cli
from ireebench.errors import UsageError
from ireebench.measure.result import RunResult
from ireebench.outcome import Stage, Status
from ireebench.problems.problem import Problem
from ireebench.report.stored_spec import stored_spec
from ireebench.space.config import Config
from ireebench.store.database import Store
from ireebench.store.trial import Environment, Trial
from ireebench.targets import find_target
from ireebench.variants import Ship

PROBLEM = Problem("row", "argmax", (131072,), "bf16")
HOST = Environment("MI300X", "hip://0", None, None, None, None, "host", "3.11", "{}")


def trial(config: str, *, form: str = "native", ship: Ship = Ship.SPEC, problem: Problem = PROBLEM) -> Trial:
    return Trial(
        key=f"{problem.id} {form} {config}",
        problem=problem,
        target="gfx942",
        variant="vd",
        baseline=None,
        form=form,
        ship=ship,
        config=Config.parse(config),
        status=Status.OK,
        stage=Stage.TIMED,
    )


def put(store: Store, t: Trial, us: float, environment: Environment = HOST) -> None:
    ns = np.full(10, int(us * 1000), np.int64)
    run = RunResult(t.key, 0, "hot", "rocprofv3", ns, ns, np.zeros(10, np.int64))
    store.put_runs(replace(t, environment=store.put_environment(environment)), [run])


def test_the_fastest_trial_that_a_spec_can_carry_wins(tmp_path: Path) -> None:
    other = Problem("long", "argmax", (262144,), "bf16")
    with Store.open(tmp_path / "a.db", write=True) as store:
        put(store, trial("SG=4,PR=2048,TH=8"), 9.0)
        put(store, trial("SG=8,PR=4096,TH=8"), 7.5)
        put(store, trial("SG=16,PR=8192,TH=8"), 8.0)
        put(store, trial("SG=2,PR=1024,TH=8", form="rows", ship=Ship.IR_REWRITE), 1.0)  # faster, and ships not
        put(store, replace(trial("SG=1,PR=512,TH=8"), status=Status.WRONG_RESULT), 0.5)
        put(store, trial("SG=4,PR=2048,TH=8", problem=other), 20.0)
        spec = stored_spec(store, "argmax", find_target("gfx942"))
    assert spec.text.splitlines()[0] == (
        "// measured on MI300X, medians, hot: row 7.50 us (rocprofv3); long 20.00 us (rocprofv3)"
    )
    assert "vd/native SG=8,PR=4096,TH=8" in spec.text
    assert "tensor<262144xbf16>" in spec.text
    assert "SG=16" not in spec.text
    assert spec.notes == ()


def test_a_store_with_nothing_to_emit_says_so(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db", write=True) as store:
        store.put_trials([trial("SG=4,PR=2048,TH=8")])  # never timed
        with pytest.raises(UsageError, match="no timed argmax trial on gfx942"):
            stored_spec(store, "argmax", find_target("gfx942"))


def test_devices_are_never_mixed(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db", write=True) as store:
        put(store, trial("SG=4,PR=2048,TH=8"), 9.0)
        put(store, trial("SG=8,PR=4096,TH=8"), 7.5, replace(HOST, device="MI325X"))
        with pytest.raises(UsageError, match="several devices: MI300X, MI325X"):
            stored_spec(store, "argmax", find_target("gfx942"))


def test_two_problems_of_one_type_are_told_apart_by_a_note(tmp_path: Path) -> None:
    twin = replace(PROBLEM, id="twin")
    with Store.open(tmp_path / "a.db", write=True) as store:
        put(store, trial("SG=4,PR=2048,TH=8"), 9.0)
        put(store, trial("SG=8,PR=4096,TH=8", problem=twin), 10.0)
        spec = stored_spec(store, "argmax", find_target("gfx942"))
    (note,) = spec.notes
    assert note.startswith("tensor<131072xbf16> is configured as for gfx942 row ")
    assert spec.text.count("transform.named_sequence @match_") == 1


def test_the_command_reads_a_store(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db", write=True) as store:
        put(store, trial("SG=4,PR=2048,TH=8"), 9.0)
    out = tmp_path / "best.mlir"
    result = CliRunner().invoke(cli, ["spec", "emit", "argmax", "--from", str(tmp_path / "a.db"), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert out.read_text().startswith("// measured on MI300X, medians, hot: row 9.00 us (rocprofv3)\n")
