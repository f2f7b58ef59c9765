"""Reads `configured_*.mlir`: the configuration that the compiler really used for a dispatch.

The compiler prints these files itself, in its own canonical form, so a small reader of text is enough: it knows
brackets and names, and nothing of the ops around them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

_OPEN, _CLOSE = "([{<", ")]}>"
_OP_START = re.compile(r"^\s*(?:%[\w:]+(?:, %[\w:]+)* = )?\"?([a-z_]\w*\.[\w.]+)\"?", re.MULTILINE)
_TENSOR = re.compile(r"tensor<((?:[\d?]+x)*)([a-z]\w*)")
_FUNC = re.compile(r"func\.func (?:public |private )?@([\w$.-]+)\(")


def balanced(text: str, start: int) -> str:
    """The text from the bracket at `start` to its partner, both included; the rest of the text if it has none.

    `->` is no bracket.
    """
    depth = 0
    for i in range(start, len(text)):
        c = text[i]
        if c in _OPEN:
            depth += 1
        elif c in _CLOSE and text[i - 1 : i + 1] != "->":
            depth -= 1
            if depth == 0:
                return text[start : i + 1]
    return text[start:]


def split_top(text: str) -> Iterator[str]:
    """The parts of `text` between commas that are outside all brackets."""
    depth, begin = 0, 0
    for i, c in enumerate(text):
        if c in _OPEN:
            depth += 1
        elif c in _CLOSE and text[i - 1 : i + 1] != "->":
            depth -= 1
        elif c == "," and depth == 0:
            yield text[begin:i].strip()
            begin = i + 1
    if text[begin:].strip():
        yield text[begin:].strip()


def parse_entries(text: str) -> dict[str, Any]:
    """`a = [1, [2]], b = x` as {"a": [1, [2]], "b": "x"}: integers and lists of them as such, all else as text."""
    entries: dict[str, Any] = {}
    for part in split_top(text):
        name, _, value = (s.strip() for s in part.partition("="))
        try:
            entries[name] = json.loads(value.removesuffix(": i64").strip())
        except json.JSONDecodeError:
            entries[name] = value
    return entries


@dataclass(frozen=True, slots=True)
class Lowering:
    """A lowering configuration: `dialect` ("iree_gpu", "iree_cpu") and its entries by name."""

    dialect: str
    entries: Mapping[str, Any]

    @classmethod
    def find(cls, text: str, start: int = 0) -> Lowering | None:
        """The first `#<dialect>.lowering_config<...>` from `start` on, or None."""
        match = re.compile(r"#(\w+)\.lowering_config<").search(text, start)
        if match is None:
            return None
        inner = balanced(text, match.end() - 1)[1:-1].strip()
        if inner.startswith("{"):
            inner = inner[1:-1]
        return cls(match[1], MappingProxyType(parse_entries(inner)))

    def ints(self, name: str) -> tuple[int, ...] | None:
        """A list of integers by name, or None."""
        value = self.entries.get(name)
        return tuple(value) if isinstance(value, list) and all(isinstance(v, int) for v in value) else None

    def counts(self, name: str) -> tuple[int, ...] | None:
        """The counts of a basis ([[counts], [order]]), or None."""
        value = self.entries.get(name)
        return tuple(value[0]) if isinstance(value, list) and value and isinstance(value[0], list) else None

    def tile(self, name: str) -> int | None:
        """The product of a tile's sizes, 0 meaning "not tiled" left out; None when nothing is tiled."""
        sizes = [v for v in self.ints(name) or () if v]
        return math.prod(sizes) if sizes else None


@dataclass(frozen=True, slots=True)
class Translation:
    """A translation info: `pipeline` ("VectorDistribute"), sizes in threads, and the rest of it as text."""

    pipeline: str | None
    workgroup_size: tuple[int, int, int] | None
    subgroup_size: int | None
    options: str | None

    @classmethod
    def find(cls, text: str, start: int = 0) -> Translation | None:
        """The first `#iree_codegen.translation_info<...>` from `start` on, or None."""
        at = text.find("#iree_codegen.translation_info<", start)
        if at < 0:
            return None
        inner = balanced(text, text.index("<", at))[1:-1]
        pipeline = re.search(r"pipeline = (?:#\w+\.pipeline<(\w+)>|(\w+))", inner)
        size = re.search(r"workgroup_size = \[([\d, ]+)\]", inner)
        subgroup = re.search(r"subgroup_size = (\d+)", inner)
        options = inner.find("{")
        sizes = [int(v) for v in size[1].split(",")] if size else []
        return cls(
            pipeline=(pipeline[1] or pipeline[2]) if pipeline else None,
            workgroup_size=(*sizes, 1, 1)[:3] if sizes else None,  # type: ignore[arg-type]
            subgroup_size=int(subgroup[1]) if subgroup else None,
            options=" ".join(balanced(inner, options).split()) if options >= 0 else None,
        )


