"""What an op has to say about a problem. A new op is one module with these functions and one line in `table`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ireebench.problems.check import CheckResult
from ireebench.problems.problem import Problem

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class InputSpec:
    """One argument of a kernel.

    `shape` and `mlir_type` are the logical tensor's ("tensor<4096x128x32xi4>"); `host_shape` and `dtype` the numpy
    array's that holds it: they differ for 4-bit weights, which are packed two a byte (uint8, last dimension halved).
    """

    name: str
    shape: tuple[int, ...]
    mlir_type: str
    host_shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Op(Protocol):
    """The functions of an op's module; arrays come and go in the order of the kernel's arguments and results."""

    def input_specs(self, problem: Problem) -> tuple[InputSpec, ...]:
        """The kernel's arguments, in order."""

    def output_specs(self, problem: Problem) -> tuple[tuple[tuple[int, ...], np.dtype[Any]], ...]:
        """Shape and dtype of the kernel's results, in order."""

    def make_inputs(self, problem: Problem, seed: int, kind: str = "timed") -> tuple[Array, ...]:
        """Seeded inputs: equal for equal arguments. Raises KeyError for a kind that the op does not have."""

    def reference(self, problem: Problem, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """What `check` compares with; make it once where one input is checked many times."""

    def check(
        self,
        problem: Problem,
        inputs: Sequence[Array],
        outputs: Sequence[Array],
        expected: Sequence[Array] | None = None,
    ) -> CheckResult:
        """Whether the outputs are a right answer; never raises for wrong ones. `expected` is `reference`'s answer."""

    def bytes_breakdown(self, problem: Problem) -> tuple[tuple[str, int], ...]:
        """The bytes that one call must move, by name: inputs read once, outputs written once."""

    def bytes_moved(self, problem: Problem) -> int:
        """The sum of `bytes_breakdown`."""

    def flops(self, problem: Problem) -> int:
        """Arithmetic operations (for argmax and argmin: comparisons) of one call."""


def tensor_type(shape: Sequence[int], element: str) -> str:
    """MLIR's spelling: tensor<32x131072xbf16>, tensor<f32> for rank 0."""
    return f"tensor<{''.join(f'{d}x' for d in shape)}{element}>"


def bits_of(array: Array) -> npt.NDArray[np.uint8]:
    """The array's bytes, for comparisons that tell -0 from +0 and one NaN from another."""
    return np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)


def check_repeat(runs: Sequence[Sequence[Array]]) -> CheckResult:
    """Whether all runs on one input agree bit for bit; the reason names the first run, output and element that differ.

    A result that differs between runs is wrong even where each looks right: a race shows so (pytorch issue 193321).
    """
    for number, run in enumerate(runs[1:], start=2):
        for position, (first, other) in enumerate(zip(runs[0], run, strict=True)):
            if first.shape != other.shape or first.dtype != other.dtype:
                return CheckResult(False, f"non-deterministic: run {number} returned another shape or type")
            if np.array_equal(bits_of(first), bits_of(other)):
                continue
            width = first.dtype.itemsize
            byte = int(np.flatnonzero(bits_of(first) != bits_of(other))[0])
            row = byte // width
            return CheckResult(
                False,
                f"non-deterministic: run {number} on the same input gave output {position} row {row} = "
                f"{other.reshape(-1)[row]}, run 1 gave {first.reshape(-1)[row]}",
            )
    return CheckResult(True)
