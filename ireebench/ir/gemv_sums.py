"""GEMV in 4 bits by sums of unscaled codes: template values of form `dequant_sums`, for two's complement (q4_0).

A code at bit p of a word, masked and with the exponent of 2^(23-p) above it, is the float 2^(23-p) + code. Flipping the
code's sign bit on the way (one XOR does both) makes two's complement code + 8. So one shift for up to three codes, one
logic operation of three inputs and one fused multiply-add serve a weight; the sum of 2^(23-p) + 8 times the activations
is taken off afterwards, once for all rows of a lane.
"""

from __future__ import annotations

from ireebench.candidate import Candidate
from ireebench.ir.attributes import lowering_config_text
from ireebench.ir.gemv_parts import activation_shape, dot_layout, part_layouts, part_values, words_a_part
from ireebench.ir.layout import tensor_type
from ireebench.space.gemv import CODES_A_WORD

# Where each code of a word ends up, and the shifts that take it there. Eleven at the least: the larger 2^(23-p), the
# more its sum in f32 loses of the codes' (relative error 4.7e-5 with these, 5.2e-4 with the positions of
# `dequant_words`, 8 to 16; simulated, K = 4096, normal activations).
POSITIONS = (11, 15, 19, 12, 16, 11, 15, 19)
LEFT = (11, 11, 11, 0, 0, 0, 0, 0)
RIGHT = (0, 0, 0, 0, 0, 9, 9, 9)
_SIGN = 8


def exponents() -> tuple[int, ...]:
    """What is XORed with a masked code: the exponent of 2^(23-p), and the code's own sign bit."""
    return tuple((127 + 23 - p) << 23 | _SIGN << p for p in POSITIONS)


def surplus() -> tuple[float, ...]:
    """What each code's float is above the code: 2^(23-p) + 8."""
    return tuple(2.0 ** (23 - p) + _SIGN for p in POSITIONS)


def sums_values(candidate: Candidate) -> dict[str, object]:
    """The values that `dequant_sums` needs beyond those of every 4-bit form."""
    inner = (words_a_part(candidate), CODES_A_WORD)
    (last,) = part_layouts(candidate)
    at = len(last.workgroup) - 3
    return {
        **part_values(candidate, inner, ("v", "u")),
        "dot_config": lowering_config_text(dot_layout(last, inner)),
        "surplus_config": lowering_config_text(dot_layout(last, inner, leading=1)),
        "wide_activations": tensor_type(activation_shape(candidate, *inner), "f32"),
        "surplus_parallel": ", ".join(['"parallel"'] * (4 + at)),
        "added": tensor_type(last.input_shape[1:], "f32"),
        "added_loops": ", ".join([*["m"] * at, "b", "l"]),
        "added_iterators": ", ".join(['"parallel"'] * (2 + at) + ['"reduction"'] * 2),
        "exponents": list(exponents()),
        "left": list(LEFT),
        "right": list(RIGHT),
        "mask": [0xF << p for p in POSITIONS],
        "surpluses": list(surplus()),
    }
