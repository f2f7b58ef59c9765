"""The format writers that the stand-in uses, for tests that need no process."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def formats() -> ModuleType:
    path = Path(__file__).parents[2] / "standins" / "rocprof_formats.py"
    spec = importlib.util.spec_from_file_location("rocprof_formats", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["rocprof_formats"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
