"""Programs that people had trouble with: each compiles, or ends with a named status in bounded time and memory.

The MLIR in tests/data/mlir is our own minimal form of what public issues describe; each test names its issue. Results
on the CPU are those that the semantics demand, worked out by hand.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ireebench.compiler.artifact import KernelEvidence
from ireebench.compiler.driver import Compiled, Compiler, Source
from ireebench.compiler.evidence import read_evidence
from ireebench.compiler.flags import base_flags
from ireebench.compiler.spawner import Limits
from ireebench.outcome import Failure, Status
from ireebench.targets import find_target

DATA = Path(__file__).parents[1] / "data" / "mlir"
SPLIT = ("--iree-dispatch-creation-enable-split-reduction",)
GPUS = ("gfx942", "gfx1100", "sm_80")
VOCABULARY = 248_320

RUN = """
import sys
import numpy as np
import iree.runtime as rt
vmfb, function, inputs, outputs, times = sys.argv[1:]
module = rt.load_vm_flatbuffer_file(vmfb, driver="local-sync")
with np.load(inputs) as given:
    arguments = [given[name] for name in sorted(given)]
results = [np.asarray(module[function](*arguments).to_host()) for _ in range(int(times))]
assert all(np.array_equal(results[0], r, equal_nan=True) for r in results), "results differ between runs"
np.save(outputs, results[0])
"""


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiler]:
    with Compiler(tmp_path_factory.mktemp("cache"), Limits(30.0)) as made:
        yield made


def source(text: str, target: str, flags: tuple[str, ...] = ()) -> Source:
    return Source(text, None, (*base_flags(find_target(target)), *flags))


def read(name: str) -> str:
    (path,) = DATA.glob(f"{name}_*.mlir")
    return path.read_text()


def compiled(compiler: Compiler, name: str, target: str, flags: tuple[str, ...] = ()) -> Compiled:
    return compiler.compile_source(source(read(name), target, flags))


def good(compiler: Compiler, name: str, target: str, flags: tuple[str, ...] = ()) -> tuple[KernelEvidence, ...]:
    """Evidence of a file that must compile."""
    result = compiled(compiler, name, target, flags)
    assert result.failure is None, result.failure
    return read_evidence(result.folder)


def bad(compiler: Compiler, name: str, target: str, flags: tuple[str, ...] = ()) -> Failure:
    """The failure of a file that IREE 3.13 can't compile so."""
    failure = compiled(compiler, name, target, flags).failure
    assert failure is not None
    return failure


def run(compiler: Compiler, text: str, inputs: list[npt.NDArray[Any]], folder: Path, *, times: int = 2) -> object:
    """Compiles for the CPU and runs some times, with equal results."""
    result = compiler.compile_source(source(text, "cpu"))
    assert result.failure is None, result.failure
    np.savez(folder / "in.npz", **{f"i{n}": x for n, x in enumerate(inputs)})
    (function,) = re.findall(r"func\.func @(\w+)", text)
    argv = [str(result.folder / "module.vmfb"), function, str(folder / "in.npz"), str(folder / "out.npy"), str(times)]
    subprocess.run([sys.executable, "-c", RUN, *argv], check=True, timeout=60)
    return np.load(folder / "out.npy").tolist()


@pytest.mark.parametrize("target", [*GPUS, "gfx950", "cpu"])
def test_a01_a_matvec_with_a_kept_unit_column_is_one_dispatch(compiler: Compiler, target: str) -> None:
    """iree-org/iree#20446."""
    assert len(good(compiler, "m01", target)) == 1


def test_a01_the_kernel_on_gfx942_is_the_one_that_was_seen(compiler: Compiler) -> None:
    result = compiled(compiler, "m01", "gfx942")
    (kernel,) = read_evidence(result.folder)
    assert (kernel.vgpr, kernel.lds_bytes, kernel.vgpr_spills) == (82, 0, 0)
    assert kernel.assembly is not None
    assembly = (result.folder / kernel.assembly).read_text()
    assert assembly.count("buffer_load_dwordx4 ") == 9
    assert len(re.findall(r"^\s+\w+_dpp ", assembly, re.MULTILINE)) == 48


def test_a01_sums_in_f32_and_rounds_once(compiler: Compiler, tmp_path: Path) -> None:
    text = read("m01").replace("32000", "8").replace("4096", "4096")
    w = np.ones((8, 4096), np.float16)
    w[1, 1:] = 2**-12  # lost one by one in f16 beside a 1, but together 4095 / 4096
    x = np.ones((1, 4096), np.float16)
    result = run(compiler, text, [w, x], tmp_path)
    assert result == [[4096.0], [2.0], *[[4096.0]] * 6]


