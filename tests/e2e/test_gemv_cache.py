"""A GEMV is measured cold first, unless the user says otherwise."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

QUICK = ("--target", "cpu", "--limit", "1", "--processes", "0", "--baselines", "none", "--quiet")
FEW = ("--warmup", "1", "--invocations", "10", "--seconds", "0.05", "--format", "json")


@pytest.mark.parametrize(
    ("op", "more", "policies"),
    [
        ("gemv", (), {"cold", "hot"}),
        ("gemv", ("--cache", "hot"), {"hot"}),
        ("gemv", ("--timer", "hal"), {"hot"}),  # which measures nothing else
        ("argmax", (), {"hot"}),
    ],
)
def test_the_default_cache_policy_is_the_ops_own(
    op: str, more: tuple[str, ...], policies: set[str], tmp_path: Path
) -> None:
    shape = ("--shape", "64x256", "--dtype", "f16")
    command = [sys.executable, "-m", "ireebench.cli.main", "sweep", op, *shape, *QUICK, *FEW, *more]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {t["cache"] for t in json.loads(done.stdout)["trials"] if t["median_ns"]} == policies
