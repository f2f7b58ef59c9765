"""PyTorch on the CPU, CUDA or ROCm: eager and compiled.

`torch` returns the index alone, as decoding loops call it: the value that the check wants is looked up on the host,
outside the time, which favours PyTorch. `torch_max` and `torch_compile` return both. Indices stay PyTorch's int64 and
are converted for the check, outside the time. A GEMV returns the weights' type, and is held to its tolerance.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ireebench.measure.artifact_runner import POISON_BYTE
from ireebench.measure.device import kind_of, ordinal
from ireebench.measure.runnable import Array, Baseline, Runnable
from ireebench.problems.dtypes import FLOATS
from ireebench.problems.ops.table import op_of
from ireebench.problems.problem import Problem

INSTALL = "needs PyTorch: pip install 'ireebench[torch]' (for ROCm, PyTorch's own ROCm wheel)"

# (torch, problem, inputs on the device) -> results on the device: (value, index) or (index,), or (product,).
Call = Callable[[Any, Problem, tuple[Any, ...]], tuple[Any, ...]]
_FLOATS = ("f16", "bf16", "f32")


def _argument(torch: Any, problem: Problem, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    return ((torch.argmax if problem.op == "argmax" else torch.argmin)(inputs[0], dim=-1),)


def _extremum(torch: Any, problem: Problem, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    value, index = (torch.max if problem.op == "argmax" else torch.min)(inputs[0], dim=-1)
    return value, index


def mv(torch: Any, problem: Problem, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """torch.mv of float weights N x K (layout kn: K x N), or torch.matmul for M above 1."""
    weights, activations = inputs
    matrix = weights.T if problem.layout == "kn" else weights
    if activations.ndim == 1 or activations.shape[0] == 1:
        return (torch.mv(matrix, activations.reshape(-1)),)
    return (torch.matmul(activations, matrix.T),)


def linear(torch: Any, problem: Problem, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """torch.nn.functional.linear of the same."""
    weights, activations = inputs
    return (torch.nn.functional.linear(activations, weights.T if problem.layout == "kn" else weights),)


@dataclass(slots=True)
class TorchBaseline:
    """One way to call PyTorch. `compiled` wraps it in torch.compile.

    `adapt` turns the problem's inputs, once they are on the device, into what `call` reads: once, outside the time.
    """

    name: str
    call: Call
    compiled: bool = False
    adapt: Call | None = None
    dtypes: tuple[str, ...] = _FLOATS

    def missing(self, device: str) -> str | None:
        """None when PyTorch is installed, and built for the device."""
        if importlib.util.find_spec("torch") is None:
            return f"{self.name} {INSTALL}"
        import torch

        kind = kind_of(device)
        built_for = {"cpu": True, "cuda": bool(torch.version.cuda), "hip": bool(torch.version.hip)}[kind]
        if not built_for:
            return f"{self.name}: this PyTorch ({torch.__version__}) is not built for {kind}; install its {kind} wheel"
        if kind != "cpu" and not torch.cuda.is_available():
            return f"{self.name}: PyTorch finds no {kind} device"
        return None

    def serves(self, op: str, dtype: str, shape: tuple[int, ...]) -> str | None:
        """Its `dtypes` only."""
        return None if dtype in self.dtypes else f"{self.name} is for {', '.join(self.dtypes)}, not {dtype}"

    def prepare(self, problem: Problem, inputs: tuple[np.ndarray[Any, Any], ...], copies: int, device: str) -> Runnable:
        """Uploads the inputs once and copies them on the device, where a bus is no bottleneck.

        torch.compile compiles at the first launch, which is the check's.
        """
        return _TorchRunnable(self, problem, inputs, copies, device)


class _TorchRunnable:
    def __init__(
        self, baseline: TorchBaseline, problem: Problem, inputs: tuple[Array, ...], copies: int, device: str
    ) -> None:
        import torch

        self._torch = torch
        self._problem = problem
        self._on_gpu = kind_of(device) != "cpu"
        where = f"cuda:{ordinal(device)}" if self._on_gpu else "cpu"
        first = tuple(_tensor(torch, array).to(where) for array in inputs)
        if baseline.adapt is not None:
            first = baseline.adapt(torch, problem, first)
        self._inputs = [first, *(tuple(t.clone() for t in first) for _ in range(copies - 1))]
        self._results: tuple[Any, ...] = ()

        def call(*tensors: Any) -> tuple[Any, ...]:
            return baseline.call(torch, problem, tensors)

        self._call = torch.compile(call, dynamic=False) if baseline.compiled else call
        self._host_inputs = inputs

    @property
    def copies(self) -> int:
        """How many copies of the inputs there are."""
        return len(self._inputs)

    def poison(self) -> None:
        """Overwrites the last results, and hands their memory back to the allocator that serves the next."""
        for result in self._results:
            result.reshape(-1).view(self._torch.uint8).fill_(POISON_BYTE)
        self.sync()
        self._results = ()

    def launch(self, copy: int) -> None:
        """One call; returns before it ends on a GPU."""
        self._results = self._call(*self._inputs[copy])

    def sync(self) -> None:
        """Waits for the device."""
        if self._on_gpu:
            self._torch.cuda.synchronize()

    def outputs(self) -> tuple[Array, ...]:
        """The results as host arrays of the problem's shapes and types, but for a GEMV's own type.

        That one is kept: the check judges a result by the type that it was rounded to. A value is looked up where the
        call gives the index alone.
        """
        specs = op_of(self._problem).output_specs(self._problem)
        results = [_array(self._torch, r) for r in self._results]
        if self._problem.op == "gemv":
            return tuple(r.reshape(shape) for r, (shape, _) in zip(results, specs, strict=True))
        if len(results) == 1:
            (index,) = results
            # An index out of range is for the check to report: look up something for it.
            inside = np.clip(index, 0, self._problem.reduction - 1)[..., np.newaxis]
            values = np.take_along_axis(self._host_inputs[0], inside, axis=-1)[..., 0]
            results = [values, index]
        return tuple(r.astype(dtype).reshape(shape) for r, (shape, dtype) in zip(results, specs, strict=True))

    def close(self) -> None:
        """Drops the tensors and gives their memory back to the device."""
        self._inputs, self._results, self._host_inputs = [], (), ()
        if self._on_gpu:
            self._torch.cuda.empty_cache()


def _tensor(torch: Any, array: Array) -> Any:
    """A tensor of the same bits; numpy's bfloat16 is foreign to PyTorch, so it goes through int16."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def _array(torch: Any, tensor: Any) -> Array:
    """A host array of the same bits, in memory of its own: the inverse of `_tensor`."""
    host = tensor.detach().cpu()
    if host.dtype == torch.bfloat16:
        return np.array(host.view(torch.int16).numpy()).view(FLOATS["bf16"].numpy)
    return np.array(host.numpy())


BASELINES: dict[str, Baseline] = {
    b.name: b
    for b in (
        TorchBaseline("torch", _argument),
        TorchBaseline("torch_max", _extremum),
        TorchBaseline("torch_compile", _extremum, compiled=True),
        TorchBaseline("torch_mv", mv),
        TorchBaseline("torch_linear", linear),
    )
}
