"""GEMV in 4 bits by pairs: layouts and template values of form `dequant_pairs`.

A byte holds two codes, so 256 pairs of f16 values serve any 4-bit format. The table lies in the workgroup's memory once
for each bank: lane i reads copy i, and no two lanes of a wave wait for each other. (One copy takes 3.1 turns for 32
lanes on random codes, 16 copies two.)
"""

from __future__ import annotations

from dataclasses import replace

from ireebench.candidate import Candidate
from ireebench.ir.attributes import lowering_config_text
from ireebench.ir.layout import Layout, tensor_type
from ireebench.problems.formats import WEIGHT_FORMATS
from ireebench.space.gemv import CODES_A_WORD, PAIR_COPIES, PAIRS, lanes_over_k

BYTES_A_WORD = 4
# Bytes of a pair. An address is byte x row + 4 x copy; both parts are made in bytes and shifted down without a
# remainder, so that the compiler drops that shift against the scale of its own addressing: two instructions an address.
_PAIR_BYTES = 4
_ROW_SHIFT = (PAIR_COPIES * _PAIR_BYTES).bit_length() - 1
# What moves byte 0, 1, 2, 3 of a word to where it counts rows.
LEFT = tuple(max(_ROW_SHIFT - 8 * n, 0) for n in range(BYTES_A_WORD))
RIGHT = tuple(max(8 * n - _ROW_SHIFT, 0) for n in range(BYTES_A_WORD))
ROW_MASK = (PAIRS - 1) << _ROW_SHIFT
# Pairs that a lane writes at once when the table is filled: 16 bytes.
_FILL = 4


def pair_table(dtype: str) -> tuple[int, ...]:
    """For each byte of codes its two values, rounded to f16: the low code's in bits 0 to 15; as signed 32-bit integers.

    `problems.ops.gemv.tolerance` allows that rounding; q4_0's values are integers and lose nothing.
    """
    import numpy as np

    from ireebench.problems.ops.quantise import code_values

    values = code_values(dtype).astype(np.float16)
    codes = np.arange(PAIRS)
    return tuple(np.stack([values[codes & 15], values[codes >> 4]], axis=1).view(np.int32)[:, 0].tolist())


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


def pairs_layouts(candidate: Candidate) -> tuple[Layout, ...]:
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


def _dot_layout(candidate: Candidate, last: Layout) -> Layout:
    """Each lane's sum over its codes of a block: lanes as in the last sum, words, bytes and halves kept in a lane."""
    words = (candidate.config.th or CODES_A_WORD) // CODES_A_WORD
    return replace(
        last,
        workgroup=(),
        partial_reduction=(),
        thread=(*last.thread, words, BYTES_A_WORD, 2),
        subgroup_basis=(*last.subgroup_basis, 1, 1, 1),
        lane_basis=(*last.lane_basis, 1, 1, 1),
    )


def _fill_layout(last: Layout) -> Layout:
    """The table's rows spread over all subgroups; in a subgroup over the lanes that a row of copies leaves."""
    along = PAIR_COPIES // _FILL
    return replace(
        last,
        workgroup=(),
        partial_reduction=(),
        thread=(1, _FILL),
        subgroup_basis=(last.subgroups, 1),
        lane_basis=(last.subgroup_size // along, along),
    )


def pairs_values(candidate: Candidate) -> dict[str, object]:
    """The values that `dequant_pairs` needs beyond those of every 4-bit form."""
    problem = candidate.problem
    m, n, k = problem.shape
    form = WEIGHT_FORMATS[problem.dtype]
    block = form.block or 1
    blocks, parts = k // block, _in_block(candidate)[1]
    words = block // parts // CODES_A_WORD
    batch = ["m"] if m > 1 else []
    lead = [m] if m > 1 else []
    at = len(batch)
    inner = (blocks, parts, words, BYTES_A_WORD, 2)
    (last,) = pairs_layouts(candidate)
    return {
        "fill_config": lowering_config_text(_fill_layout(last)),
        "dot_config": lowering_config_text(_dot_layout(candidate, last)),
        "words": tensor_type((n, blocks, parts, words), "i32"),
        "looked_up": tensor_type((n, *inner[:-1]), "i32"),
        "wide_pairs": tensor_type((n, *inner), "f32"),
        "parts": tensor_type(_part_shape(candidate), "f32"),
        "activation_pairs": tensor_type((*lead, *inner), "f16"),
        "pair_groups": [*[[0]] * at, list(range(at, at + len(inner)))],
        "pair_shape": [*lead, *inner],
        "pairs": list(pair_table(problem.dtype)),
        "copies": PAIR_COPIES,
        "last_copy": PAIR_COPIES - 1,
        "places": (PAIRS + 1) * PAIR_COPIES,
        "banks": [_PAIR_BYTES * n for n in range(PAIR_COPIES)],
        "left": list(LEFT),
        "right": list(RIGHT),
        "row_mask": ROW_MASK,
        "dot_loops": ", ".join(["n", *batch, "b", "l", "v", "u", "h"]),
        "activation_pair_loops": ", ".join([*batch, "b", "l", "v", "u", "h"]),
        "part_loops": ", ".join(["n", *batch, "b", "l"]),
        "dot_iterators": ", ".join(['"parallel"'] * (3 + at) + ['"reduction"'] * 3),
        "part_iterators": ", ".join(['"parallel"'] * (1 + at) + ['"reduction"'] * 2),
        "widen_scale": (
            f"      %wide_scale = arith.extf %scale : {form.scale_dtype} to f32\n" if form.scale_dtype != "f32" else ""
        ),
        "scale_name": "%wide_scale" if form.scale_dtype != "f32" else "%scale",
    }
