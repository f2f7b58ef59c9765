"""GEMV in 4 bits by pairs: template values of form `dequant_pairs`.

A byte holds two codes, so 256 pairs of f16 values serve any 4-bit format. The table lies in the workgroup's memory once
for each bank: lane i reads copy i, and no two lanes of a wave wait for each other. (One copy takes 3.1 turns for 32
lanes on random codes, 16 copies two.)
"""

from __future__ import annotations

from dataclasses import replace

from ireebench.candidate import Candidate
from ireebench.ir.attributes import lowering_config_text
from ireebench.ir.gemv_parts import dot_layout, part_layouts, part_values, weight_shape, words_a_part
from ireebench.ir.layout import Layout, tensor_type
from ireebench.space.gemv import PAIR_COPIES, PAIRS

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
    inner = (words_a_part(candidate), BYTES_A_WORD, 2)
    (last,) = part_layouts(candidate)
    return {
        **part_values(candidate, inner, ("v", "u", "h")),
        "looked_up": tensor_type(weight_shape(candidate, *inner[:-1]), "i32"),
        "fill_config": lowering_config_text(_fill_layout(last)),
        "dot_config": lowering_config_text(dot_layout(last, inner)),
        "pairs": list(pair_table(candidate.problem.dtype)),
        "copies": PAIR_COPIES,
        "last_copy": PAIR_COPIES - 1,
        "places": (PAIRS + 1) * PAIR_COPIES,
        "banks": [_PAIR_BYTES * n for n in range(PAIR_COPIES)],
        "left": list(LEFT),
        "right": list(RIGHT),
        "row_mask": ROW_MASK,
    }
