"""Where a sweep runs: recorded with every trial, and the part of it that a stored figure depends on."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version

from ireebench import __version__
from ireebench.store import codec
from ireebench.store.database import Store
from ireebench.store.trial import Environment
from ireebench.sweep.request import Measuring


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def current_environment(measuring: Measuring | None) -> Environment:
    """This machine, its IREE packages and, where something is measured, its device."""
    device, driver, uri = "none (compile only)", None, "none"
    details: tuple[tuple[str, str], ...] = ()
    if measuring is not None:
        from ireebench.measure.device import describe
        from ireebench.measure.library_versions import library_versions

        info = describe(measuring.device)
        device, driver, uri = info.name, info.driver, info.uri
        details = tuple(library_versions(measuring.device).items())
    return Environment(
        device=device,
        device_uri=uri,
        driver=driver,
        runtime_version=_installed("iree-base-runtime"),
        compiler_version=_installed("iree-base-compiler"),
        ireebench_version=__version__,
        host=f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release().split('-')[0]}",
        python=platform.python_version(),
        protocol=json.dumps(asdict(measuring.protocol), sort_keys=True) if measuring else "",
        details=details,
    )


def environment_row(store: Store, here: Environment) -> int:
    """The row of `here` in a store; a store that was begun before details were recorded is gone on with in its own."""
    before = replace(here, details=())
    known = (row for row, stored in store.environments().items() if stored == before)
    row = next(known, None)
    return store.put_environment(here) if row is None else row


def identity(environment: Environment) -> str:
    """Digest of what a stored figure depends on: device, driver, compiler and runtime.

    Not ireebench's own version, and not the libraries in `details`: a newer PyTorch does not undo a sweep.
    """
    e = environment
    return codec.digest(
        codec.to_json([e.device, e.device_uri, e.driver, e.runtime_version, e.compiler_version, e.host])
    )
