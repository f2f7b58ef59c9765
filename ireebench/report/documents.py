"""A store as the stable JSON that other programs read: environments and trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ireebench.report.evidence import Evidence
from ireebench.report.rows import row_document
from ireebench.store.trial import Environment


def environment_document(environment: Environment | None) -> dict[str, Any] | None:
    """An environment's fields; None where it was not recorded."""
    return None if environment is None else asdict(environment) | {"details": dict(environment.details)}


def store_document(found: Sequence[Evidence]) -> dict[str, Any]:
    """`environment` is the first one's; `environments` are all, which a trial's `environment` counts from 0."""
    environments = [environment_document(e.environment) for e in found]
    trials = [{**row_document(r), "environment": i} for i, e in enumerate(found) for r in e.rows]
    return {"environment": environments[0] if environments else None, "environments": environments, "trials": trials}
