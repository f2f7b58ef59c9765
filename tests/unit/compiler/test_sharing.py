from __future__ import annotations

import pytest

from ireebench.compiler.driver import may_share
from ireebench.ir.build import build_program
from ireebench.ir.program import Program
from ireebench.problems.problem import Problem
from ireebench.space.enumerate import enumerate_space
from ireebench.targets import find_target
from ireebench.variants import find_variant


def program(variant: str, target: str) -> Program:
    problem = Problem("p", "argmax", (32, 4096), "f32")
    space = enumerate_space(problem, find_variant(variant), find_target(target), limit=1)
    return build_program(space.accepted[0])


@pytest.mark.parametrize(
    ("variant", "target", "by_call", "expected"),
    [
        ("vd", "gfx942", False, True),
        ("default", "gfx942", False, False),  # the compiler's own choice may take for ever
        ("default", "cpu", True, False),
        ("two_pass", "cpu", True, True),
        ("two_pass", "cpu", False, False),  # a timer that sees dispatches could miss one of a shared module
        ("generic", "gfx942", True, False),
    ],
)
def test_what_may_share_a_module(variant: str, target: str, by_call: bool, expected: bool) -> None:
    assert may_share(program(variant, target), by_call) is expected
