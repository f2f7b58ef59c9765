"""The few facts and calls that are needed of the CUDA driver, through ctypes: no toolkit and no package needed."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from pathlib import Path

_CC_MAJOR, _CC_MINOR, _L2_BYTES, _MULTIPROCESSORS = 75, 76, 38, 16  # CUdevice_attribute in cuda.h


@dataclass(frozen=True, slots=True)
class CudaDevice:
    """What the driver says of a card. Sizes in bytes."""

    ordinal: int
    capability: tuple[int, int]
    l2_bytes: int
    multiprocessors: int


def _driver() -> ctypes.CDLL | None:
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    return driver if driver.cuInit(0) == 0 else None


def find_device(ordinal: int) -> CudaDevice | None:
    """The card with this CUDA ordinal; None where there is no driver, or no such card."""
    driver = _driver()
    handle = ctypes.c_int()
    if driver is None or driver.cuDeviceGet(ctypes.byref(handle), ordinal) != 0:
        return None
    values = []
    for attribute in (_CC_MAJOR, _CC_MINOR, _L2_BYTES, _MULTIPROCESSORS):
        value = ctypes.c_int()
        if driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, handle) != 0:
            return None
        values.append(value.value)
    major, minor, l2_bytes, multiprocessors = values
    return CudaDevice(ordinal, (major, minor), l2_bytes, multiprocessors)


def served_cuda() -> str | None:
    """The newest CUDA that the driver serves, "12.4"; None where there is no driver."""
    number = ctypes.c_int()
    try:
        if ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(number)) != 0:
            return None
    except (OSError, AttributeError):
        return None
    return f"{number.value // 1000}.{number.value % 1000 // 10}"  # 12040, as CUDA_VERSION in cuda.h


def driver_version(kernel_module: Path = Path("/proc/driver/nvidia/version")) -> str | None:
    """The NVIDIA driver's version, "580.95.05": by NVML, which comes with it, else by its kernel module; else None."""
    text = ctypes.create_string_buffer(80)  # NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
        if nvml.nvmlInit_v2() == 0:
            told = nvml.nvmlSystemGetDriverVersion(text, len(text)) == 0
            nvml.nvmlShutdown()
            if told and text.value:
                return text.value.decode(errors="replace")
    except (OSError, AttributeError):
        pass
    try:
        found = re.search(r"Module\b.*?\s(\d+\.\d+(?:\.\d+)?)\s", kernel_module.read_text())
    except OSError:
        return None
    return found.group(1) if found else None


def synchronize(ordinal: int) -> None:
    """Waits for all work of the card's primary context, which the CUDA runtime, PyTorch and IREE share.

    Raises RuntimeError when the driver reports an error (a kernel that faulted, for one).
    """
    driver = _driver()
    handle, context, popped = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    if driver is None or driver.cuDeviceGet(ctypes.byref(handle), ordinal) != 0:
        raise RuntimeError(f"no CUDA device {ordinal}")
    if driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle) != 0:
        raise RuntimeError(f"the context of CUDA device {ordinal} cannot be used")
    try:
        driver.cuCtxPushCurrent_v2(context)
        code = driver.cuCtxSynchronize()
        driver.cuCtxPopCurrent_v2(ctypes.byref(popped))
    finally:
        driver.cuDevicePrimaryCtxRelease_v2(handle)
    if code != 0:
        raise RuntimeError(f"CUDA device {ordinal} reports error {code} (CUresult in cuda.h)")
