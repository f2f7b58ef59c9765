"""How a compile ended, and why, in one line."""

from __future__ import annotations

import pytest

from ireebench.compiler.diagnose import Ending, classify, first_diagnostic, reason
from ireebench.compiler.spawner import Exit, Limits

LIMITS = Limits(8.0, 2_000_000_000)
DISTRIBUTE = """\
dump/configured_module_argmax_dispatch_0.mlir:8:6: error: 'func.func' op failed to distribute
      func.func @argmax_dispatch_0()
     ^
module.mlir:9:8: error: failed to run translation of source executable to target executable
"""
CRASH = """\
Please report issues to https://github.com/iree-org/iree/issues and include the crash backtrace.
Stack dump:
0.\tProgram arguments: iree-compile module.mlir
 #0 0x00007f174175a0ab llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) Signals.cpp:0:0
 #4 0x00007f17418712a7 mlir::OpOperand::getOperandNumber() const Value.cpp:0:0
 #5 0x00007f17458703df mlir::iree_compiler::Explorer::walkTransitiveUses(mlir::Value) Explorer.cpp:0:0
"""


@pytest.mark.parametrize(
    ("ended", "stderr", "has_output", "expected"),
    [
        (Exit(0, False, 0.3, 10), "", True, Ending.OK),
        (Exit(0, False, 0.3, 10), "", False, Ending.NO_OUTPUT),
        (Exit(1, False, 0.3, 10), DISTRIBUTE, False, Ending.ERROR),
        (Exit(-9, True, 8.0, 10), "", False, Ending.TIMEOUT),
        (Exit(-9, False, 2.0, 10), "", False, Ending.KILLED),
        (Exit(-11, False, 0.3, 10), CRASH, False, Ending.CRASH),
        (Exit(139, False, 0.3, 10), CRASH, False, Ending.CRASH),
        (Exit(-6, False, 5.0, 10), "terminate called after throwing 'std::bad_alloc'", False, Ending.MEMORY),
        (Exit(1, False, 5.0, 10), "LLVM ERROR: out of memory", False, Ending.MEMORY),
        (Exit(-11, False, 5.0, 1_900_000_000), CRASH, False, Ending.MEMORY),
    ],
)
def test_endings_are_told_apart(ended: Exit, stderr: str, has_output: bool, expected: Ending) -> None:
    assert classify(ended, stderr, LIMITS, has_output) is expected


def test_the_first_diagnostic_is_one_line_with_its_place() -> None:
    expected = "'func.func' op failed to distribute (dump/configured_module_argmax_dispatch_0.mlir:8:6)"
    assert first_diagnostic(DISTRIBUTE) == expected
    assert first_diagnostic("") is None
    # As iree-compile 3.13 prints it: the cause has no place, its consequence has one.
    unknown = (
        "<unknown>:0: error: Unknown ROCM target 'gfx906'\nmodule.mlir:0:0: error: device alias \"hip\" does not\n"
    )
    assert first_diagnostic(unknown) == "Unknown ROCM target 'gfx906'"
    assert first_diagnostic("cannot start /x: no\n") == "cannot start /x: no"


@pytest.mark.parametrize(
    ("ending", "ended", "stderr", "expected"),
    [
        (
            Ending.TIMEOUT,
            Exit(-9, True, 8.0, 3_100_000_000),
            "",
            "still compiling after 8 s, with 3.1 GB of memory in use",
        ),
        (Ending.MEMORY, Exit(-6, False, 9.6, 1), "", "needed more than 2 GB of memory, after 10 s"),
        (
            Ending.CRASH,
            Exit(-11, False, 1.0, 1),
            CRASH,
            "the compiler crashed (SIGSEGV in mlir::iree_compiler::Explorer::walkTransitiveUses)",
        ),
        (Ending.CRASH, Exit(-6, False, 1.0, 1), "", "the compiler crashed (SIGABRT)"),
        (Ending.NO_OUTPUT, Exit(0, False, 1.0, 1), "", "the compiler ended with code 0 and wrote no output"),
        (Ending.ERROR, Exit(5, False, 1.0, 1), "", "the compiler ended with code 5 and no message"),
    ],
)
def test_reasons_read_like_this(ending: Ending, ended: Exit, stderr: str, expected: str) -> None:
    assert reason(ending, ended, stderr, LIMITS) == expected
