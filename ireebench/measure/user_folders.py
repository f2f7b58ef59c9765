"""Where ireebench keeps what it built and measured, by the XDG rules; standard library only."""

from __future__ import annotations

import os
from pathlib import Path

_NAME = "ireebench"


def _folder(variable: str, fallback: str) -> Path:
    base = os.environ.get(variable, "")
    return (Path(base) if base else Path.home() / fallback) / _NAME


def cache_folder() -> Path:
    """What can be made again (compiled baselines): `$XDG_CACHE_HOME/ireebench`, else `~/.cache/ireebench`."""
    return _folder("XDG_CACHE_HOME", ".cache")


def data_folder() -> Path:
    """What was measured (ceilings): `$XDG_DATA_HOME/ireebench`, else `~/.local/share/ireebench`."""
    return _folder("XDG_DATA_HOME", ".local/share")
