"""Which baselines a sweep runs on which problem."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ireebench.problems.problem import Problem
from ireebench.sweep.plan import plan
from ireebench.sweep.request import Request
from ireebench.targets import find_target

F16 = Problem("a", "gemv", (1, 64, 128), "f16", None, "f32", "nk")
Q4_0 = Problem("b", "gemv", (1, 64, 128), "q4_0", None, "f32", "nk")
NF4 = Problem("c", "gemv", (1, 64, 128), "nf4", None, "f32", "nk")
ALL = ("torch_mv", "torch_mv_f16", "bnb_gemv_4bit")


def planned(named: frozenset[str]) -> list[tuple[str | None, ...]]:
    request = Request("gemv", (F16, Q4_0, NF4), find_target("sm_89"), (), baselines=ALL, named=named)
    return [tuple(b.subject.baseline for b in p.baselines) for p in plan(request, "e")]


def test_each_problem_gets_the_baselines_of_its_weights() -> None:
    assert planned(frozenset({"auto"})) == [("torch_mv",), ("torch_mv_f16",), ("torch_mv_f16", "bnb_gemv_4bit")]


def test_a_baseline_that_was_named_is_planned_everywhere_so_that_its_refusal_is_told() -> None:
    assert planned(frozenset({"torch_mv"})) == [
        ("torch_mv",),
        ("torch_mv", "torch_mv_f16"),
        ("torch_mv", "torch_mv_f16", "bnb_gemv_4bit"),
    ]


@pytest.mark.parametrize("without_a_device", ["--dry-run", "--compile-only"])
def test_an_unknown_baseline_is_refused_where_none_is_run_too(without_a_device: str) -> None:
    command = [sys.executable, "-m", "ireebench.cli.main", "sweep", "gemv", "--shape", "64x128", "--dtype", "f16"]
    command += ["--target", "gfx942", "--baselines", "bitsandbites", without_a_device]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: no baseline matches 'bitsandbites'; nearest: bitsandbytes\n"
