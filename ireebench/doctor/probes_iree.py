"""Checks of IREE: the compiler, the runtime, its drivers and the devices that they see."""

from __future__ import annotations

import json
import os
import re
import sys
from importlib.metadata import PackageNotFoundError, version

from ireebench.doctor.finding import Finding, State
from ireebench.doctor.machine import Machine
from ireebench.measure.device import cpu_model

AREA = "IREE"
# In a process of its own: loading a broken GPU driver can crash or hang the process that does it.
_LIST_DEVICES = """
import json, iree.runtime as rt
found = {}
for name in rt.query_available_drivers():
    try:
        devices = rt.get_driver(name).query_available_devices()
        found[name] = [{"name": d["name"], "path": d.get("path", "")} for d in devices]
    except Exception as e:
        found[name] = str(e).strip().splitlines()[0] if str(e).strip() else type(e).__name__
print(json.dumps(found))
"""
_DRIVER_FOR = {
    "hip": "install ROCm 6.4.2 or newer; libamdhip64.so must be found (ldconfig or LD_LIBRARY_PATH)",
    "cuda": "install the NVIDIA driver; libcuda.so must be found",
    "local-task": "reinstall the runtime: pip install --force-reinstall iree-base-runtime",
}


def compiler(machine: Machine) -> list[Finding]:
    """The real binary, and whether it starts."""
    from ireebench.compiler.flags import find_compiler
    from ireebench.errors import UserError

    remedy = "pip install iree-base-compiler==3.13.0 (not needed where bundles are run only)"
    try:
        binary = find_compiler()
    except UserError as e:
        return [Finding(AREA, "compiler", State.MISSING, str(e), remedy, essential=True)]
    told = machine.run([str(binary), "--version"])
    if told is None:
        return [Finding(AREA, "compiler", State.WARNING, f"{binary} does not start", remedy, essential=True)]
    found = re.search(r"IREE compiler version (\S+)", told)
    return [
        Finding(AREA, "compiler", State.OK, f"{found.group(1) if found else told.split()[0]}, runs", essential=True)
    ]


def runtime(machine: Machine) -> list[Finding]:
    """The runtime package, its drivers and their devices."""
    try:
        installed = version("iree-base-runtime")
    except PackageNotFoundError:
        remedy = "pip install iree-base-runtime==3.13.0"
        return [Finding(AREA, "runtime", State.MISSING, "iree-base-runtime is not installed", remedy, essential=True)]
    listed = machine.run([sys.executable, "-c", _LIST_DEVICES], timeout_s=4.0)
    if listed is None:
        remedy = (
            "a GPU driver hangs or crashes when it is loaded: try ireebench with --target cpu, then mend the driver"
        )
        return [Finding(AREA, "runtime", State.WARNING, f"{installed}; its drivers cannot be listed", remedy, True)]
    drivers = json.loads(listed.strip().splitlines()[-1])
    found = [Finding(AREA, "runtime", State.OK, f"{installed}; drivers {', '.join(sorted(drivers))}", essential=True)]
    for name, remedy in _DRIVER_FOR.items():
        devices = drivers.get(name, "this build of the runtime has no such driver")
        label = f"devices of {name}"
        if isinstance(devices, list) and devices:
            words = "; ".join(f"{name}://{i} {d['name']} {d['path']}".strip() for i, d in enumerate(devices))
            found.append(Finding(AREA, label, State.OK, cpu_model() if name == "local-task" else words))
        else:
            found.append(Finding(AREA, label, State.MISSING, _short(devices) if devices else "none", remedy))
    return found


def _short(error: str) -> str:
    """The runtime's message without its source file and its advice."""
    return re.split(r"[;:] please", re.sub(r"^.*?UNAVAILABLE; ", "", error))[0]


def cache(machine: Machine) -> list[Finding]:
    """Whether compiles can be kept."""
    from ireebench.compiler.cache import default_cache

    folder = default_cache()
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if os.access(there, os.W_OK):
        free = os.statvfs(there).f_bavail * os.statvfs(there).f_frsize
        return [Finding(AREA, "compile cache", State.OK, f"{folder}, {free >> 30} GiB free")]
    remedy = f"make {there} writable, or set XDG_CACHE_HOME to a folder that is"
    return [Finding(AREA, "compile cache", State.WARNING, f"{folder} cannot be written", remedy)]
