"""Rules of a tuning spec, checked on its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from ireebench.compiler.spec_entries import castable, read_entries
from ireebench.compiler.spec_rules import broken_rules

GOOD = (Path(__file__).parents[2] / "data" / "specs" / "s_new_ok.mlir").read_text()
PROMISE = "the module says 'iree_codegen.tuning_spec_with_default_entrypoint'"


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def test_a_good_spec_breaks_no_rule() -> None:
    assert broken_rules(GOOD) == ()


@pytest.mark.parametrize(
    ("spec", "rule"),
    [
        (changed("@__kernel_config", "@main"), "its named sequence '@__kernel_config' is missing"),
        (
            "module attributes {iree_codegen.tuning_spec_with_default_entrypoint, transform.with_named_sequence} {\n"
            "  transform.named_sequence @m(%op: !transform.any_op {transform.readonly}) { transform.yield }\n"
            "  func.func @__kernel_config(%m: i32) { return }\n}",
            "its named sequence '@__kernel_config' is a function",
        ),
        (
            changed("attributes {iree_codegen.tuning_spec_entrypoint}", ""),
            "'@__kernel_config' lacks the unit attribute 'iree_codegen.tuning_spec_entrypoint'",
        ),
        (
            changed("{iree_codegen.tuning_spec_entrypoint}", '{iree_codegen.tuning_spec_entrypoint = "yes"}'),
            "must be a unit attribute",
        ),
        (
            changed(", transform.with_named_sequence", ""),
            "lacks the attribute 'transform.with_named_sequence'",
        ),
        (
            changed("(%m: !transform.any_op {transform.consumed})", "(%m: !transform.any_op)"),
            "must take one !transform.any_op, marked readonly or consumed",
        ),
        (
            changed("{transform.consumed}) -> !transform.any_op", "{transform.consumed}) -> !transform.any_param"),
            "and return one !transform.any_op",
        ),
        (
            changed("    transform.yield %r :", "    transform.print %r : !transform.any_op\n    transform.yield %r :"),
            "it holds 'transform.print' too",
        ),
        (
            changed(
                "-> (!transform.any_op, !transform.any_param) {",
                "-> (!transform.any_op, !transform.any_param) attributes {iree_codegen.tuning_spec_entrypoint} {",
            ),
            "must be the only entry point; '@match_any' is marked as one too",
        ),
        (
            changed("iree_codegen.tuning_spec_with_default_entrypoint, ", "").replace(
                "attributes {iree_codegen.tuning_spec_entrypoint}", ""
            ),
            "no named sequence is marked 'iree_codegen.tuning_spec_entrypoint'",
        ),
        (changed("subgroup_basis =", "subgroup_n_count ="), "'subgroup_n_count' is gone"),
    ],
)
def test_each_rule_is_found(spec: str, rule: str) -> None:
    assert any(rule in broken for broken in broken_rules(spec)), broken_rules(spec)


def test_what_a_comment_says_is_no_rule() -> None:
    assert broken_rules("// pipeline = LLVMGPUVectorDistribute, prefetch_shared_memory = true\n" + GOOD) == ()


def test_a_line_number_is_that_of_the_file() -> None:
    spec = "// one\n// two\n" + changed("subgroup_basis =", "subgroup_m_count =")
    (broken,) = broken_rules(spec)
    line = int(broken.split(":")[0].removeprefix("line "))
    assert "subgroup_m_count" in spec.splitlines()[line - 1]


def test_entries_tell_what_they_match_and_give() -> None:
    (entry,) = read_entries(GOOD)
    assert (entry.name, entry.ops, entry.types, entry.opaque) == ("match_any", ("linalg.generic",), (), False)
    assert entry.given is not None
    assert entry.given.plain["workgroup size"] == (64, 1, 1)
    assert entry.given.plain["partial_reduction"] == [0, 512]


def test_a_matcher_that_is_not_understood_makes_an_entry_opaque() -> None:
    old = '    transform.match.operation_name %op ["linalg.generic"] : !transform.any_op\n'
    (entry,) = read_entries(changed(old, old + "    transform.match.operation_empty %op : !transform.any_op\n"))
    assert entry.opaque


def test_text_that_does_not_parse_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="Unable to parse"):
        read_entries("hello")


@pytest.mark.parametrize(
    ("actual", "wanted", "expected"),
    [
        ("tensor<32x8192xbf16>", "tensor<32x8192xbf16>", True),
        ("tensor<32x8192xbf16>", "tensor<?x8192xbf16>", True),
        ("tensor<?x8192xbf16>", "tensor<?x8192xbf16>", True),
        ("tensor<?x8192xbf16>", "tensor<32x8192xbf16>", False),
        ("tensor<32x8192xf16>", "tensor<32x8192xbf16>", False),
        ("tensor<8192xbf16>", "tensor<?x8192xbf16>", False),
        ("tensor<132x8192xbf16>", "tensor<32x8192xbf16>", False),
    ],
)
def test_types_match_as_the_matcher_says(actual: str, wanted: str, expected: bool) -> None:
    assert castable(actual, wanted) is expected
