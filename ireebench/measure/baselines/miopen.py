"""MIOpen's argmax and argmin, through MIOpenDriver. Source: ROCm/MIOpen driver/reduceextreme_driver.hpp."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ireebench.measure.baselines.tools import ToolFigure
from ireebench.problems.problem import Problem

_DRIVERS = {"f32": "reduceextreme", "f16": "reduceextremefp16", "bf16": "reduceextremebfp16"}
_OPERATIONS = {"argmin": 1, "argmax": 2}  # miopenReduceExtremeOp_t: the index alone, which favours MIOpen
_TIME = re.compile(r"GPU Kernel Time Forward ReduceExtreme Elapsed: (\S+) ms")
ITERATIONS = 500


@dataclass(frozen=True, slots=True)
class MiopenDriver:
    """`MIOpenDriver reduceextreme`; its index type is i32."""

    name: str = "miopen"
    tool: str = "MIOpenDriver"
    install: str = "install the package miopen-hip of your ROCm (built with MIOPEN_BETA_API for reduceextreme)"

    def serves(self, problem: Problem) -> str | None:
        """Argmax and argmin of f32, f16 and bf16."""
        if problem.op not in _OPERATIONS:
            return f"MIOpenDriver reduceextreme does not compute {problem.op}"
        return None if problem.dtype in _DRIVERS else f"no reduction of {problem.dtype}"

    def command(self, problem: Problem, tool: str) -> list[str]:
        """Over the last dimension of rows x N; timed and verified. The first call is left out of its mean."""
        shape = f"{problem.rows}x{problem.reduction}"
        how = ["-X", shape, "-R", "1", "-O", str(_OPERATIONS[problem.op])]
        return [tool, _DRIVERS[problem.dtype], *how, "-i", str(ITERATIONS), "-t", "1", "-V", "1"]

    def parse(self, output: str) -> ToolFigure | str:
        """Its mean kernel time and its verdict."""
        found = _TIME.search(output)
        if found is None:
            return "no kernel time in its output"
        verified = False if "ReduceExtreme FAILED" in output else True if "Verifies on CPU" in output else None
        return ToolFigure(float(found.group(1)) * 1e6, None, verified)


BASELINE = MiopenDriver()
