"""What a tuning spec would do: its entries, in the order in which they are tried."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ireebench.compiler.configured import Lowering, Op, Translation, parse_entries

# Matchers that this reader understands; with any other, it can't tell whether an op would have matched.
_NAME, _OPERAND, _TYPE = (
    "transform.match.operation_name",
    "transform.get_operand",
    "transform.iree.match.cast_compatible_type",
)
_NEUTRAL = ("transform.param.constant", "transform.yield", _OPERAND)


@dataclass(frozen=True, slots=True)
class Given:
    """A configuration that a spec gives, or that a dump shows."""

    lowering: Lowering
    translation: Translation

    @property
    def plain(self) -> Mapping[str, object]:
        """By name, for comparing: by value, whatever the order and spacing of the text."""
        t = self.translation
        options = parse_entries((t.options or "{}")[1:-1])
        named = {"pipeline": t.pipeline, "workgroup size": t.workgroup_size, "subgroup size": t.subgroup_size}
        return {**named, **options, **self.lowering.entries}

    def differs_from(self, wanted: Given) -> list[str]:
        """What `wanted` asks for and this has otherwise."""
        mine, other = self.plain, wanted.plain
        return [
            f"{name} {_short(other.get(name))} asked, {_short(mine.get(name))} used"
            for name in dict.fromkeys((*other, *mine))
            if mine.get(name) != other.get(name)
        ]

    def __str__(self) -> str:
        t = self.translation
        size = f" [{','.join(map(str, t.workgroup_size))}]" if t.workgroup_size else ""
        told = (
            ("subgroups", self.lowering.counts("subgroup_basis")),
            ("tile", self.lowering.ints("partial_reduction")),
        )
        return f"{t.pipeline}{size}" + "".join(f", {name} {list(v)}" for name, v in told if v)


def _short(value: object) -> str:
    return "none" if value is None else str(list(value) if isinstance(value, tuple) else value)


@dataclass(frozen=True, slots=True)
class SpecEntry:
    """One pair of a foreach_match. `ops` are the op names that it matches (empty: any), `types` what operands must be.

    `opaque`: it has matchers that this reader does not understand. `given` is None where it gives no configuration.
    """

    name: str
    ops: tuple[str, ...]
    types: tuple[tuple[int, str], ...]
    opaque: bool
    given: Given | None

    def may_match(self, op: Op) -> bool:
        """Whether nothing that is understood speaks against it."""
        if self.ops and op.name not in self.ops:
            return False
        return all(i < len(op.operands) and castable(op.operands[i], wanted) for i, wanted in self.types)

    @property
    def about(self) -> str:
        """What it matches, for a person."""
        types = ", ".join(t for _, t in self.types)
        return f"@{self.name} ({' or '.join(self.ops) or 'any op'}{f' on {types}' if types else ''})"


def castable(actual: str, wanted: str) -> bool:
    """Whether a tensor type is one that `wanted` allows: equal, or with `?` in `wanted` where a size is."""
    pattern = re.escape(wanted.replace(" ", "")).replace(r"\?", r"(?:\d+|\?)")
    return re.fullmatch(pattern, actual.replace(" ", "")) is not None


def read_entries(spec: str) -> tuple[SpecEntry, ...]:
    """The entries of a spec that parses. Raises ValueError where it does not."""
    from iree.compiler import ir

    with ir.Context(), ir.Location.unknown():
        try:
            module = ir.Module.parse(spec)
        except ir.MLIRError as e:
            raise ValueError(" ".join(str(e).split())) from e
        sequences: dict[str, Any] = {}
        pairs: list[str] = []

        def look(op: Any) -> Any:
            if op.name == "transform.named_sequence":
                sequences[ir.StringAttr(op.attributes["sym_name"]).value] = op
            if op.name == "transform.foreach_match":
                pairs.extend(ir.FlatSymbolRefAttr(m).value for m in op.attributes["matchers"])
            return ir.WalkResult.ADVANCE

        module.operation.walk(look)
        return tuple(_entry(name, sequences[name]) for name in pairs if name in sequences)


def _entry(name: str, sequence: Any) -> SpecEntry:
    from iree.compiler import ir

    ops: list[str] = []
    types: list[tuple[int, str]] = []
    given: Given | None = None
    opaque = False
    for view in sequence.regions[0].blocks[0].operations:
        op = view.operation
        if op.name == _NAME:
            ops += [ir.StringAttr(a).value for a in op.attributes["op_names"]]
        elif op.name == _TYPE:
            position = _operand_position(op.operands[0])
            opaque |= position is None
            if position is not None:
                types.append((position, str(ir.TypeAttr(op.attributes["target_type"]).value)))
        elif op.name == "transform.param.constant":
            given = given or _given(op.attributes["value"])
        elif op.name not in _NEUTRAL:
            opaque = True
    return SpecEntry(name, tuple(ops), tuple(types), opaque, given)


def _operand_position(value: Any) -> int | None:
    """Which operand of the matched op a value is: get_operand of one fixed position."""
    owner = value.owner
    if getattr(owner, "name", None) != _OPERAND:
        return None
    positions = list(owner.attributes["raw_position_list"])
    plain = "is_all" not in owner.attributes and "is_inverted" not in owner.attributes
    return int(positions[0]) if plain and len(positions) == 1 else None


def _given(attribute: Any) -> Given | None:
    from iree.compiler.dialects import iree_codegen

    if not iree_codegen.CompilationInfoAttr.isinstance(attribute):
        return None
    info = iree_codegen.CompilationInfoAttr(attribute)
    lowering, translation = Lowering.find(str(info.lowering_config)), Translation.find(str(info.translation_info))
    return Given(lowering, translation) if lowering and translation else None
