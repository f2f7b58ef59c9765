"""The driver against a compiler of ours that does what it is told: outcomes, cache, batches."""

from __future__ import annotations

import re
import stat
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ireebench.candidate import Candidate
from ireebench.compiler.artifact import Artifact
from ireebench.compiler.driver import Compiled, Compiler, Source
from ireebench.compiler.flags import plain_command
from ireebench.compiler.spawner import Limits
from ireebench.errors import MissingToolError
from ireebench.ir.program import Program, StageConfig
from ireebench.outcome import Failure, Status
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.targets import find_target
from ireebench.variants import FORMS, VARIANTS

# Does what comments in the module say, and counts its calls. `// merge NAME` drops NAME's dump, as IREE does for a
# dispatch that equals an earlier one. It writes the dumps that a real compile of the asked configuration would.
FAKE = r"""#!{python}
import os, re, signal, sys, time
from pathlib import Path
if "--version" in sys.argv:
    print("IREE compiler version 3.13.0rc1 @ abc"); sys.exit(0)
with open("{calls}", "a") as f: f.write(" ".join(sys.argv[1:]) + "\n")
text = Path("module.mlir").read_text()
if "// sleep" in text: time.sleep(60)
if "// error" in text: sys.exit("module.mlir:3:1: error: no good")
if "// crash" in text:
    for a in sys.argv:
        if "reproducer" in a: Path(a.split("=")[1]).write_text("repro")
    os.kill(os.getpid(), signal.SIGSEGV)
if "// silent" in text: sys.exit(0)
if "// memory" in text: x = bytearray(10**9)
Path("dump").mkdir()
merged = re.findall(r"// merge (\w+)", text)
kernels = ""
for name, pr in re.findall(r"func.func @(\w+)\(.*?// pr (\d+)", text, re.DOTALL):
    if name in merged: continue
    symbol = name + "_dispatch_0_arg_compare_131072xbf16"
    Path("dump/configured_module_" + name + "_dispatch_0.mlir").write_text(
        "func.func @" + symbol + "() attributes {{translation_info = #iree_codegen.translation_info<pipeline = "
        "#iree_gpu.pipeline<VectorDistribute> workgroup_size = [256, 1, 1] subgroup_size = 64>}} {{\n"
        "%1:2 = iree_linalg_ext.arg_compare {{lowering_config = #iree_gpu.lowering_config<{{lane_basis = [[64], [0]], "
        "partial_reduction = [" + pr + "], subgroup_basis = [[4], [0]], thread = [8], workgroup = [0]}}>}} "
        "dimension(0) ins(%0 : tensor<131072xbf16>)\n}}\n")
    kernels += "  - .args: []\n    .name:  " + symbol + "\n    .vgpr_count: 61\n"
Path("dump/module.rocmasm").write_text("amdhsa.kernels:\n" + kernels + "amdhsa.target: x\n")
Path("module.vmfb").write_text(text)
"""
ASKED = StageConfig((131072,), 256, 64, 4, 2048, 8)
CANDIDATE = Candidate(
    Problem("p", "argmax", (131072,), "bf16"), VARIANTS["vd"], FORMS["native"], Config(), find_target("gfx942")
)


def program(what: str = "", pr: int = 2048) -> Program:
    """A program that asks for `pr` 2048 and gets `pr`; `what` tells the compiler how to behave."""
    return Program(CANDIDATE, "argmax", f"func.func @argmax() {{ return }} // pr {pr}\n// {what}\n", None, (), (ASKED,))


