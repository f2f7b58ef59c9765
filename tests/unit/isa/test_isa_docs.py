"""The page names every lint and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from ireebench.isa.architecture import ARCHITECTURES
from ireebench.isa.lints import LINTS
from ireebench.isa.loopstring import LETTERS

PAGE = (Path(__file__).parents[3] / "docs" / "isa.md").read_text()


@pytest.mark.parametrize("lint", LINTS.values(), ids=LINTS)
def test_a_lint_is_on_the_page_with_its_meaning_and_reference(lint):
    assert f"| `{lint.id}` | {lint.meaning} | {lint.reference} |" in PAGE


def test_register_files_on_the_page_are_those_of_the_table():
    for a in ARCHITECTURES:
        wave32 = f"{a.wave32.total} / " if a.wave32 else ""
        granule = f"{a.wave32.granule} / {a.wave64.granule}" if a.wave32 else str(a.wave64.granule)
        row = next(line for line in PAGE.splitlines() if line.startswith("| gfx") and a.processors[0] in line)
        assert f"{wave32}{a.wave64.total}" in row
        assert f"| {granule} | {a.max_waves} |" in row


def test_every_letter_of_the_loop_string_is_explained():
    legend = PAGE.split("## The loop as a line")[1].split("## The mix")[0]
    assert all(f"{letter} " in legend for letter in LETTERS.values())
