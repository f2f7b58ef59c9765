"""How a rule for an instruction is written down, and what a decoded instruction is.

A family module (scalar, vector_int, ...) is a table from a mnemonic to a `Rule`. A rule names the section of AMD's ISA
document that defines it and builds, once for each instruction of a kernel, a function on `Waves`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ireebench.isa.assembly import Instruction
from ireebench.isa.emulate.errors import Unsupported
from ireebench.isa.emulate.operands import SGPR_ID, Kind, Operand, constant_bits
from ireebench.isa.emulate.waves import Array, Waves

Run = Callable[[Waves], None]
Getter = Callable[[Waves], Array]
Shadow = Literal["bits", "carry", "any", "none"]

# Modifiers that steer caches or scheduling and change no value.
HARMLESS = frozenset(("glc", "slc", "dlc", "sc0", "sc1", "nt", "scc", "th", "scope", "nv"))


@dataclass(frozen=True, slots=True)
class Mode:
    """What the target and the kernel's descriptor say about arithmetic.

    `zeroes_high`: a 16-bit result zeroes the upper half of its register (gfx9); newer targets keep it. `ieee`: minimum
    and maximum quieten signalling NaNs. Rounding is to nearest even and denormals are kept: anything else is refused.
    """

    target: str
    lanes: int
    zeroes_high: bool
    ieee: bool = True
    temporary: int = 512  # index of the first of four vector registers of our own

    @property
    def generation(self) -> int:
        """9, 10, 11 or 12."""
        digits = self.target.removeprefix("gfx")
        return int(digits[:-2])


@dataclass(slots=True)
class Decode:
    """An instruction on its way to becoming a function: parsed operands, and modifiers not yet used."""

    instruction: Instruction
    name: str  # mnemonic without its encoding suffix
    operands: list[Operand]
    modifiers: dict[str, str | None]
    mode: Mode
    machine: Any  # the dispatch's Machine: rules for memory use it
    after: Run | None = None  # what follows the computation: a memory operation that is now in flight
    flight: tuple[str, str] | None = None  # counter and source of a load that this instruction starts
    reads: frozenset[int] | None = None  # registers really read, where that is less than the text names

    @property
    def line(self) -> int:
        """Line in the assembly file."""
        return self.instruction.line

    def unsupported(self, what: str) -> Unsupported:
        """The error to raise for a part of this instruction that is not implemented."""
        return Unsupported(f"{self.instruction.mnemonic} ({what})", self.line)

    def flag(self, name: str) -> bool:
        """Uses a flag modifier."""
        return self.modifiers.pop(name, "absent") != "absent"

    def number(self, name: str, default: int = 0) -> int:
        """Uses a modifier with a number."""
        value = self.modifiers.pop(name, None)
        return default if value is None else int(value, 0)

    def bits(self, name: str, default: tuple[int, ...]) -> tuple[int, ...]:
        """Uses a modifier with a list of numbers: op_sel:[0,1,0]."""
        value = self.modifiers.pop(name, None)
        if value is None:
            return default
        found = tuple(int(x, 0) for x in value.strip("[]").split(","))
        return found + default[len(found) :]

    def vector(self, i: int) -> int:
        """The first register of operand i, which must be a vector register."""
        if i >= len(self.operands) or self.operands[i].kind is not Kind.VGPR:
            raise self.unsupported(f"operand {i + 1} is not a vector register")
        return self.operands[i].index

    def scalar(self, i: int) -> int:
        """The first slot of operand i, which must be a scalar register."""
        if i >= len(self.operands) or self.operands[i].kind is not Kind.SGPR:
            raise self.unsupported(f"operand {i + 1} is not a scalar register")
        return self.operands[i].index


Build = Callable[[Decode], Run]


@dataclass(frozen=True, slots=True)
class Rule:
    """What an instruction does.

    `section` cites AMD's document. `group` is the class that counts use. `outputs` is how many leading operands are
    written. `shadow` says how undefined bits travel: bit by bit, upwards
    as carries do, any taints all, or not at all (the rule does it).
    `reads_output`: the old value of the destination is an input. `sinks`: operands whose undefined bits are a fault.
    `implicit_reads` and `implicit_writes` are scalar slots that the text does not show.
    """

    section: str
    group: str
    build: Build
    outputs: int = 1
    shadow: Shadow = "any"
    reads_output: bool = False
    sinks: tuple[int, ...] = ()
    implicit_reads: tuple[int, ...] = ()
    implicit_writes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A decoded instruction. `reads`, `writes` and `sinks` are ids of registers."""

    run: Run
    after: Run | None
    line: int
    mnemonic: str
    group: str
    reads: frozenset[int]
    writes: frozenset[int]
    sinks: frozenset[int]
    shadow: Shadow
    touched: frozenset[int]
    inputs: tuple[tuple[int, ...], ...] = ()  # registers of each source, lowest word first
    flight: tuple[str, str] | None = None  # counter and source of a load that it starts


