"""What end-to-end tests share: the real command line in a process of its own, with its own caches."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """An environment whose caches are the test session's own: never the developer's."""
    home = tmp_path_factory.mktemp("home")
    return {**os.environ, "XDG_CACHE_HOME": str(home / "cache"), "XDG_DATA_HOME": str(home / "data"), "COLUMNS": "160"}


@pytest.fixture
def ireebench(caches: Mapping[str, str], tmp_path: Path) -> Run:
    """Runs `ireebench ARGUMENTS` in `tmp_path` and returns the finished process."""

    def run(*arguments: str | Path, timeout: float = 240) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ireebench.cli.main", *map(str, arguments)]
        return subprocess.run(
            command, cwd=tmp_path, env=dict(caches), capture_output=True, text=True, timeout=timeout, check=False
        )

    return run
