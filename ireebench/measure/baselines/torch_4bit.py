"""PyTorch and bitsandbytes on 4-bit weights: what a GEMV that dequantises inside the kernel has to beat.

`torch_mv_f16` and its like are the same layer kept in 16 bits: weights are dequantised before the time, and about four
times the bytes are read inside it. `torch_dequant_mv` dequantises in the time; `bnb_gemv_4bit` is a kernel of its own.
Weights that are dequantised before the time are rounded once, to f16 or bf16. In the time, NF4's table, the scale and
their product are each rounded to f16, as bitsandbytes does too: the check's tolerance for 4-bit weights allows that.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np

from ireebench.measure.baselines.table import BLOCK_DTYPES
from ireebench.measure.baselines.torch_ import Call, TorchBaseline, linear, mv
from ireebench.measure.runnable import Array, Baseline
from ireebench.problems.formats import WEIGHT_FORMATS
from ireebench.problems.ops.quantise import code_values
from ireebench.problems.problem import Problem

# Weights that are dequantised at once before the time: 10 bytes each of intermediates.
_CHUNK = 1 << 26

INSTALL = "needs bitsandbytes: pip install bitsandbytes"


def byte_values(dtype: str) -> Array:
    """256 x 2 f32: the values of the two codes in each byte, the lower index first."""
    values = code_values(dtype)
    byte = np.arange(256)
    return np.stack((values[byte & 0xF], values[byte >> 4]), axis=1)


def _dequantised(torch: Any, packed: Any, scales: Any, pairs: Any) -> Any:
    """Weights N x K in the type of `pairs`, from bytes N x K/2 and scales N x K/block: one look-up a byte."""
    n, blocks = scales.shape
    values = torch.nn.functional.embedding(packed.int(), pairs).view(n, blocks, -1)
    return (values * scales.to(pairs.dtype).unsqueeze(-1)).view(n, -1)


def _beforehand(type_name: str) -> Call:
    """Inputs as a 16-bit layer has them: (weights N x K, activations), both of `type_name`; weights rounded once."""

    def adapt(torch: Any, problem: Problem, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        packed, scales, activations = inputs
        _, n, k = problem.shape
        dtype = getattr(torch, type_name)
        pairs = torch.from_numpy(byte_values(problem.dtype)).to(packed.device)
        weights = torch.empty((n, k), dtype=dtype, device=packed.device)
        height = max(1, _CHUNK // k)
        for start in range(0, n, height):
            rows = slice(start, start + height)
            weights[rows] = _dequantised(torch, packed[rows], scales[rows], pairs)
        return weights, activations.to(dtype)

    return adapt


def _with_table(torch: Any, problem: Problem, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """(bytes, scales, activations, the values of each byte in the activations' type)."""
    pairs = torch.from_numpy(byte_values(problem.dtype)).to(inputs[-1])
    return (*inputs, pairs)


def _dequant_mv(torch: Any, problem: Problem, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    packed, scales, activations, pairs = inputs
    return mv(torch, problem, (_dequantised(torch, packed, scales, pairs), activations))


def _dequant_sum(torch: Any, problem: Problem, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Products and an f32 sum, which torch.compile fuses with the dequantising; torch.mv would be a kernel apart."""
    packed, scales, activations, pairs = inputs
    if activations.ndim > 1 and activations.shape[0] > 1:
        return _dequant_mv(torch, problem, inputs)
    weights = _dequantised(torch, packed, scales, pairs)
    return ((weights.float() * activations.reshape(1, -1).float()).sum(-1).to(activations.dtype),)


@dataclass(slots=True)
class BitsAndBytes(TorchBaseline):
    """bitsandbytes' GEMV of NF4 weights, on a GPU: its CPU stand-in dequantises and calls torch's linear."""

    def missing(self, device: str) -> str | None:
        """None when PyTorch and bitsandbytes are installed, and PyTorch built for the device."""
        # Not super(): a dataclass with slots is another class than the one that super() would see.
        if reason := TorchBaseline.missing(self, device):
            return reason
        return None if importlib.util.find_spec("bitsandbytes") else f"{self.name} {INSTALL}"

    def serves(self, op: str, dtype: str, shape: tuple[int, ...]) -> str | None:
        """NF4 and one activation: gemv_4bit has no batch, and matmul_4bit may write dequantised weights for one."""
        if reason := TorchBaseline.serves(self, op, dtype, shape):
            return reason
        return None if shape[0] == 1 else f"{self.name} takes one activation, not {shape[0]}"


def _bnb_inputs(torch: Any, problem: Problem, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """bitsandbytes' layout: the lower index in the high nibble, bytes and scales (f32) flat; and NF4's 16 values."""
    packed, scales, activations = inputs
    swapped = (packed << 4) | (packed >> 4)
    code = torch.from_numpy(code_values(problem.dtype)).to(packed.device)
    return swapped.reshape(-1, 1), scales.reshape(-1), activations.reshape(1, -1), code


def _bnb_gemv(torch: Any, problem: Problem, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    from bitsandbytes import functional

    packed, _, activations, _ = inputs
    return (functional.gemv_4bit(activations, packed, state=_bnb_state(torch, problem, inputs)),)


def _bnb_matmul(torch: Any, problem: Problem, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """What its Linear4bit calls: chooses among its kernels, of which newer versions have more than gemv_4bit."""
    import bitsandbytes

    packed, _, activations, _ = inputs
    return (bitsandbytes.matmul_4bit(activations, packed, _bnb_state(torch, problem, inputs)),)


def _bnb_state(torch: Any, problem: Problem, inputs: tuple[Any, ...]) -> Any:
    from bitsandbytes import functional

    _, absmax, activations, code = inputs
    return functional.QuantState(
        absmax=absmax,
        shape=torch.Size(problem.shape[1:]),
        code=code,
        blocksize=WEIGHT_FORMATS[problem.dtype].block,
        quant_type=problem.dtype,
        dtype=activations.dtype,
    )


BASELINES: dict[str, Baseline] = {
    b.name: b
    for b in (
        TorchBaseline("torch_mv_f16", mv, adapt=_beforehand("float16"), dtypes=BLOCK_DTYPES),
        TorchBaseline("torch_linear_f16", linear, adapt=_beforehand("float16"), dtypes=BLOCK_DTYPES),
        TorchBaseline("torch_mv_bf16", mv, adapt=_beforehand("bfloat16"), dtypes=BLOCK_DTYPES),
        TorchBaseline("torch_linear_bf16", linear, adapt=_beforehand("bfloat16"), dtypes=BLOCK_DTYPES),
        TorchBaseline("torch_dequant_mv", _dequant_mv, adapt=_with_table, dtypes=BLOCK_DTYPES),
        TorchBaseline("torch_compile_dequant_mv", _dequant_sum, compiled=True, adapt=_with_table, dtypes=BLOCK_DTYPES),
        BitsAndBytes("bnb_gemv_4bit", _bnb_gemv, adapt=_bnb_inputs, dtypes=("nf4",)),
        BitsAndBytes("bnb_matmul_4bit", _bnb_matmul, adapt=_bnb_inputs, dtypes=("nf4",)),
    )
}
