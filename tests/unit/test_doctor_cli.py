"""`ireebench doctor` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
import time


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ireebench.cli.main", "doctor", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_doctor_tells_the_compiler_and_runtime_and_ends_well() -> None:
    began = time.monotonic()
    done = run("--format", "json")
    assert time.monotonic() - began < 15  # 5 s on a machine of one's own
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema_version"] == 1
    found = {(f["area"], f["name"]): f for f in document["findings"]}
    assert found["IREE", "compiler"]["state"] == "ok"
    assert found["IREE", "compiler"]["detail"].startswith("3.13.0")
    assert "local-task" in found["IREE", "runtime"]["detail"]
    assert all(f["remedy"] for f in found.values() if f["state"] != "ok")


def test_problems_leaves_out_what_is_well() -> None:
    done = run("--problems", "--format", "csv")
    states = {line.split(",")[2] for line in done.stdout.splitlines()[1:]}
    assert "ok" not in states


def test_help_has_three_examples() -> None:
    text = run("--help").stdout
    assert text.count("\n    ireebench doctor") == 3
