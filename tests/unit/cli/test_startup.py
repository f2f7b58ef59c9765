"""What every command pays before it does anything."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAVY = {
    "numpy", "pandas", "pydantic", "rich", "iree", "jinja2", "matplotlib", "distributed", "dask", "torch", "optuna",
    "platformdirs", "filelock", "sqlite3", "asyncio",
}  # fmt: skip
PROGRAM = """
import sys
from ireebench.cli.main import main
sys.argv = ["ireebench", *sys.argv[1:]]
try:
    main()
finally:
    print(",".join(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("models",), ("models", "--help")])
def test_nothing_heavy_is_imported_to_answer(arguments: tuple[str, ...]) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout
    loaded = set(done.stderr.strip().split(","))
    assert "click" in loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize(("arguments", "limit_s"), [(("--help",), 0.25), (("models",), 0.5)])
def test_an_answer_takes_little_processor_time(arguments: tuple[str, ...], limit_s: float) -> None:
    # Processor time, because the wall clock of a shared machine says more of the others; benchmarks/startup.py has it.
    used = []
    for _ in range(5):
        before = os.times()
        subprocess.run([sys.executable, "-m", "ireebench.cli.main", *arguments], capture_output=True, check=True)
        after = os.times()
        used.append(after.children_user + after.children_system - before.children_user - before.children_system)
    assert sorted(used)[2] < limit_s
