"""GEMV in 4 bits, scaled a sum at a time: what forms `dequant_pairs` and `dequant_sums` have in common.

Each lane sums value times activation over its part of a block; the block's scale multiplies that sum, once for TH
weights; a second sum in the same kernel goes over the parts of a row.
"""

from __future__ import annotations

from dataclasses import replace

from ireebench.candidate import Candidate
from ireebench.ir.layout import Layout, tensor_type
from ireebench.problems.formats import WEIGHT_FORMATS
from ireebench.space.gemv import CODES_A_WORD, lanes_over_k


def _in_block(candidate: Candidate) -> tuple[int, int, int]:
    """Lanes that share a row, parts that a block is cut into (TH codes each), and lanes that take them."""
    block = WEIGHT_FORMATS[candidate.problem.dtype].block or 1
    th = candidate.config.th or block
    lanes = lanes_over_k(candidate.problem.reduction, th, candidate.target.subgroup_size)
    return lanes, block // th, min(block // th, lanes)


def _part_shape(candidate: Candidate) -> tuple[int, ...]:
    """Rows, vectors if several, blocks, parts of a block: a sum each."""
    m, n, k = candidate.problem.shape
    block = WEIGHT_FORMATS[candidate.problem.dtype].block or 1
    return (n, *((m,) if m > 1 else ()), k // block, _in_block(candidate)[1])


def part_layouts(candidate: Candidate) -> tuple[Layout, ...]:
    """The layout of the one dispatch: that of its last sum, over the parts of a row."""
    c = candidate.config
    m = candidate.problem.shape[0]
    block = WEIGHT_FORMATS[candidate.problem.dtype].block or 1
    lanes, parts, in_block = _in_block(candidate)
    size = candidate.target.subgroup_size
    dims = [
        (c.rw or 1, 0, 0, c.sr or 1, size // lanes),
        *([(m, 0, 0, 1, 1)] if m > 1 else []),
        (0, max((c.pr or 1) // block, 1), 1, c.sg or 1, lanes // in_block),
        (0, parts, 1, 1, in_block),
    ]
    workgroup, partial, thread, subgroups, lane_basis = (tuple(d[i] for d in dims) for i in range(5))
    shape = _part_shape(candidate)
    return (
        Layout(
            op="linalg.generic",
            operand=tensor_type(shape, "f32"),
            input_shape=shape,
            workgroup=workgroup,
            partial_reduction=partial,
            thread=thread,
            subgroup_basis=subgroups,
            lane_basis=lane_basis,
            subgroup_size=size,
            waves_per_eu=c.wpe,
        ),
    )


def dot_layout(last: Layout, inner: tuple[int, ...], leading: int = 0) -> Layout:
    """Each lane's sum over its codes of a part: lanes as in the last sum, the `inner` loops kept in a lane.

    `leading` loops of the last sum are left out: those that the operands of this one don't have.
    """
    ones = (1,) * len(inner)
    return replace(
        last,
        workgroup=(),
        partial_reduction=(),
        thread=(*last.thread[leading:], *inner),
        subgroup_basis=(*last.subgroup_basis[leading:], *ones),
        lane_basis=(*last.lane_basis[leading:], *ones),
    )


def words_a_part(candidate: Candidate) -> int:
    """Words of eight codes in the part of a block that a lane sums."""
    block = WEIGHT_FORMATS[candidate.problem.dtype].block or CODES_A_WORD
    return block // _in_block(candidate)[1] // CODES_A_WORD


def weight_shape(candidate: Candidate, *inner: int) -> tuple[int, ...]:
    """Rows, blocks, parts of a block, and the `inner` loops over a part."""
    _, n, k = candidate.problem.shape
    block = WEIGHT_FORMATS[candidate.problem.dtype].block or 1
    return (n, k // block, _in_block(candidate)[1], *inner)


def activation_shape(candidate: Candidate, *inner: int) -> tuple[int, ...]:
    """Vectors if several, and what the weights' loops leave without the rows."""
    m = candidate.problem.shape[0]
    return (*((m,) if m > 1 else ()), *weight_shape(candidate, *inner)[1:])


def part_values(candidate: Candidate, inner: tuple[int, ...], names: tuple[str, ...]) -> dict[str, object]:
    """Template values of the words, the activations and both sums; `inner` loops called `names` make up a part."""
    form = WEIGHT_FORMATS[candidate.problem.dtype]
    batch = ["m"] if candidate.problem.shape[0] > 1 else []
    at = len(batch)
    activations = activation_shape(candidate, *inner)
    wide_scale = form.scale_dtype != "f32"
    return {
        "words": tensor_type(weight_shape(candidate, words_a_part(candidate)), "i32"),
        "wide": tensor_type(weight_shape(candidate, *inner), "f32"),
        "parts": tensor_type(_part_shape(candidate), "f32"),
        "activation_parts": tensor_type(activations, "f16"),
        "part_groups": [*[[0]] * at, list(range(at, len(activations)))],
        "activation_shape": list(activations),
        "dot_loops": ", ".join(["n", *batch, "b", "l", *names]),
        "activation_part_loops": ", ".join([*batch, "b", "l", *names]),
        "part_loops": ", ".join(["n", *batch, "b", "l"]),
        "dot_iterators": ", ".join(['"parallel"'] * (3 + at) + ['"reduction"'] * len(inner)),
        "part_iterators": ", ".join(['"parallel"'] * (1 + at) + ['"reduction"'] * 2),
        "widen_scale": f"      %wide_scale = arith.extf %scale : {form.scale_dtype} to f32\n" if wide_scale else "",
        "scale_name": "%wide_scale" if wide_scale else "%scale",
    }
