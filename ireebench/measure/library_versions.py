"""Versions of what baselines call and of the device's driver, found without importing any of it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ireebench.errors import MissingToolError
from ireebench.measure import cuda_driver
from ireebench.measure.baselines import native_build
from ireebench.measure.device import kind_of
from ireebench.measure.rocm import rocm_version

_PACKAGES = ("numpy", "torch", "bitsandbytes")
_AMDGPU = Path("/sys/module/amdgpu/version")  # of a driver from ROCm; the kernel's own has none


def library_versions(device: str) -> dict[str, str]:
    """What baselines on this device are made of, by name; what is not installed or does not tell is left out.

    Packages by their metadata; of a CUDA device also `cub` (what the native baselines are built with), `driver_version`
    and `driver_cuda` (the newest CUDA that it serves); of an AMD device `rocm` and `driver_version`.
    """
    found = {name: _installed(name) for name in _PACKAGES}
    match kind_of(device):
        case "cuda":
            found |= {"cub": _cub(), "driver_version": cuda_driver.driver_version()}
            found |= {"driver_cuda": cuda_driver.served_cuda()}
        case "hip":
            found |= {"rocm": rocm_version(), "driver_version": _amdgpu(_AMDGPU)}
        case "cpu":
            pass
    return {name: told for name, told in found.items() if told}


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cub() -> str | None:
    """CUB_VERSION in words (300100 is "3.1.0"): major * 100000 + minor * 100 + patch (cub/version.cuh)."""
    try:
        number = native_build.cub_version()
    except MissingToolError:
        return None
    return None if number is None else f"{number // 100_000}.{number // 100 % 1_000}.{number % 100}"


def _amdgpu(path: Path) -> str | None:
    try:
        return path.read_text().strip() or None
    except OSError:
        return None
