"""The baselines, by name. A new one is one file and one row; nothing is imported until it is used."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ireebench.errors import UnknownNameError
from ireebench.measure.baselines.figures import FIGURES
from ireebench.measure.device import Kind, kind_of
from ireebench.measure.runnable import Baseline
from ireebench.outcome import Failure, Stage, Status
from ireebench.problems.formats import ELEMENT_BYTES
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Op, Problem

Reads = Literal["problem", "f16", "bf16", "f32", "unknown"]
FLOAT_DTYPES = ("f16", "bf16", "f32")
BLOCK_DTYPES = ("q4_0", "nf4")


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """A baseline: its module's `BASELINES` maps `name` to it. `group` is a name that stands for several rows.

    `dtypes` are the problems' element types that it is for; `automatic`: part of "auto". `reads` says which weights a
    GEMV reads: "problem" (the problem's), a float type, or "unknown" (with intermediates of its own).
    """

    name: str
    module: str
    group: str
    ops: tuple[Op, ...]
    devices: tuple[Kind, ...]
    summary: str
    dtypes: tuple[str, ...] = FLOAT_DTYPES
    automatic: bool = True
    reads: Reads = "problem"


_HERE = "ireebench.measure.baselines"
_ARG: tuple[Op, ...] = ("argmax", "argmin")
_GEMV: tuple[Op, ...] = ("gemv",)
_ALL: tuple[Kind, ...] = ("cpu", "cuda", "hip")


def _on_4bit(name: str, reads: Reads, summary: str, *, automatic: bool = True) -> BaselineRow:
    return BaselineRow(
        name, f"{_HERE}.torch_4bit", "torch", _GEMV, _ALL, summary, BLOCK_DTYPES, automatic=automatic, reads=reads
    )


def _on_nf4(name: str, summary: str) -> BaselineRow:
    return BaselineRow(name, f"{_HERE}.torch_4bit", "bitsandbytes", _GEMV, ("cuda", "hip"), summary, ("nf4",))


BASELINES: dict[str, BaselineRow] = {
    b.name: b
    for b in (
        BaselineRow(
            "numpy", f"{_HERE}.numpy_", "numpy", (*_ARG, *_GEMV), ("cpu",), "numpy.argmax, numpy.matmul", reads="f32"
        ),
        BaselineRow("torch", f"{_HERE}.torch_", "torch", _ARG, _ALL, "torch.argmax: the index only"),
        BaselineRow("torch_max", f"{_HERE}.torch_", "torch", _ARG, _ALL, "torch.max with indices"),
        BaselineRow("torch_compile", f"{_HERE}.torch_", "torch", _ARG, _ALL, "torch.compile of torch.max"),
        BaselineRow("torch_mv", f"{_HERE}.torch_", "torch", _GEMV, _ALL, "torch.mv, or torch.matmul for a batch"),
        BaselineRow("torch_linear", f"{_HERE}.torch_", "torch", _GEMV, _ALL, "torch.nn.functional.linear"),
        _on_4bit("torch_mv_f16", "f16", "torch.mv of 4-bit weights dequantised to f16 beforehand"),
        _on_4bit("torch_linear_f16", "f16", "torch.nn.functional.linear of the same"),
        _on_4bit("torch_mv_bf16", "bf16", "torch.mv of 4-bit weights dequantised to bf16 beforehand", automatic=False),
        _on_4bit("torch_linear_bf16", "bf16", "torch.nn.functional.linear of the same", automatic=False),
        _on_4bit("torch_dequant_mv", "unknown", "dequantises to f16 in the time, then torch.mv"),
        _on_4bit("torch_compile_dequant_mv", "unknown", "torch.compile of dequantising, products and a sum"),
        _on_nf4("bnb_gemv_4bit", "bitsandbytes' gemv_4bit"),
        _on_nf4("bnb_matmul_4bit", "bitsandbytes' matmul_4bit, which chooses a kernel"),
        BaselineRow("cub_device", f"{_HERE}.cub", "cub", _ARG, ("cuda",), "cub::DeviceReduce, value and index apart"),
        BaselineRow("cub_segmented", f"{_HERE}.cub", "cub", _ARG, ("cuda",), "cub::DeviceSegmentedReduce"),
        BaselineRow("cub_segmented_offsets", f"{_HERE}.cub", "cub", _ARG, ("cuda",), "the same, offsets in memory"),
        BaselineRow("cub_segmented_fixed", f"{_HERE}.cub", "cub", _ARG, ("cuda",), "the same, fixed segment size"),
        BaselineRow("hipcub_device", f"{_HERE}.cub", "hipcub", _ARG, ("hip",), "hipcub::DeviceReduce"),
        BaselineRow("hipcub_segmented", f"{_HERE}.cub", "hipcub", _ARG, ("hip",), "hipcub::DeviceSegmentedReduce"),
        BaselineRow(
            "hipcub_segmented_offsets", f"{_HERE}.cub", "hipcub", _ARG, ("hip",), "the same, offsets in memory"
        ),
    )
}


def names() -> tuple[str, ...]:
    """Every name that `expand` takes."""
    return (*dict.fromkeys([*BASELINES, *(b.group for b in BASELINES.values()), *FIGURES]), "auto", "none")


def expand(wanted: Sequence[str], op: Op, device: str) -> tuple[str, ...]:
    """Baselines by name, for one op on one device: groups become their members, "auto" all that serve, "none" nothing.

    A group's members that serve other ops or devices are left out; one named itself stays, and its refusal is
    reported where it would run. What is a single figure and no samples (`figures.FIGURES`) is left out too. Raises
    UnknownNameError for a name in no table.
    """
    chosen: list[str] = []
    for name in wanted:
        if name == "none":
            continue
        members = [b for b in BASELINES.values() if b.group == name or (name == "auto" and b.automatic)]
        fitting = [b.name for b in members if op in b.ops and kind_of(device) in b.devices]
        if fitting:
            chosen += fitting
        elif name in BASELINES:
            chosen.append(name)
        elif not members and name != "auto" and name not in FIGURES:
            raise UnknownNameError("baseline", name, names())
    return tuple(dict.fromkeys(chosen))


def is_for(name: str, problem: Problem) -> bool:
    """Whether a baseline is for the problem's element type; true of a name in no table, which `refusal` refuses."""
    row = BASELINES.get(name)
    return row is None or problem.dtype in row.dtypes


def bytes_moved(name: str | None, problem: Problem) -> int | None:
    """Bytes that one call of a baseline must move; None where they are not known.

    Those of the problem for a candidate (no name), for most baselines and for a figure of somebody else's.
    """
    row = BASELINES.get(name or "")
    if row is None or row.reads == "problem" or problem.op != "gemv":
        return op_of(problem).bytes_moved(problem)
    if row.reads == "unknown":
        return None
    m, n, k = problem.shape
    return ELEMENT_BYTES[row.reads] * (n * k + m * k + m * n)


def load(name: str) -> Baseline:
    """The baseline called `name`; raises UnknownNameError, or ImportError when its module is not installed."""
    if name not in BASELINES:
        raise UnknownNameError("baseline", name, BASELINES)
    baseline: Baseline = importlib.import_module(BASELINES[name].module).BASELINES[name]
    return baseline


def refusal(name: str, problem: Problem, device: str) -> Failure | None:
    """None when a baseline can run a problem on a device; else the outcome that it gets instead of a run."""
    row = BASELINES.get(name)
    if row is None:
        return Failure(Status.UNAVAILABLE, f"no baseline is called '{name}'", Stage.PLANNED)
    if problem.op not in row.ops:
        return Failure(Status.REJECTED, f"{name} ({row.summary}) does not compute {problem.op}", Stage.PLANNED)
    if kind_of(device) not in row.devices:
        return Failure(Status.REJECTED, f"{name} runs on {' and '.join(row.devices)}, not on {device}", Stage.PLANNED)
    baseline = load(name)
    if reason := baseline.missing(device):
        return Failure(Status.UNAVAILABLE, reason, Stage.PLANNED)
    if reason := baseline.serves(problem.op, problem.dtype, problem.shape):
        return Failure(Status.REJECTED, reason, Stage.PLANNED)
    return None
