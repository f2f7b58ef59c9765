"""NumPy, as its user would call it: argmax and the value at it; matmul through BLAS for a GEMV.

argmax and argmin run in the problem's own type. bfloat16 comes from ml_dtypes, which has no SIMD loops: its time says
what NumPy does with such data, not what the machine can. A GEMV is a float32 matmul: the weights are converted once,
outside the time, as a NumPy user would keep them, so twice the bytes of f16 weights are read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from ireebench.measure.artifact_runner import POISON_BYTE
from ireebench.measure.device import kind_of
from ireebench.measure.runnable import Array, Baseline, Runnable
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem


class _HostRunnable(ABC):
    """Outputs in arrays of its own, written by `launch`."""

    def __init__(self, problem: Problem, copies: Sequence[tuple[Array, ...]]) -> None:
        self._inputs = list(copies)
        self._outputs = tuple(np.empty(shape, dtype) for shape, dtype in op_of(problem).output_specs(problem))

    @property
    def copies(self) -> int:
        """How many copies of the inputs there are."""
        return len(self._inputs)

    def poison(self) -> None:
        """Fills the outputs with a pattern."""
        for output in self._outputs:
            output.reshape(-1).view(np.uint8).fill(POISON_BYTE)

    @abstractmethod
    def launch(self, copy: int) -> None:
        """Computes: done when it returns."""

    def sync(self) -> None:
        """Nothing to wait for: a launch returns when it is done."""
        return

    def outputs(self) -> tuple[Array, ...]:
        """Copies of the last outputs."""
        return tuple(output.copy() for output in self._outputs)

    def close(self) -> None:
        """Drops the arrays."""
        self._inputs = []


class _ArgCompare(_HostRunnable):
    def __init__(self, problem: Problem, copies: Sequence[tuple[Array, ...]]) -> None:
        super().__init__(problem, copies)
        self._arg = np.argmax if problem.op == "argmax" else np.argmin

    def launch(self, copy: int) -> None:
        """The index of each row's extremum, and the value there."""
        (data,) = self._inputs[copy]
        value, index = self._outputs
        where = self._arg(data, axis=-1, keepdims=True)
        index[...] = where[..., 0]
        value[...] = np.take_along_axis(data, where, axis=-1)[..., 0]


class _Gemv(_HostRunnable):
    def __init__(self, problem: Problem, copies: Sequence[tuple[Array, ...]]) -> None:
        as_float32 = [tuple(a.astype(np.float32) for a in arrays) for arrays in copies]
        super().__init__(problem, as_float32)
        self._transposed = problem.layout != "kn"

    def launch(self, copy: int) -> None:
        """Activations times weights, accumulated in float32."""
        weights, activations = self._inputs[copy]
        (out,) = self._outputs
        out[...] = np.matmul(activations, weights.T if self._transposed else weights)


class NumpyBaseline:
    """`numpy`."""

    name = "numpy"

    def missing(self, device: str) -> str | None:
        """Always there; on the CPU only."""
        return None if kind_of(device) == "cpu" else f"numpy runs on the CPU, not on {device}"

    def serves(self, op: str, dtype: str, shape: tuple[int, ...]) -> str | None:
        """Float types only: NumPy has no 4-bit elements."""
        return None if dtype in ("f16", "bf16", "f32") else f"numpy has no elements of type {dtype}"

    def prepare(self, problem: Problem, inputs: tuple[np.ndarray[Any, Any], ...], copies: int, device: str) -> Runnable:
        """Copies the inputs in host memory."""
        sets = [tuple(array.copy() for array in inputs) for _ in range(copies)]
        return (_Gemv if problem.op == "gemv" else _ArgCompare)(problem, sets)


BASELINES: dict[str, Baseline] = {NumpyBaseline.name: NumpyBaseline()}
