"""Tables of several environments say which is whose."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from synthetic_store import ENVIRONMENT

from ireebench.cli.main import cli
from ireebench.report.compare_report import environment_labels
from ireebench.store.trial import Environment

ROOT = Path(__file__).parents[3]
TORCH = replace(ENVIRONMENT, details=(("torch", "2.11.0"), ("cub", "3.0.1")))


@pytest.mark.parametrize(
    ("others", "labels"),
    [
        ((), ("",)),
        ((replace(TORCH, details=(("torch", "2.11.0"), ("cub", "3.5.0"))),), ("cub 3.0.1", "cub 3.5.0")),
        (
            (replace(TORCH, details=(*TORCH.details, ("bitsandbytes", "0.50.2"))),),
            ("bitsandbytes none", "bitsandbytes 0.50.2"),
        ),
        ((replace(TORCH, runtime_version="3.14.0"),), ("runtime version 3.13.0", "runtime version 3.14.0")),
        ((replace(TORCH, protocol="{}x"),), ("environment 1", "environment 2")),
    ],
)
def test_an_environment_is_called_by_what_it_does_not_share(
    others: tuple[Environment, ...], labels: tuple[str, ...]
) -> None:
    assert environment_labels([TORCH, *others]) == labels


def test_compare_titles_each_environments_tables() -> None:
    store = ROOT / "docs" / "results" / "h200" / "gemv.db"
    told = CliRunner().invoke(cli, ["compare", "gemv", "--from", str(store), "--by", "kernel"]).stdout
    titles = [line for line in told.splitlines() if line.startswith("Results, cold")]
    assert titles == [
        "Results, cold, by sum of kernels (cupti) [bitsandbytes none]",
        "Results, cold, by sum of kernels (cupti) [bitsandbytes 0.50.2]",
    ]
    assert "[bitsandbytes none] cold, by sum of kernels (cupti): 44 won" in told
    assert "[bitsandbytes 0.50.2] cold, by sum of kernels (cupti): 4 won" in told


def test_what_is_true_of_sums_and_spans_alike_is_said_once() -> None:
    store = ROOT / "docs" / "results" / "h200" / "gemv-route.db"
    told = CliRunner().invoke(cli, ["compare", "gemv", "--from", str(store)]).stdout
    assert told.count("No problem has both a timed candidate and a timed baseline.") == 1
