"""Results in the FAIR autotuning format T4, which Kernel Tuner writes and the autotuning methodology reads.

The format: KernelTuner/kernel_tuner, kernel_tuner/schema/T4/1.0.0 (results and metadata). Times are ms, as there.
A result is a configuration's; so baselines, and candidates that were never tried or never timed, are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ireebench.measure.job import CachePolicy
from ireebench.outcome import Status
from ireebench.report.documents import environment_document
from ireebench.report.evidence import Evidence
from ireebench.report.rows import Row
from ireebench.store.trial import Environment

SCHEMA_VERSION = "1.0.0"

# Our statuses in the format's words. A configuration that the compiler did not apply was never built: "compile".
_INVALIDITY: dict[Status, str] = {
    Status.OK: "correct",
    Status.REJECTED: "constraints",
    Status.COMPILE_FAILED: "compile",
    Status.COMPILE_TIMEOUT: "timeout",
    Status.NOT_APPLIED: "compile",
    Status.RUN_FAILED: "runtime",
    Status.RUN_TIMEOUT: "timeout",
    Status.WRONG_RESULT: "correctness",
}
_MS = 1e-6  # ms in a ns


def t4_results(found: Sequence[Evidence]) -> dict[str, Any]:
    """The results document. One store holds many problems: the problem is part of the configuration."""
    results = [_result(e, r) for e in found for r in e.rows if _counts(r)]
    return {"schema_version": SCHEMA_VERSION, "results": results}


def t4_metadata(found: Sequence[Evidence]) -> dict[str, Any]:
    """The metadata document: devices, operating system, packages."""
    known = [e.environment for e in found if e.environment is not None]
    systems = sorted({e.host for e in known})
    return {
        "schema_version": SCHEMA_VERSION,
        "metadata": {
            "hardware": {
                "hardware_description": [{"device": e.device, "uri": e.device_uri, "host": e.host} for e in known],
                "operating_system": "; ".join(systems),
            },
            "environment": {
                "device_query": {str(i): environment_document(e) for i, e in enumerate(known)},
                "requirements": sorted({r for e in known for r in _requirements(e)}),
            },
        },
    }


def _requirements(environment: Environment) -> list[str]:
    versions = (
        ("iree-base-compiler", environment.compiler_version),
        ("iree-base-runtime", environment.runtime_version),
        ("ireebench", environment.ireebench_version),
    )
    return [f"{name}=={version}" for name, version in versions if version]


def _counts(row: Row) -> bool:
    t = row.trial
    return t.variant is not None and t.status in _INVALIDITY and (t.status is not Status.OK or row.timing is not None)


def _result(evidence: Evidence, row: Row) -> dict[str, Any]:
    t, p = row.trial, row.trial.problem
    where = {"problem": p.id, "op": p.op, "shape": p.shape_text, "dtype": p.dtype, "target": t.target}
    how = {"variant": t.variant, "form": t.form, **t.config.as_dict()}
    if row.cache is not None:
        how["cache"] = row.cache
    result: dict[str, Any] = {
        "configuration": {**where, **how},
        "objectives": ["time"],
        "times": _times(evidence, row),
        "invalidity": _INVALIDITY[t.status],
        "correctness": 1 if t.status is Status.OK and t.check is not None and t.check.ok else 0,
        "measurements": _measurements(row),
    }
    return result


def _times(evidence: Evidence, row: Row) -> dict[str, Any]:
    """The schema calls it `compilation_time`; Kernel Tuner writes, and its readers want, `compilation`."""
    seconds = row.trial.compile_s
    compiled = {} if seconds is None else {"compilation_time": 1e3 * seconds, "compilation": 1e3 * seconds}
    return {**compiled, "runtimes": _runtimes(evidence, row.trial.key, row.cache)}


def _runtimes(evidence: Evidence, key: str, cache: CachePolicy | None) -> list[float]:
    if cache is None:
        return []
    samples = [np.asarray(s) for s in evidence.samples(key, cache, "kernel") if len(s)]
    return [round(float(ns) * _MS, 9) for ns in np.concatenate(samples)] if samples else []


def _measurements(row: Row) -> list[dict[str, Any]]:
    if row.timing is None:
        return []
    figures = (
        ("time", row.timing.median_ns * _MS, "ms"),
        ("time_span", row.timing.span_ns * _MS, "ms"),
        ("bandwidth", row.gb_per_s, "GB/s"),
        ("percent_of_ceiling", row.percent_of_ceiling, "%"),
    )
    return [{"name": name, "value": value, "unit": unit} for name, value, unit in figures if value is not None]
