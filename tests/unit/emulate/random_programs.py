"""Seeded random linalg programs, compiled for gfx942 and for the CPU, to be compared bit for bit.

Elementwise, broadcast and reduction, in i32, f32, f16 and bf16. The two compilers may rightly differ in what IEEE
arithmetic or LLVM leaves open, so programs keep away from it:
- sums add small whole numbers: every order and every fusion gives the same;
- a product is never added to: one side may fuse it;
- no float32 or bfloat16 denormals: IREE's CPU runtime flushes them to zero;
- a bfloat16 program ends with its first operation that rounds: the CPU keeps intermediate results in float32;
- maximumf and minimumf see no NaN: gfx942 code uses instructions that ignore it.
NaN equals NaN whatever its payload.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

NUMPY = {
    "i32": np.dtype(np.int32),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
}
FLOAT_BINARY = ("addf", "subf", "mulf", "divf", "maxnumf", "minnumf")
ROUNDING = frozenset(("addf", "subf", "mulf", "divf", "sqrt"))
INT_BINARY = (
    "addi",
    "subi",
    "muli",
    "maxsi",
    "minsi",
    "maxui",
    "minui",
    "andi",
    "ori",
    "xori",
    "shl",
    "shr",
    "div",
    "rem",
)
FLOAT_UNARY = ("negf", "absf", "floor", "ceil", "roundeven", "sqrt", "trunc")
COMPARE_FLOAT = ("olt", "ogt", "oeq", "une", "ult", "uge", "ord", "uno")
MAPS = {"full": "i, j", "row": "j", "column": "i"}
COMPARE_INT = ("slt", "sge", "ult", "eq", "ne")


@dataclass(frozen=True, slots=True)
class RandomProgram:
    """One function: its text, its inputs, and the shape and type of its result."""

    name: str
    text: str
    inputs: tuple[npt.NDArray[Any], ...]
    shape: tuple[int, ...]
    dtype: str


class _Body:
    """Grows the body of a linalg.generic, one operation at a time."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.count = 0
        self.products: set[str] = set()
        self.rounded = False

    def emit(self, text: str, product: bool = False) -> str:
        name = f"%x{self.count}"
        self.count += 1
        self.lines.append(f"      {name} = {text}")
        if product:
            self.products.add(name)
        return name

    def step(self, value: str, other: str, dtype: str) -> str:
        return self._int(value, other) if dtype == "i32" else self._float(value, other, dtype)

    def _int(self, a: str, b: str) -> str:
        op = self.rng.choice((*INT_BINARY, "select"))
        if op in ("shl", "shr"):
            mask = self.emit("arith.constant 31 : i32")
            amount = self.emit(f"arith.andi {b}, {mask} : i32")
            kind = "shli" if op == "shl" else self.rng.choice(("shrsi", "shrui"))
            return self.emit(f"arith.{kind} {a}, {amount} : i32")
        if op in ("div", "rem"):
            one = self.emit(f"arith.constant {self.rng.choice((3, 7, 10, 64, 1000))} : i32")
            return self.emit(f"arith.{op}{self.rng.choice('su')}i {a}, {one} : i32")
        if op == "select":
            c = self.emit(f"arith.cmpi {self.rng.choice(COMPARE_INT)}, {a}, {b} : i32")
            return self.emit(f"arith.select {c}, {a}, {b} : i32")
        return self.emit(f"arith.{op} {a}, {b} : i32")

    def _float(self, a: str, b: str, dtype: str) -> str:
        op = self.rng.choice((*FLOAT_BINARY, *FLOAT_UNARY, "select"))
        if op in ("addf", "subf") and (a in self.products or b in self.products):
            op = "mulf"  # no product is added to: whether it is fused would decide the last bit
        if op in ROUNDING:
            self.rounded = True
        if op == "select":
            c = self.emit(f"arith.cmpf {self.rng.choice(COMPARE_FLOAT)}, {a}, {b} : {dtype}")
            return self.emit(f"arith.select {c}, {a}, {b} : {dtype}", a in self.products or b in self.products)
        if op in FLOAT_UNARY:
            dialect = "arith" if op == "negf" else "math"
            return self.emit(f"{dialect}.{op} {a} : {dtype}", a in self.products)
        return self.emit(f"arith.{op} {a}, {b} : {dtype}", op == "mulf" or a in self.products)

    def convert(self, value: str, source: str, target: str) -> str:
        if source == target:
            return value
        if source == "i32":
            if target != "f32":
                wide = self.emit(f"arith.sitofp {value} : i32 to f32")
                return self.emit(f"arith.truncf {wide} : f32 to {target}")
            return self.emit(f"arith.sitofp {value} : i32 to f32")
        if target == "i32":
            wide = value if source == "f32" else self.emit(f"arith.extf {value} : {source} to f32")
            low, high = self.emit("arith.constant -1.0e6 : f32"), self.emit("arith.constant 1.0e6 : f32")
            above = self.emit(f"arith.maxnumf {wide}, {low} : f32")
            return self.emit(f"arith.fptosi {self.emit(f'arith.minnumf {above}, {high} : f32')} : f32 to i32")
        if source == "f32":
            return self.emit(f"arith.truncf {value} : f32 to {target}")
        wide = self.emit(f"arith.extf {value} : {source} to f32")
        return wide if target == "f32" else self.emit(f"arith.truncf {wide} : f32 to {target}")


