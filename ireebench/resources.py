"""Finds the data folders (`mlir`, `tuning_specs`, `sweeps`) in a wheel, an editable install or a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
FOLDERS = ("mlir", "tuning_specs", "sweeps")


def folder(name: str) -> Path:
    """The folder `name`: inside the package when installed from a wheel, else beside it in the checkout.

    Raises FileNotFoundError if the installation is broken, KeyError for a name that is no data folder.
    """
    if name not in FOLDERS:
        raise KeyError(name)
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"data folder '{name}' is missing from this installation; reinstall ireebench")
