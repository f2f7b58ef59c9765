"""A trial's identity and evidence as JSON values, without its samples: how trials travel in a bundle."""

from __future__ import annotations

import json
from typing import Any

from ireebench.outcome import Stage, Status
from ireebench.space.config import Config
from ireebench.store import codec
from ireebench.store.trial import Trial
from ireebench.variants import Ship

_PLAIN = (
    "key",
    "target",
    "variant",
    "baseline",
    "form",
    "reason",
    "known",
    "applied",
    "compile_key",
    "compile_s",
    "command",
)


def trial_document(trial: Trial) -> dict[str, Any]:
    """JSON values of a trial; MLIR and spec are left out: they follow from the candidate."""
    return {name: getattr(trial, name) for name in _PLAIN} | {
        "problem": json.loads(codec.problem_text(trial.problem)),
        "ship": trial.ship.value,
        "config": str(trial.config),
        "status": trial.status.value,
        "stage": trial.stage.value,
        "kernels": json.loads(codec.evidence_text(trial.kernels)),
    }


def trial_from(data: dict[str, Any]) -> Trial:
    """The reverse of `trial_document`; raises KeyError, TypeError, ValueError or UserError for what is none."""
    return Trial(
        problem=codec.problem_from(json.dumps(data["problem"])),
        ship=Ship(data["ship"]),
        config=Config.parse(data["config"]),
        status=Status(data["status"]),
        stage=Stage(data["stage"]),
        kernels=codec.evidence_from(json.dumps(data["kernels"])),
        **{name: data[name] for name in _PLAIN},
    )
