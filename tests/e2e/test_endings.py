"""How commands end that can't begin: one line, and the code that the guide gives."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "nowhere.db"),
        ("compare", "argmax", "--from", "nowhere.db"),
        ("ceiling", "--from", "nowhere.db"),
        ("trace", "nowhere.csv"),
        ("isa", "nowhere.rocmasm"),
        ("compile", "nowhere.mlir", "--target", "cpu"),
        ("sweep", "--file", "nowhere.toml"),
    ],
)
def test_a_file_that_is_not_there_is_a_usage_error_whatever_it_is(arguments: tuple[str, ...], ireebench: Run) -> None:
    done = ireebench(*arguments)
    assert done.returncode == 2, done.stderr
    assert "nowhere." in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_argument_that_a_bundle_does_not_know_is_told_in_one_line(ireebench: Run, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    done = ireebench("bundle", "run", "folder", "--nope")
    assert done.returncode == 2
    assert done.stderr == "error: unrecognized arguments: --nope; run.py --help lists the arguments\n"


INTERRUPTED = """
import sys
class Impatient:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Impatient())
from ireebench.entry import main
main()
"""


def test_a_ctrl_c_while_the_program_is_still_being_imported_shows_no_traceback() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
