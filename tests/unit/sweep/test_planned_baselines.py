"""Which baselines and variants a sweep runs on which problem."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from ireebench.problems.problem import Problem
from ireebench.sweep.plan import Planned, Refused, plan
from ireebench.sweep.request import Request
from ireebench.targets import find_target
from ireebench.variants import find_variant

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


GPU_GEMV = ("default", "vd", "vd_split", "vd_words", "vd_pairs", "vd_sums")


def test_a_usual_variant_without_a_form_for_the_weights_is_left_out_and_the_others_keys_stay() -> None:
    variants = tuple(find_variant(v) for v in GPU_GEMV)
    named = Request("gemv", (F16, NF4), find_target("sm_89"), variants, limit=2)
    usual = [plan(replace(named, variants_named=False), "e"), plan(named, "e")]
    left, told = ([[(x.key, _variant(x)) for x in p.everything] for p in plans] for plans in usual)
    assert [{v for _, v in problem} for problem in told] == [set(GPU_GEMV)] * 2
    assert [{v for _, v in problem} for problem in left] == [
        {"default", "vd", "vd_split"},
        {"default", "vd", "vd_words", "vd_pairs"},
    ]
    for some, everything in zip(left, told, strict=True):
        kept = {v for _, v in some}
        assert some == [(key, v) for key, v in everything if v in kept]


def _variant(x: Planned | Refused) -> str:
    candidate = x.candidate if isinstance(x, Refused) else x.subject.candidate
    assert candidate is not None
    return candidate.variant.name


@pytest.mark.parametrize(
    ("options", "weight_format"), [((), None), (("--variants", "vd,vd_words,vd_pairs,vd_sums"), "weight_format 3")]
)
def test_a_dry_run_refuses_a_variant_for_other_weights_where_it_was_named(
    options: tuple[str, ...], weight_format: str | None
) -> None:
    command = [sys.executable, "-m", "ireebench.cli.main", "sweep", "gemv", "--shape", "512x1024", "--dtype", "f16"]
    done = subprocess.run(
        [*command, "--target", "gfx942", "--dry-run", *options], capture_output=True, text=True, check=True
    )
    found = re.search(r"weight_format \d+", done.stdout)
    assert (found and found[0]) == weight_format
