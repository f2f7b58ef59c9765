"""Strategies on made-up landscapes, where the best is known by construction."""

from __future__ import annotations

import functools
import math
import random
import statistics
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from ireebench.candidate import Candidate
from ireebench.errors import MissingToolError, UnknownNameError
from ireebench.problems.problem import Problem
from ireebench.report.replay import replay, replay_one
from ireebench.space.enumerate import enumerate_space
from ireebench.space.strategies.table import STRATEGIES, find_strategy
from ireebench.store.database import Store
from ireebench.sweep.landscape import Landscape, landscapes
from ireebench.targets import find_target
from ireebench.variants import find_variant

RECORDED = Path(__file__).parents[3] / "docs" / "results" / "h200" / "search"


@functools.cache
def candidates() -> tuple[Candidate, ...]:
    """Some 300 real candidates of a published problem."""
    problem = Problem("llama3-8b-batch", "argmax", (32, 131072), "bf16")
    spaces = (
        enumerate_space(problem, find_variant(v), find_target("gfx942"), limit=150)
        for v in ("default", "vd", "vd_split")
    )
    return tuple(c for space in spaces for c in space.accepted)


def landscape(seed: int) -> Landscape:
    """A bowl in the logarithms of the knobs around a random candidate, 3% noise, one candidate in fifteen fails."""
    rng = random.Random(seed)
    centre = rng.choice([c for c in candidates() if c.variant.name != "default"])
    costs: dict[Candidate, float | None] = {}
    for c in candidates():
        away = 3.0 if c.variant.name != centre.variant.name else 0.0
        for name, weight in (("st", 0.5), ("sg", 1.0), ("pr", 0.7), ("th", 1.0)):
            a, b = getattr(c.config, name), getattr(centre.config, name)
            away += weight * (abs(math.log2(a) - math.log2(b)) if a and b else 0.5 * (a != b))
        cost = 1000.0 * (1 + 0.15 * away) * (1 + 0.03 * rng.random())
        costs[c] = None if rng.random() < 1 / 15 and c != centre else cost
    return Landscape(candidates()[0].problem, "gfx942", costs)


@pytest.mark.parametrize("name", ["exhaustive", "random", "coarse_to_fine"])
def test_a_strategy_asks_for_every_candidate_exactly_once(name: str) -> None:
    costs = landscape(0).costs
    search = STRATEGIES[name](candidates(), 0)
    batch = list(next(search))
    asked = []
    while batch:
        asked += batch
        try:
            batch = list(search.send([costs[c] for c in batch]))
        except StopIteration:
            batch = []
    assert len(asked) == len(set(asked)) == len(candidates())


def test_the_budget_is_kept_to_the_candidate() -> None:
    for budget in (1, 7, 40):
        assert replay_one(landscape(0), STRATEGIES["coarse_to_fine"](candidates(), 0), budget).measured == budget


def test_an_exhaustive_replay_is_near_where_the_best_stands_in_the_plan() -> None:
    cost: Mapping[Candidate, float | None] = dict.fromkeys(candidates(), 100.0)
    place = 41
    cost = {c: 97.0 if i == place else 100.0 for i, c in enumerate(cost)}
    run = replay_one(
        Landscape(candidates()[0].problem, "gfx942", cost), STRATEGIES["exhaustive"](candidates(), 0), 1000
    )
    assert (run.measured, run.best_ns, run.near_after) == (len(candidates()), 97.0, place + 1)


def test_coarse_to_fine_needs_a_third_of_the_candidates_and_less_than_chance() -> None:
    shares, chance = [], []
    for seed in range(8):
        found = replay(landscape(seed), STRATEGIES["coarse_to_fine"], 1.0, seeds=2)
        share = found.share_near(worst=True)
        assert share is not None
        shares.append(share)
        drawn = replay(landscape(seed), STRATEGIES["random"], 1.0, seeds=5).share_near()
        assert drawn is not None
        chance.append(drawn)
    assert max(shares) <= 0.35, shares
    assert sum(shares) < 0.6 * sum(chance), (shares, chance)


def test_optuna_beats_chance() -> None:
    pytest.importorskip("optuna")
    best, drawn = [], []
    for seed in range(2):
        best += [r.best_ns for r in replay(landscape(seed), STRATEGIES["optuna"], 40, seeds=1).runs]
        drawn.append(statistics.median(r.best_ns for r in replay(landscape(seed), STRATEGIES["random"], 40, 9).runs))
    assert sum(best) <= sum(drawn)


def test_without_optuna_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingToolError, match=r"pip install 'ireebench\[strategies\]'"):
        next(STRATEGIES["optuna"](candidates(), 0))


def test_a_typo_in_a_strategy_gets_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="nearest: coarse_to_fine"):
        find_strategy("coarse_to_fin")


def test_the_recorded_h200_sweeps_are_searched_with_a_third_of_the_candidates() -> None:
    shares = {}
    for path in sorted(RECORDED.glob("*.db")):
        with Store.open(path) as store:
            for found in landscapes(store.trials(), "cold" if path.stem == "gemv" else "hot"):
                shares[path.name, found.problem.op, found.problem.id] = replay(
                    found, STRATEGIES["coarse_to_fine"], 1.0, seeds=5
                ).share_near()
    assert len(shares) == 18 + 17 + 43
    late = {k: s for k, s in shares.items() if s is None or s > 0.35}
    assert not late


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("none.db",), 2, "none.db: no such store"),
        (("none.db", "--strategy", "optun"), 2, "nearest: optuna"),
        (("none.db", "--budget", "0%"), 2, "write a share such as 35%"),
        (("none.db", "--budget", "many"), 2, "write a share such as 35%"),
    ],
)
def test_bad_input_to_replay_gets_one_line(tmp_path: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    command = [sys.executable, "-m", "ireebench.cli.main", "replay", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code
    (line,) = done.stderr.strip().splitlines()
    assert message in line
