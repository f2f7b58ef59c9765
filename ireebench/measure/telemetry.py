"""Clocks, power, power cap, temperature and throttling of a device, before and after measuring; and a cooling gate.

NVIDIA through nvidia-ml-py (NVML), AMD and the CPU through sysfs. What cannot be read is None, with the reason.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ireebench.measure.device import kind_of

# NVML's reasons that slow a card down (nvml.h, nvmlClocksEventReasons); idle and application clocks are none.
_NVML_THROTTLE = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "thermal (software)",
    0x40: "thermal (hardware)",
    0x80: "power brake",
}
_AMD_VENDOR = "0x1002"
_INSTALL_NVML = "pip install nvidia-ml-py"


@dataclass(frozen=True, slots=True)
class Telemetry:
    """One reading. `power_cap_w` is the limit in force, `power_max_w` the highest that the card allows.

    `throttled` names what slows the device down now: empty when nothing does, None when it cannot be told.
    `reason` says why figures are missing.
    """

    source: str
    clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    power_w: float | None = None
    power_cap_w: float | None = None
    power_max_w: float | None = None
    temperature_c: float | None = None
    throttled: tuple[str, ...] | None = None
    driver: str | None = None
    reason: str | None = None

    def details(self, prefix: str = "") -> tuple[tuple[str, str], ...]:
        """The figures that are known, as an environment stores them: ("clock_mhz", "1980"), ..."""
        known = {k: v for k, v in asdict(self).items() if v is not None}
        if self.throttled is not None:
            known["throttled"] = ", ".join(self.throttled) or "no"
        return tuple((f"{prefix}{k}", f"{v:g}" if isinstance(v, float) else str(v)) for k, v in known.items())


def read(device: str) -> Telemetry:
    """A reading of the device behind a URI; never raises for what cannot be read."""
    kind = kind_of(device)
    ordinal = device.partition("://")[2]
    match kind:
        case "cuda":
            return _read_nvml(_visible(ordinal or "0", "CUDA_VISIBLE_DEVICES"))
        case "hip":
            return read_amd(_visible(ordinal or "0", "ROCR_VISIBLE_DEVICES"))
        case "cpu":
            return read_cpu()


def _visible(ordinal: str, variable: str) -> str:
    """The index or UUID behind an ordinal where the variable hides or reorders devices; UUIDs stay as they are."""
    listed = [v.strip() for v in os.environ.get(variable, "").split(",") if v.strip()]
    if listed and ordinal.isdecimal() and int(ordinal) < len(listed):
        return listed[int(ordinal)]
    return ordinal


def _read_nvml(which: str) -> Telemetry:
    try:
        import pynvml
    except ImportError:
        return Telemetry("nvml", reason=f"nvidia-ml-py is not installed: {_INSTALL_NVML}")
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as e:
        return Telemetry("nvml", reason=f"NVML does not answer: {e}")
    try:
        return _nvml_figures(pynvml, which)
    except pynvml.NVMLError as e:
        return Telemetry("nvml", reason=f"NVML does not know device {which}: {e}")
    finally:
        pynvml.nvmlShutdown()


def _nvml_figures(nvml: Any, which: str) -> Telemetry:
    handle = nvml.nvmlDeviceGetHandleByIndex(int(which)) if which.isdecimal() else nvml.nvmlDeviceGetHandleByUUID(which)

    def get(call: Callable[..., Any], *args: Any) -> Any:
        """One figure; None where the card or the virtual machine does not tell it."""
        try:
            return call(*args)
        except nvml.NVMLError:
            return None

    clock = get(nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_SM)
    memory = get(nvml.nvmlDeviceGetClockInfo, handle, nvml.NVML_CLOCK_MEM)
    limits = get(nvml.nvmlDeviceGetPowerManagementLimitConstraints, handle)
    temperature = get(nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU)
    reasons = get(nvml.nvmlDeviceGetCurrentClocksEventReasons, handle)
    return Telemetry(
        "nvml",
        _scaled(clock),
        _scaled(memory),
        _scaled(get(nvml.nvmlDeviceGetPowerUsage, handle), 1e-3),
        _scaled(get(nvml.nvmlDeviceGetPowerManagementLimit, handle), 1e-3),
        _scaled(limits[1] if limits else None, 1e-3),
        _scaled(temperature),
        None if reasons is None else tuple(name for bit, name in _NVML_THROTTLE.items() if reasons & bit),
        get(nvml.nvmlSystemGetDriverVersion),
    )


def _scaled(value: float | None, factor: float = 1.0) -> float | None:
    return None if value is None else value * factor


def _number(path: Path, factor: float) -> float | None:
    try:
        return int(path.read_text()) * factor
    except (OSError, ValueError):
        return None


def _first(paths: Sequence[Path], factor: float) -> float | None:
    return next((v for p in paths if (v := _number(p, factor)) is not None), None)


def _is_amd(card: Path) -> bool:
    try:
        return (card / "device" / "vendor").read_text().strip() == _AMD_VENDOR
    except OSError:
        return False


def read_amd(which: str, drm: Path = Path("/sys/class/drm")) -> Telemetry:
    """The `which`-th AMD card's sensors from the amdgpu driver (kernel documentation, "GPU sensors").

    Hertz, microwatts and millidegrees become MHz, W and degrees Celsius. Temperature is the junction's where given.
    """
    cards = sorted(
        (c for c in drm.glob("card[0-9]*") if c.name[4:].isdecimal() and _is_amd(c)), key=lambda c: int(c.name[4:])
    )
    if not which.isdecimal() or int(which) >= len(cards):
        return Telemetry("sysfs", reason=f"{drm} lists {len(cards)} AMD cards, none is '{which}'")
    sensors = sorted((cards[int(which)] / "device" / "hwmon").glob("hwmon*"))
    if not sensors:
        return Telemetry("sysfs", reason=f"{cards[int(which)]} has no sensors (no hwmon folder)")
    base = sensors[0]
    return Telemetry(
        "sysfs",
        _number(base / "freq1_input", 1e-6),
        _number(base / "freq2_input", 1e-6),
        _first([base / "power1_average", base / "power1_input"], 1e-6),
        _number(base / "power1_cap", 1e-6),
        _number(base / "power1_cap_max", 1e-6),
        _first([base / "temp2_input", base / "temp1_input"], 1e-3),
    )


def read_cpu(cpus: Path = Path("/sys/devices/system/cpu")) -> Telemetry:
    """The mean clock of the cores, where the kernel tells it."""
    clocks = [c for f in cpus.glob("cpu[0-9]*/cpufreq/scaling_cur_freq") if (c := _number(f, 1e-3)) is not None]
    if not clocks:
        return Telemetry("cpufreq", reason=f"{cpus} tells no clocks (a virtual machine, as a rule)")
    return Telemetry("cpufreq", sum(clocks) / len(clocks))


@dataclass(frozen=True, slots=True)
class Cooling:
    """How a cooling gate ended: seconds waited, the last temperature (None: not readable) and whether it is cool."""

    waited_s: float
    temperature_c: float | None
    cool: bool


def wait_until_cool(
    device: str,
    limit_c: float,
    timeout_s: float,
    reading: Callable[[str], Telemetry] = read,
    pause_s: float = 1.0,
) -> Cooling:
    """Waits until the device is below `limit_c` and not throttled for heat, at most `timeout_s`.

    A device that tells no temperature is not waited for, and not called cool.
    """
    start = time.monotonic()
    while True:
        now = reading(device)
        waited = time.monotonic() - start
        if now.temperature_c is None:
            return Cooling(waited, None, cool=False)
        hot = now.temperature_c >= limit_c or any("thermal" in t for t in now.throttled or ())
        if not hot or waited >= timeout_s:
            return Cooling(waited, now.temperature_c, cool=not hot)
        time.sleep(min(pause_s, max(timeout_s - waited, 0.0)))
