"""Variants (pipelines to compare) and forms (shapes of IR that carry them), as tables."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from ireebench.errors import UnknownNameError
from ireebench.problems.problem import Op
from ireebench.targets import Backend

Comparator = Literal["ballot", "shuffle"]

ARGCOMPARE: tuple[Op, ...] = ("argmax", "argmin")
GEMV: tuple[Op, ...] = ("gemv",)


class Ship(StrEnum):
    """How a user gets a result into their own build, from the easiest to the hardest."""

    SPEC = "spec"  # a tuning spec is enough
    SPEC_FLAGS = "spec+flags"  # a spec and compiler flags
    FLAGS = "flags"  # compiler flags alone
    IR_REWRITE = "ir_rewrite"  # needs a form of IR that no model emits
    NONE = "none"

    @property
    def ships(self) -> bool:
        """Whether a user can have it without rewriting IR."""
        return self in (Ship.SPEC, Ship.SPEC_FLAGS, Ship.FLAGS)


@dataclass(frozen=True, slots=True)
class Form:
    """A shape of IR. `template` names the file in `mlir/`; `stages` counts the dispatches that it becomes."""

    name: str
    template: str
    stages: int
    ship: Ship
    summary: str
    ops: tuple[Op, ...] = ARGCOMPARE


FORMS: dict[str, Form] = {
    f.name: f
    for f in (
        Form("native", "native.mlir.j2", 1, Ship.SPEC, "the op as a model emits it, rank as given"),
        Form(
            "split_attr", "split_attr.mlir.j2", 2, Ship.SPEC_FLAGS, "the op with IREE's own split-reduction attribute"
        ),
        Form("collapse", "collapse.mlir.j2", 1, Ship.IR_REWRITE, "1xN collapsed to rank 1"),
        Form("rows", "rows.mlir.j2", 1, Ship.IR_REWRITE, "one workgroup a row around a rank-1 op"),
        Form(
            "two_stage", "two_stage.mlir.j2", 2, Ship.IR_REWRITE, "explicit split: partial winners, then their winner"
        ),
        Form("inner_pad", "inner_pad.mlir.j2", 1, Ship.IR_REWRITE, "rows or two stages, padded inside the dispatch"),
        Form("two_pass", "two_pass.mlir.j2", 4, Ship.IR_REWRITE, "each chunk's extremum as an integer, then its place"),
        Form("generic", "generic.mlir.j2", 1, Ship.FLAGS, "linalg.generic with a compare-and-select body"),
        Form("matvec", "matvec.mlir.j2", 1, Ship.SPEC, "linalg.matvec, vecmat or batched generic", GEMV),
        Form("matvec_split", "matvec_split.mlir.j2", 2, Ship.IR_REWRITE, "partial sums of K, then their sum", GEMV),
        Form("dequant", "dequant_matvec.mlir.j2", 1, Ship.SPEC, "dequantise, then reduce: fused by IREE", GEMV),
        Form(
            "dequant_words",
            "dequant_words.mlir.j2",
            1,
            Ship.IR_REWRITE,
            "4-bit weights unpacked from 32-bit words in place, in one dispatch",
            GEMV,
        ),
        Form(
            "dequant_pairs",
            "dequant_pairs.mlir.j2",
            1,
            Ship.IR_REWRITE,
            "4-bit weights looked up a byte at a time in the workgroup's memory, scaled a block at a time",
            GEMV,
        ),
        Form(
            "dequant_sums",
            "dequant_sums.mlir.j2",
            1,
            Ship.IR_REWRITE,
            "4-bit codes summed as they lie in their words, offset and scaled a block at a time",
            GEMV,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Variant:
    """A pipeline to compare.

    `forms` are tried in this order; `split` means two kernels; `tuned` means that it takes a configuration; `ops` and
    `backends` say where it makes sense at all.
    """

    name: str
    forms: tuple[str, ...]
    split: bool
    comparator: Comparator
    tuned: bool
    summary: str
    ops: tuple[Op, ...] = ARGCOMPARE
    backends: tuple[Backend, ...] = ("hip", "cuda", "cpu")

    def serves(self, op: str, backend: Backend) -> bool:
        """Whether a sweep of `op` on `backend` should try it without being asked for it by name."""
        return op in self.ops and backend in self.backends

    def forms_of(self, op: str) -> tuple[str, ...]:
        """Its forms that carry `op`, in the order of trial."""
        return tuple(name for name in self.forms if op in FORMS[name].ops)


_ROW_FORMS = ("native", "collapse", "rows", "inner_pad")
_SPLIT_FORMS = ("split_attr", "two_stage", "inner_pad")

VARIANTS: dict[str, Variant] = {
    v.name: v
    for v in (
        Variant(
            "default",
            ("native", "split_attr", "generic", "matvec", "dequant"),
            False,
            "ballot",
            False,
            "stock IREE, no help at all",
            ARGCOMPARE + GEMV,
        ),
        Variant(
            "vd",
            (*_ROW_FORMS, "matvec", "dequant"),
            False,
            "ballot",
            True,
            "VectorDistribute, one kernel",
            ARGCOMPARE + GEMV,
        ),
        Variant(
            "vd_split",
            (*_SPLIT_FORMS, "matvec_split"),
            True,
            "ballot",
            True,
            "VectorDistribute, split reduction",
            ARGCOMPARE + GEMV,
        ),
        Variant("vd_words", ("dequant_words",), False, "ballot", True, "vd on 4-bit weights read as words", GEMV),
        Variant(
            "vd_pairs",
            ("dequant_pairs",),
            False,
            "ballot",
            True,
            "vd on 4-bit weights looked up in pairs",
            GEMV,
            ("hip", "cuda"),
        ),
        Variant(
            "vd_sums",
            ("dequant_sums",),
            False,
            "ballot",
            True,
            "vd on sums of unscaled 4-bit codes",
            GEMV,
            ("hip", "cuda"),
        ),
        Variant("vd_shuffle", _ROW_FORMS, False, "shuffle", True, "vd with no DPP or ballot"),
        Variant("vd_split_shuffle", _SPLIT_FORMS, True, "shuffle", True, "vd_split with no DPP or ballot"),
        Variant(
            "ukernel",
            ("generic",),
            False,
            "ballot",
            False,
            "IREE's hand-written argmax micro-kernel",
            ("argmax",),
            ("hip",),
        ),
        Variant("generic", ("generic",), False, "ballot", True, "linalg.generic, no micro-kernel"),
        Variant(
            "two_pass",
            ("two_pass",),
            False,
            "ballot",
            True,
            "two passes that a CPU vectorises",
            ARGCOMPARE,
            ("cpu",),
        ),
    )
}


def find_variant(name: str) -> Variant:
    """The variant called `name`; raises UnknownNameError with the nearest ones."""
    try:
        return VARIANTS[name]
    except KeyError:
        raise UnknownNameError("variant", name, VARIANTS) from None
