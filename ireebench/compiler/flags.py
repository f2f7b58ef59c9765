"""The compiler's command line: the flags of each target, and the plain line that reproduces a candidate."""

from __future__ import annotations

import shlex
from pathlib import Path

from ireebench.errors import MissingToolError
from ireebench.ir.program import Program
from ireebench.targets import Backend, Target

# Fixed relative names, used inside each entry's own folder: the compiler writes paths into its output.
MODULE, SPEC, VMFB, DUMP = "module.mlir", "spec.mlir", "module.vmfb", "dump"

_BASE: dict[Backend, tuple[str, ...]] = {
    "hip": ("--iree-hal-target-device=hip", "--iree-rocm-target={name}"),
    "cuda": ("--iree-hal-target-device=cuda", "--iree-cuda-target={name}"),
    "cpu": (
        "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host",
    ),
}


def base_flags(target: Target) -> tuple[str, ...]:
    """The flags that every compile for `target` starts with, in order."""
    return tuple(flag.format(name=target.name) for flag in _BASE[target.backend])


def spec_flag(file: str) -> str:
    """The flag that gives the compiler a tuning spec."""
    return f"--iree-codegen-tuning-spec-path={file}"


def compiler_flags(target: Target, extra: tuple[str, ...], spec: str | None) -> tuple[str, ...]:
    """All flags that decide what is compiled: the target's, then `extra`, then the spec file's, if any."""
    return (*base_flags(target), *extra, *((spec_flag(spec),) if spec else ()))


def shell_line(mlir: str, flags: tuple[str, ...], vmfb: str = VMFB, dump: str = DUMP) -> str:
    """The `iree-compile` line that compiles the file `mlir` with `flags`, for a shell."""
    return shlex.join(["iree-compile", mlir, *flags, f"--iree-hal-dump-executable-files-to={dump}", "-o", vmfb])


def plain_command(program: Program, mlir: str = MODULE, spec: str = SPEC, vmfb: str = VMFB, dump: str = DUMP) -> str:
    """The `iree-compile` line, for a shell, that reproduces a candidate.

    `mlir` and `spec` are the files that hold `program.mlir` and `program.spec`.
    """
    flags = compiler_flags(program.candidate.target, program.flags, spec if program.spec else None)
    return shell_line(mlir, flags, vmfb, dump)


def find_compiler() -> Path:
    """The real `iree-compile` binary, not the Python script of that name; raises MissingToolError.

    The script in `bin/` runs the binary as its child: killing the script on a timeout leaves the binary running.
    """
    install = "pip install iree-base-compiler==3.13.0"
    try:
        from iree.compiler.tools.binaries import find_tool
    except ImportError:
        raise MissingToolError(f"the IREE compiler is not installed; {install}") from None
    try:
        path = Path(find_tool("iree-compile"))
    except ValueError:
        raise MissingToolError(f"the IREE compiler's binary is missing from its package; {install}") from None
    if not path.is_file():
        raise MissingToolError(f"the IREE compiler's binary is missing: {path}; {install}")
    return path
