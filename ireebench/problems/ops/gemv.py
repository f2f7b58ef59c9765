"""GEMV: y = W x for M activations, with W of N rows and K columns in f16, bf16 or 4 bits; f32 accumulation.

Arguments, in order: weights, scales (4-bit only), activations. Logical tensors:
- f16, bf16: weights N x K (layout kn: K x N), activations K (M > 1: M x K) of the same type;
- q4_0: weights N x K/32 x 32 of i4 (signed), scales N x K/32 of f16, activations f16;
- nf4: weights N x K/64 x 64 of i4 (unsigned positions in NF4's table), scales N x K/64 of f32, activations f16.
One result: N (M > 1: M x N) of `out_dtype`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ireebench.problems.check import CheckResult
from ireebench.problems.dtypes import FLOATS
from ireebench.problems.formats import ELEMENT_BYTES, WEIGHT_FORMATS, scale_bytes, weight_bytes
from ireebench.problems.ops.base import Array, InputSpec, tensor_type
from ireebench.problems.ops.quantise import dequantise, quantise
from ireebench.problems.ops.ulp import ulp_distance
from ireebench.problems.problem import Problem

# Weights of more elements than this are rows cut from about as many random numbers at different starts.
_POOL = 1 << 22
# Weights that the reference turns into float64 at once: 2 MiB stay in a core's cache.
_CHUNK = 1 << 18
# Unit roundoff: half the distance from 1 to the next number.
_ROUNDOFF: dict[str, float] = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}


def _activation_shape(m: int, k: int) -> tuple[int, ...]:
    return (k,) if m == 1 else (m, k)


def input_specs(problem: Problem) -> tuple[InputSpec, ...]:
    """Weights, scales (4-bit only), activations."""
    m, n, k = problem.shape
    f = WEIGHT_FORMATS[problem.dtype]
    x = FLOATS[f.activation_dtype]
    shape = _activation_shape(m, k)
    activations = InputSpec("activations", shape, tensor_type(shape, x.name), shape, x.numpy)
    if f.block is None or f.scale_dtype is None:
        shape = (k, n) if problem.layout == "kn" else (n, k)
        weights = InputSpec("weights", shape, tensor_type(shape, problem.dtype), shape, FLOATS[problem.dtype].numpy)
        return weights, activations
    blocked, per_block = (n, k // f.block, f.block), (n, k // f.block)
    packed = InputSpec("weights", blocked, tensor_type(blocked, "i4"), (n, k // 2), np.dtype(np.uint8))
    scale = FLOATS[f.scale_dtype]
    scales = InputSpec("scales", per_block, tensor_type(per_block, scale.name), per_block, scale.numpy)
    return packed, scales, activations


def output_specs(problem: Problem) -> tuple[tuple[tuple[int, ...], np.dtype[Any]], ...]:
    """One result: N (M > 1: M x N) of `out_dtype`."""
    m, n, _ = problem.shape
    return (((n,) if m == 1 else (m, n), FLOATS[str(problem.out_dtype)].numpy),)


def make_inputs(problem: Problem, seed: int, kind: str = "timed") -> tuple[Array, ...]:
    """Weights of normal numbers with variance 1/K and activations with variance 1, so that results have variance 1.

    A large weight's rows are windows of one pool of random numbers, each at a start of its own: no two rows are equal,
    and a gigabyte takes a second or two. 4-bit weights are quantised from such numbers. The only kind is "timed".
    """
    if kind != "timed":
        raise KeyError(kind)
    m, n, k = problem.shape
    rng = np.random.default_rng([seed, n, k])
    f = WEIGHT_FORMATS[problem.dtype]
    x = rng.standard_normal(_activation_shape(m, k), np.float32).astype(FLOATS[f.activation_dtype].numpy)
    step = f.block or 1
    if n * k <= _POOL:
        pool, starts = _normal(rng, n * k, k), np.arange(n) * k
    else:
        # At least n starts, each taken once: no two rows are equal.
        count = max(n, (_POOL - k) // step)
        pool, starts = _normal(rng, k + count * step, k), rng.permutation(count)[:n] * step
    if f.block is None:
        weights = _windows(pool.astype(FLOATS[problem.dtype].numpy), starts, k)
        return (np.ascontiguousarray(weights.T) if problem.layout == "kn" else weights), x
    codes, scales = quantise(problem.dtype, pool.reshape(1, -1))
    return _windows(codes[0], starts // 2, k // 2), _windows(scales[0], starts // f.block, k // f.block), x


def _normal(rng: np.random.Generator, size: int, k: int) -> npt.NDArray[np.float32]:
    return rng.standard_normal(size, np.float32) * np.float32(1 / math.sqrt(k))


def _windows(pool: Array, starts: npt.NDArray[np.int64], width: int) -> Array:
    """The `width` elements of `pool` from each start, a row each, copied."""
    rows = np.empty((len(starts), width), pool.dtype)
    for row, start in zip(rows, starts.tolist(), strict=True):  # five times as fast as one indexed gather
        row[:] = pool[start : start + width]
    return rows


def reference(problem: Problem, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """The float64 product of the dequantised weights and the activations, N or M x N.

    A few rows are widened at a time: a 1 GB weight needs no 4 GB of float64.
    """
    m, n, k = problem.shape
    x = inputs[-1].reshape(m, k).astype(np.float64).T
    product = np.empty((n, m))
    for rows, weights in _wide_rows(problem, inputs):
        product[rows] = weights @ x
    return (product[:, 0] if m == 1 else np.ascontiguousarray(product.T),)


def _wide_rows(problem: Problem, inputs: Sequence[Array]) -> Iterator[tuple[slice, npt.NDArray[np.float64]]]:
    _, n, k = problem.shape
    height = max(1, _CHUNK // k)
    for start in range(0, n, height):
        rows = slice(start, min(start + height, n))
        if WEIGHT_FORMATS[problem.dtype].block is not None:
            yield rows, dequantise(problem.dtype, inputs[0][rows], inputs[1][rows])
        elif problem.layout == "kn":
            yield rows, inputs[0][:, rows].T.astype(np.float64)
        else:
            yield rows, inputs[0][rows].astype(np.float64)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What `check` allows: `norm` for norm(difference) / norm(reference).

    One element may be off by `relative` times itself and `of_rms` times the reference's root mean square.
    """

    norm: float
    relative: float
    of_rms: float


