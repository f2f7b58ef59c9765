"""The assembler's expressions, as LLVM 20 and later write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ireebench.isa.expressions import evaluate

SYMBOLS = {
    "f.num_vgpr": "max(7, .Lg.num_vgpr)",
    ".Lg.num_vgpr": "33",
    "f.num_agpr": "10",
    "f.uses_vcc": "1",
    "f.uses_flat_scratch": "0",
    "round": "round+1",
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("61", 61),
        ("0x10", 16),
        ("2+3*4-1", 13),
        ("(2+3)*4", 20),
        ("-7/2", -3),
        ("-7%2", -1),
        ("1<<4|1", 17),
        ("~0&63", 63),
        ("3<4", -1),
        ("f.num_vgpr", 33),
        ("alignto(f.num_vgpr, 4)", 36),
        # VGPRs are rounded up to 4 and the AGPRs follow: 36 + 10.
        ("max(totalnumvgprs(f.num_agpr, f.num_vgpr), 1, 0)", 46),
        ("24-extrasgprs(f.uses_vcc, f.uses_flat_scratch, 1)", 20),
        ("((((((alignto(max(1, f.num_vgpr), 4))/4)-1)&(~65536))&63)+1)*4", 36),
    ],
)
def test_an_expression_has_its_value(text, value):
    assert evaluate(text, SYMBOLS) == value


@pytest.mark.parametrize("text", ["", "(", "1+", "nothing", "round", "1/0", "1<<-1", "max(", "2 3", "$", "(" * 500])
def test_what_cannot_be_told_is_none(text):
    assert evaluate(text, SYMBOLS) is None


def test_symbols_that_double_twenty_times_are_evaluated_once_each():
    symbols = {f"s{n}": f"s{n + 1}+s{n + 1}" for n in range(20)} | {"s20": "1"}
    assert evaluate("s0", symbols) == 2**20


@given(st.text(alphabet="0123456789+-*/%&|()<>~!, abmax", max_size=40))
def test_any_text_is_evaluated_without_an_error(text):
    evaluate(text, {"a": "b", "b": "a+1"})
