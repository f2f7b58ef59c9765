"""Tells a user's bad input from a good one that the compiler can't compile."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import shorten

from ireebench.compiler.driver import Compiled
from ireebench.compiler.flags import DUMP, MODULE, SPEC
from ireebench.compiler.spec_check import SpecReport
from ireebench.errors import BadFileError, UsageError

_AT_INPUT = re.compile(rf"\({re.escape(MODULE)}:(\d+):(\d+)\)$")


def refuse_bad_input(file: Path, mlir: str, compiled: Compiled) -> None:
    """Raises BadFileError where `mlir`, read from `file`, does not parse, UsageError for a flag that does not exist."""
    if compiled.failure is None:
        return
    reason = compiled.failure.reason
    flag = re.search(r"Unknown command line argument '([^']+)'", reason)
    if flag:
        near = re.search(r"Did you mean '([^']+)'", reason)
        raise UsageError(f"--flags: iree-compile has no '{flag[1]}'{f'; nearest: {near[1]}' if near else ''}")
    at = _AT_INPUT.search(reason)
    if at is None or (compiled.folder / DUMP).is_dir():
        return
    from ireebench.ir.verify import verify

    # Errors at the input's own lines also come from passes: only what does not parse is the user's mistake.
    if verify(mlir) is not None:
        # A diagnostic quotes the input, which may be one line of megabytes.
        why = shorten(_AT_INPUT.sub("", reason), 300, placeholder=" ...")
        raise BadFileError(f"{file}:{at[1]}:{at[2]}: not valid MLIR: {why}")


def refuse_bad_spec(file: Path, compiled: Compiled, report: SpecReport) -> None:
    """Raises BadFileError where `file` is no tuning spec at all; a spec that breaks a rule is reported on instead."""
    if report.entries or report.broken:
        return
    at = re.search(rf"\({re.escape(SPEC)}:(\d+):(\d+)\)$", compiled.failure.reason) if compiled.failure else None
    if compiled.failure and at:
        why = compiled.failure.reason[: at.start()].strip()
        place = f":{at[1]}:{at[2]}" if at[1] != "0" else ""
        raise BadFileError(f"{file}{place}: not a valid tuning spec: {why}")
    raise BadFileError(f"{file} is no tuning spec: it has no named sequence with a foreach_match that could be read")