@pytest.mark.parametrize("target", GPUS)
def test_a02_an_argmax_over_a_vocabulary_stays_within_lds(compiler: Compiler, target: str) -> None:
    """iree-org/iree#22394: a whole row was once kept in LDS."""
    (kernel,) = good(compiler, "m03", target)
    limit = find_target(target).lds_bytes
    assert limit is not None
    assert (kernel.lds_bytes or 0) <= limit
    assert target == "sm_80" or kernel.lds_bytes == 0


def test_a02_its_split_on_gfx1100_ends_with_a_named_status(compiler: Compiler) -> None:
    failure = bad(compiler, "m03", "gfx1100", SPLIT)
    assert failure.status is Status.COMPILE_FAILED
    assert failure.reason.startswith("'func.func' op failed to distribute")


@pytest.mark.parametrize("target", GPUS)
def test_a03_a_small_leading_reduction_compiles(compiler: Compiler, target: str) -> None:
    """iree-org/iree#24309."""
    assert len(good(compiler, "m04", target)) == 1


def test_a03_the_last_index_wins_on_every_run(compiler: Compiler, tmp_path: Path) -> None:
    x = np.array([[[1, 5, 3, 3], [2, 2, 0, 9], [4, 4, 4, 1]], [[2, 5, 1, 0], [0, 7, 0, 1], [4, 8, 2, 1]]], np.float32)
    expected = [[1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 0, 1]]
    assert run(compiler, read("m04"), [x], tmp_path, times=20) == expected


def row(**values: float) -> npt.NDArray[np.float32]:
    """A row of zeros with values at "at_<index>"."""
    x = np.zeros((1, VOCABULARY), np.float32)
    for place, value in values.items():
        x[0, int(place.removeprefix("at_"))] = value
    return x


NAN = float("nan")


ROWS = {
    "ties": row(at_128=7.0, at_248319=7.0),
    "nan": row(at_200000=NAN),
    "two nans": row(at_100=NAN, at_200000=NAN),
    "all -inf": np.full((1, VOCABULARY), -np.inf, np.float32),
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("m05", {"ties": 128, "nan": 200_000, "two nans": 100, "all -inf": 0}),
        ("m05b", {"ties": 128, "nan": 200_000, "two nans": 200_000, "all -inf": 0}),
    ],
    ids=["m05", "m05b"],
)
def test_a04_a_select_style_argmax_keeps_its_semantics(
    compiler: Compiler, tmp_path: Path, name: str, expected: dict[str, int]
) -> None:
    """iree-org/iree#24445."""
    got = {case: run(compiler, read(name), [x], tmp_path) for case, x in ROWS.items()}
    assert got == {case: [index] for case, index in expected.items()}


@pytest.mark.parametrize(("name", "dispatches"), [("m05", 1), ("m05b", 2), ("m05c", 2)])
def test_a04_only_one_of_the_mirrored_forms_is_split(compiler: Compiler, name: str, dispatches: int) -> None:
    assert len(good(compiler, name, "gfx942")) == dispatches


@pytest.mark.parametrize("name", ["m05", "m05b", "m05c"])
@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_a04_the_split_flag_fails_with_a_known_issue(compiler: Compiler, name: str, target: str) -> None:
    failure = bad(compiler, name, target, SPLIT)
    assert failure.status is Status.COMPILE_FAILED
    assert failure.known is not None
    assert failure.known.startswith("IREE's split reduction can't take a linalg.generic with two results apart")


def test_a05_a_hang_is_a_timeout_in_bounded_time(tmp_path: Path) -> None:
    with Compiler(tmp_path, Limits(6.0)) as compiler:
        begin = time.monotonic()
        failure = bad(compiler, "m10", "gfx942")
        assert time.monotonic() - begin < 12
    assert failure.status is Status.COMPILE_TIMEOUT
    assert failure.reason.startswith("still compiling after 6 s, with ")
    assert failure.known is not None
    assert "form 'inner_pad'" in failure.known


def test_a05_too_much_memory_is_a_failure_and_no_timeout(tmp_path: Path) -> None:
    with Compiler(tmp_path, Limits(60.0, 700_000_000)) as compiler:
        failure = bad(compiler, "m10", "gfx942")
    assert failure.status is Status.COMPILE_FAILED
    assert failure.reason.startswith("needed more than 700 MB of memory")
    assert failure.known is not None


@pytest.mark.parametrize(("name", "target"), [("m11", "gfx942"), ("m12", "gfx1100"), ("m12", "sm_80")], ids=str)
def test_a05_rows_that_stock_iree_cannot_distribute_say_so(compiler: Compiler, name: str, target: str) -> None:
    failure = bad(compiler, name, target)
    assert failure.status is Status.COMPILE_FAILED
    assert failure.reason.startswith("'func.func' op failed to distribute")
    assert failure.known is not None
    assert "iree-org/iree#23005" in failure.known


