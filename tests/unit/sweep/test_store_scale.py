"""The same work as benchmarks/store_scale.py, on a store small enough for every run of the tests."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from ireebench.store.database import Store

TRIALS = 4000
# 5 s and 2 s for 100,000 trials, three times over: what is looked for is work that grows faster than the store.
SHARE = 3 * TRIALS / 100_000


@pytest.fixture(scope="module")
def scale() -> ModuleType:
    path = Path(__file__).parents[3] / "benchmarks" / "store_scale.py"
    spec = importlib.util.spec_from_file_location("store_scale", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["store_scale"] = module
    spec.loader.exec_module(module)
    return module


def processor_s(work: Callable[[], object]) -> float:
    """The shortest of three, so that others on the machine do not count."""
    taken = []
    for _ in range(3):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return min(taken)


def test_resuming_and_reporting_keep_up_with_a_large_store(scale: ModuleType, tmp_path: Path) -> None:
    with Store.open(tmp_path / "large.db", write=True) as store:
        made = scale.fill(store, TRIALS)
        assert scale.plan_again(store, made) == 0
        assert scale.tables(store, made) > 10_000
        assert processor_s(lambda: scale.plan_again(store, made)) < 5 * SHARE
        assert processor_s(lambda: scale.tables(store, made)) < 2 * SHARE


def test_trials_asked_for_by_key_are_those_of_the_whole(scale: ModuleType, tmp_path: Path) -> None:
    with Store.open(tmp_path / "small.db", write=True) as store:
        made = scale.fill(store, 500)
        everything = {t.key: t for t in store.trials()}
        keys = [c.key for p in made.plans for c in p.candidates]
        assert len(everything) == len(keys) == 500
        for some in (keys[3:90:7], keys[:400], []):
            assert store.trials(keys=some) == tuple(t for t in everything.values() if t.key in set(some))
        assert store.trials(keys=["no such key"]) == ()
