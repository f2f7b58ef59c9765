from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from ireebench.cli.main import cli
from ireebench.errors import BadFileError, UsageError
from ireebench.report.gain import Speedup, gain, pooled, read_speedups


@pytest.mark.parametrize(
    ("speedup", "expected"),
    # Published with an instruction-level speedup of 2.00: serving at 1.13 to 1.44 keeps 0.564 to 0.719, eight streams
    # that share at 2.46 keep 1.23, a layer at 0.862 keeps 0.431. Each is given to the rounding of its inputs.
    [(1.13, 0.564), (1.44, 0.719), (2.46, 1.23), (0.862, 0.431)],
)
def test_published_speedups_give_their_published_gains(speedup: float, expected: float) -> None:
    assert gain(2.00, Speedup("x", speedup)).value == pytest.approx(expected, abs=0.0015)


def test_a_range_of_speedups_gives_a_range_of_gains() -> None:
    g = gain(2.0, Speedup("serving", 1.285, 1.13, 1.44))
    assert (g.low, g.high) == (0.565, 0.72)


def test_a_speedup_within_the_noise_is_said_to_be_none() -> None:
    assert gain(2.0, Speedup("x", 1.01), noise=0.02).within_noise
    assert not gain(2.0, Speedup("x", 1.03), noise=0.02).within_noise


def test_several_problems_give_a_median_and_quartiles() -> None:
    assert pooled("kernel", [1.0, 1.2, 1.4, 1.6, 2.0]) == Speedup("kernel", 1.4, 1.2, 1.6)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_speedups_that_are_none_are_refused(value: float) -> None:
    with pytest.raises(UsageError, match="must be positive"):
        gain(2.0, Speedup("x", value))


def test_a_csv_of_speedups_is_read_with_and_without_ranges() -> None:
    text = "level,speedup,low,high\nlayer,0.862,,\nserving,1.3,1.13,1.44\n"
    assert read_speedups(text, "f.csv") == (Speedup("layer", 0.862), Speedup("serving", 1.3, 1.13, 1.44))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("level,speed\nx,1\n", "lacks speedup"),
        ("level,speedup,colour\nx,1,red\n", "unknown colour"),
        ("level,speedup\nx,fast\n", r"line 2: not a speedup"),
        ("level,speedup\n", "no speedup in it"),
    ],
)
def test_a_malformed_csv_is_named_with_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(BadFileError, match=message):
        read_speedups(text, "f.csv")


def test_the_command_prints_gains_by_level(tmp_path: Path) -> None:
    arguments = ["gain", "--instruction", "2", "--level", "serving=1.13..1.44", "--level", "layer=0.862"]
    result = CliRunner().invoke(cli, [*arguments, "--format", "csv"])
    assert result.exit_code == 0
    assert "layer,0.862,,,0.431,,," in result.stdout
    assert "serving,1.285,1.13,1.44,0.6425,0.565,0.72," in result.stdout


def test_a_malformed_level_says_how_to_write_it() -> None:
    result = CliRunner().invoke(cli, ["gain", "--instruction", "2", "--level", "layer"])
    assert isinstance(result.exception, UsageError)
    assert "NAME=1.44" in str(result.exception)