def registers(operands: list[Operand]) -> frozenset[int]:
    """Ids of all registers of some operands."""
    return frozenset().union(*(o.registers for o in operands)) if operands else frozenset()


def slots(numbers: tuple[int, ...]) -> frozenset[int]:
    """Ids of scalar slots."""
    return frozenset(SGPR_ID + n for n in numbers)


# --- Sources and results of vector instructions ----------------------------------------------------------------------

_NUMPY: Mapping[str, type[np.generic]] = {
    "u32": np.uint32, "i32": np.int32, "f32": np.float32, "u16": np.uint16, "i16": np.int16, "f16": np.float16,
    "u64": np.uint64, "i64": np.int64, "f64": np.float64,
}  # fmt: skip
_FLOATS = ("f16", "f32", "f64")
_SIGN: Mapping[int, int] = {2: 0x8000, 4: 0x8000_0000, 8: 0x8000_0000_0000_0000}


def source(d: Decode, operand: Operand, dtype: str) -> Getter:
    """A function that fetches an operand as an array of `dtype` that broadcasts to [wave, lane].

    `dtype` "mask" gives a lane mask as bool. Absolute value and negation are applied to the sign bit (CDNA3 ISA guide,
    "Input modifiers").
    """
    if dtype == "mask":
        slot = operand.index
        if operand.kind is Kind.CONST:
            constant = np.full((1, 1), bool(operand.value))
            return lambda _: constant
        if operand.kind is not Kind.SGPR:
            raise d.unsupported(f"lane mask '{operand.text}'")
        return lambda g: g.read_mask(slot)
    raw = _raw(d, operand, dtype)
    if not (operand.neg or operand.absolute):
        return raw
    kind = np.dtype(_NUMPY[dtype])
    sign = np.dtype(f"u{kind.itemsize}").type(_SIGN[kind.itemsize])
    absolute, neg, unsigned = operand.absolute, operand.neg, f"u{kind.itemsize}"

    def modified(g: Waves) -> Array:
        bits = raw(g).view(unsigned)
        if absolute:
            bits = bits & ~sign
        if neg:
            bits = bits ^ sign
        return bits.view(kind)

    return modified


