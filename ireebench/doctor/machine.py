"""The machine as the checks see it: files, environment and programs, all of which a test can replace."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROGRAM_TIMEOUT_S = 3.0


@dataclass(frozen=True, slots=True)
class Machine:
    """`root` is "/" but in tests; `env` is the environment."""

    root: Path = Path("/")
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def path(self, absolute: str) -> Path:
        """A path below the root."""
        return self.root / absolute.lstrip("/")

    def text(self, absolute: str) -> str | None:
        """A small file's content, stripped; None when it cannot be read."""
        try:
            return self.path(absolute).read_text(errors="replace").strip()
        except OSError:
            return None

    def glob(self, pattern: str) -> list[Path]:
        """Paths below the root that match, sorted; none where they cannot be listed."""
        try:
            return sorted(self.root.glob(pattern.lstrip("/")))
        except OSError:
            return []

    def which(self, name: str) -> Path | None:
        """A program on PATH or in ROCm's own folder."""
        from ireebench.measure.rocm import find_tool

        return find_tool(name, self.env)

    def run(self, command: Sequence[str], timeout_s: float = PROGRAM_TIMEOUT_S) -> str | None:
        """A program's standard output; None when it is absent, fails or takes too long."""
        try:
            done = subprocess.run(
                list(command), capture_output=True, text=True, timeout=timeout_s, check=False, env=dict(self.env)
            )
        except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
            return None
        return done.stdout if done.returncode == 0 else None
