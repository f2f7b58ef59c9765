"""Layouts: how each dispatch of a candidate is spread over workgroups, subgroups, lanes and loads."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ireebench.candidate import Candidate
from ireebench.ir.program import StageConfig
from ireebench.space.geometry import lanes_used, stage_shapes
from ireebench.variants import Ship


@dataclass(frozen=True, slots=True)
class Layout:
    """The configuration of one dispatch for the VectorDistribute pipeline, one entry a loop dimension.

    `op` is the root op's name and `operand` the type of its first operand (what a tuning spec matches). `workgroup`
    tiles parallel dimensions, `partial_reduction` the reduced ones, `thread` counts the elements that a lane loads at
    once; the bases say how subgroups and lanes are spread over the dimensions. `waves_per_eu` is a hint, or None.
    """

    op: str
    operand: str
    input_shape: tuple[int, ...]
    workgroup: tuple[int, ...]
    partial_reduction: tuple[int, ...]
    thread: tuple[int, ...]
    subgroup_basis: tuple[int, ...]
    lane_basis: tuple[int, ...]
    subgroup_size: int
    waves_per_eu: int | None

    @property
    def subgroups(self) -> int:
        """Subgroups of a workgroup."""
        return math.prod(self.subgroup_basis)

    @property
    def threads(self) -> int:
        """Threads of a workgroup; idle lanes count."""
        return self.subgroups * self.subgroup_size

    @property
    def asked(self) -> StageConfig:
        """What the compiler's dumps must show if this layout was applied."""
        return StageConfig(
            input_shape=self.input_shape,
            workgroup_threads=self.threads,
            subgroup_size=self.subgroup_size,
            subgroups=self.subgroups,
            partial_reduction=math.prod(n for n in self.partial_reduction if n),
            thread_loads=math.prod(n for n in self.thread if n),
        )


def tensor_type(shape: tuple[int, ...], element: str) -> str:
    """MLIR's spelling: tensor<32x128xbf16>, tensor<bf16> for rank 0."""
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


def _outer(candidate: Candidate) -> tuple[int, ...]:
    """Leading dimensions that the configured op itself has: the problem's, unless the form peels them off."""
    return candidate.problem.shape[:-1] if candidate.form.name in ("native", "split_attr") else ()


def argcompare_layouts(candidate: Candidate) -> tuple[Layout, ...]:
    """Layouts of a configured argmax or argmin, one a dispatch; empty where the compiler chooses.

    A rank-1 op spreads subgroups over the reduction; an op with rows spreads them over the last dimension of rows
    (reference: iree-org/iree distributes a reduction of rank 2 over one subgroup only, up to 3.13).
    """
    if candidate.config.is_default or candidate.target.backend == "cpu" or not candidate.variant.tuned:
        return ()
    if candidate.form.ship is Ship.FLAGS:  # its knobs are flags: no dispatch carries a configuration
        return ()
    outer = _outer(candidate)
    size = candidate.target.subgroup_size
    zeros = (0,) * len(outer)
    ones = (1,) * len(outer)
    layouts = []
    for stage in stage_shapes(candidate):
        rows = (*ones[:-1], stage.rows_per_workgroup) if outer else ()
        shape = (*outer, stage.length)
        layouts.append(
            Layout(
                op="iree_linalg_ext.arg_compare",
                operand=tensor_type(shape, candidate.problem.dtype),
                input_shape=shape,
                workgroup=(*rows, 0),
                partial_reduction=(*zeros, stage.partial_reduction),
                thread=(*zeros, stage.thread),
                subgroup_basis=(*rows, stage.subgroups),
                lane_basis=(*ones, lanes_used(size, stage.subgroups, stage.partial_reduction, stage.thread)),
                subgroup_size=size,
                waves_per_eu=candidate.config.wpe,
            )
        )
    return tuple(layouts)