def test_a05_the_same_row_compiles_where_one_subgroup_is_chosen(compiler: Compiler) -> None:
    (kernel,) = good(compiler, "m12", "gfx942")
    assert (kernel.subgroups, kernel.vgpr_spills) == (1, 0)


def test_a05_the_generic_form_of_the_hanging_row_compiles(compiler: Compiler) -> None:
    text = read("m05").replace("248320", "50257")
    result = compiler.compile_source(source(text, "gfx942"))
    assert result.failure is None
    assert result.exit.wall_s < 10


def test_a07_a_full_reduction_on_cuda_is_one_thread(compiler: Compiler) -> None:
    """iree-org/iree#13285: 120 ms for 2.8 MB. The evidence shows why."""
    (kernel,) = good(compiler, "m09", "sm_80")
    assert (kernel.pipeline, kernel.workgroup_size) == ("Distribute", (1, 1, 1))


@pytest.mark.parametrize("target", [*GPUS, "cpu"])
def test_a08_a_full_dot_compiles_in_seconds(compiler: Compiler, target: str) -> None:
    """iree-org/iree#16995: minutes, then a failure."""
    result = compiled(compiler, "m07", target)
    assert result.failure is None
    assert result.exit.wall_s < 10


def test_a08_its_split_ends_with_a_named_status(compiler: Compiler) -> None:
    failure = bad(compiler, "m07", "gfx942", SPLIT)
    assert failure.status is Status.COMPILE_FAILED
    assert failure.reason.startswith("'func.func' op failed to distribute")


@pytest.mark.parametrize("target", [*GPUS, "cpu"])
@pytest.mark.parametrize("flags", [(), SPLIT], ids=["plain", "split"])
def test_a09_two_reductions_with_one_consumer_compile(compiler: Compiler, target: str, flags: tuple[str, ...]) -> None:
    """iree-org/iree#24282."""
    assert good(compiler, "m06", target, flags)


@pytest.mark.parametrize("target", [*GPUS, "cpu"])
def test_a10_a_4_bit_matvec_compiles(compiler: Compiler, target: str) -> None:
    """iree-org/iree#14920."""
    assert len(good(compiler, "m08", target)) == (2 if target == "cpu" else 1)


def test_a10_dequantises_what_it_multiplies(compiler: Compiler, tmp_path: Path) -> None:
    """iree-org/iree#14739. One group a row: (q - zero point) * scale, summed; all figures exact in f16."""
    text = read("m08").replace("4096", "2").replace("86", "1")
    text = text.replace("%w: tensor<2x1x128xi4>", "%bytes: tensor<2x1x64xi8>").replace(
        "%z = arith.constant",
        "%w = iree_tensor_ext.bitcast %bytes : tensor<2x1x64xi8> -> tensor<2x1x128xi4>\n%z = arith.constant",
    )
    # Two 4-bit values a byte, the first in the low half: 3 and 5.
    weights = np.full((2, 1, 64), 0x53, np.int8)
    scales, zeros = np.array([[0.5], [2.0]], np.float16), np.array([[1.0], [3.0]], np.float16)
    x = np.ones((1, 128), np.float16)
    # Row 0: 64 x (3 - 1) x 0.5 + 64 x (5 - 1) x 0.5 = 192. Row 1: 64 x (3 - 3) x 2 + 64 x (5 - 3) x 2 = 256.
    assert run(compiler, text, [weights, scales, zeros, x], tmp_path) == [192.0, 256.0]


def test_a_crash_keeps_its_reproducer_and_says_where(compiler: Compiler) -> None:
    text = """
func.func @f(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %z = arith.constant 0.0 : f32
  %r = scf.forall (%i) in (4) shared_outs(%s = %e) -> (tensor<4xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %o = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%z : f32) outs(%o : tensor<f32>) -> tensor<f32>
    %d = linalg.dot ins(%row, %row : tensor<8xf32>, tensor<8xf32>) outs(%f : tensor<f32>) -> tensor<f32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %s[%i] [1] [1] : tensor<f32> into tensor<4xf32>
    }
  } {mapping = [#iree_linalg_ext.split_reduction_mapping<0>]}
  return %r : tensor<4xf32>
}
"""
    result = compiler.compile_source(source(text, "gfx942"))
    assert result.failure is not None
    assert result.failure.reason.startswith("the compiler crashed (SIGSEGV in mlir::iree_compiler::")
    assert result.failure.known is not None
    assert result.failure.reproducer is not None
    assert "module" in Path(result.failure.reproducer).read_text()
