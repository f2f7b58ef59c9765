"""argmax and argmin over the last dimension: inputs, reference, check, bytes.

Outputs are (value, index), both of the input's shape without its last dimension (shape () for rank 1).

Libraries disagree about ties and NaN (numpy and torch: lowest index, NaN is extremal; CUB: NaN compares false; IREE's
`ogt`: lowest winning lane, NaN ignored), so the check is on values: see `check`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ireebench.problems.check import CheckResult
from ireebench.problems.dtypes import FLOATS, INDEX_TYPES
from ireebench.problems.formats import ELEMENT_BYTES, EXACT_INTEGERS
from ireebench.problems.ops.argcompare_cases import CASES, Case, Shape
from ireebench.problems.ops.base import Array, InputSpec, tensor_type
from ireebench.problems.problem import Problem

# Values generated at once, float32: 16 MiB, so that a large input needs no temporary of its own size.
_CHUNK = 1 << 22


def input_specs(problem: Problem) -> tuple[InputSpec, ...]:
    """One input: the problem's shape and type."""
    shape = problem.shape
    return (InputSpec("input", shape, tensor_type(shape, problem.dtype), shape, FLOATS[problem.dtype].numpy),)


def output_specs(problem: Problem) -> tuple[tuple[tuple[int, ...], np.dtype[Any]], ...]:
    """(value, index): the input's shape without its last dimension, in the input's and the index type."""
    shape = problem.shape[:-1]
    return (shape, FLOATS[problem.dtype].numpy), (shape, INDEX_TYPES[str(problem.index_dtype)])


def make_inputs(problem: Problem, seed: int, kind: str = "timed") -> tuple[Array, ...]:
    """One array of the problem's shape and type.

    "timed": NaN-free, with a unique extremum in each row at `planted_positions`. Every other row has only negative
    values (argmin: only positive), so that a kernel that starts from 0 is found out. Other kinds are the conformance
    cases of `argcompare_cases.CASES`; KeyError for any other name.
    """
    if kind == "timed":
        return (_timed(problem, seed),)
    dtype = FLOATS[problem.dtype].numpy
    shape = Shape(problem.rows, problem.reduction, _sign(problem), dtype)
    return (CASES[kind].make(shape, np.random.default_rng([seed, 1])).astype(dtype).reshape(problem.shape),)


def conformance_inputs(problem: Problem, seed: int = 0) -> Iterator[tuple[Case, Problem, tuple[Array, ...]]]:
    """Each conformance case with the problem it needs (some want their own number of rows or elements) and its inputs.

    Made one at a time: the inputs of a large problem would not fit in memory together.
    """
    for case in CASES.values():
        variant = problem
        if case.length is not None:
            variant = replace(variant, shape=(*variant.shape[:-1], case.length), shape_kind="custom")
        if case.rows is not None and variant.rows != case.rows:
            variant = replace(variant, shape=(case.rows, variant.reduction), shape_kind="custom")
        yield case, variant, make_inputs(variant, seed, case.name)


def _sign(problem: Problem) -> int:
    return 1 if problem.op == "argmax" else -1


def _timed(problem: Problem, seed: int) -> Array:
    rows, length, sign = problem.rows, problem.reduction, _sign(problem)
    rng = np.random.default_rng([seed, 0])
    every_row = np.arange(rows)
    offsets = np.where((every_row + seed) % 2 == 1, np.float32(12), np.float32(0))
    data = np.empty((rows, length), FLOATS[problem.dtype].numpy)
    for row, column in _blocks(rows, length):
        block = rng.random((row.stop - row.start, column.stop - column.start), np.float32)
        block -= np.float32(0.5)
        block *= np.float32(8)
        block -= offsets[row, None]
        block *= np.float32(sign)
        data[row, column] = block
    # Noise ends at 4: the planted 6 is unique in every type.
    data[every_row, planted_positions(problem, seed)] = (sign * (np.float32(6) - offsets)).astype(data.dtype)
    return data.reshape(problem.shape)


