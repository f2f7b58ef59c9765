"""The filter grammar: what passes, what is refused, and that nothing else is evaluated."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ireebench.errors import UnknownNameError, UserError
from ireebench.isa.where import FilterError, parse_where

FIGURES = {
    "vgpr_spills": 0,
    "vgpr": 61,
    "load_width_bytes": 16,
    "occupancy": None,
    "limited_by": "vgpr, lds",
    "lints": ("full-wait", "no-dpp"),
    "name": "k",
    "percent": 71.5,
    "applied": True,
}


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("spills == 0 and vgpr < 128 and width >= 16", True),
        ("spills == 0 and vgpr < 61", False),
        ("vgpr > 100 or width == 16", True),
        ("vgpr > 100 or width == 16 and spills > 0", False),  # and binds closer than or
        ("(vgpr > 100 or width == 16) and spills == 0", True),
        ("not vgpr > 100", True),
        ("not not vgpr > 100", False),
        ("vgpr == 0x3d", True),
        ("vgpr != 61", False),
        ("percent > 71.4", True),
        ("lints has full-wait", True),
        ("lints has spills", False),
        ("lints == 2", True),
        ("limited_by has lds", True),
        ("limited_by == 'vgpr, lds'", True),
        ('name != "k"', False),
        ("applied == yes", True),
        # an unknown figure passes no comparison, either way round
        ("occupancy >= 0", False),
        ("occupancy != 3", False),
        ("occupancy is unknown", True),
        ("occupancy is known", False),
        # a word is no number
        ("vgpr == many", False),
    ],
)
def test_a_filter_passes_what_it_says(text, passes):
    assert parse_where(text, FIGURES).matches(FIGURES) is passes


def test_a_filter_knows_what_it_looks_at():
    assert parse_where("spills == 0 and lints has no-dpp", FIGURES).names == {"vgpr_spills", "lints"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected a name, found the end"),
        ("vgpr <", "expected a value, found the end"),
        ("vgpr", "expected a comparison"),
        ("vgpr < 3)", "found ')' at character 9"),
        ("(vgpr < 3", "expected ')'"),
        ("vgpr < 3 spills == 0", "expected 'and', 'or' or the end"),
        ("vgpr < $", "can't read '$' at character 8"),
        ("vgpr is red", "expected 'known' or 'unknown'"),
        ("3 < vgpr", "expected a name"),
        ("(" * 200 + "vgpr < 3", "nested more than 50 deep"),
    ],
)
def test_a_malformed_filter_says_where(text, says):
    with pytest.raises(FilterError) as error:
        parse_where(text, FIGURES)
    assert says in str(error.value)


def test_a_misspelt_figure_gets_the_nearest_names():
    with pytest.raises(UnknownNameError, match="vgpr"):
        parse_where("vgprs < 3", FIGURES)


@pytest.mark.parametrize("text", ["__import__('os') == 1", "vgpr.__class__ == 1", "vgpr == 1; vgpr == 2"])
def test_code_is_not_evaluated(text):
    with pytest.raises(UserError):
        parse_where(text, FIGURES)


@given(st.text(alphabet="vgpr<>=! ()'\"0123456789andorthsi.-", max_size=40))
def test_any_text_gives_a_filter_or_a_user_error(text):
    with contextlib.suppress(UserError):
        parse_where(text, FIGURES).matches(FIGURES)
