"""Variants (pipelines to compare) and forms (shapes of IR that carry them), as tables."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from ireebench.errors import UnknownNameError

Comparator = Literal["ballot", "shuffle"]


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
        Form(
            "two_pass",
            "two_pass.mlir.j2",
            4,
            Ship.IR_REWRITE,
            "each chunk's extremum as ordered integers, then its place: vectorises on CPUs",
        ),
        Form("generic", "generic.mlir.j2", 1, Ship.FLAGS, "linalg.generic with a compare-and-select body"),
    )
}


def ship_of(form: Form, backend: str, configured: bool) -> Ship:
    """How a user gets what `form` gave on a backend.

    IREE 3.13 silently ignores tuning specs on cuda, so a configuration reaches the op there by an attribute alone: an
    IR rewrite. What the compiler chose by itself needs no spec anywhere.
    """
    if not configured and form.ship in (Ship.SPEC, Ship.SPEC_FLAGS):
        return Ship.FLAGS
    if backend == "cuda" and form.ship in (Ship.SPEC, Ship.SPEC_FLAGS):
        return Ship.IR_REWRITE
    return form.ship


@dataclass(frozen=True, slots=True)
class Variant:
    """A pipeline to compare.

    `forms` are tried in this order; `split` means two kernels; `tuned` means that it takes a configuration.
    """

    name: str
    forms: tuple[str, ...]
    split: bool
    comparator: Comparator
    tuned: bool
    summary: str


VARIANTS: dict[str, Variant] = {
    v.name: v
    for v in (
        Variant("default", ("native", "split_attr", "generic"), False, "ballot", False, "stock IREE, no help at all"),
        Variant(
            "vd", ("native", "collapse", "rows", "inner_pad"), False, "ballot", True, "VectorDistribute, one kernel"
        ),
        Variant(
            "vd_split",
            ("split_attr", "two_stage", "inner_pad"),
            True,
            "ballot",
            True,
            "VectorDistribute, split reduction",
        ),
        Variant(
            "vd_shuffle",
            ("native", "collapse", "rows", "inner_pad"),
            False,
            "shuffle",
            True,
            "vd with no DPP or ballot",
        ),
        Variant(
            "vd_split_shuffle",
            ("split_attr", "two_stage", "inner_pad"),
            True,
            "shuffle",
            True,
            "vd_split with no DPP or ballot",
        ),
        Variant("ukernel", ("generic",), False, "ballot", False, "IREE's hand-written argmax micro-kernel"),
        Variant("generic", ("generic",), False, "ballot", True, "linalg.generic, no micro-kernel"),
        Variant("two_pass", ("two_pass",), False, "ballot", True, "vectorised on CPUs: extremum, then its place"),
    )
}


def find_variant(name: str) -> Variant:
    """The variant called `name`; raises UnknownNameError with the nearest ones."""
    try:
        return VARIANTS[name]
    except KeyError:
        raise UnknownNameError("variant", name, VARIANTS) from None
