"""Checks of AMD GPUs: ROCm, the kernel driver, permissions, power and clocks, profilers, vendor's tools.

Power and clocks are read from the amdgpu driver's files (hwmon), which need no tool and no privilege.
"""

from __future__ import annotations

import os
from pathlib import Path

from ireebench.doctor.finding import Finding, State
from ireebench.doctor.machine import Machine
from ireebench.measure.rocm import rocm_root, rocm_version, version_warning
from ireebench.measure.timers.rocprofv3 import REMEDY as PROFILER_REMEDY

AREA = "AMD"
_VENDOR = "0x1002"


def cards(machine: Machine) -> list[Path]:
    """The device folders of AMD GPUs, in the kernel's order."""
    return [
        p.parent
        for p in machine.glob("/sys/class/drm/card*/device/vendor")
        if _read(p) == _VENDOR and p.parent.parent.name.removeprefix("card").isdecimal()
    ]


def _read(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None


def _number(path: Path) -> int | None:
    text = _read(path)
    return int(text) if text and text.isdecimal() else None


def rocm(machine: Machine) -> list[Finding]:
    """ROCm's version and the kernel driver's."""
    tool = machine.which("rocprofv3")
    found = rocm_version(tool, machine.env)
    root = rocm_root(machine.env)
    if found is None:
        remedy = "for AMD GPUs: install ROCm 6.4.2 or newer, or set ROCM_PATH to where it is"
        findings = [Finding(AREA, "ROCm", State.MISSING, f"not in {root}", remedy)]
    else:
        warning = version_warning(found)
        state = State.WARNING if warning else State.OK
        findings = [Finding(AREA, "ROCm", state, found, warning)]
    driver = machine.text("/sys/module/amdgpu/version")
    if driver or machine.path("/sys/module/amdgpu").is_dir():
        findings.append(Finding(AREA, "kernel driver", State.OK, f"amdgpu {driver or '(of the kernel)'}"))
    else:
        remedy = "for AMD GPUs: install amdgpu-dkms, or load the kernel's driver: modprobe amdgpu"
        findings.append(Finding(AREA, "kernel driver", State.MISSING, "amdgpu is not loaded", remedy))
    return findings


def permissions(machine: Machine) -> list[Finding]:
    """Whether this user may open the GPU."""
    if not cards(machine) and not machine.path("/dev/kfd").exists():
        return []
    remedy = "sudo usermod -aG render,video $USER, then log in again (containers: --device=/dev/kfd --device=/dev/dri)"
    findings = []
    for name, paths in (("/dev/kfd", [machine.path("/dev/kfd")]), ("render nodes", machine.glob("/dev/dri/renderD*"))):
        there = [p for p in paths if p.exists()]
        if not there:
            findings.append(Finding(AREA, name, State.MISSING, "not there", remedy))
        elif all(os.access(p, os.R_OK | os.W_OK) for p in there):
            findings.append(Finding(AREA, name, State.OK, "readable and writable"))
        else:
            findings.append(Finding(AREA, name, State.WARNING, "may not be opened by this user", remedy))
    return findings


def power_and_clocks(machine: Machine) -> list[Finding]:
    """Each card's memory, clock and power cap against its maximum: a capped card gives lower figures."""
    findings = []
    for number, card in enumerate(cards(machine)):
        name = f"GPU {number}"
        total, used = _number(card / "mem_info_vram_total"), _number(card / "mem_info_vram_used")
        identity = _read(card / "unique_id")
        if total is not None:
            words = f"{(used or 0) / 2**30:.1f} of {total / 2**30:.0f} GiB used"
            findings.append(
                Finding(AREA, f"{name} memory", State.OK, words + (f", GPU-{identity}" if identity else ""))
            )
        sensors = sorted((card / "hwmon").glob("hwmon*"))
        cap = next((n for s in sensors if (n := _number(s / "power1_cap")) is not None), None)
        most = next((n for s in sensors if (n := _number(s / "power1_cap_max")) is not None), None)
        if cap and most:
            words = f"{cap / 1e6:.0f} W of {most / 1e6:.0f} W"
            low = f"raise it before quoting a figure: sudo amd-smi set -g {number} -o {most // 1_000_000}"
            findings.append(
                Finding(
                    AREA,
                    f"{name} power cap",
                    State.OK if cap >= most else State.WARNING,
                    words,
                    None if cap >= most else low,
                )
            )
        clock = next((n for s in sensors if (n := _number(s / "freq1_input")) is not None), None)
        if clock is not None:
            findings.append(Finding(AREA, f"{name} clock", State.OK, f"readable, {clock / 1e6:.0f} MHz now"))
        else:
            remedy = "mount /sys into the container; without it throttling cannot be seen"
            findings.append(Finding(AREA, f"{name} clock", State.WARNING, "cannot be read", remedy))
    return findings


def profilers(machine: Machine) -> list[Finding]:
    """rocprofv3, and the first rocprof."""
    findings = []
    for name, remedy in (
        ("rocprofv3", f"for kernel times on AMD GPUs: {PROFILER_REMEDY}"),
        ("rocprof", "only where rocprofv3 cannot be had: it comes with ROCm as rocprofiler"),
    ):
        tool = machine.which(name)
        findings.append(
            Finding(AREA, name, State.OK, str(tool))
            if tool
            else Finding(AREA, name, State.MISSING, "not on PATH", remedy)
        )
    return findings


def tools(machine: Machine) -> list[Finding]:
    """hipcc, and the programs behind baselines."""
    from ireebench.measure.baselines import ckprofiler, miopen, rocm_bench

    wanted = [("hipcc", "for the hipCUB baseline: install ROCm's hipcc, hipcub and rocprim")]
    for b in (ckprofiler.BASELINE, rocm_bench.ROCBLAS, rocm_bench.HIPBLASLT, miopen.BASELINE):
        wanted.append((b.tool, f"for the baseline {b.name}: {b.install}"))
    return [
        Finding(AREA, name, State.OK, str(tool))
        if (tool := machine.which(name))
        else Finding(AREA, name, State.MISSING, "not on PATH", remedy)
        for name, remedy in wanted
    ]


def visible(machine: Machine) -> list[Finding]:
    """Whether the environment hides GPUs, which renumbers the rest."""
    return [
        Finding(
            AREA, name, State.WARNING, machine.env[name], "hip://N counts only what this leaves; unset it to see all"
        )
        for name in ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
        if machine.env.get(name) is not None
    ]
