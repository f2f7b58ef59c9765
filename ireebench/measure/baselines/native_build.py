"""Builds the C++ sources in `native/` on first use and keeps the libraries in the user's cache folder.

A library is found again by the hash of its sources, the compiler's version and the command line, so that a new
compiler, another card or an edited source builds anew and nothing stale is ever loaded.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ireebench.errors import MissingToolError
from ireebench.measure import cuda_driver
from ireebench.measure.user_folders import cache_folder

Kind = Literal["cuda", "hip", "host"]
SOURCES = Path(__file__).resolve().parent / "native"
BUILD_TIMEOUT_S = 900.0


@dataclass(frozen=True, slots=True)
class Toolkit:
    """A compiler for the native sources. `compilers` are tried in order; `variable` overrides them."""

    kind: Kind
    compilers: tuple[str, ...]
    variable: str
    flags: tuple[str, ...]
    hint: str


TOOLKITS: dict[Kind, Toolkit] = {
    t.kind: t
    for t in (
        Toolkit(
            "cuda",
            ("nvcc", "/usr/local/cuda/bin/nvcc"),
            "IREEBENCH_NVCC",
            ("-O3", "-std=c++17", "-shared", "-Xcompiler", "-fPIC", "-diag-suppress", "177"),
            "install the CUDA toolkit and put its bin folder on PATH, or set IREEBENCH_NVCC",
        ),
        Toolkit(
            "hip",
            ("hipcc", "/opt/rocm/bin/hipcc"),
            "IREEBENCH_HIPCC",
            ("-O3", "-std=c++17", "-shared", "-fPIC", "-x", "hip"),
            "install ROCm's hipcc and hipcub (packages hipcc, hipcub-dev), or set IREEBENCH_HIPCC",
        ),
        Toolkit(
            "host",
            ("c++", "g++", "clang++"),
            "CXX",
            ("-O3", "-march=native", "-std=c++17", "-shared", "-fPIC", "-pthread"),
            "install a C++ compiler (package g++), or set CXX",
        ),
    )
}


def find_compiler(toolkit: Toolkit) -> str | None:
    """The path of the toolkit's compiler; None when there is none."""
    named = os.environ.get(toolkit.variable)
    for name in (named,) if named else toolkit.compilers:
        if path := shutil.which(name):
            return path
    return None


def missing_compiler(kind: Kind) -> str | None:
    """None when the native sources can be built for `kind`; else what is missing and how to get it."""
    toolkit = TOOLKITS[kind]
    if find_compiler(toolkit):
        return None
    return f"{toolkit.compilers[0]} not found; {toolkit.hint}"


def cuda_arch(ordinal: int) -> str:
    """The card's architecture as nvcc spells it ("sm_90"), asked of the driver; sm_90 where there is no driver or card.

    Stands in for `-arch=native`, which builds for nvcc's default architecture on a machine that has no card.
    """
    device = cuda_driver.find_device(ordinal)
    return "sm_90" if device is None else "sm_{}{}".format(*device.capability)


def device_flags(kind: Kind, ordinal: int) -> tuple[str, ...]:
    """Flags that depend on the device and the user's own copy of CUB (`IREEBENCH_CCCL`: its include folder)."""
    match kind:
        case "cuda":
            cccl = os.environ.get("IREEBENCH_CCCL")
            return (f"-arch={cuda_arch(ordinal)}", *((f"-I{cccl}",) if cccl else ()))
        case "hip":
            return ("--offload-arch=native",)
        case "host":
            return ()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run(command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", cwd=cwd, timeout=BUILD_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as e:
        raise MissingToolError(f"{command[0]} could not be run: {e}") from e


def _first_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "no output")


def build(source: str, kind: Kind, ordinal: int = 0) -> Path:
    """The shared library of `native/<source>`, built now or found in the cache; safe between processes.

    Raises MissingToolError when there is no compiler, or with its first error and the log's place when it fails.
    """
    toolkit = TOOLKITS[kind]
    compiler = find_compiler(toolkit)
    if compiler is None:
        raise MissingToolError(f"{source} cannot be built: {missing_compiler(kind)}")
    flags = (*toolkit.flags, *device_flags(kind, ordinal))
    digest = hashlib.sha256()
    for path in (SOURCES / source, SOURCES / "gpu_alias.hpp"):
        digest.update(path.read_bytes())
    digest.update(_run([compiler, "--version"], SOURCES).stdout.encode())
    digest.update("\0".join((compiler, *flags)).encode())
    folder = cache_folder() / "native"
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / f"{Path(source).stem}-{kind}-{digest.hexdigest()[:20]}.so"
    with _locked(folder / f"{library.name}.lock"):
        if not library.exists():
            _compile([compiler, *flags], source, library)
    return library


def _compile(command: list[str], source: str, library: Path) -> None:
    with tempfile.TemporaryDirectory(dir=library.parent) as scratch:
        made = Path(scratch) / library.name
        done = _run([*command, "-o", str(made), str(SOURCES / source)], Path(scratch))
        if done.returncode != 0 or not made.exists():
            log = library.with_suffix(".log")
            log.write_text(" ".join(command) + "\n" + done.stdout + done.stderr)
            raise MissingToolError(
                f"{Path(command[0]).name} failed on {source}: {_first_error(done.stderr or done.stdout)} (log: {log})"
            )
        made.replace(library)  # atomic: a reader sees a whole library or none


def load(source: str, kind: Kind, ordinal: int = 0) -> ctypes.CDLL:
    """Builds and loads `native/<source>`; raises MissingToolError as `build` does, or when it cannot be loaded."""
    library = build(source, kind, ordinal)
    try:
        return ctypes.CDLL(str(library))
    except OSError as e:
        raise MissingToolError(f"{library} cannot be loaded: {e}; delete it to build it again") from e


@functools.cache
def cub_version() -> int | None:
    """CUB_VERSION of the headers that nvcc finds (3.1.0 is 300100), by its preprocessor; None without nvcc or CUB."""
    compiler = find_compiler(TOOLKITS["cuda"])
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        probe = Path(scratch) / "probe.cu"
        probe.write_text("#include <cub/version.cuh>\nireebench_cub CUB_VERSION\n")
        done = _run([compiler, "-E", *device_flags("cuda", 0), str(probe)], Path(scratch))
    # The value may come after line markers, which begin with "#".
    found = re.search(r"^ireebench_cub\s+(?:#[^\n]*\n\s*)*(\d+)", done.stdout, re.MULTILINE)
    return int(found.group(1)) if found else None
