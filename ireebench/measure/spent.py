"""Where a process's time went, by phase, from its journal's events."""

from __future__ import annotations

from collections import defaultdict

from ireebench.measure.journal import Event, Item


class Spent:
    """Adds up the seconds between the begin and the end of items, by phase; remembers the slowest of each."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.slowest: dict[str, tuple[float, str]] = {}
        self._begun: dict[Item, int] = {}

    def take(self, event: Event) -> None:
        """Takes one event into account."""
        if event.item is None or "monotonic_ns" not in event.data:
            return
        now = int(event.data["monotonic_ns"])
        if event.name == "begin":
            self._begun[event.item] = now
        elif event.item in self._begun:
            seconds = (now - self._begun.pop(event.item)) / 1e9
            phase = event.item.phase
            self.seconds[phase] += seconds
            self.slowest[phase] = max(self.slowest.get(phase, (0.0, "")), (seconds, event.item.entry))

    def __str__(self) -> str:
        if not self.seconds:
            return "nothing ran"
        parts = sorted(self.seconds.items(), key=lambda p: -p[1])
        return ", ".join(f"{phase} {s:.1f} s{self._most(phase)}" for phase, s in parts)

    def _most(self, phase: str) -> str:
        """The slowest item of a phase, where it does not round to nothing."""
        seconds, _ = self.slowest[phase]
        return f" (most: {seconds:.1f} s)" if seconds >= 0.05 else ""
