"""Stores that several tests of reports read; each is made once."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic_store import Recipe, make_store


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four problems, a hundred trials, every kind of failure."""
    return make_store(tmp_path_factory.mktemp("store") / "a.db")


@pytest.fixture(scope="session")
def same_again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same code measured once more: other samples of the same times."""
    return make_store(tmp_path_factory.mktemp("again") / "b.db", Recipe(seed=1))


@pytest.fixture(scope="session")
def one_slower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `same_again`, but 5% was added to every sample of one problem."""
    return make_store(tmp_path_factory.mktemp("slower") / "c.db", Recipe(seed=1, slower={"llama3-8b-batch": 1.05}))
