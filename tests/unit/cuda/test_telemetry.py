from __future__ import annotations

import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from ireebench.measure import telemetry
from ireebench.measure.telemetry import Telemetry, read, read_amd, read_cpu, wait_until_cool


def write(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (folder / name).write_text(f"{value}\n")


def test_amd_sensors_are_read_in_their_units(tmp_path: Path) -> None:
    write(tmp_path / "card0" / "device", vendor="0x10de")
    write(tmp_path / "card1" / "device", vendor="0x1002")
    write(tmp_path / "card1-DP-1", status="connected")
    write(
        tmp_path / "card1" / "device" / "hwmon" / "hwmon3",
        freq1_input=2100000000,
        freq2_input=1300000000,
        power1_average=412000000,
        power1_cap=750000000,
        power1_cap_max=800000000,
        temp1_input=51000,
        temp2_input=58000,
    )
    assert read_amd("0", tmp_path) == Telemetry("sysfs", 2100.0, 1300.0, 412.0, 750.0, 800.0, 58.0)
    assert "1 AMD cards, none is '1'" in (read_amd("1", tmp_path).reason or "")


def test_a_card_without_sensors_says_so(tmp_path: Path) -> None:
    write(tmp_path / "card0" / "device", vendor="0x1002")
    assert "no sensors" in (read_amd("0", tmp_path).reason or "")


def test_the_cpus_clock_is_the_mean_of_its_cores(tmp_path: Path) -> None:
    write(tmp_path / "cpu0" / "cpufreq", scaling_cur_freq=3000000)
    write(tmp_path / "cpu1" / "cpufreq", scaling_cur_freq=2000000)
    assert read_cpu(tmp_path).clock_mhz == 2500.0
    assert "no clocks" in (read_cpu(tmp_path / "none").reason or "")


class NVMLError(Exception):
    pass


def fake_nvml(reasons: int) -> types.SimpleNamespace:
    def refuse(*_: object) -> int:
        raise NVMLError("Not Supported")

    return types.SimpleNamespace(
        NVMLError=NVMLError,
        NVML_CLOCK_SM=1,
        NVML_CLOCK_MEM=2,
        NVML_TEMPERATURE_GPU=0,
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetHandleByIndex=lambda i: ("index", i),
        nvmlDeviceGetHandleByUUID=lambda u: ("uuid", u),
        nvmlDeviceGetClockInfo=lambda handle, which: {1: 1980, 2: 3201}[which],
        nvmlDeviceGetPowerUsage=lambda handle: 350500,
        nvmlDeviceGetPowerManagementLimit=refuse,
        nvmlDeviceGetPowerManagementLimitConstraints=lambda handle: [200000, 700000],
        nvmlDeviceGetTemperature=lambda handle, sensor: 61,
        nvmlDeviceGetCurrentClocksEventReasons=lambda handle: reasons,
        nvmlSystemGetDriverVersion=lambda: "580.1",
    )


def test_nvml_figures_and_throttling_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(0x01 | 0x04 | 0x40))
    got = read("cuda://0")
    assert got == Telemetry(
        "nvml", 1980.0, 3201.0, 350.5, None, 700.0, 61.0, ("power cap", "thermal (hardware)"), "580.1"
    )
    assert dict(got.details("before_"))["before_throttled"] == "power cap, thermal (hardware)"
    assert "before_power_cap_w" not in dict(got.details("before_"))


def test_idle_is_no_throttling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", fake_nvml(0x01))
    assert read("cuda://0").throttled == ()
    assert dict(read("cuda://0").details())["throttled"] == "no"


@pytest.mark.parametrize(("visible", "handle"), [("3,1", ("index", 1)), ("GPU-aa,GPU-bb", ("uuid", "GPU-bb"))])
def test_hidden_and_reordered_cards_are_followed(
    visible: str, handle: tuple[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    nvml = fake_nvml(0)
    nvml.nvmlDeviceGetPowerUsage = lambda h: asked.append(h) or 1000
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert read("cuda://1").power_w == 1.0
    assert asked == [handle]


def test_missing_nvml_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert read("cuda://0") == Telemetry("nvml", reason="nvidia-ml-py is not installed: pip install nvidia-ml-py")


def readings(*values: Telemetry) -> Callable[[str], Telemetry]:
    left = list(values)
    return lambda device: left.pop(0) if len(left) > 1 else left[0]


def test_the_cooling_gate_waits_for_temperature_and_thermal_throttling() -> None:
    hot, slowed = Telemetry("x", temperature_c=80.0), Telemetry("x", temperature_c=60.0, throttled=("thermal (x)",))
    cool = Telemetry("x", temperature_c=59.0, throttled=("power cap",))
    got = wait_until_cool("cuda://0", 65, 10, readings(hot, slowed, cool), pause_s=0.001)
    assert (got.cool, got.temperature_c) == (True, 59.0)


def test_the_cooling_gate_gives_up_and_says_so() -> None:
    got = wait_until_cool("cuda://0", 65, 0.01, readings(Telemetry("x", temperature_c=80.0)), pause_s=0.001)
    assert (got.cool, got.temperature_c) == (False, 80.0)
    assert got.waited_s >= 0.01


def test_a_device_without_temperature_is_not_waited_for() -> None:
    got = wait_until_cool("cuda://0", 65, 10, readings(Telemetry("x")))
    assert (got.cool, got.temperature_c) == (False, None)
    assert telemetry.read("local-task").temperature_c is None
