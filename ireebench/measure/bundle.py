"""Runs a bundle on a machine that has the runtime and no compiler: `python3 run.py` in the unpacked folder.

Imports what `measure` may import; it is copied into the bundle with the rest of `measure`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ireebench.measure.campaign import Campaign, Progress, run_on_devices
from ireebench.measure.client import run_job
from ireebench.measure.device import describe
from ireebench.measure.job import Entry, Group, Job
from ireebench.measure.result import EntryResult
from ireebench.measure.results_file import ResultsWriter
from ireebench.measure.timers.table import resolve

CAMPAIGN = "campaign.json"
MANIFEST = "manifest.json"
TRIALS = "trials.json"
SCHEMA_VERSION = 1


def campaign_document(campaign: Campaign) -> dict[str, Any]:
    """A campaign as JSON values."""
    return {"schema_version": SCHEMA_VERSION, **asdict(campaign)}


def read_campaign(path: Path) -> Campaign:
    """The reverse of `campaign_document`; raises ValueError that names the file."""
    try:
        data = json.loads(path.read_text())
        if data["schema_version"] != SCHEMA_VERSION:
            raise ValueError(f"schema_version {data['schema_version']}, this ireebench reads {SCHEMA_VERSION}")
        # A job has the same parts, and reads them back with the same checks.
        parts = {"device": data["device"], "timer": data["timer"], "groups": data["groups"], "options": []}
        parts |= {"process": 0, "cache_bytes": data["cache_bytes"], "schema_version": 1}
        final = Job.of(parts | {"protocol": data["protocol"]})
        search = Job.of(parts | {"protocol": data["search"]})
    except (KeyError, TypeError, OSError, json.JSONDecodeError) as e:
        raise ValueError(f"{path}: not a campaign: {e}") from e
    return Campaign(
        final.device,
        final.timer,
        search.protocol,
        final.protocol,
        final.groups,
        int(data["processes"]),
        int(data["finalists"]),
        final.cache_bytes,
    )


def damaged_files(folder: Path) -> Iterator[str]:
    """Names of files that the manifest lists and that are missing, differ, or lie outside the folder."""
    manifest: Mapping[str, str] = json.loads((folder / MANIFEST).read_text())["files"]
    root = folder.resolve()
    for name, digest in manifest.items():
        path = (folder / name).resolve()
        if not path.is_relative_to(root):
            yield f"{name} (outside the bundle)"
        elif not path.is_file():
            yield f"{name} (missing)"
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            yield f"{name} (changed)"


def _placed(entry: Entry, folder: Path) -> Entry:
    if entry.vmfb is None:
        return entry
    path = (folder / entry.vmfb).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{folder / CAMPAIGN}: artifact '{entry.vmfb}' lies outside the bundle")
    return replace(entry, vmfb=str(path))


def placed(campaign: Campaign, folder: Path, problems: frozenset[str] | None) -> Campaign:
    """The campaign with absolute paths, and with the groups of `problems` (ids) alone where that is given."""
    groups = [
        Group(g.problem, tuple(_placed(e, folder) for e in g.entries))
        for g in campaign.groups
        if problems is None or g.problem.id in problems
    ]
    return replace(campaign, groups=tuple(groups))


def run_bundle(campaign: Campaign, devices: Sequence[str], out: Path, time_limit_s: float | None) -> list[Path]:
    """Runs a placed campaign; returns the result files. What was measured is written even when it is interrupted.

    After `time_limit_s` the running process is given up and what is done is kept.
    """
    info = describe(campaign.device)
    deadline = None if time_limit_s is None else time.monotonic() + time_limit_s
    campaign = replace(campaign, timer=resolve(campaign.timer, campaign.device))
    environment = {"device": asdict(info), "versions": _versions(), "timer": campaign.timer}
    total = sum(len(g.entries) for g in campaign.groups)
    done = 0
    with ResultsWriter(out, environment) as writer:
        results = run_on_devices(campaign, devices, out / "work", _run_job, Progress({}))
        for result in results:
            if deadline is not None and time.monotonic() > deadline:
                print("time limit: what is done is kept", file=sys.stderr)  # noqa: T201
                break
            writer.add(result)
            done += 1
            if done % 25 == 0 or result.failure is not None:
                note = f": {result.entry} {result.failure.status} {result.failure.reason}" if result.failure else ""
                print(f"{done} results ({total} entries in the search){note}", file=sys.stderr, flush=True)  # noqa: T201
    return writer.paths


def _versions() -> dict[str, str | None]:
    """What a figure depends on beside the device."""
    return {
        "iree-base-runtime": version("iree-base-runtime"),
        "python": platform.python_version(),
        "host": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release().split('-')[0]}",
    }


def _run_job(job: Job, folder: Path) -> Iterator[EntryResult]:
    return run_job(job, folder)


def main(folder: Path, arguments: list[str]) -> int:
    """The command line of `run.py`. Exit codes: 0 good, 1 a damaged bundle or no device."""
    parser = argparse.ArgumentParser(description="Measure this bundle on this machine.")
    parser.add_argument("--devices", help="comma list of device URIs that share the problems")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="stop then and keep what is done")
    parser.add_argument("--timer", help="timer (default: the bundle's)")
    parser.add_argument("--processes", type=int, help="final processes (default: the bundle's)")
    parser.add_argument("--problems", help="comma list of problem ids (default: all)")
    parser.add_argument("--out", type=Path, default=folder / "results", help="where results go")
    options = parser.parse_args(arguments)
    damaged = list(damaged_files(folder))
    if damaged:
        print(f"error: {folder}: damaged bundle: {', '.join(damaged[:3])}; unpack it again", file=sys.stderr)  # noqa: T201
        return 1
    campaign = read_campaign(folder / CAMPAIGN)
    devices = options.devices.split(",") if options.devices else [campaign.device]
    changes = {k: v for k in ("timer", "processes") if (v := getattr(options, k)) is not None}
    wanted = frozenset(options.problems.split(",")) if options.problems else None
    campaign = placed(replace(campaign, device=devices[0], **changes), folder, wanted)
    for path in run_bundle(campaign, devices, options.out, options.time_limit):
        print(path)  # noqa: T201
    return 0