def _values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, whole: bool) -> npt.NDArray[Any]:
    if dtype == "i32":
        limit = 100 if whole else 2**31
        return rng.integers(-limit, limit, shape, dtype=np.int64).astype(np.int32)
    if whole:
        return rng.integers(-3, 4, shape).astype(NUMPY[dtype])
    scale = 10.0 ** rng.integers(-3, 3, shape)
    x = (rng.standard_normal(shape) * scale).astype(NUMPY[dtype])
    flat = x.reshape(-1)
    for special in (0.0, np.inf, -np.inf, np.nan):
        flat[rng.integers(0, flat.size, max(1, flat.size // 97))] = special
    return x


def make_program(seed: int) -> RandomProgram:
    """Program number `seed`: equal for equal seeds."""
    rng, np_rng = random.Random(seed), np.random.default_rng(seed)
    kind = ("elementwise", "broadcast", "reduction")[seed % 3]
    dtype = rng.choice(tuple(NUMPY))
    out = rng.choice(tuple(NUMPY)) if kind != "reduction" else dtype
    rows, columns = rng.choice((1, 3, 8, 17, 32)), rng.choice((1, 5, 64, 100, 128, 257, 512))
    if kind == "reduction":
        return _reduction(seed, rng, np_rng, dtype, (rows, max(columns, 64)))
    shape = (rows, columns)
    maps = ["affine_map<(i, j) -> (i, j)>"]
    shapes: list[tuple[int, ...]] = [shape]
    for _ in range(rng.choice((1, 2))):
        which = rng.choice(("full", "row", "column")) if kind == "broadcast" else "full"
        maps.append(f"affine_map<(i, j) -> ({MAPS[which]})>")
        shapes.append({"full": shape, "row": (columns,), "column": (rows,)}[which])
    body = _Body(rng)
    value = "%a0"
    for n in range(rng.randint(2, 5)):
        value = body.step(value, f"%a{1 + n % (len(shapes) - 1)}", dtype)
        if dtype == "bf16" and body.rounded:
            out = "bf16"
            break
    value = body.convert(value, dtype, out)
    inputs = tuple(_values(np_rng, s, dtype, False) for s in shapes)
    name = f"p{seed}"
    types = [f"tensor<{'x'.join(map(str, s))}x{dtype}>" for s in shapes]
    result = f"tensor<{rows}x{columns}x{out}>"
    text = f"""
  func.func @{name}({", ".join(f"%i{n}: {t}" for n, t in enumerate(types))}) -> {result} {{
    %e = tensor.empty() : {result}
    %r = linalg.generic {{indexing_maps = [{", ".join([*maps, maps[0]])}], iterator_types = ["parallel", "parallel"]}}
        ins({", ".join(f"%i{n}" for n in range(len(types)))} : {", ".join(types)}) outs(%e : {result}) {{
    ^bb0({", ".join(f"%a{n}: {dtype}" for n in range(len(types)))}, %o: {out}):
{chr(10).join(body.lines)}
      linalg.yield {value} : {out}
    }} -> {result}
    return %r : {result}
  }}"""
    return RandomProgram(name, text, inputs, shape, out)


def _reduction(
    seed: int, rng: random.Random, np_rng: np.random.Generator, dtype: str, shape: tuple[int, int]
) -> RandomProgram:
    rows, columns = shape
    op = rng.choice(
        ("addi", "maxsi", "minsi", "xori", "ori") if dtype == "i32" else ("addf", "maximumf", "minimumf", "maxnumf")
    )
    whole = op in ("addi", "addf")
    start = {
        "addi": "0", "maxsi": "-2147483648", "minsi": "2147483647", "xori": "0", "ori": "0", "addf": "0.0",
        "maximumf": "-1.0e4", "minimumf": "1.0e4", "maxnumf": "-1.0e4",
    }[op]  # fmt: skip
    # Sums of 16-bit floats are kept in f32, as models do: in the narrow type the order of additions would show.
    acc = "f32" if op == "addf" else dtype
    name = f"p{seed}"
    source, result = f"tensor<{rows}x{columns}x{dtype}>", f"tensor<{rows}x{acc}>"
    widen = f"      %w = arith.extf %a : {dtype} to f32\n" if acc != dtype else ""
    text = f"""
  func.func @{name}(%i: {source}) -> {result} {{
    %c = arith.constant {start} : {acc}
    %e = tensor.empty() : {result}
    %f = linalg.fill ins(%c : {acc}) outs(%e : {result}) -> {result}
    %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]}} ins(%i : {source}) outs(%f : {result}) {{
    ^bb0(%a: {dtype}, %o: {acc}):
{widen}      %s = arith.{op} %o, {"%w" if widen else "%a"} : {acc}
      linalg.yield %s : {acc}
    }} -> {result}
    return %r : {result}
  }}"""
    values = _values(np_rng, shape, dtype, whole)
    if dtype != "i32" and op in ("maxnumf", "maximumf", "minimumf"):
        values = np.where(np.isnan(values.astype(np.float32)), values.dtype.type(1), values)
    return RandomProgram(name, text, (values,), (rows,), acc)


def same_bits(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Where two arrays hold the same bits; any NaN equals any NaN (IEEE leaves its payload open)."""
    if a.dtype.kind in "iub":
        return np.asarray(a == b)
    bits = f"u{a.dtype.itemsize}"
    nan = np.isnan(a.astype(np.float64)) & np.isnan(b.astype(np.float64))
    return np.asarray((a.view(bits) == b.view(bits)) | nan)
