"""What every stand-in of the ceiling's device and timer has in common; tests add what a read takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ireebench.measure.ceiling_device import Reader


class StillPool:
    """The parts of a pool that no figure depends on."""

    def empty(self) -> None:
        """An empty kernel."""

    def fold(self, reader: Reader, size_bytes: int) -> int:
        """What a reader folds: nothing was put there."""
        return 0

    def close(self) -> None:
        """Nothing to give back."""


class StillTimer:
    """The parts of a timer that no figure depends on."""

    def missing(self, device: str) -> None:
        """It is always there."""

    @contextmanager
    def session(self, device: str) -> Iterator[None]:
        """Nothing to set up."""
        yield