def tolerance(problem: Problem, out_dtype: str) -> Tolerance:
    """Tolerances for results of `out_dtype`.

    - Accumulating K products in f32 in any order errs by about sqrt(K) u32 of the result's size on random data (Higham
      and Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci. Comput. 41(5), 2019); 4 times
      that is allowed. Products of 16-bit floats are exact in f32.
    - Rounding the result errs by at most u of its type; 2 u, one unit in the last place, is allowed: 696.5 for 697.0 in
      f16 is no error (iree-org/iree#20624).
    - 4-bit weights may be rounded to the activations' f16 on the way, as libraries do: u of f16. One rounding errs by
      0.41 u (root mean square over significands); four (table entry, scale, their product, its product with the
      activation, as in bitsandbytes' f16 kernel) add up as squares do, to 0.82 u.
    - A single element may err by 4 times the norm's share, since the largest of 10^5 normal errors is 4.4 sigma and
      the bounds above hold 2 sigma or more; so one wrong element is found among any number of right ones.
    """
    out = _ROUNDOFF[out_dtype]
    accumulated = 4 * math.sqrt(problem.reduction) * _ROUNDOFF["f32"]
    if WEIGHT_FORMATS[problem.dtype].block is not None:
        accumulated += _ROUNDOFF["f16"]
    return Tolerance(norm=accumulated + 2 * out, relative=2 * out, of_rms=4 * (accumulated + out))


def check(
    problem: Problem,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    expected: Sequence[Array] | None = None,
) -> CheckResult:
    """Compares with the float64 product: relative norm error and each element, by `tolerance` of the result's type.

    A library that returns a narrower float than the problem asks for is held to that float's tolerance. `max_ulp` is
    the largest distance from the reference rounded to the result's type, told and not judged: it is large where a
    result is close to 0. `expected` is what `reference` returned.
    """
    _, n, _ = problem.shape
    if len(outputs) != 1:
        return CheckResult(False, f"{len(outputs)} outputs; gemv has one")
    dtype = next((t for t, f in FLOATS.items() if f.numpy == outputs[0].dtype), None)
    if dtype is None:
        return CheckResult(False, f"the result is {outputs[0].dtype}; it must be one of {', '.join(FLOATS)}")
    want = (expected if expected is not None else reference(problem, inputs))[0].reshape(-1)
    raw = outputs[0].reshape(-1)
    if raw.size != want.size:
        return CheckResult(False, f"the result has shape {outputs[0].shape}, {raw.size} elements for {want.size}")
    got = raw.astype(np.float64)
    finite = np.isfinite(got)
    if not finite.all():
        return CheckResult(False, _describe(~finite, lambda i: f"{got[i]} for {want[i]:.6g}", n))

    allowed = tolerance(problem, dtype)
    size = float(np.linalg.norm(want))
    difference = np.abs(got - want)
    norm = float(np.linalg.norm(difference))
    error = norm / size if size else norm
    with np.errstate(over="ignore"):
        steps = float(ulp_distance(raw, want.astype(raw.dtype)).max())
    limit = allowed.relative * np.abs(want) + allowed.of_rms * size / math.sqrt(want.size)
    reason = None
    if (difference > limit).any():
        reason = _describe(difference > limit, lambda i: f"{got[i]:.6g} for {want[i]:.6g}", n)
    elif error > allowed.norm:
        reason = f"relative norm error {error:.2e} is above {allowed.norm:.2e}"
    return CheckResult(reason is None, reason, relative_error=error, max_ulp=steps)


def _describe(bad: npt.NDArray[np.bool_], values: Callable[[int], str], n: int) -> str:
    i = int(np.flatnonzero(bad)[0])
    where = f"row {i}" if bad.size == n else f"activation {i // n} row {i % n}"
    return f"{where}: {values(i)} ({int(bad.sum())} of {bad.size} results wrong)"


def bytes_breakdown(problem: Problem) -> tuple[tuple[str, int], ...]:
    """Weights (codes) and scales read once, activations read once, results written once."""
    m, n, k = problem.shape
    f = WEIGHT_FORMATS[problem.dtype]
    scales = scale_bytes(problem.dtype, n, k)
    return (
        ("weights", weight_bytes(problem.dtype, n, k)),
        *((("scales", scales),) if scales else ()),
        ("activations", m * k * ELEMENT_BYTES[f.activation_dtype]),
        ("results", m * n * ELEMENT_BYTES[str(problem.out_dtype)]),
    )


def bytes_moved(problem: Problem) -> int:
    """Bytes that one call must move: each weight, scale and activation read once, each result written once."""
    return sum(b for _, b in bytes_breakdown(problem))


def flops(problem: Problem) -> int:
    """A multiplication and an addition for each weight and activation: 2 M N K."""
    return 2 * math.prod(problem.shape)
