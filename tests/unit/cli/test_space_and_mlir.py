"""`ireebench space` and `ireebench mlir` as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ireebench.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


def test_space_gives_the_documented_json() -> None:
    done = run(
        "space", "argmax", "--models", "llama3", "--target", "gfx942", "--variants", "vd,ukernel", "--limit", "4",
        "--format", "json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema_version"] == 1
    assert {c["problem"] for c in document["configs"]} == {"llama3-8b", "llama3-8b-batch"}
    assert {"problem": "llama3-8b", "variant": "ukernel", "config": {}}.items() <= document["configs"][4].items()
    assert {"problem", "variant", "config", "constraint", "reason"} <= set(document["rejected"][0])


def test_space_explains_the_constraint_that_refused_a_configuration() -> None:
    done = run(
        "space", "argmax", "--shape", "131072", "--dtype", "bf16", "--target", "gfx942", "--variants", "vd", "--config",
        "SG=3,PR=768,TH=4", "--explain",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "power_of_two_subgroups" in done.stdout
    assert "returns wrong results on all-negative input" in done.stdout


def test_mlir_prints_a_module_and_the_line_that_compiles_it() -> None:
    base = ("mlir", "argmax", "--models", "llama3-8b", "--variants", "vd", "--config", "SG=4,PR=2048")
    target = ("--target", "gfx942")
    module = run(*base, *target)
    assert module.returncode == 0, module.stderr
    assert "func.func @argmax(%input: tensor<1x131072xbf16>) -> (tensor<1xbf16>, tensor<1xi64>)" in module.stdout
    line = run(*base, *target, "--show-command").stdout.splitlines()[-1]
    assert line.startswith("iree-compile module.mlir --iree-hal-target-device=hip --iree-rocm-target=gfx942")


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (("--models", "lamma3"), "nearest: llama3-8b", 2),
        (("--models", "llama3-8b", "--target", "gfx94"), "nearest: gfx942", 2),
        (("--models", "llama3-8b", "--config", "SG=x"), "SG needs a positive whole number", 2),
        (("--models", "llama3-8b", "--variants", "vd", "--config", "SG=3,PR=768", "--target", "gfx942"), "SG=3", 2),
        (("--models", "llama3-8b-batch", "--variants", "vd", "--config", "SG=4", "--target", "gfx942", "--spec"),
         "form 'rows' is IR that no model emits", 2),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(arguments: tuple[str, ...], message: str, code: int) -> None:
    done = run("mlir", "argmax", *arguments)
    assert done.returncode == code
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