def _raw(d: Decode, operand: Operand, dtype: str) -> Getter:  # noqa: PLR0911 - one return a kind of operand
    kind = np.dtype(_NUMPY[dtype])
    i, half = operand.index, operand.half
    match operand.kind:
        case Kind.CONST | Kind.FLOAT:
            return constant(constant_bits(operand, dtype), kind)
        case Kind.VGPR:
            return _vector_source(i, kind, half)
        case Kind.SGPR:
            if kind.itemsize == 8:
                if operand.count == 1:  # a 32-bit register is sign- or zero-extended nowhere: the text names a pair
                    raise d.unsupported(f"64-bit operand '{operand.text}'")
                if i % 2:
                    raise d.unsupported(f"odd pair '{operand.text}'")
                return lambda g: g.su64[i // 2][:, None].view(kind)
            if kind.itemsize == 2:
                shift = np.uint32(16 if half else 0)
                return lambda g: (g.column[i] >> shift).astype(np.uint16).view(kind)
            if dtype == "u32":
                return lambda g: g.column[i]
            return lambda g: g.column[i].view(kind)
        case Kind.SCC:
            return lambda g: g.scc[:, None].astype(kind)
        case _:
            raise d.unsupported(f"operand '{operand.text}'")


def _vector_source(i: int, kind: np.dtype[Any], half: bool) -> Getter:
    if kind == np.uint32:
        return lambda g: g.vu[i]
    if kind == np.float32:
        return lambda g: g.vf[i]
    if kind == np.int32:
        return lambda g: g.vi[i]
    if kind.itemsize == 2:
        part = int(half)
        return lambda g: g.v16[part][i].view(kind)
    return lambda g: g.pair(i).view(kind)


def constant(bits: int, kind: np.dtype[Any]) -> Getter:
    """A constant of [1, 1]."""
    mask = (1 << (8 * kind.itemsize)) - 1
    value = np.full((1, 1), bits & mask, f"u{kind.itemsize}").view(kind)
    return lambda _: value


def result(d: Decode, operand: Operand, dtype: str, keep_high: bool = False) -> Callable[[Waves, Array], None]:
    """A function that stores an array of `dtype` in a vector register in the active lanes."""
    if operand.kind is not Kind.VGPR:
        raise d.unsupported(f"destination '{operand.text}'")
    i = operand.index
    if dtype == "f32":
        return lambda g, value: g.put_float(i, value)
    if dtype in ("u32", "i32"):
        return lambda g, value: g.put(i, value.view(np.uint32))
    if dtype in ("u64", "i64", "f64"):
        return lambda g, value: g.put_pair(i, value.view(np.uint64))
    half = operand.half
    if half or keep_high or not d.mode.zeroes_high:
        part = int(half)

        def merge(g: Waves, value: Array) -> None:
            np.copyto(g.v16[part][i], value.view(np.uint16), where=g.exec_mask)

        return merge
    return lambda g, value: g.put(i, value.view(np.uint16).astype(np.uint32))


# --- Rules of vector instructions that work lane by lane --------------------------------------------------------------

Function = Callable[..., Any]


def elementwise(
    fn: Function,
    types: str,
    section: str,
    group: str = "vector int",
    *,
    shadow: Shadow = "any",
    accumulate: bool = False,
    keep_high: bool = False,
) -> Rule:
    """A rule for `fn`. `types` is "result: source source": "f32: f32 f32".

    `accumulate`: the destination is the last source as well (v_fmac). `keep_high`: a 16-bit result leaves the upper
    half of its register alone on every target.
    """
    out, _, ins = types.partition(":")
    kinds = tuple(ins.split())

    def build(d: Decode) -> Run:
        operands = list(d.operands)
        if accumulate:
            operands.append(operands[0])
        if len(operands) != len(kinds) + 1:
            raise d.unsupported(f"{len(operands)} operands")
        _select_halves(d, operands, (out, *kinds))
        finish = _finish(d, out)
        getters = [source(d, o, k) for o, k in zip(operands[1:], kinds, strict=True)]
        if isinstance(fn, np.ufunc) and finish is None and out in ("u32", "f32", "i32"):
            return _ufunc(fn, out, d.vector(0), getters)
        store = result(d, operands[0], out, keep_high)
        if finish is not None:
            inner = fn
            return _lanewise(lambda *a: finish(inner(*a)), getters, store)
        return _lanewise(fn, getters, store)

    return Rule(section, group, build, shadow=shadow, reads_output=accumulate)


def _lanewise(fn: Function, getters: list[Getter], store: Callable[[Waves, Array], None]) -> Run:
    if len(getters) == 1:
        (a,) = getters
        return lambda g: store(g, fn(a(g)))
    if len(getters) == 2:
        a, b = getters
        return lambda g: store(g, fn(a(g), b(g)))
    if len(getters) == 3:
        a, b, c = getters
        return lambda g: store(g, fn(a(g), b(g), c(g)))
    return lambda g: store(g, fn(*(get(g) for get in getters)))


def _ufunc(fn: np.ufunc, out: str, i: int, getters: list[Getter]) -> Run:
    """NumPy writes straight into the register: the common case, and twice as fast."""
    views = {"u32": "vu", "i32": "vi", "f32": "vf"}[out]
    if len(getters) == 1:
        (a,) = getters

        def one(g: Waves) -> None:
            if g.full:
                fn(a(g), out=getattr(g, views)[i])
            else:
                fn(a(g), out=getattr(g, views)[i], where=g.exec_mask)

        return one
    a, b = getters

    def two(g: Waves) -> None:
        if g.full:
            fn(a(g), b(g), out=getattr(g, views)[i])
        else:
            fn(a(g), b(g), out=getattr(g, views)[i], where=g.exec_mask)

    return two


def _select_halves(d: Decode, operands: list[Operand], kinds: tuple[str, ...]) -> None:
    """Applies op_sel of 16-bit VOP3 instructions: which half each source is, and the last bit for the result."""
    import dataclasses

    chosen = d.bits("op_sel", (0, 0, 0, 0))
    if not any(chosen):
        return
    given = len(d.operands)
    for n in range(1, given):
        if chosen[n - 1] and kinds[n] in ("u16", "i16", "f16"):
            operands[n] = dataclasses.replace(operands[n], half=True)
    if chosen[given - 1] and kinds[0] in ("u16", "i16", "f16"):
        operands[0] = dataclasses.replace(operands[0], half=True)


_SCALES: Mapping[tuple[str, str | None], float] = {("mul", "2"): 2.0, ("mul", "4"): 4.0, ("div", "2"): 0.5}


def _finish(d: Decode, dtype: str) -> Function | None:
    """Output modifiers (CDNA3 ISA guide, "Output modifiers"): scale, then clamp to 0..1 (NaN becomes 0: DX10_CLAMP)."""
    scale = 1.0
    for key in ("mul", "div"):
        if key in d.modifiers:
            scale = _SCALES[(key, d.modifiers.pop(key))]
    clamp = d.flag("clamp")
    if scale == 1.0 and not clamp:
        return None
    if dtype not in _FLOATS:
        raise d.unsupported("clamp of an integer")
    kind = _NUMPY[dtype]

    def finish(value: Array) -> Array:
        scaled: Array = value * kind(scale)
        if clamp:
            scaled = np.where(np.isnan(scaled), kind(0), np.clip(scaled, kind(0), kind(1)))
        return scaled

    return finish
