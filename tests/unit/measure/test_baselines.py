"""Baselines: NumPy's results, and which names stand for what."""

from __future__ import annotations

import importlib.util
from typing import Literal

import numpy as np
import pytest

from ireebench.errors import UnknownNameError
from ireebench.measure.baselines import table
from ireebench.measure.checking import check_entry
from ireebench.outcome import Status
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem

HAS_TORCH = importlib.util.find_spec("torch") is not None


def problems() -> list[Problem]:
    shapes = ((7,), (5, 33), (2, 3, 17))
    return [
        Problem("p", op, shape, dtype, index)  # type: ignore[arg-type]
        for op in ("argmax", "argmin")
        for shape in shapes
        for dtype in ("f16", "bf16", "f32")
        for index in ("i32", "i64")
    ]


def verify(name: str, problem: Problem) -> None:
    op = op_of(problem)
    inputs = op.make_inputs(problem, 3)
    runnable = table.load(name).prepare(problem, inputs, 2, "local-task")
    result = check_entry(runnable, problem, inputs, op.reference(problem, inputs), 3).result
    assert result.ok, result.reason
    assert [(o.shape, o.dtype) for o in runnable.outputs()] == list(op.output_specs(problem))
    runnable.close()


@pytest.mark.parametrize("problem", problems(), ids=lambda p: f"{p.op}-{p.shape_text}-{p.dtype}-{p.index_dtype}")
def test_numpy_is_right_for_every_type_and_rank(problem: Problem) -> None:
    verify("numpy", problem)


@pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")
@pytest.mark.parametrize("name", ["torch", "torch_max"])
def test_pytorch_is_right_for_every_type_and_rank(name: str) -> None:
    for problem in problems():
        verify(name, problem)


@pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")
@pytest.mark.parametrize("out", ["f16", "f32"])
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("name", ["torch_mv", "torch_linear"])
def test_a_gemv_of_pytorch_is_judged_by_the_type_that_it_returns(name: str, dtype: str, out: str) -> None:
    problem = Problem("g", "gemv", (1, 96, 2048), dtype, None, out, "nk")
    op = op_of(problem)
    inputs = op.make_inputs(problem, 3)
    runnable = table.load(name).prepare(problem, inputs, 2, "local-task")
    result = check_entry(runnable, problem, inputs, op.reference(problem, inputs), 3).result
    assert result.ok, result.reason
    (product,) = runnable.outputs()
    assert (product.shape, product.dtype.name) == ((96,), {"f16": "float16", "bf16": "bfloat16"}[dtype])
    product[7] += product.dtype.type(0.25)
    assert not op.check(problem, inputs, (product,)).ok


def test_poisoned_numpy_outputs_do_not_pass_the_check() -> None:
    problem = Problem("p", "argmax", (5, 33), "bf16", "i32")
    op = op_of(problem)
    inputs = op.make_inputs(problem, 3)
    runnable = table.load("numpy").prepare(problem, inputs, 1, "local-task")
    runnable.launch(0)
    assert op.check(problem, inputs, runnable.outputs()).ok
    runnable.poison()
    assert not op.check(problem, inputs, runnable.outputs()).ok


@pytest.mark.parametrize("layout", ["nk", "kn"])
@pytest.mark.parametrize("batch", [1, 3])
def test_numpy_computes_a_gemv_in_float32(batch: int, layout: Literal["nk", "kn"]) -> None:
    problem = Problem("g", "gemv", (batch, 24, 16), "f16", None, "f32", layout)
    op = op_of(problem)
    inputs = op.make_inputs(problem, 0)
    runnable = table.load("numpy").prepare(problem, inputs, 1, "local-task")
    runnable.launch(0)
    (out,) = runnable.outputs()
    weights, activations = (a.astype(np.float64) for a in inputs)
    rows = weights if layout == "nk" else weights.T
    expected = [
        [sum(w * x for w, x in zip(row, vector, strict=True)) for row in rows] for vector in activations.reshape(-1, 16)
    ]
    assert np.allclose(out.reshape(batch, 24), expected, rtol=1e-5, atol=1e-5)
    assert op.check(problem, inputs, (out,)).ok


def test_groups_and_auto_give_what_serves_the_op_and_the_device() -> None:
    assert table.expand(["torch"], "argmax", "local-task") == ("torch", "torch_max", "torch_compile")
    assert table.expand(["torch"], "gemv", "cuda://0")[:3] == ("torch_mv", "torch_linear", "torch_mv_f16")
    assert "bnb_gemv_4bit" in table.expand(["auto"], "gemv", "cuda://0")
    assert "bnb_gemv_4bit" not in table.expand(["auto"], "gemv", "local-task")
    assert "torch_mv_bf16" not in table.expand(["auto"], "gemv", "cuda://0")
    assert table.expand(["auto"], "argmax", "local-task")[0] == "numpy"
    assert "numpy" not in table.expand(["auto"], "argmax", "cuda://0")
    assert table.expand(["none"], "argmax", "local-task") == ()
    assert table.expand(["numpy", "torch_max", "torch"], "argmin", "local-task") == (
        "numpy",
        "torch_max",
        "torch",
        "torch_compile",
    )


def test_a_baseline_asked_for_by_name_stays_so_that_its_refusal_is_reported() -> None:
    assert table.expand(["torch_mv"], "argmax", "local-task") == ("torch_mv",)
    failure = table.refusal("torch_mv", Problem("p", "argmax", (8,), "f32"), "local-task")
    assert failure is not None
    assert failure.status == Status.REJECTED
    with pytest.raises(UnknownNameError, match="nearest: numpy"):
        table.expand(["nunpy"], "argmax", "local-task")


def test_numpy_has_no_four_bit_weights() -> None:
    problem = Problem("g", "gemv", (1, 64, 64), "q4_0", None, "f32", "nk")
    failure = table.refusal("numpy", problem, "local-task")
    assert failure is not None
    assert "q4_0" in failure.reason


@pytest.mark.skipif(HAS_TORCH, reason="PyTorch is installed")
def test_a_package_that_is_absent_says_how_to_get_it() -> None:
    failure = table.refusal("torch", Problem("p", "argmax", (8,), "f32"), "local-task")
    assert failure is not None
    assert failure.status == Status.UNAVAILABLE
    assert "pip install 'ireebench[torch]'" in failure.reason


def test_every_row_of_this_package_names_a_baseline_of_its_module() -> None:
    for row in table.BASELINES.values():
        if importlib.util.find_spec(row.module) is not None:
            assert table.load(row.name).name == row.name
