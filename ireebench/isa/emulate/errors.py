"""What an emulation cannot do: an instruction, operand or launch that is not implemented. Never skipped silently."""

from __future__ import annotations


class Unsupported(Exception):  # noqa: N818 - a state of the emulator, turned into status `unavailable` by its callers
    """An instruction, modifier or host operation that is not implemented.

    `what` names it ("v_mfma_f32_32x32x8_f16"); `line` is the line of the assembly, 0 when there is none.
    """

    def __init__(self, what: str, line: int = 0) -> None:
        super().__init__(f"{what}, line {line}" if line else what)
        self.what = what
        self.line = line


class ExecutionLimit(Exception):  # noqa: N818 - as above, turned into `run_timeout`
    """The kernel executed more instructions than allowed, or its waves wait for each other for ever."""
