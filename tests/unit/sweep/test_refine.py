"""Searching around the best of a store: which configurations that gives, and what the commands say of a wrong store."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from timed_store import finals, timed_store

from ireebench.candidate import Candidate
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.space.enumerate import enumerate_space
from ireebench.space.knobs import Place
from ireebench.store.database import Store
from ireebench.sweep.refine import Refinement
from ireebench.targets import find_target
from ireebench.variants import find_variant

PROBLEM = Problem("llama3-8b", "argmax", (1, 131072), "bf16", "i64", "LLaMA-3-8B", "padded")
CUDA = find_target("cuda")
VD, SPLIT = find_variant("vd"), find_variant("vd_split")


def space(variant: str) -> tuple[Candidate, ...]:
    return enumerate_space(PROBLEM, find_variant(variant), CUDA).accepted


def test_the_best_come_first_and_then_their_nearest_untried_neighbours() -> None:
    everything = space("vd")
    best = next(c for c in everything if c.config == Config(sg=8, pr=8192, th=8))
    far = next(c for c in everything if c.config == Config(sg=1, pr=32, th=1))
    refined = Refinement({PROBLEM: {best: 1000.0, far: 9000.0}}, 6).configs_for(Place(PROBLEM, VD, CUDA))
    assert refined is not None
    assert refined[:2] == (best.config, far.config)
    # One factor of two in one knob away, each of the two in turn.
    near_best, near_far = refined[2], refined[3]
    steps = [near_best.sg == 8, near_best.pr == 8192, near_best.th == 8]
    assert sum(steps) == 2
    assert sum([near_far.sg == 1, near_far.pr == 32, near_far.th == 1]) == 2
    assert len(refined) == len(set(refined)) == 6


def test_a_variant_far_behind_keeps_its_best_alone() -> None:
    slow, fast = space("vd")[0], space("vd_split")[0]
    source = Refinement({PROBLEM: {slow: 1400.0, fast: 1000.0}}, 20)
    assert source.configs_for(Place(PROBLEM, VD, CUDA)) == (slow.config,)
    assert len(source.configs_for(Place(PROBLEM, SPLIT, CUDA)) or ()) == 20


def test_failed_candidates_are_no_best_and_are_not_tried_again() -> None:
    good, bad = space("vd")[:2]
    refined = Refinement({PROBLEM: {good: 1000.0, bad: None}}, len(space("vd"))).configs_for(Place(PROBLEM, VD, CUDA))
    assert refined is not None
    assert good.config in refined
    assert bad.config not in refined


def test_a_problem_of_which_nothing_was_timed_keeps_the_space() -> None:
    other = replace(PROBLEM, id="gpt2")
    assert Refinement({PROBLEM: {space("vd")[0]: 1.0}}, 6).configs_for(Place(other, VD, CUDA)) is None


def create(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ireebench.cli.main", "bundle", "create", "argmax", "--models", "llama3-8b"]
    return subprocess.run([*command, "--target", "cuda", *arguments], capture_output=True, text=True, check=False)


def test_a_store_without_times_is_said_in_one_line(tmp_path: Path) -> None:
    with Store.open(tmp_path / "empty.db", write=True):
        pass
    done = create("--near", str(tmp_path / "empty.db"), "-o", str(tmp_path / "b"))
    assert (done.returncode, done.stdout) == (2, "")
    reason = "holds no candidates of argmax timed hot on sm_89 to search around"
    assert done.stderr == f"error: {tmp_path}/empty.db: {reason}\n"


@pytest.mark.parametrize(("option", "value"), [("--config", "SG=4"), ("--limit", "0")])
def test_neighbours_exclude_one_configuration_and_the_whole_space(tmp_path: Path, option: str, value: str) -> None:
    with Store.open(tmp_path / "empty.db", write=True):
        pass
    done = create("--near", str(tmp_path / "empty.db"), option, value, "-o", str(tmp_path / "b"))
    assert done.returncode == 2
    assert f"--near and {option}" in done.stderr
    assert "exclude each other" in done.stderr


def dry_run(target: str, near: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ireebench.cli.main", "sweep", "gemv", "--shape", "512x1024", "--dtype", "f16"]
    command += ["--target", target, "--cache", "cold", "--near", str(near), "--dry-run"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_times_of_another_target_are_nothing_to_search_around(tmp_path: Path) -> None:
    near = timed_store(tmp_path / "amd.db", [finals("custom", 512, 1024, {"SG=4,PR=1024,TH=8,RW=1,SR=1": 5.0})])
    done = dry_run("cuda", near)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {near}: holds no candidates of gemv timed cold on sm_89 to search around\n"


def test_a_problem_that_the_store_lacks_is_named(tmp_path: Path) -> None:
    near = timed_store(tmp_path / "amd.db", [finals("other", 4096, 4096, {"SG=4,PR=1024,TH=8,RW=1,SR=1": 5.0})])
    done = dry_run("gfx942", near)
    assert done.returncode == 0
    assert f"{near} holds nothing of custom-512x1024-f16: their space is sampled\n" in done.stderr


@pytest.mark.parametrize(
    ("key", "line"), [("configs", 'configs = ["SG=4,PR=1024,TH=8"]'), ("knobs", "[knobs]\nSG = [4]")]
)
def test_neighbours_exclude_what_a_definition_lists_itself(tmp_path: Path, key: str, line: str) -> None:
    near = timed_store(tmp_path / "amd.db", [finals("custom", 512, 1024, {"SG=4,PR=1024,TH=8,RW=1,SR=1": 5.0})])
    file = tmp_path / "mine.toml"
    file.write_text(f'description = "d"\nop = "gemv"\nshapes = ["512x1024"]\ndtype = "f16"\n{line}\n')
    command = [sys.executable, "-m", "ireebench.cli.main", "sweep", "--file", str(file), "--target", "gfx942"]
    done = subprocess.run([*command, "--near", str(near), "--dry-run"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: --near and the key '{key}' of {file} exclude each other")
    assert done.stderr.count("\n") == 1
