"""Upstream problems are data: each explains what it should and nothing else."""

from __future__ import annotations

import re

import pytest

from ireebench.compiler.known_issues import explain, known_issues, parse_version

IREE = "IREE compiler version 3.13.0rc20261016 @ 89ece87b"
RANK_2 = (
    "%1:2 = iree_linalg_ext.arg_compare {lowering_config = #iree_gpu.lowering_config<{subgroup_basis = [[1, 4], [0, 1]]"
)
RANK_1 = "%1:2 = iree_linalg_ext.arg_compare {lowering_config = #iree_gpu.lowering_config<{subgroup_basis = [[4], [0]]"
ROWS = (
    "%1:2 = iree_linalg_ext.arg_compare {lowering_config = #iree_gpu.lowering_config<{subgroup_basis = [[4, 1], [0, 1]]"
)
MESSAGE = "'func.func' op failed to distribute"


@pytest.mark.parametrize(
    ("text", "expected"), [(IREE, (3, 13, 0)), ("3.13", (3, 13)), ("3.14.0", (3, 14, 0)), ("none", ())]
)
def test_versions_are_read_from_what_the_compiler_prints(text: str, expected: tuple[int, ...]) -> None:
    assert parse_version(text) == expected


def test_every_entry_says_what_it_is_and_what_to_do() -> None:
    issues = known_issues()
    assert len({i.id for i in issues}) == len(issues) >= 5
    for issue in issues:
        assert issue.first <= issue.last
        assert issue.statuses <= {"compile_failed", "compile_timeout"}
        assert issue.summary
        assert issue.way_round
        assert issue.reference == "" or re.fullmatch(r"[\w-]+/[\w-]+#\d+", issue.reference)


def test_a_failure_is_shown_with_reference_and_way_round() -> None:
    assert explain(IREE, "compile_failed", MESSAGE, RANK_2, "") == (
        "IREE <= 3.13 can't put several subgroups on a reduction of rank 2 or more (iree-org/iree#23005); "
        "one subgroup over the reduction, or form 'rows' or 'two_stage'"
    )


def test_a_card_older_than_the_compiler_takes_is_explained() -> None:
    known = explain(IREE, "compile_failed", "Unknown ROCM target 'gfx906'", "", "")
    assert known is not None
    assert "gfx908 is the oldest that it takes" in known
    assert explain(IREE, "compile_failed", "Unknown ROCM target 'gfx942x'", "", "") is None


@pytest.mark.parametrize(
    ("version", "status", "output", "configured"),
    [
        (IREE, "compile_failed", MESSAGE, RANK_1),  # the same message with another cause
        (IREE, "compile_failed", MESSAGE, ROWS),  # subgroups over rows work
        (IREE, "compile_failed", "something else", RANK_2),
        (IREE, "compile_timeout", MESSAGE, RANK_2),
        ("3.14.0", "compile_failed", MESSAGE, RANK_2),  # a compiler that nobody has tried
        ("", "compile_failed", MESSAGE, RANK_2),
    ],
)
def test_what_it_does_not_fit_is_not_explained(version: str, status: str, output: str, configured: str) -> None:
    assert explain(version, status, output, configured, "") is None


def test_the_flags_can_be_part_of_the_picture() -> None:
    output = "module.mlir:9:10: error: 'linalg.generic' op Failed to anaysis the reduction operation."
    flag = "--iree-dispatch-creation-enable-split-reduction"
    assert explain(IREE, "compile_failed", output, "", "") is None
    assert "iree-org/iree#20717" in (explain(IREE, "compile_failed", output, "", flag) or "")


def test_newer_cuda_architectures_are_sent_to_sm_89() -> None:
    output = "error: missing GPU target in #hal.executable.target"
    for target in ("sm_90", "sm_100", "sm_120"):
        assert "sm_89" in (explain(IREE, "compile_failed", output, "", f"--iree-cuda-target={target}") or "")
    assert explain(IREE, "compile_failed", output, "", "--iree-cuda-target=sm_80") is None
