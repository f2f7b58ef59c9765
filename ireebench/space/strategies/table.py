"""The strategies by name."""

from __future__ import annotations

from collections.abc import Sequence

from ireebench.candidate import Candidate
from ireebench.errors import UnknownNameError
from ireebench.space.strategies.base import Search, Strategy
from ireebench.space.strategies.coarse_to_fine import coarse_to_fine
from ireebench.space.strategies.plain import exhaustive, shuffled


def _optuna(candidates: Sequence[Candidate], seed: int) -> Search:
    from ireebench.space.strategies.model_based import model_based

    return model_based(candidates, seed)


STRATEGIES: dict[str, Strategy] = {
    "exhaustive": exhaustive,
    "random": shuffled,
    "coarse_to_fine": coarse_to_fine,
    "optuna": _optuna,
}


def find_strategy(name: str) -> Strategy:
    """The strategy called `name`; raises UnknownNameError with the nearest names."""
    try:
        return STRATEGIES[name]
    except KeyError:
        raise UnknownNameError("strategy", name, STRATEGIES) from None