def _blocks(rows: int, length: int) -> Iterator[tuple[slice, slice]]:
    """Slices that cover rows x length, each of at most _CHUNK elements."""
    height, width = max(1, _CHUNK // length), min(length, _CHUNK)
    for row in range(0, rows, height):
        for column in range(0, length, width):
            yield slice(row, min(row + height, rows)), slice(column, min(column + width, length))


def planted_positions(problem: Problem, seed: int) -> npt.NDArray[np.intp]:
    """Where the timed input's extremum is, a position per row.

    Rows take turns from a seeded start: first element, last element, either side of a tile border (tiles of 64 to half
    the row), anywhere.
    """
    rows, length = problem.rows, problem.reduction
    rng = np.random.default_rng([seed, 2, rows, length])
    tiles = np.minimum(2 ** rng.integers(6, max(7, length.bit_length()), rows), length)
    borders = tiles * rng.integers(1, np.maximum(2, -(-length // tiles))) - rng.integers(0, 2, rows)
    choices = np.stack([np.zeros(rows, int), np.full(rows, length - 1), borders, rng.integers(0, length, rows)])
    turn = (np.arange(rows) + rng.integers(4)) % 4
    picked: npt.NDArray[np.intp] = np.clip(choices[turn, np.arange(rows)], 0, length - 1).astype(np.intp)
    return picked


def reference(problem: Problem, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """(index of the first extremum, is it NaN), each of `rows` elements; a NaN is the extremum, as in numpy."""
    data = inputs[0].reshape(problem.rows, problem.reduction)
    first = data.argmax(axis=1) if problem.op == "argmax" else data.argmin(axis=1)
    return first, np.isnan(data[np.arange(problem.rows), first])


def check(
    problem: Problem,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    expected: Sequence[Array] | None = None,
) -> CheckResult:
    """Accepts any maximal (minimal) element: index in range, x[index] the extremum, value the number x[index].

    Numbers are compared in the input's type; -0 equals +0. In a row with NaN both a NaN of the row and the extremum of
    its numbers are accepted, and for a row of nothing but NaN any index in range with any value: what an
    implementation does there is a property that `conformance` reports. `first_index` says whether every row gave the
    lowest index of its extremum (numpy's answer); it is no part of `ok`. `expected` is what `reference` returned.
    """
    wrong = _wrong_type(problem, outputs)
    if wrong:
        return CheckResult(False, wrong)
    rows = np.arange(problem.rows)
    value, index = outputs[0].reshape(-1), outputs[1].reshape(-1)
    outside = (index < 0) | (index >= problem.reduction)
    if outside.any():
        return _fail(outside, lambda r: f"index {index[r]} is outside 0..{problem.reduction - 1}")

    data = inputs[0].reshape(problem.rows, problem.reduction)
    first, nan_row = expected if expected is not None else reference(problem, inputs)
    best, picked = data[rows, first].astype(np.float64), data[rows, index].astype(np.float64)
    all_nan = np.zeros(problem.rows, bool)
    for row in np.flatnonzero(nan_row):
        numbers = data[row][~np.isnan(data[row])].astype(np.float64)
        all_nan[row] = numbers.size == 0
        best[row] = np.nan if numbers.size == 0 else numbers.max() if problem.op == "argmax" else numbers.min()
    word = "maximum" if problem.op == "argmax" else "minimum"
    worse = ~((picked == best) | (nan_row & np.isnan(picked)))
    if worse.any():
        return _fail(worse, lambda r: f"index {index[r]} holds {picked[r]:g}; the {word} is {best[r]:g} at {first[r]}")
    got = value.astype(np.float64)
    differs = ~((got == picked) | (np.isnan(got) & np.isnan(picked)) | all_nan)
    if differs.any():
        return _fail(differs, lambda r: f"value {got[r]:g} is not the element at its index {index[r]}, {picked[r]:g}")
    return CheckResult(True, first_index=bool((index == first).all()))


def _wrong_type(problem: Problem, outputs: Sequence[Array]) -> str | None:
    """Why the outputs can't be a value and an index a row; None when they can."""
    if len(outputs) != 2:
        return f"{len(outputs)} outputs; {problem.op} has a value and an index"
    value, index = outputs
    name = FLOATS[problem.dtype].name
    for what, array in (("value", value), ("index", index)):
        if array.size != problem.rows:
            return f"the {what} has shape {array.shape}, {array.size} elements for {problem.rows} rows"
    if value.dtype != FLOATS[problem.dtype].numpy:
        return f"the value is {value.dtype}; the input is {name}"
    exact = next((n for t, n in EXACT_INTEGERS.items() if FLOATS[t].numpy == index.dtype), None)
    if exact is not None:
        return f"the index is {index.dtype}, which holds every index only up to {exact}; it must be an integer"
    if index.dtype.kind not in "iu":
        return f"the index is {index.dtype}; it must be an integer"
    return None


def _fail(bad: npt.NDArray[np.bool_], describe: Callable[[int], str]) -> CheckResult:
    row = int(np.flatnonzero(bad)[0])
    return CheckResult(False, f"row {row}: {describe(row)} ({int(bad.sum())} of {bad.size} rows wrong)")


def bytes_breakdown(problem: Problem) -> tuple[tuple[str, int], ...]:
    """Input read once; a value and an index written for each row."""
    element, index = ELEMENT_BYTES[problem.dtype], ELEMENT_BYTES[str(problem.index_dtype)]
    return (
        ("input", math.prod(problem.shape) * element),
        ("values", problem.rows * element),
        ("indices", problem.rows * index),
    )


def bytes_moved(problem: Problem) -> int:
    """Bytes that one call must move: each element read once, a value and an index written for each row."""
    return sum(n for _, n in bytes_breakdown(problem))


def flops(problem: Problem) -> int:
    """Comparisons: one less than the elements of each row."""
    return problem.rows * (problem.reduction - 1)
