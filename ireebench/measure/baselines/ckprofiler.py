"""Composable Kernel's argmax and argmin: the best instance of `ckProfiler reduce`, by name.

CK's multi-block reduction cannot output an index, so one row runs in one block; a single instance taken blindly can be
a thousand times slower than the best. Options and output: ROCm/composable_kernel, profiler/src/profile_reduce.cpp and
profiler/include/profiler/profile_reduce_impl.hpp.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ireebench.measure.baselines.tools import ToolFigure
from ireebench.problems.problem import Problem

# ck::ReduceTensorOp. AMAX (4) is the largest magnitude, which is another function.
_OPERATIONS = {"argmin": 2, "argmax": 3}
_TYPES = {"f32": (), "f16": ("--half",), "bf16": ("--bf16",)}
_PERF = re.compile(r"^Perf: (\S+) ms, \S+ GB/s, (.+)$", re.MULTILINE)
_FAILED = re.compile(r"^Fail Info: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CkProfiler:
    """`ckProfiler reduce` with indices; its index type is i32."""

    name: str = "ck"
    tool: str = "ckProfiler"
    install: str = (
        "build ROCm/composable_kernel with -DDTYPES='fp32;fp16;bf16' and the target ckProfiler, and put it on PATH"
    )

    def serves(self, problem: Problem) -> str | None:
        """Argmax and argmin of f32, f16 and bf16."""
        if problem.op not in _OPERATIONS:
            return f"ckProfiler reduce does not compute {problem.op}"
        return None if problem.dtype in _TYPES else f"no reduction of {problem.dtype} with an index"

    def command(self, problem: Problem, tool: str) -> list[str]:
        """Verified (-v 1; inputs are only filled then), no NaN propagation, with indices; whole numbers, timed."""
        return [
            tool,
            "reduce",
            *("-D", f"{problem.rows},{problem.reduction}", "-R", "1"),
            *("-O", str(_OPERATIONS[problem.op]), "-N", "0", "-I", "1", "-v", "1"),
            *_TYPES[problem.dtype],
            *("3", "1"),  # how inputs are made (3: reals in -5 .. 5), and whether to time
        ]

    def parse(self, output: str) -> ToolFigure | str:
        """The fastest instance among those that ckProfiler does not call wrong."""
        wrong = set(_FAILED.findall(output))
        found = [(float(ms), name.strip()) for ms, name in _PERF.findall(output)]
        if not found:
            return "no instance applies" if "No kernel is applicable" in output else "no instance was timed"
        good = [(ms, name) for ms, name in found if name not in wrong and ms > 0]
        if not good:
            return f"all {len(found)} instances gave wrong results"
        ms, name = min(good)
        return ToolFigure(ms * 1e6, name, True, len(found))


BASELINE = CkProfiler()