def distinct(count: int) -> list[Program]:
    return [program(f"n {i}") for i in range(count)]


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Puts the compiler in place; the file gets a line a call."""
    tools = tmp_path / "tools"
    tools.mkdir()
    path = tmp_path / "calls"
    path.touch()
    script = tools / "iree-compile"
    script.write_text(_fake(path))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("IREE_TOOL_PATH", str(tools))
    return path


def _fake(calls: Path) -> str:
    return FAKE.replace("{{", "{").replace("}}", "}").replace("{python}", sys.executable).replace("{calls}", str(calls))


@pytest.fixture
def compiler(tmp_path: Path, calls: Path) -> Iterator[Compiler]:
    with Compiler(tmp_path / "cache", Limits(5.0, 4_000_000_000), jobs=2) as made:
        yield made


def count(calls: Path) -> int:
    return len(calls.read_text().splitlines())


def test_a_compile_gives_an_artifact_with_its_evidence(compiler: Compiler) -> None:
    artifact = compiler.compile(program())
    assert isinstance(artifact, Artifact)
    assert artifact.vmfb.read_text() == program().mlir
    assert (artifact.function, artifact.applied, artifact.not_applied_reason) == ("argmax", True, None)
    (kernel,) = artifact.kernels
    assert (kernel.symbol, kernel.vgpr, kernel.assembly) == (
        "argmax_dispatch_0_arg_compare_131072xbf16",
        61,
        "dump/module.rocmasm",
    )
    assert artifact.compile_s > 0


def test_another_configuration_than_the_one_asked_for_is_not_applied(compiler: Compiler) -> None:
    artifact = compiler.compile(program(pr=512))
    assert isinstance(artifact, Artifact)
    assert artifact.applied is False
    assert artifact.not_applied_reason == (
        "argmax_dispatch_0_arg_compare_131072xbf16: partial reduction 2048 asked, 512 used"
    )


@pytest.mark.parametrize(
    ("what", "status", "reason"),
    [
        ("error", Status.COMPILE_FAILED, "no good (module.mlir:3:1)"),
        ("silent", Status.COMPILE_FAILED, "the compiler ended with code 0 and wrote no output"),
        ("crash", Status.COMPILE_FAILED, "the compiler crashed (SIGSEGV)"),
    ],
)
def test_failures_are_values(compiler: Compiler, what: str, status: Status, reason: str) -> None:
    failure = compiler.compile(program(what))
    assert isinstance(failure, Failure)
    assert (failure.status, failure.reason) == (status, reason)


def test_ir_that_is_not_valid_never_reaches_the_compiler(compiler: Compiler, calls: Path) -> None:
    bad = replace(program(), mlir="func.func @argmax() { return %x : i32 }\n")
    outcomes = dict(compiler.compile_many([bad, *distinct(3)]))
    failure = outcomes[bad]
    assert isinstance(failure, Failure)
    assert failure.status is Status.COMPILE_FAILED
    assert failure.reason.startswith("the IR is not valid: ")
    assert sum(isinstance(o, Artifact) for o in outcomes.values()) == 3


def test_a_crash_keeps_its_reproducer(compiler: Compiler) -> None:
    failure = compiler.compile(program("crash"))
    assert isinstance(failure, Failure)
    assert failure.reproducer is not None
    assert Path(failure.reproducer).read_text() == "repro"


def test_a_timeout_is_no_failure_to_compile(tmp_path: Path, calls: Path) -> None:
    with Compiler(tmp_path / "cache", Limits(0.5)) as compiler:
        failure = compiler.compile(program("sleep"))
    assert isinstance(failure, Failure)
    assert failure.status is Status.COMPILE_TIMEOUT
    assert re.fullmatch(r"still compiling after 0\.5 s, with \d+ MB of memory in use", failure.reason)


def test_a_cached_outcome_costs_nothing(compiler: Compiler, calls: Path) -> None:
    first, second = compiler.compile(program()), compiler.compile(program())
    assert isinstance(first, Artifact)
    assert isinstance(second, Artifact)
    assert second == replace(first, compile_s=0.0)
    assert count(calls) == 1


def test_failures_are_cached_too(compiler: Compiler, calls: Path) -> None:
    assert compiler.compile(program("error")) == compiler.compile(program("error"))
    assert count(calls) == 1


def test_a_timeout_is_tried_again_only_under_a_longer_limit(tmp_path: Path, calls: Path) -> None:
    for limit in (0.5, 0.4, 0.6):
        with Compiler(tmp_path / "cache", Limits(limit)) as compiler:
            compiler.compile(program("sleep"))
    assert count(calls) == 2  # 0.5 and 0.6


def test_a_corrupt_entry_is_compiled_again(tmp_path: Path, calls: Path) -> None:
    with Compiler(tmp_path / "cache") as compiler:
        artifact = compiler.compile(program())
    assert isinstance(artifact, Artifact)
    artifact.vmfb.write_text("cut sho")
    with Compiler(tmp_path / "cache") as compiler:
        again = compiler.compile(program())
    assert isinstance(again, Artifact)
    assert again.vmfb.read_text() == program().mlir
    assert count(calls) == 2


def test_the_key_depends_on_all_that_decides_the_output(compiler: Compiler) -> None:
    base = Source("module {}", None, ("--a", "--b"))
    others = [
        Source("module { }", None, ("--a", "--b")),
        Source("module {}", "spec", ("--a", "--b")),
        Source("module {}", None, ("--b", "--a")),
        Source("module {}", None, ("--a --b",)),
    ]
    assert len({compiler.key(s) for s in [base, *others]}) == 5


def test_a_group_shares_one_process(compiler: Compiler, calls: Path) -> None:
    programs = distinct(16)
    outcomes = dict(compiler.compile_many(programs))
    assert count(calls) == 2
    assert list(map(str, outcomes)) != []
    for p in programs:
        artifact = outcomes[p]
        assert isinstance(artifact, Artifact)
        assert artifact.applied is True
        assert artifact.compile_key == compiler.compile_key(p)
        assert all(k.symbol.startswith(f"{artifact.function}_dispatch_") for k in artifact.kernels)
        assert f"@{artifact.function}(" in artifact.vmfb.read_text()
    assert len({(o.vmfb, o.function) for o in outcomes.values() if isinstance(o, Artifact)}) == 16


def test_members_of_a_batch_are_found_again_in_other_company(compiler: Compiler, calls: Path) -> None:
    programs = distinct(8)
    first = dict(compiler.compile_many(programs))
    before = count(calls)
    second = dict(compiler.compile_many([programs[5], programs[2]]))
    assert count(calls) == before
    for p in (programs[5], programs[2]):
        a, b = first[p], second[p]
        assert isinstance(a, Artifact)
        assert isinstance(b, Artifact)
        assert (a.vmfb, a.function, a.kernels) == (b.vmfb, b.function, b.kernels)


def test_one_bad_program_does_not_take_its_batch_with_it(compiler: Compiler) -> None:
    programs = [program("error"), *distinct(7)]
    outcomes = dict(compiler.compile_many(programs))
    assert len(outcomes) == 8
    assert isinstance(outcomes[programs[0]], Failure)
    assert all(isinstance(outcomes[p], Artifact) for p in programs[1:])


def test_a_dispatch_that_was_merged_into_another_is_compiled_alone(compiler: Compiler, calls: Path) -> None:
    programs = [*distinct(7), program("merge argmax_7")]
    outcomes = dict(compiler.compile_many(programs))
    alone = outcomes[programs[7]]
    assert isinstance(alone, Artifact)
    assert alone.function == "argmax"
    assert [k.symbol for k in alone.kernels] == ["argmax_dispatch_0_arg_compare_131072xbf16"]


def test_a_program_with_a_spec_or_without_a_configuration_is_compiled_alone(compiler: Compiler, calls: Path) -> None:
    programs = [*(replace(p, spec="module {}") for p in distinct(2)), *(replace(p, asked=()) for p in distinct(2))]
    assert len(list(compiler.compile_many(programs))) == 4
    assert count(calls) == 4


def test_programs_with_other_flags_are_never_mixed(compiler: Compiler, calls: Path) -> None:
    programs = [replace(p, flags=(f"--f{i % 2}",)) for i, p in enumerate(distinct(16))]
    assert len(list(compiler.compile_many(programs))) == 16
    lines = calls.read_text().splitlines()
    assert sorted("--f0" in line for line in lines) == [False, True]
    assert not any("--f0" in line and "--f1" in line for line in lines)


def test_a_few_programs_are_spread_over_the_jobs(compiler: Compiler, calls: Path) -> None:
    assert len(list(compiler.compile_many(distinct(4)))) == 4
    assert count(calls) == 2


def test_programs_are_taken_as_they_are_needed(tmp_path: Path, calls: Path) -> None:
    taken: list[int] = []

    def endless() -> Iterator[Program]:
        for i, p in enumerate(distinct(1000)):
            taken.append(i)
            yield p

    with Compiler(tmp_path / "cache", jobs=1, batch=2) as compiler:
        assert next(compiler.compile_many(endless()))
    assert len(taken) < 20


def test_stopping_early_stops_the_compilers(tmp_path: Path, calls: Path) -> None:
    with Compiler(tmp_path / "cache", Limits(50.0), jobs=2, batch=1) as compiler:
        outcomes = compiler.compile_many([program(), *(program(f"sleep {i}") for i in range(6))])
        begin = time.monotonic()
        next(outcomes)
        outcomes.close()  # type: ignore[attr-defined]
        assert time.monotonic() - begin < 10
        assert isinstance(compiler.compile(program("after")), Artifact)


def test_two_sweeps_share_a_cache_and_the_work(tmp_path: Path, calls: Path) -> None:
    results: list[dict[Program, Artifact | Failure]] = []

    def sweep() -> None:
        with Compiler(tmp_path / "cache", jobs=2, batch=1) as compiler:
            results.append(dict(compiler.compile_many(distinct(6))))

    threads = [threading.Thread(target=sweep) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert count(calls) == 6
    assert all(isinstance(o, Artifact) for r in results for o in r.values())


def test_a_missing_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from iree.compiler.tools import binaries

    def gone(name: str) -> str:
        raise ValueError(name)

    monkeypatch.setattr(binaries, "find_tool", gone)
    with pytest.raises(MissingToolError, match=r"pip install iree-base-compiler==3\.13\.0"):
        Compiler(tmp_path / "cache")


def test_the_plain_command_is_what_a_person_would_type() -> None:
    line = plain_command(replace(program(), spec="module {}", flags=("--x={a b}",)), "a.mlir", "a.spec.mlir", "a.vmfb")
    assert line == (
        "iree-compile a.mlir --iree-hal-target-device=hip --iree-rocm-target=gfx942 '--x={a b}' "
        "--iree-codegen-tuning-spec-path=a.spec.mlir --iree-hal-dump-executable-files-to=dump -o a.vmfb"
    )


def test_a_compiled_module_says_whether_it_is_fresh(compiler: Compiler) -> None:
    source = Source(program().mlir, None, ())
    outcomes: list[Compiled] = [compiler.compile_source(source) for _ in range(2)]
    assert [c.fresh for c in outcomes] == [True, False]
