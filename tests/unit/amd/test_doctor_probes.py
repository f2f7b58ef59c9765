"""Checks on machines that are made up: a folder for "/", and scripts for programs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ireebench.doctor import probes_amd, probes_host, probes_iree, probes_nvidia
from ireebench.doctor.examine import PROBES, examine
from ireebench.doctor.finding import Finding, State
from ireebench.doctor.machine import Machine
from ireebench.doctor.render import to_lines


def machine(root: Path, **env: str) -> Machine:
    return Machine(root, {"PATH": f"{root / 'bin'}:/usr/bin:/bin", "ROCM_PATH": str(root / "opt/rocm"), **env})


def put(root: Path, path: str, text: str) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def program(root: Path, name: str, script: str) -> None:
    put(root, f"bin/{name}", f"#!/bin/sh\n{script}\n").chmod(0o755)


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {f.name: f for f in findings}


@pytest.fixture
def mi300x(tmp_path: Path) -> Path:
    card = "sys/class/drm/card1/device"
    for path, text in {
        "vendor": "0x1002\n",
        "unique_id": "6a1f0c7e2b3d4e5f",
        "mem_info_vram_total": "206141652992",
        "mem_info_vram_used": "1073741824",
        "hwmon/hwmon3/power1_cap": "550000000",
        "hwmon/hwmon3/power1_cap_max": "750000000",
        "hwmon/hwmon3/freq1_input": "132000000",
    }.items():
        put(tmp_path, f"{card}/{path}", text)
    put(tmp_path, "sys/class/drm/card1-DP-1/device/vendor", "0x1002")  # a connector, not a card
    put(tmp_path, "sys/class/drm/card0/device/vendor", "0x1a03")  # the board's own display chip
    put(tmp_path, "opt/rocm/.info/version", "6.3.1-48\n")
    put(tmp_path, "sys/module/amdgpu/version", "6.12.12\n")
    put(tmp_path, "dev/kfd", "")
    put(tmp_path, "dev/dri/renderD128", "")
    return tmp_path


def test_a_power_cap_below_its_maximum_is_a_warning_with_the_command(mi300x: Path) -> None:
    found = by_name(probes_amd.power_and_clocks(machine(mi300x)))
    assert found["GPU 0 power cap"].state is State.WARNING
    assert found["GPU 0 power cap"].detail == "550 W of 750 W"
    assert "amd-smi set -g 0 -o 750" in (found["GPU 0 power cap"].remedy or "")
    assert found["GPU 0 memory"].detail == "1.0 of 192 GiB used, GPU-6a1f0c7e2b3d4e5f"
    assert found["GPU 0 clock"].detail == "readable, 132 MHz now"
    assert "GPU 1 clock" not in found


def test_a_full_power_cap_is_ok_and_a_hidden_clock_is_a_warning(mi300x: Path) -> None:
    sensors = mi300x / "sys/class/drm/card1/device/hwmon/hwmon3"
    (sensors / "power1_cap").write_text("750000000")
    (sensors / "freq1_input").unlink()
    found = by_name(probes_amd.power_and_clocks(machine(mi300x)))
    assert found["GPU 0 power cap"].state is State.OK
    assert found["GPU 0 clock"].state is State.WARNING


def test_a_rocm_with_wrong_time_stamps_is_a_warning(mi300x: Path) -> None:
    found = by_name(probes_amd.rocm(machine(mi300x)))
    assert found["ROCm"].state is State.WARNING
    assert found["ROCm"].detail == "6.3.1"
    assert "wrong before 6.4.2" in (found["ROCm"].remedy or "")
    assert found["kernel driver"].detail == "amdgpu 6.12.12"
    program(mi300x, "rocprofv3", "echo 'rocm_version: 7.0.2'")
    assert by_name(probes_amd.rocm(machine(mi300x)))["ROCm"].state is State.OK


def test_a_device_that_may_not_be_opened_names_the_group(mi300x: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {f.state for f in probes_amd.permissions(machine(mi300x))} == {State.OK}
    monkeypatch.setattr("os.access", lambda path, mode: not str(path).endswith("kfd"))
    found = by_name(probes_amd.permissions(machine(mi300x)))
    assert found["/dev/kfd"].state is State.WARNING
    assert "usermod -aG render" in (found["/dev/kfd"].remedy or "")


def test_hidden_devices_are_told(tmp_path: Path) -> None:
    (found,) = probes_amd.visible(machine(tmp_path, ROCR_VISIBLE_DEVICES="1"))
    assert (found.name, found.state, found.detail) == ("ROCR_VISIBLE_DEVICES", State.WARNING, "1")


def test_an_empty_machine_has_a_remedy_for_everything_that_is_missing(tmp_path: Path) -> None:
    m = Machine(tmp_path, {"PATH": str(tmp_path), "ROCM_PATH": str(tmp_path)})
    probes = (probes_amd.rocm, probes_amd.profilers, probes_amd.tools, probes_nvidia.cards, probes_nvidia.toolkit)
    findings = [f for probe in probes for f in probe(m)]
    assert {f.state for f in findings} == {State.MISSING}
    assert all(f.remedy for f in findings)
    assert {"rocprofv3", "hipcc", "ckProfiler", "MIOpenDriver", "nvcc"} <= {f.name for f in findings}


def test_a_new_nvidia_card_runs_older_code_and_a_low_limit_is_told(tmp_path: Path) -> None:
    program(tmp_path, "nvidia-smi", "echo 'NVIDIA H200, 580.95, 9.0, 1980, 1980, 500.00, 700.00, 4, 143771'")
    found = by_name(probes_nvidia.cards(machine(tmp_path)))
    assert found["GPU 0"].detail == "NVIDIA H200, sm_90, driver 580.95, 4 of 143771 MiB used"
    assert "PTX for sm_89" in found["GPU 0 code"].detail
    assert (found["GPU 0 power limit"].state, found["GPU 0 power limit"].detail) == (State.WARNING, "500 W of 700 W")
    program(tmp_path, "nvidia-smi", "echo 'RTX 4090, 580.95, 8.9, [N/A], 3105, [N/A], [N/A], 4, 24564'")
    found = by_name(probes_nvidia.cards(machine(tmp_path)))
    assert "GPU 0 code" not in found
    assert found["GPU 0 clock"].state is State.WARNING


def test_a_driver_that_fails_is_told(tmp_path: Path) -> None:
    program(tmp_path, "nvidia-smi", "exit 9")
    (found,) = probes_nvidia.cards(machine(tmp_path))
    assert (found.state, found.detail) == (State.WARNING, "nvidia-smi fails")


def test_little_memory_is_a_warning(tmp_path: Path) -> None:
    put(tmp_path, "proc/meminfo", "MemTotal:       16777216 kB\nMemAvailable:    2097152 kB\n")
    (found,) = probes_host.memory(machine(tmp_path))
    assert (found.state, found.detail) == (State.WARNING, "2.0 of 16.0 GiB free")


def test_a_check_that_hangs_or_raises_is_a_finding_and_holds_nothing_up(tmp_path: Path) -> None:
    def hangs(_: Machine) -> list[Finding]:
        time.sleep(1.5)
        return []

    def raises(_: Machine) -> list[Finding]:
        raise RuntimeError("no such luck")

    fine = Finding("z", "fine", State.OK, "yes")
    began = time.monotonic()
    table = (("x", "slow", hangs), ("y", "broken", raises), ("z", "fine", lambda _: [fine]))
    found = examine(machine(tmp_path), table, limit_s=0.3)
    assert time.monotonic() - began < 1.2
    assert [(f.name, f.state) for f in found] == [
        ("slow", State.UNKNOWN),
        ("broken", State.UNKNOWN),
        ("fine", State.OK),
    ]
    assert found[1].detail == "RuntimeError: no such luck"


def test_a_runtime_whose_drivers_hang_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Machine, "run", lambda self, command, timeout_s=3.0: None)
    found = by_name(probes_iree.runtime(machine(tmp_path)))
    assert found["runtime"].state is State.WARNING
    assert "cannot be listed" in found["runtime"].detail


def test_every_finding_that_is_not_ok_has_a_remedy_here(tmp_path: Path) -> None:
    findings = examine(Machine(), [p for p in PROBES if p[0] != "IREE"])
    assert all(f.remedy for f in findings if f.state is not State.OK)


def test_lines_for_a_person_put_the_remedy_below(tmp_path: Path) -> None:
    text = to_lines([Finding("AMD", "rocprofv3", State.MISSING, "not on PATH", "install it")])
    assert text.splitlines() == [
        "AMD",
        "  missing  rocprofv3  not on PATH",
        "                      -> install it",
        "",
        "1 missing",
    ]
