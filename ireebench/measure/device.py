"""Which devices are present, and what they are called."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from ireebench.errors import MissingToolError, UsageError
from ireebench.measure.hip_devices import HipDevice, only, select

Kind = Literal["hip", "cuda", "cpu"]

# The order of `auto`: the first kind that is present.
URIS: dict[Kind, str] = {"hip": "hip://0", "cuda": "cuda://0", "cpu": "local-task"}


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """A device as IREE opens it. `cores` and `task_workers` are the CPU's; `cache_bytes` its last-level cache.

    None: not known here.
    """

    name: str
    driver: str
    uri: str
    cores: int | None = None
    task_workers: int | None = None
    cache_bytes: int | None = None


def kind_of(uri: str) -> Kind:
    """The kind of device that a URI names; raises ValueError for a driver that ireebench does not measure on."""
    driver = uri.partition(":")[0]
    if driver.startswith("local"):
        return "cpu"
    if driver in ("cuda", "hip"):
        return driver  # type: ignore[return-value]
    raise ValueError(f"device '{uri}': ireebench measures on hip, cuda and local-task")


def devices_of(kind: Kind) -> list[dict[str, Any]]:
    """What IREE's driver lists; empty when the driver's library or the device is absent."""
    import iree.runtime as rt

    try:
        return list(rt.get_driver(URIS[kind].partition(":")[0]).query_available_devices())
    except (RuntimeError, ValueError):
        return []


def auto_device() -> str:
    """The URI of the best device present: hip, then cuda, then the CPU."""
    return next(uri for kind, uri in URIS.items() if kind == "cpu" or devices_of(kind))


def describe(uri: str) -> DeviceInfo:
    """What is behind a device URI; raises MissingToolError when there is nothing."""
    kind = kind_of(uri)
    if kind == "cpu":
        return _describe_cpu(uri)
    found = devices_of(kind)
    if not found:
        library = {"cuda": "the NVIDIA driver (libcuda.so)", "hip": "ROCm (libamdhip64.so)"}[kind]
        raise MissingToolError(f"no {kind} device: {library} or the card is missing; --target cpu measures here")
    number = _position(uri, kind, found)
    return DeviceInfo(str(found[number]["name"]), kind, uri, cache_bytes=_gpu_cache_bytes(kind, number))


def ordinal(uri: str) -> int:
    """A GPU's number among those that its driver shows to this process: "cuda" is 0, "hip://1" 1.

    A UUID is looked up; raises MissingToolError where it names none of them.
    """
    path = uri.partition("://")[2]
    return int(path or 0) if not path or path.isdecimal() else _position(uri, kind_of(uri), devices_of(kind_of(uri)))


def alone(uri: str) -> dict[str, str]:
    """The environment in which a program that takes no device option sees this AMD GPU alone."""
    found = devices_of("hip")
    number = _position(uri, "hip", found)
    return only(HipDevice(number, number, str(found[number].get("path"))), os.environ)


def _position(uri: str, kind: Kind, found: list[dict[str, Any]]) -> int:
    """Where a URI's device is among those found. HIP's rules for numbers and UUIDs are `hip_devices`'."""
    if kind == "hip":
        devices = [HipDevice(i, i, str(d.get("path"))) for i, d in enumerate(found)]
        try:
            return select(uri, devices, os.environ).index
        except UsageError as e:
            raise MissingToolError(str(e)) from e
    wanted = uri.partition("://")[2] or "0"
    for i, d in enumerate(found):
        if wanted in (str(i), d.get("path")):
            return i
    raise MissingToolError(f"no device '{uri}'; {kind} has {len(found)}: {kind}://0 to {kind}://{len(found) - 1}")


def _gpu_cache_bytes(kind: Kind, number: int) -> int | None:
    """Size of a CUDA device's L2, as the driver tells it; None elsewhere (the target's table has AMD's)."""
    if kind != "cuda":
        return None
    from ireebench.measure.cuda_driver import find_device

    device = find_device(number)
    return device.l2_bytes if device else None


def _describe_cpu(uri: str) -> DeviceInfo:
    cores = len(os.sched_getaffinity(0))
    return DeviceInfo(cpu_model(), uri.partition(":")[0], uri, cores, task_workers(uri), last_level_cache_bytes())


def cpu_model(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's name as the kernel tells it, else its architecture."""
    try:
        text = cpuinfo.read_text()
    except OSError:
        text = ""
    match = re.search(r"^(?:model name|Model|cpu model)\s*:\s*(.+)$", text, re.MULTILINE)
    return match.group(1).strip() if match else os.uname().machine


def last_level_cache_bytes(caches: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> int | None:
    """Size of the largest cache that the first core sees; None where the kernel does not tell."""
    sizes = []
    units = {"K": 1024, "M": 1024**2, "G": 1024**3}
    for file in caches.glob("index*/size"):
        match = re.fullmatch(r"(\d+)([KMG]?)", file.read_text().strip())
        if match:
            sizes.append(int(match.group(1)) * units.get(match.group(2), 1))
    return max(sizes, default=None)


@cache
def task_workers(uri: str) -> int | None:
    """How many worker threads IREE's task system starts for this device: counted, by opening it in a fresh process.

    None where threads cannot be counted.
    """
    import subprocess
    import sys

    if uri.startswith("local-sync"):
        return 1
    # A thread takes its name when it first runs, which may be after the device is there: count until it stays the same.
    count = """
import glob, sys, time
import iree.runtime as rt
device = rt.get_device(sys.argv[1])
seen, same = 0, 0
for _ in range(100):
    names = [open(f).read() for f in glob.glob("/proc/self/task/*/comm")]
    now = sum(n.startswith("iree-worker") for n in names)
    seen, same = now, same + 1 if now and now == seen else 0
    if same == 5:
        break
    time.sleep(0.02)
print(seen)
"""
    try:
        out = subprocess.run(
            [sys.executable, "-c", count, uri], capture_output=True, text=True, timeout=60, check=True
        ).stdout
        return int(out) or None
    except (subprocess.SubprocessError, OSError, ValueError):
        return None
