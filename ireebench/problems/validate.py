"""What makes a problem of the user's sound, or the one line that says why it is not."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path

from ireebench.errors import BadShapeError, UnknownNameError, UsageError
from ireebench.problems.formats import ELEMENT_BYTES, EXACT_INTEGERS, WEIGHT_FORMATS, scale_bytes, weight_bytes
from ireebench.problems.problem import Problem

MAX_RANK = 4
# numpy and IREE count elements in signed 64-bit integers.
MAX_DIM = 2**63 - 1
ELEMENT_TYPES: dict[str, tuple[str, ...]] = {
    "argmax": ("f16", "bf16", "f32"),
    "argmin": ("f16", "bf16", "f32"),
    "gemv": tuple(WEIGHT_FORMATS),
}
OUT_TYPES = ("f32", "f16")
INDEX_LIMITS: dict[str, int] = {"i32": 2**31, "i64": 2**63}
GEMV_BATCHES = (1, 2, 4, 8)


def own_problem(problem: Problem) -> Problem:
    """The user's problem with the op's defaults filled in, taken at its own shape.

    gemv: a shape (N, K) is read as M = 1; results are f32 and weights nk unless said. Raises UsageError when it makes
    no sense.
    """
    if problem.op == "gemv":
        shape = (1, *problem.shape) if len(problem.shape) == 2 else problem.shape
        problem = replace(
            problem,
            shape=shape,
            index_dtype=None,
            out_dtype=problem.out_dtype or "f32",
            layout=problem.layout or "nk",
        )
    validate(problem)
    return problem


def validate(problem: Problem) -> None:
    """Raises BadShapeError or UsageError with one line when no form could serve the problem."""
    text = problem.shape_text
    check_element_type(problem.op, problem.dtype)
    if len(problem.shape) > MAX_RANK:
        raise BadShapeError(f"shape {text} has rank {len(problem.shape)}; ranks 1 to {MAX_RANK} are served")
    for i, d in enumerate(problem.shape):
        if d < 1:
            raise BadShapeError(f"shape {text}: dimension {i} is {d}; sizes are 1 or more")
        if d > MAX_DIM:
            raise BadShapeError(f"shape {text}: dimension {i} does not fit a signed 64-bit integer")
    if problem.op == "gemv":
        _validate_gemv(problem)
    else:
        _validate_index(problem)


def _validate_gemv(problem: Problem) -> None:
    if len(problem.shape) != 3:
        raise BadShapeError(f"gemv shape {problem.shape_text}: write NxK (one activation) or MxNxK")
    m, _, k = problem.shape
    if m not in GEMV_BATCHES:
        raise BadShapeError(f"gemv shape {problem.shape_text}: M is {m}; M = 1, 2, 4 or 8 activations are served")
    block = WEIGHT_FORMATS[problem.dtype].block
    if block and k % block:
        raise BadShapeError(
            f"gemv shape {problem.shape_text}: K is {k}, no multiple of {problem.dtype}'s block {block}"
        )
    if block and problem.layout == "kn":
        raise UsageError(f"{problem.dtype} weights are blocked along K and stored nk; layout kn is for f16 and bf16")
    if problem.layout not in ("nk", "kn"):
        raise UsageError(f"layout '{problem.layout}': nk (row n contiguous) or kn")
    if problem.out_dtype not in OUT_TYPES:
        raise UnknownNameError("output type", str(problem.out_dtype), OUT_TYPES)


def _validate_index(problem: Problem) -> None:
    index, size = str(problem.index_dtype), problem.reduction
    if index in EXACT_INTEGERS:
        raise UsageError(
            f"index type '{index}' is a float: it holds every index only up to {EXACT_INTEGERS[index]}; use i32 or i64"
        )
    if index not in INDEX_LIMITS:
        raise UnknownNameError("index type", index, INDEX_LIMITS)
    if size > INDEX_LIMITS[index]:
        raise BadShapeError(f"shape {problem.shape_text}: index type {index} can't hold {size - 1}; use i64")


def check_element_type(op: str, dtype: str) -> None:
    """Raises UnknownNameError for a type that the op does not take."""
    if dtype not in ELEMENT_TYPES[op]:
        raise UnknownNameError(f"{op} element type", dtype, ELEMENT_TYPES[op])


def input_bytes(problem: Problem) -> int:
    """Bytes of all inputs, as stored: 4-bit weights with their scales."""
    if problem.op != "gemv":
        return math.prod(problem.shape) * ELEMENT_BYTES[problem.dtype]
    m, n, k = problem.shape
    activations = m * k * ELEMENT_BYTES[WEIGHT_FORMATS[problem.dtype].activation_dtype]
    return weight_bytes(problem.dtype, n, k) + scale_bytes(problem.dtype, n, k) + activations


def machine_memory_bytes() -> int:
    """Physical memory of this machine, or the control group's limit where that is lower."""
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
    except OSError:
        return physical
    return min(physical, int(limit)) if limit.isdigit() else physical


def check_memory(problem: Problem) -> None:
    """Raises BadShapeError when the inputs alone exceed this machine's memory; says both figures."""
    need, have = input_bytes(problem), machine_memory_bytes()
    if need > have:
        gib = 2**30
        raise BadShapeError(
            f"shape {problem.shape_text} {problem.dtype} is {need / gib:.1f} GiB of input, more than this machine's "
            f"memory of {have / gib:.1f} GiB"
        )
