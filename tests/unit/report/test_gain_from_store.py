from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ireebench.cli.main import cli


def test_gain_comes_from_stored_trials_with_their_own_noise_floor(store: Path) -> None:
    result = CliRunner().invoke(cli, ["gain", "--instruction", "2", "--from", str(store), "--format", "json"])
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    kernel = document["gains"][0]
    # Three problems have both variants; the recipe makes shuffles 1.9 / 1.2 times slower, a gain of 0.79 of 2.
    assert kernel["level"] == "kernel (3 problems)"
    assert kernel["value"] == pytest.approx(1.9 / 1.2 / 2, rel=0.01)
    assert 0 < document["noise"] < 0.01
    assert not kernel["within_noise"]


def test_a_given_noise_floor_stands(store: Path) -> None:
    arguments = ["gain", "--instruction", "2", "--from", str(store), "--noise", "0.7", "--format", "json"]
    document = json.loads(CliRunner().invoke(cli, arguments).stdout)
    assert document["noise"] == 0.7
    assert document["gains"][0]["within_noise"]
