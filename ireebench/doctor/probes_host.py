"""Checks of the host: memory, Python packages behind baselines, kernel settings."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version

from ireebench.doctor.finding import Finding, State
from ireebench.doctor.machine import Machine

AREA = "host"
# Inputs, their reference and the copies for cold runs of the largest published problem need about this much.
_ENOUGH_GIB = 8


def memory(machine: Machine) -> list[Finding]:
    """Free memory of the host."""
    text = machine.text("/proc/meminfo") or ""
    sizes = {k: int(v) for k, v in re.findall(r"^(\w+):\s+(\d+) kB", text, re.MULTILINE)}
    if "MemAvailable" not in sizes:
        return [Finding(AREA, "memory", State.UNKNOWN, "/proc/meminfo does not tell", "nothing to do on Linux")]
    free, total = sizes["MemAvailable"] / 2**20, sizes.get("MemTotal", 0) / 2**20
    words = f"{free:.1f} of {total:.1f} GiB free"
    if free < _ENOUGH_GIB:
        return [Finding(AREA, "memory", State.WARNING, words, "compile fewer at once (--jobs 1), close other programs")]
    return [Finding(AREA, "memory", State.OK, words)]


def packages(machine: Machine) -> list[Finding]:
    """Optional Python packages: what each is for."""
    wanted = (
        ("torch", "for the PyTorch baselines: pip install 'ireebench[torch]' (on ROCm: PyTorch's own ROCm wheel)"),
        ("bitsandbytes", "for the 4-bit baseline: pip install bitsandbytes"),
        ("pyarrow", "for Parquet exports: pip install 'ireebench[parquet]'"),
        ("distributed", "for clusters: pip install 'ireebench[cluster]'"),
    )
    found = []
    for name, remedy in wanted:
        try:
            found.append(Finding(AREA, name, State.OK, version(name)))
        except PackageNotFoundError:
            found.append(Finding(AREA, name, State.MISSING, "not installed", remedy))
    return found


def profiling_allowed(machine: Machine) -> list[Finding]:
    """perf_event_paranoid: above 2 some profilers cannot follow a process."""
    text = machine.text("/proc/sys/kernel/perf_event_paranoid")
    if text is None or not re.fullmatch(r"-?\d+", text):
        return []
    if int(text) <= 2:
        return [Finding(AREA, "perf_event_paranoid", State.OK, text)]
    remedy = "profilers of CPU code may be refused: sudo sysctl kernel.perf_event_paranoid=2 (kernel times need it not)"
    return [Finding(AREA, "perf_event_paranoid", State.WARNING, text, remedy)]
