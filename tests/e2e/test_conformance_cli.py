"""`ireebench conformance` through the real command line, on the emulator and on the CPU."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
ON_EMULATOR = (
    *("conformance", "argmax", "--shape", "4x1024", "--target", "gfx942", "--check", "emulated"),
    *("--emulated-rows", "2"),
)


def test_code_for_an_amd_gpu_is_judged_by_the_emulator(ireebench: Run) -> None:
    done = ireebench(*ON_EMULATOR, "--variants", "vd", "--config", "SG=1,PR=512,TH=4", "--format", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["by"] == "emulator"
    rows = {r["case"]: r for r in document["rows"]}
    assert {r["implementation"] for r in document["rows"]} == {"vd"}
    for case in ("ties", "signed_zeros", "all_negative", "all_neg_inf", "repeat"):
        assert rows[case]["verdict"] == "pass", rows[case]
    assert rows["nan"]["nan"] == "ignored"


def test_the_emulate_command_prints_the_same_table(ireebench: Run) -> None:
    done = ireebench("emulate", "resnet50", "--config", "SG=1,PR=512,TH=4", "--rows", "2", "--conformance")
    assert done.returncode == 0, done.stderr
    title, heads, *_ = done.stdout.splitlines()
    assert title.endswith("emulated")
    assert heads.split() == ["implementation", "case", "verdict", "ties", "NaN", "reason"]
    assert "vd" in done.stdout


def test_a_configuration_that_the_space_refuses_is_a_case_that_was_not_run(ireebench: Run) -> None:
    done = ireebench(*ON_EMULATOR, "--variants", "vd", "--config", "SG=3,PR=768,TH=4", "--format", "json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert row["verdict"] == "not run"
    assert "no power of two" in row["reason"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--target", "gfx942"), "--check emulated needs no device"),
        (("--target", "cpu", "--check", "emulated"), "target cpu has none"),
        (("--target", "gfx942", "--check", "emulated", "--baselines", "numpy"), "leave --baselines out"),
        (("--target", "cpu", "--device", "vulkan://0"), "ireebench measures on hip, cuda and local-task"),
    ],
)
def test_a_mistake_is_one_line(ireebench: Run, arguments: tuple[str, ...], says: str) -> None:
    done = ireebench("conformance", "argmax", *arguments)
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""
