"""Runs all checks at once; none can fail the others or make them wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait

from ireebench.doctor import probes_amd, probes_host, probes_iree, probes_nvidia
from ireebench.doctor.finding import Finding, State
from ireebench.doctor.machine import Machine

Probe = Callable[[Machine], list[Finding]]
LIMIT_S = 4.5

# (area, what is checked, the check). A new one is one function and one row.
PROBES: tuple[tuple[str, str, Probe], ...] = (
    ("IREE", "compiler", probes_iree.compiler),
    ("IREE", "runtime", probes_iree.runtime),
    ("IREE", "compile cache", probes_iree.cache),
    ("AMD", "ROCm", probes_amd.rocm),
    ("AMD", "permissions", probes_amd.permissions),
    ("AMD", "power and clocks", probes_amd.power_and_clocks),
    ("AMD", "profilers", probes_amd.profilers),
    ("AMD", "tools", probes_amd.tools),
    ("AMD", "visible devices", probes_amd.visible),
    ("NVIDIA", "cards", probes_nvidia.cards),
    ("NVIDIA", "profilers", probes_nvidia.profilers),
    ("NVIDIA", "toolkit", probes_nvidia.toolkit),
    ("host", "memory", probes_host.memory),
    ("host", "packages", probes_host.packages),
    ("host", "profiling", probes_host.profiling_allowed),
)


def examine(
    machine: Machine, probes: Sequence[tuple[str, str, Probe]] = PROBES, limit_s: float = LIMIT_S
) -> tuple[Finding, ...]:
    """All findings, in the order of the table. A check that raises or takes too long is a finding of its own."""
    futures: list[Future[list[Finding]]] = [Future() for _ in probes]
    for (_, name, probe), future in zip(probes, futures, strict=True):
        # Daemons: a check that hangs in a driver must not keep the process from ending.
        threading.Thread(target=_settle, args=(probe, machine, future), name=f"doctor {name}", daemon=True).start()
    wait(futures, timeout=limit_s)
    found: list[Finding] = []
    for (area, name, _), future in zip(probes, futures, strict=True):
        if not future.done():
            words = f"not known after {limit_s:g} s"
            found.append(
                Finding(area, name, State.UNKNOWN, words, "a driver or a disk hangs; run ireebench doctor again")
            )
        elif (error := future.exception()) is not None:
            words = f"{type(error).__name__}: {error}"
            found.append(Finding(area, name, State.UNKNOWN, words, "please report this with the machine's description"))
        else:
            found += future.result()
    return tuple(found)


def _settle(probe: Probe, machine: Machine, future: Future[list[Finding]]) -> None:
    try:
        future.set_result(probe(machine))
    except Exception as e:
        future.set_exception(e)
