"""Progress of a sweep on stderr: bars on a terminal, a line a stage in a log."""

from __future__ import annotations

import sys
from collections import Counter
from types import TracebackType

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from ireebench.measure.watch import Session
from ireebench.outcome import Status
from ireebench.store.trial import Trial


class SweepProgress:
    """Draws a sweep's stages; a context manager. Counts what failed, so that a long run says so at once."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._bars = Progress(
            TextColumn("{task.description:<9}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
            disable=quiet or not sys.stderr.isatty(),
        )
        self._plain = not quiet and not sys.stderr.isatty()
        self._tasks: dict[str, TaskID] = {}
        self._failed: Counter[str] = Counter()
        self._seen: set[tuple[str, str]] = set()

    def __enter__(self) -> SweepProgress:
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bars.stop()

    def begin(self, stage: str, total: int) -> None:
        """A new bar, or a line in a log."""
        self._tasks[stage] = self._bars.add_task(stage, total=total, note="")
        if self._plain and total:
            click.echo(f"{stage}: {total} candidates", err=True)

    def step(self, stage: str, trial: Trial) -> None:
        """Moves a stage's bar on, once a trial."""
        if (stage, trial.key) in self._seen:
            return
        self._seen.add((stage, trial.key))
        self._failed[stage] += trial.status is not Status.OK
        note = f"{self._failed[stage]} failed" if self._failed[stage] else ""
        self._bars.update(self._tasks[stage], advance=1, note=note)

    def watched(self, session: Session) -> None:
        """Says when the device was slowed down: the figures of that process are not its best."""
        if session.throttled:
            text = f"{session.device}: throttled ({session.throttled}) at the end of process {session.process}"
            click.echo(text, err=True)
