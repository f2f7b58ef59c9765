from __future__ import annotations

import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ireebench.measure import cuda_driver, library_versions
from ireebench.measure.baselines import native_build


def stand_in(name: str) -> Any:
    """The driver's two libraries, as CUDA 12.4's driver 550 would answer."""

    def served(number: Any) -> int:
        number._obj.value = 12040
        return 0

    def version(text: Any, size: int) -> int:
        assert size == 80
        text.value = b"550.54.15"
        return 0

    nvml = {"nvmlInit_v2": lambda: 0, "nvmlSystemGetDriverVersion": version, "nvmlShutdown": lambda: 0}
    return SimpleNamespace(**{"libcuda.so.1": {"cuDriverGetVersion": served}, "libnvidia-ml.so.1": nvml}[name])


def absent(name: str) -> Any:
    raise OSError(f"{name}: cannot open shared object file")


def install(folder: Path, name: str, version: str) -> None:
    """What `pip install` leaves of a package for importlib.metadata; the package itself cannot be imported."""
    (folder / f"{name}-{version}.dist-info").mkdir()
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (folder / f"{name}-{version}.dist-info" / "METADATA").write_text(text)


def test_a_cuda_devices_libraries_are_told_without_being_imported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(tmp_path, "torch", "2.6.0+cu124")
    install(tmp_path, "bitsandbytes", "0.45.3")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(ctypes, "CDLL", stand_in)
    monkeypatch.setattr(native_build, "cub_version", lambda: 200_701)
    told = library_versions.library_versions("cuda://0")
    assert told.pop("numpy")
    assert told == {
        "torch": "2.6.0+cu124",
        "bitsandbytes": "0.45.3",
        "cub": "2.7.1",
        "driver_version": "550.54.15",
        "driver_cuda": "12.4",
    }


def test_what_is_not_there_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", absent)
    monkeypatch.setattr(library_versions, "version", raise_missing)
    monkeypatch.setattr(native_build, "cub_version", lambda: None)
    monkeypatch.setattr(cuda_driver, "driver_version", lambda: None)
    assert library_versions.library_versions("cuda://0") == {}


def raise_missing(package: str) -> str:
    raise library_versions.PackageNotFoundError(package)


@pytest.mark.parametrize(
    "line",
    [
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (builder@host)\n",
    ],
)
def test_without_nvml_the_kernel_module_tells_the_drivers_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, line: str
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", absent)
    (tmp_path / "version").write_text(line + "GCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)\n")
    assert cuda_driver.driver_version(tmp_path / "version") == "550.54.15"
    assert cuda_driver.driver_version(tmp_path / "none") is None


def test_of_an_amd_device_rocm_and_its_driver_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".info").mkdir()
    (tmp_path / ".info" / "version").write_text("6.4.2-120\n")
    (tmp_path / "amdgpu").write_text("6.12.12\n")
    monkeypatch.setattr(library_versions, "rocm_version", lambda: rocm(tmp_path))
    monkeypatch.setattr(library_versions, "_AMDGPU", tmp_path / "amdgpu")
    told = library_versions.library_versions("hip://0")
    assert (told["rocm"], told["driver_version"]) == ("6.4.2", "6.12.12")


def rocm(root: Path) -> str | None:
    from ireebench.measure.rocm import rocm_version

    return rocm_version(env={"ROCM_PATH": str(root)})
