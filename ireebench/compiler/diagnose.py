"""Why a compile failed, in one line that a person can act on."""

from __future__ import annotations

import re
import signal
from enum import Enum, auto

from ireebench.compiler.spawner import Exit, Limits

_OUT_OF_MEMORY = re.compile(r"bad_alloc|out of memory|Cannot allocate memory|Allocation failed", re.IGNORECASE)
_ERROR = re.compile(
    r"^(?:<unknown>\S+ |(?P<where>\S+:\d+:\d+): )?(?:fatal )?error: (?P<what>.+)$", re.MULTILINE | re.IGNORECASE
)
_FATAL = re.compile(r"^(?:LLVM ERROR|iree-compile|Assertion failed|error reading): ?(?P<what>.+)$", re.MULTILINE)
_FRAME = re.compile(r"^ *#\d+ 0x[0-9a-f]+ (?P<what>mlir::iree_compiler::[\w:~]+)", re.MULTILINE)
_NEAR_LIMIT = 0.8  # a crash with this share of the memory limit resident is taken for an allocation that failed


class Ending(Enum):
    """The ways in which a compile can end."""

    OK = auto()
    TIMEOUT = auto()
    MEMORY = auto()
    CRASH = auto()
    KILLED = auto()  # by somebody else: says nothing about the input, so it is never cached
    NO_OUTPUT = auto()
    ERROR = auto()


def classify(ended: Exit, stderr: str, limits: Limits, has_output: bool) -> Ending:
    """How the compile ended. A return code of 0 without an output file is a failure too."""
    crashed = ended.code < 0 or ended.code >= 128
    resident = ended.max_rss_bytes > _NEAR_LIMIT * limits.memory_bytes
    if ended.timed_out:
        return Ending.TIMEOUT
    if ended.code == 0:
        return Ending.OK if has_output else Ending.NO_OUTPUT
    if _OUT_OF_MEMORY.search(stderr) or (crashed and resident):
        return Ending.MEMORY
    if ended.code == -signal.SIGKILL:
        return Ending.KILLED
    return Ending.CRASH if crashed else Ending.ERROR


def first_diagnostic(stderr: str) -> str | None:
    """The first error that the compiler printed, with its place, in one line."""
    error = _ERROR.search(stderr)
    if error:
        return error["what"].strip() + (f" ({error['where']})" if error["where"] else "")
    fatal = _FATAL.search(stderr)
    return fatal["what"].strip() if fatal else next((s.strip() for s in stderr.splitlines() if s.strip()), None)


def _signal_name(code: int) -> str:
    number = -code if code < 0 else code - 128
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _size(size: float) -> str:
    return f"{size / 1e6:.0f} MB" if size < 1e9 else f"{size / 1e9:.1f}".removesuffix(".0") + " GB"


def reason(ending: Ending, ended: Exit, stderr: str, limits: Limits) -> str:
    """The reason, for a person."""
    match ending:
        case Ending.TIMEOUT:
            return f"still compiling after {limits.time_s:g} s, with {_size(ended.max_rss_bytes)} of memory in use"
        case Ending.MEMORY:
            return f"needed more than {_size(limits.memory_bytes)} of memory, after {ended.wall_s:.0f} s"
        case Ending.CRASH:
            frame = _FRAME.search(stderr)
            where = f" in {frame['what']}" if frame else ""
            return f"the compiler crashed ({_signal_name(ended.code)}{where})"
        case Ending.KILLED:
            return (
                "the compiler was killed from outside, most likely by the system for lack of memory; try fewer --jobs"
            )
        case Ending.NO_OUTPUT:
            return "the compiler ended with code 0 and wrote no output"
        case _:
            return first_diagnostic(stderr) or f"the compiler ended with code {ended.code} and no message"