@dataclass(frozen=True, slots=True)
class Op:
    """An op and its configuration, if it has one.

    `operands` are the types that it reads; `input_shape` is the first one's (None in place of a dynamic size).
    `iterators` are the loops ("parallel", "reduction"); `loops` says which loop walks each input dimension, where the
    op tells.
    """

    name: str
    lowering: Lowering | None
    operands: tuple[str, ...]
    input_shape: tuple[int | None, ...]
    element_type: str
    iterators: tuple[str, ...]
    loops: tuple[int, ...] | None
    ukernel: str | None

    @property
    def reduces(self) -> bool:
        """Whether any loop is a reduction."""
        return "reduction" in self.iterators

    @property
    def reduction(self) -> int | None:
        """Elements that one reduction goes over; None for a dynamic size or where the op does not tell."""
        if not self.reduces or self.loops is None or len(self.loops) != len(self.input_shape):
            return None
        sizes = [n for n, loop in zip(self.input_shape, self.loops, strict=True) if self.iterators[loop] == "reduction"]
        return math.prod(n for n in sizes if n is not None) if None not in sizes else None


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One dispatch as configured. `root` is the op that its configuration is about, if any carries one."""

    symbol: str
    translation: Translation | None
    root: Op | None
    workgroup_count: tuple[int, int, int] | None


def _iterators(name: str, text: str, rank: int) -> tuple[str, ...]:
    declared = re.search(r"iterator_types = \[([^\]]*)\]", text)
    if declared:
        return tuple(s.strip().strip('"') for s in declared[1].split(",") if s.strip())
    dimension = re.search(r"dimension\((\d+)\)", text)
    if dimension:
        return tuple("reduction" if i == int(dimension[1]) else "parallel" for i in range(rank))
    if name in ("linalg.matvec", "linalg.vecmat", "linalg.dot", "linalg.matmul"):
        return ("parallel",) * (0 if name == "linalg.dot" else 1 if rank == 2 else rank - 1) + ("reduction",)
    return ("parallel",) * rank


def _loops(text: str, rank: int) -> tuple[int, ...] | None:
    """Which loop walks each dimension of the first operand; None where its map is more than a permutation."""
    affine = re.search(r"indexing_maps = \[affine_map<\(.*?\) -> \((.*?)\)>", text)
    if affine is None:
        return tuple(range(rank))
    names = [n.strip() for n in affine[1].split(",") if n.strip()]
    return tuple(int(n[1:]) for n in names) if all(re.fullmatch(r"d\d+", n) for n in names) else None


def _ops(text: str) -> Iterator[Op]:
    """The ops that read tensors: those that can carry a configuration."""
    starts = [(m.start(), m[1]) for m in _OP_START.finditer(text)]
    for begin, name in starts:
        end = next((s for s, _ in starts if s > begin), len(text))
        op = text[begin:end]
        operands = op.find("ins(")
        if operands < 0:
            continue
        types = tuple(split_top(balanced(op, operands + 3)[1:-1].partition(":")[2]))
        tensor = _TENSOR.match(types[0]) if types else None
        where = op.find("lowering_config = #")
        lowering = Lowering.find(op, where) if where >= 0 else None
        if tensor is None and lowering is None:
            continue
        shape = tuple(None if d == "?" else int(d) for d in tensor[1].split("x") if d) if tensor else ()
        ukernel = re.search(r"ukernel_descriptor<\"(\w+)\"", op)
        yield Op(
            name=name,
            lowering=lowering,
            operands=types,
            input_shape=shape,
            element_type=tensor[2] if tensor else types[0],
            iterators=_iterators(name, op, len(shape)),
            loops=_loops(op, len(shape)),
            ukernel=ukernel[1] if ukernel else None,
        )


def _root(ops: list[Op]) -> Op | None:
    """The op that a configuration is about: of those that carry one, else of all, the last reduction, else the last.

    Fills and element-wise neighbours of a reduction get a configuration too.
    """
    carriers = [op for op in ops if op.lowering is not None] or [op for op in ops if op.name != "linalg.fill"]
    return next((op for op in reversed(carriers) if op.reduces), carriers[-1] if carriers else None)


def _workgroup_count(text: str) -> tuple[int, int, int] | None:
    """The grid, where the export's count region is all constants."""
    export = re.search(r"hal\.executable\.export .*?\n(.*?)hal\.return (.*?) :", text, re.DOTALL)
    if export is None:
        return None
    constants = dict(re.findall(r"(%\w+) = arith\.constant (\d+) : index", export[1]))
    values = [constants.get(v.strip()) for v in export[2].split(",")]
    if len(values) != 3 or None in values:
        return None
    x, y, z = (int(v) for v in values if v is not None)
    return x, y, z


def read_dispatch(text: str) -> Dispatch | None:
    """A dispatch from the text of its `configured_*.mlir`, or of its source; None where there is no function in it."""
    function = _FUNC.search(text)
    if function is None:
        return None
    return Dispatch(
        symbol=function[1],
        translation=Translation.find(text, function.end()),
        root=_root(list(_ops(text[function.start() :]))),
        workgroup_count=_workgroup_count(text),
    )
