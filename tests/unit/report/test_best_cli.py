from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from synthetic_store import PROBLEMS, Recipe, make_store

from ireebench.cli.main import cli


def best(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["best", *map(str, arguments)])


def entries(result: Result) -> dict[str, dict[str, Any]]:
    assert result.exit_code == 0
    return {p["problem"]: p for p in json.loads(result.stdout)["problems"]}


@pytest.fixture(scope="module")
def unchecked(store: Path) -> dict[str, dict[str, Any]]:
    return entries(best(store, "--no-check", "--format", "json"))


def test_the_best_of_all_and_the_best_that_ships_are_both_named(unchecked: dict[str, dict[str, Any]]) -> None:
    flat = unchecked["llama2-7b"]
    assert flat["best"]["form"] == "two_stage"
    assert flat["best"]["ship"] == "ir_rewrite"
    assert flat["best_shipping"]["config"] == {"SG": 4, "PR": 2048, "TH": 8}
    assert flat["best_shipping"]["ship"] == "spec"
    assert flat["best_baseline"]["baseline"] == "hipcub"
    assert flat["speedups"]["baseline_over_best"] == pytest.approx(1.3 / 1.02, rel=0.02)
    assert flat["speedups"]["default_over_best_shipping"] == pytest.approx(2.0 / 1.2, rel=0.02)


def test_what_ships_without_a_spec_says_so(unchecked: dict[str, dict[str, Any]]) -> None:
    spec = unchecked["resnet50"]["spec"]
    assert spec == {
        "file": None,
        "flags": [],
        "applied": None,
        "reason": "no spec needed: the compiler's own choice",
        "text": None,
    }


def test_a_split_that_ships_names_the_flags_beside_its_spec(unchecked: dict[str, dict[str, Any]]) -> None:
    spec = unchecked["llama3-8b-batch"]["spec"]
    assert spec["file"] == "llama3-8b-batch-argmax-gfx942.mlir"
    assert "--iree-dispatch-creation-enable-split-reduction" in spec["flags"]
    assert any("split-reduction-target-size=2048" in f for f in spec["flags"])
    assert spec["applied"] is None


def test_specs_are_written_and_proved_to_apply_by_compiling(tmp_path: Path) -> None:
    store = make_store(tmp_path / "x.db", Recipe(problems=PROBLEMS[:2], processes=1))
    command = [sys.executable, "-m", "ireebench.cli.main", "best", str(store), "-o", str(tmp_path / "specs")]
    command += ["--cache-dir", str(tmp_path / "cache"), "--format", "json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert result.returncode == 0
    specs = {p["problem"]: p["spec"] for p in json.loads(result.stdout)["problems"]}
    assert [s["applied"] for s in specs.values()] == [True, True]
    assert specs["llama3-8b-batch"]["reason"] == "applied to 2 of 2 ops"
    written = sorted((tmp_path / "specs").iterdir())
    assert [p.name for p in written] == ["llama2-7b-argmax-gfx942.mlir", "llama3-8b-batch-argmax-gfx942.mlir"]
    assert written[0].read_text().startswith("// Measured: 2.4")
    assert "needs --iree-dispatch-creation-enable-split-reduction '--iree-preprocessing" in result.stderr


def test_a_spec_that_does_not_apply_ends_with_3_and_is_not_written(store: Path, tmp_path: Path) -> None:
    from ireebench.report.best import SpecAnswer
    from ireebench.report.best_check import find_best
    from ireebench.report.load import load_evidence
    from ireebench.store.database import Store

    with Store.open(store) as opened, pytest.MonkeyPatch.context() as patch:
        found = find_best(load_evidence(opened), None)
        broken = tuple(b for b in found if b.spec.file)[:1]
        answer = SpecAnswer("x.mlir", "text", (), False, "the compiler chose its own")
        from dataclasses import replace

        patch.setattr(
            "ireebench.report.best_check.find_best", lambda *_: tuple(replace(b, spec=answer) for b in broken)
        )
        result = best(store, "--no-check", "-o", tmp_path / "specs")
    assert result.exit_code == 3
    assert "x.mlir: NOT applied: the compiler chose its own" in result.stdout
    assert not (tmp_path / "specs").exists()


def test_hot_and_cold_share_a_file_where_they_agree_and_not_where_they_differ(store: Path) -> None:
    from dataclasses import replace

    from ireebench.report.best import Best, SpecAnswer
    from ireebench.report.best_check import find_best, named_apart
    from ireebench.report.load import load_evidence
    from ireebench.store.database import Store

    with Store.open(store) as opened:
        first = find_best(load_evidence(opened), None)[0]
    cold = replace(first.standing, cache="cold")

    def spec(measured: str, what: str) -> SpecAnswer:
        return SpecAnswer("x.mlir", f"// Measured: {measured}\n{what}", (), None, "not checked")

    hot = Best("d", first.standing, spec("2 us (hot)", "SG=4"))
    agree = named_apart([hot, Best("d", cold, spec("4 us (cold)", "SG=4"))])
    assert [b.spec.file for b in agree] == ["x.mlir", "x.mlir"]
    differ = named_apart([hot, Best("d", cold, spec("4 us (cold)", "SG=8"))])
    assert [b.spec.file for b in differ] == ["x-32768-hot.mlir", "x-32768-cold.mlir"]


def test_a_store_with_nothing_timed_says_what_else_there_is(tmp_path: Path, store: Path) -> None:
    from dataclasses import replace

    from ireebench.store.database import Store

    with Store.open(store) as full, Store.open(tmp_path / "x.db", write=True) as empty:
        empty.put_trials(replace(t, environment=None) for t in full.trials() if not t.runs)
    result = best(tmp_path / "x.db")
    assert result.exit_code == 0
    assert "nothing was timed" in result.stderr


def test_the_table_parts_what_ships_from_the_times_and_the_csv_does_not(store: Path) -> None:
    first, second, *_ = best(store, "--no-check").stdout.split("\n\n")
    assert "spec" not in " ".join(first.splitlines()[1:4]).split()
    assert "best that ships" in second.splitlines()[0]
    assert second.splitlines()[0].endswith("spec")
    rows = [line.split()[0] for line in first.splitlines()]
    assert [line.split()[0] for line in second.splitlines()[2:]] == rows[rows.index("problem") + 2 :]
    head = best(store, "--no-check", "--format", "csv").stdout.splitlines()[0]
    assert head.endswith("ships by,default / best,default / ships,best baseline,best baseline / best,"
                         "best baseline / ships,spec")  # fmt: skip
