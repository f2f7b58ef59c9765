"""What can be launched, checked and timed: an IREE artifact or a baseline, behind one small interface."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Runnable(Protocol):
    """One implementation of one problem, with its inputs already on the device.

    `copies` sets of inputs exist (equal values, distinct memory); cold runs rotate over them, hot runs use copy 0.
    """

    @property
    def copies(self) -> int:
        """How many copies of the inputs it holds."""

    def poison(self) -> None:
        """Overwrites the outputs with a pattern that no right result has, where the implementation owns them."""

    def launch(self, copy: int) -> None:
        """Starts one invocation on one copy of the inputs; returns before it ends where the device is asynchronous."""

    def sync(self) -> None:
        """Waits until everything launched has ended; raises RuntimeError when the device reports an error."""

    def outputs(self) -> tuple[Array, ...]:
        """The last invocation's outputs, as host arrays: what `problems.ops` checks, in order."""

    def close(self) -> None:
        """Frees device memory."""


class Baseline(Protocol):
    """Another implementation of an op ("numpy", "torch", ...). A new one is one file and one table row."""

    name: str

    def missing(self, device: str) -> str | None:
        """None when it can run on `device`; else what is missing and how to get it, in one line."""

    def serves(self, op: str, dtype: str, shape: tuple[int, ...]) -> str | None:
        """None when it can compute this problem; else why not."""

    def prepare(self, problem: Any, inputs: tuple[np.ndarray[Any, Any], ...], copies: int, device: str) -> Runnable:
        """Puts `copies` copies of the inputs on the device and builds whatever a launch needs."""
