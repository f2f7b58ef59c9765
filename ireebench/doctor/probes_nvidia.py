"""Checks of NVIDIA GPUs: driver, clocks, power, profilers, compiler."""

from __future__ import annotations

import re
from importlib.util import find_spec

from ireebench.doctor.finding import Finding, State
from ireebench.doctor.machine import Machine

AREA = "NVIDIA"
_QUERY = (
    "name,driver_version,compute_cap,clocks.current.sm,clocks.max.sm,power.limit,power.max_limit,"
    "memory.used,memory.total"
)
# IREE 3.13 writes PTX for sm_89 at most; a newer card's driver compiles it when it is loaded.
_NEWEST_PTX = (8, 9)


def cards(machine: Machine) -> list[Finding]:
    """Each card with its driver, clock, power limit and memory."""
    tool = machine.which("nvidia-smi")
    if tool is None:
        remedy = "for NVIDIA GPUs: install the driver (nvidia-smi comes with it)"
        return [Finding(AREA, "driver", State.MISSING, "nvidia-smi is not on PATH", remedy)]
    listed = machine.run([str(tool), f"--query-gpu={_QUERY}", "--format=csv,noheader,nounits"])
    if listed is None:
        remedy = "run nvidia-smi by hand: driver and library versions may differ until the next reboot"
        return [Finding(AREA, "driver", State.WARNING, "nvidia-smi fails", remedy)]
    rows = [[c.strip() for c in line.split(",")] for line in listed.strip().splitlines()]
    return [f for number, row in enumerate(rows) if len(row) == 9 for f in _card(number, row)]


def _card(number: int, row: list[str]) -> list[Finding]:
    name, driver, capability, clock, most_clock, limit, most, used, total = row
    label = f"GPU {number}"
    found = [
        Finding(
            AREA,
            label,
            State.OK,
            f"{name}, sm_{capability.replace('.', '')}, driver {driver}, {used} of {total} MiB used",
        )
    ]
    version = tuple(int(p) for p in capability.split(".") if p.isdecimal())
    if version > _NEWEST_PTX:
        found.append(
            Finding(
                AREA, f"{label} code", State.OK, "runs IREE's PTX for sm_89, compiled by the driver when it is loaded"
            )
        )
    if re.fullmatch(r"\d+", clock):
        found.append(Finding(AREA, f"{label} clock", State.OK, f"readable, {clock} of {most_clock} MHz now"))
    else:
        found.append(
            Finding(AREA, f"{label} clock", State.WARNING, "cannot be read", "without it throttling cannot be seen")
        )
    try:
        capped = float(limit) < float(most)
    except ValueError:
        return found
    remedy = f"raise it before quoting a figure: sudo nvidia-smi -i {number} -pl {float(most):.0f}" if capped else None
    words = f"{float(limit):.0f} W of {float(most):.0f} W"
    return [*found, Finding(AREA, f"{label} power limit", State.WARNING if capped else State.OK, words, remedy)]


def profilers(machine: Machine) -> list[Finding]:
    """CUPTI's Python package, and Nsight Compute."""
    findings = []
    if find_spec("cupti") is not None:
        findings.append(Finding(AREA, "cupti-python", State.OK, "installed"))
    else:
        remedy = "for kernel times on NVIDIA GPUs: pip install 'ireebench[cupti]'"
        findings.append(Finding(AREA, "cupti-python", State.MISSING, "not installed", remedy))
    tool = machine.which("ncu")
    remedy = "for hardware counters on NVIDIA GPUs: install Nsight Compute"
    findings.append(
        Finding(AREA, "ncu", State.OK, str(tool))
        if tool
        else Finding(AREA, "ncu", State.MISSING, "not on PATH", remedy)
    )
    return findings


def toolkit(machine: Machine) -> list[Finding]:
    """nvcc, for the CUB baseline."""
    tool = machine.which("nvcc")
    if tool is None:
        remedy = "for the CUB baseline: install the CUDA toolkit 12.3 or newer and put nvcc on PATH"
        return [Finding(AREA, "nvcc", State.MISSING, "not on PATH", remedy)]
    told = machine.run([str(tool), "--version"]) or ""
    release = re.search(r"release (\d+\.\d+)", told)
    return [Finding(AREA, "nvcc", State.OK, f"CUDA {release.group(1) if release else 'of unknown version'}, {tool}")]
