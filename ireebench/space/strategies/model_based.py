"""A model-based strategy: Optuna's tree-structured Parzen estimator proposes, the nearest candidate is measured."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from types import ModuleType

from ireebench.candidate import Candidate
from ireebench.errors import MissingToolError
from ireebench.space.strategies.base import Search, coordinates

# Proposals that are drawn before the model has its say.
STARTUP = 8
# What a failure counts for, in times the worst cost so far: the sampler wants figures.
FAILURE_FACTOR = 2.0


def _optuna() -> ModuleType:
    try:
        import optuna
    except ImportError as e:
        raise MissingToolError(
            "strategy optuna proposes candidates by a model; install it with: pip install 'ireebench[strategies]'"
        ) from e
    module: ModuleType = optuna
    return module


def model_based(candidates: Sequence[Candidate], seed: int) -> Search:
    """Proposes a variant and a value of each of its knobs, one candidate at a time, until all are measured.

    The space of a problem is no grid (values of a knob depend on others), so a proposal stands for the unmeasured
    candidate nearest to it. Raises MissingToolError without Optuna.
    """
    optuna = _optuna()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the multivariate sampler is marked experimental
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP, multivariate=True, group=True)
    study = optuna.create_study(sampler=sampler)
    left: dict[str, dict[Candidate, tuple[float, ...]]] = {}
    for c in candidates:
        left.setdefault(c.variant.name, {})[c] = coordinates(c)
    names = sorted(left)
    ranges = {name: [(min(axis), max(axis)) for axis in zip(*left[name].values(), strict=True)] for name in names}
    worst = 1.0
    for _ in candidates:
        trial = study.ask()
        name = trial.suggest_categorical("variant", names)
        wanted = [
            low if low == high else trial.suggest_float(f"{name} {axis}", low, high)
            for axis, (low, high) in enumerate(ranges[name])
        ]
        pool = left[name] or next(pool for pool in left.values() if pool)
        chosen = min(pool, key=lambda c: sum(abs(a - b) for a, b in zip(pool[c], wanted, strict=True)))
        del pool[chosen]
        (cost,) = yield [chosen]
        worst = max(worst, cost or 0.0)
        study.tell(trial, FAILURE_FACTOR * worst if cost is None else cost)
