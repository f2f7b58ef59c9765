"""Executes one kernel of an assembly file with bindings that the user describes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ireebench.errors import BadFileError, UnknownNameError, UsageError
from ireebench.isa.emulate.arena import Arena, Buffer
from ireebench.isa.emulate.launch import KERNARG_LIMIT, Binding, Dispatch, DispatchResult, Options, run_dispatch
from ireebench.isa.emulate.listing import KernelCode, Listing

Array = npt.NDArray[Any]

_TYPES: dict[str, np.dtype[Any]] = {
    "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16), "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64), "i8": np.dtype(np.int8), "i16": np.dtype(np.int16), "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
}  # fmt: skip
_MOST_BYTES = 4 << 30  # what a buffer descriptor of AMD can span
_SPEC = re.compile(r"(?P<way>in|out|inout):(?P<shape>\d+(?:x\d+)*)x(?P<dtype>[a-z]+\d+)(?:=(?P<values>.+))?\Z")
_SHAPE_HELP = "such as in:1x131072xbf16=random, in:4xf32=@x.npy or out:1xi64"


@dataclass(frozen=True, slots=True)
class BindingSpec:
    """A binding as the user gave it. `data` is None for outputs: they start undefined."""

    way: Literal["in", "out", "inout"]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    data: Array | None


def parse_binding(text: str, seed: int) -> BindingSpec:
    """Reads "in:1x131072xbf16=random": in, out or inout, shape and type as in the IREE tools, and what to fill it with.

    Values are random (seeded, standard normal or any integer), zeros, ones, iota, or @FILE.npy. Raises UsageError.
    """
    found = _SPEC.match(text)
    if not found or found["dtype"] not in _TYPES:
        raise UsageError(f"--binding '{text}': needs in, out or inout, a shape and a type, {_SHAPE_HELP}")
    shape, dtype = tuple(map(int, found["shape"].split("x"))), _TYPES[found["dtype"]]
    if math.prod(shape) * dtype.itemsize > _MOST_BYTES:
        raise UsageError(f"--binding '{text}': more than {_MOST_BYTES >> 30} GiB, which the emulator does not hold")
    way: Literal["in", "out", "inout"] = "in" if found["way"] == "in" else "out" if found["way"] == "out" else "inout"
    values = found["values"]
    if way == "out":
        if values:
            raise UsageError(f"--binding '{text}': an output has no values; use inout: for a buffer that is read too")
        return BindingSpec(way, shape, dtype, None)
    return BindingSpec(way, shape, dtype, _values(text, values or "random", shape, dtype, seed))


def _values(text: str, values: str, shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> Array:
    rng = np.random.default_rng(seed)
    if values.startswith("@"):
        return _load(Path(values[1:]), shape, dtype)
    if values == "random":
        if dtype.kind == "i":
            limits = np.iinfo(dtype)
            return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
        return rng.standard_normal(shape, np.float32).astype(dtype)
    if values == "iota":
        return np.arange(int(np.prod(shape))).astype(dtype).reshape(shape)
    if values in ("zeros", "ones"):
        return np.full(shape, values == "ones").astype(dtype)
    raise UsageError(f"--binding '{text}': '{values}' is none of random, zeros, ones, iota, @FILE.npy")


def _load(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    try:
        data = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as e:
        raise BadFileError(f"{path}: not a readable .npy file: {e}") from e
    if data.nbytes != int(np.prod(shape)) * dtype.itemsize:
        size = int(np.prod(shape)) * dtype.itemsize
        raise BadFileError(f"{path}: holds {data.nbytes} bytes; the binding is {size}; give its shape and type")
    return np.ascontiguousarray(data).reshape(-1).view(np.uint8).view(dtype).reshape(shape)


@dataclass(frozen=True, slots=True)
class KernelRun:
    """What one kernel did; `bindings` hold their contents afterwards."""

    kernel: str
    target: str
    result: DispatchResult
    bindings: tuple[Array, ...]


def choose_kernel(listing: Listing, name: str | None, target: str | None = None) -> KernelCode:
    """The kernel called `name`, or the only one. `target` is used where the file names none. Raises UsageError."""
    file = listing.file
    named = file.target or target
    if not named:
        raise UsageError("the file names no target; say which with --target gfx942")
    if not file.kernels:
        raise BadFileError("the file holds no kernel")
    names = [k.name for k in file.kernels]
    if name is None:
        if len(names) > 1:
            raise UsageError(f"the file holds {len(names)} kernels; choose one with --kernel: {', '.join(names[:8])}")
        return KernelCode(file.kernels[0], named, listing.constants)
    if name not in names:
        raise UnknownNameError("kernel", name, names)
    return KernelCode(file.kernels[names.index(name)], named, listing.constants)


def run_kernel(
    code: KernelCode,
    specs: Sequence[BindingSpec],
    grid: tuple[int, int, int],
    constants: Sequence[int],
    options: Options,
) -> KernelRun:
    """Launches a kernel once; raises Unsupported or ExecutionLimit."""
    sizes = [int(np.prod(s.shape)) * s.dtype.itemsize for s in specs]
    arena = Arena(Arena.capacity_for([*sizes, *map(len, code.constants.values()), KERNARG_LIMIT]))
    kernargs = arena.allocate("kernel arguments", KERNARG_LIMIT, np.zeros(1, np.uint8), read_only=True)
    buffers: list[Buffer] = [
        arena.allocate(f"binding {n} ({s.way})", size, s.data, read_only=s.way == "in")
        for n, (s, size) in enumerate(zip(specs, sizes, strict=True))
    ]
    bindings = tuple(Binding(b, 0, b.size, b.name) for b in buffers)
    dispatch = Dispatch(code.kernel.name, grid, bindings, tuple(constants))
    result = run_dispatch(code, (arena, kernargs), dispatch, options)
    after = tuple(
        arena.bytes_of(b, 0, b.size).copy().view(s.dtype).reshape(s.shape) for b, s in zip(buffers, specs, strict=True)
    )
    return KernelRun(code.kernel.name, code.target, result, after)
