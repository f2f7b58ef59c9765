"""Timer `rocprof`: the first rocprof, where rocprofv3 is not installed (ROCm before 6.2). Whole-process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ireebench.measure.invocation_log import InvocationLog
from ireebench.measure.rocm import find_tool
from ireebench.measure.timers import rocprofv3
from ireebench.measure.timers.rocprofv3 import Collected

NAME = "rocprof"
TOOL = "rocprof"


class RocprofTimer:
    """The timer's row in the table: whether it can be used, and how."""

    name = NAME

    def missing(self, device: str) -> str | None:
        """None when rocprof is here; else what is missing and how to get it, in one line."""
        if find_tool(TOOL):
            return None
        return "rocprof is not here; install rocprofv3 instead (package rocprofiler-sdk, ROCm 6.4.2 or newer)"


def wrap_command(worker: Sequence[str], out_dir: Path, tool: str = TOOL) -> list[str]:
    """The worker's command line under rocprof. Without `--timestamp on` its results have no times at all."""
    return [tool, "--timestamp", "on", "-o", str(out_dir / "results.csv"), *worker]


def collect(out_dir: Path, logs: Sequence[InvocationLog], process: int = 0, tool: Path | None = None) -> Collected:
    """As `rocprofv3.collect`."""
    return rocprofv3.collect(out_dir, logs, process, tool or find_tool(TOOL), timer=NAME)
