"""Keys: the same question has the same key, and no two questions share one."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from ireebench.candidate import Candidate
from ireebench.compiler.driver import Compiler, Source
from ireebench.measure.job import Protocol
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.sweep.request import Measuring, Request, Subject, trial_key
from ireebench.targets import find_target
from ireebench.variants import FORMS, VARIANTS

PROBLEM = Problem("llama3-8b", "argmax", (32, 131072), "bf16", model="llama3", source="test")
CONFIG = Config(sg=4, pr=2048, th=8)


def request(**changes: object) -> Request:
    protocol = Protocol(seed=cast(int, changes.pop("seed", 0)))
    measuring = Measuring("hip://0", cast(str, changes.pop("timer", "rocprofv3")), protocol, protocol)
    target = find_target(cast(str, changes.pop("target", "gfx942")))
    return Request(
        "argmax", (PROBLEM,), target, (), measuring=None if changes.pop("compile_only", False) else measuring
    )


def key(r: Request, problem: Problem = PROBLEM, config: Config = CONFIG, form: str = "rows", place: str = "e") -> str:
    return trial_key(r, place, Subject(problem, Candidate(problem, VARIANTS["vd"], FORMS[form], config, r.target)))


def test_what_a_figure_depends_on_is_in_its_key() -> None:
    keys = [
        key(request()),
        key(request(seed=1)),
        key(request(timer="batched")),
        key(request(target="gfx950")),
        key(request(compile_only=True)),
        key(request(), place="another driver"),
        key(request(), config=Config(sg=4, pr=2048, th=4)),
        key(request(), form="collapse"),
        key(request(), dataclasses.replace(PROBLEM, shape=(32, 131073))),
        key(request(), dataclasses.replace(PROBLEM, dtype="f16")),
        key(request(), dataclasses.replace(PROBLEM, index_dtype="i32")),
        key(request(), dataclasses.replace(PROBLEM, id="other")),
        trial_key(request(), "e", Subject(PROBLEM, baseline="numpy")),
        trial_key(request(), "e", Subject(PROBLEM, baseline="torch")),
    ]
    assert len(set(keys)) == len(keys)


def test_where_a_problem_was_read_is_not_in_its_key() -> None:
    assert key(request()) == key(request(), dataclasses.replace(PROBLEM, source="elsewhere", model="another name"))


def test_protocols_of_two_sweeps_in_one_process_do_not_mix() -> None:
    first, second = key(request()), key(request(seed=5))
    assert key(request()) == first
    assert key(request(seed=5)) == second != first


sizes = st.none() | st.integers(1, 1 << 20)
configs = st.builds(Config, sg=sizes, pr=sizes, st=sizes, th=sizes, sg2=sizes, rw=sizes, wpe=sizes)


@settings(max_examples=60, deadline=None)
@given(configs, configs)
def test_two_configurations_share_a_key_only_when_they_are_one(a: Config, b: Config) -> None:
    assert (key(request(), config=a) == key(request(), config=b)) == (a == b)


texts = st.text("ab:1\n", max_size=6)
flags = st.lists(texts.filter(lambda t: "\n" not in t), max_size=3).map(tuple)
sources = st.builds(Source, mlir=texts, spec=st.none() | texts.filter(bool), flags=flags)


@settings(max_examples=300, deadline=None)
@given(sources, sources)
def test_two_modules_share_a_compile_key_only_when_all_of_their_input_is_equal(a: Source, b: Source) -> None:
    compiler = cast(Compiler, SimpleNamespace(version="3.13.0"))
    same_flags = "\n".join(a.flags) == "\n".join(b.flags)
    same = (a.mlir, a.spec) == (b.mlir, b.spec) and same_flags
    assert (Compiler.key(compiler, a) == Compiler.key(compiler, b)) == same


def test_the_compilers_version_and_the_order_of_flags_are_in_the_compile_key() -> None:
    old, new = (cast(Compiler, SimpleNamespace(version=v)) for v in ("3.12.0", "3.13.0"))
    source = Source("module {}", None, ("--a", "--b"))
    assert Compiler.key(old, source) != Compiler.key(new, source)
    assert Compiler.key(new, source) != Compiler.key(new, Source("module {}", None, ("--b", "--a")))
