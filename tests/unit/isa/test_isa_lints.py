"""Every lint: a kernel that triggers it, on the line where it is, and one that does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from ireebench.isa.analysis import analyse_file
from ireebench.isa.lints import LINTS, lint_kernel
from ireebench.isa.parse import parse_assembly

FILES = Path(__file__).parents[2] / "data" / "isa" / "lints"

# file -> lines where the lint of that name applies, counted by hand
HITS = {
    "hoisted-reduction": [18],
    "no-dpp": [6],
    "convert-multiply-add": [10],
    "broken-dot-chain": [7],
    "full-wait": [8],
    "narrow-load": [7],
    "sunk-load": [10],
    "idle-wait": [10],
    "early-lds-store": [9],
    "single-barrier": [9],
    "dynamic-lds": [5],
    "scratch-in-loop": [7],
    "spills": [5],
    "scratch": [5],
    "register-capped": [5],
    "descriptor-mismatch": [5],
    "missing-scope": [8, 10, 15],
}


def findings(name: str) -> dict[str, list[int]]:
    (kernel,) = analyse_file(parse_assembly((FILES / f"{name}.s").read_text()))
    found: dict[str, list[int]] = {}
    for f in lint_kernel(kernel):
        found.setdefault(f.id, []).append(f.line)
    return found


def test_every_lint_has_its_files():
    assert set(HITS) == set(LINTS)


@pytest.mark.parametrize("lint", HITS)
def test_a_lint_applies_where_it_should(lint):
    assert findings(f"{lint}.hit")[lint] == HITS[lint]


@pytest.mark.parametrize("lint", HITS)
def test_a_lint_does_not_apply_to_the_kernel_that_does_it_right(lint):
    assert lint not in findings(f"{lint}.clean")


def test_bf16_that_is_widened_by_hand_counts_as_a_conversion():
    assert findings("convert-multiply-add-bf16.hit")["convert-multiply-add"] == [10]


def test_a_target_with_no_bf16_dot_is_not_told_to_use_one():
    text = (FILES / "convert-multiply-add-bf16.hit.s").read_text().replace("gfx950", "gfx942")
    (kernel,) = analyse_file(parse_assembly(text))
    assert "convert-multiply-add" not in {f.id for f in lint_kernel(kernel)}


def test_a_wait_for_one_load_of_each_operand_is_a_full_wait_and_a_ladder_is_not():
    assert findings("full-wait-operands.hit")["full-wait"] == [9]
    assert "full-wait" not in findings("full-wait-ladder.clean")


def test_gfx12_spells_device_scope_its_own_way():
    assert findings("missing-scope-gfx12.hit")["missing-scope"] == [6]
    assert "missing-scope" not in findings("missing-scope-gfx12.clean")


@pytest.mark.parametrize("lint", LINTS.values(), ids=LINTS)
def test_a_lint_says_what_it_means_and_where_that_is_written(lint):
    assert len(lint.meaning) > 30
    assert lint.reference


def test_the_message_of_a_register_cap_says_what_would_gain_a_wave():
    (kernel,) = analyse_file(parse_assembly((FILES / "register-capped.hit.s").read_text()))
    (found,) = lint_kernel(kernel)
    # 512 / 7 = 73.1, and 72 is the largest multiple of 8 below it.
    assert found.message == "76 VGPRs allow 6 waves a SIMD; 72 would allow 7"


def test_the_next_step_may_gain_several_waves():
    (kernel, *_) = [
        k
        for k in analyse_file(parse_assembly((FILES.parent / "a36_rdna_granule.s").read_text()))
        if k.resources.vgpr == 108
    ]
    (found,) = lint_kernel(kernel)
    # 108 -> 120, 1536 / 120 = 12; 1536 / 13 = 118.2, the largest multiple of 24 below is 96, and 1536 / 96 = 16.
    assert found.message == "108 VGPRs allow 12 waves a SIMD; 96 would allow 16"
