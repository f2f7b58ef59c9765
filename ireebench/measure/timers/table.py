"""The timers, by name. A new one is one file and one row; nothing is imported until it is used."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass

from ireebench.errors import UnknownNameError
from ireebench.measure.device import Kind, kind_of
from ireebench.measure.job import CachePolicy
from ireebench.measure.timers.base import Timer


@dataclass(frozen=True, slots=True)
class TimerRow:
    """A timer: where its class is, which kinds of device it serves, which cache policies, and what it reports.

    `whole_process`: a profiler wraps the worker's command line and its files are read afterwards; the worker itself
    only launches. `baselines`: it can time them too. `step_ns`: what its times are multiples of, 0 where not known.
    """

    name: str
    where: str  # "module:Class"
    devices: tuple[Kind, ...]
    summary: str
    cache: tuple[CachePolicy, ...] = ("hot", "cold")
    whole_process: bool = False
    baselines: bool = True
    step_ns: float = 0.0


_TIMERS = "ireebench.measure.timers"

# The order is that of `auto`.
TIMERS: dict[str, TimerRow] = {
    t.name: t
    for t in (
        # Samples on an H200 (driver 580.159.04) are multiples of 32 ns, give or take one of rounding.
        TimerRow("cupti", f"{_TIMERS}.cupti:CuptiTimer", ("cuda",), "each kernel's own time, from CUPTI", step_ns=32.0),
        TimerRow(
            "torch_profiler",
            f"{_TIMERS}.torch_profiler:TorchProfilerTimer",
            ("cuda", "hip"),
            "each kernel's own time, from the profiler in PyTorch",
        ),
        TimerRow(
            "rocprofv3",
            f"{_TIMERS}.rocprofv3:Rocprofv3Timer",
            ("hip",),
            "each kernel's own time, from rocprofv3 around the worker",
            whole_process=True,
        ),
        TimerRow(
            "rocprof",
            f"{_TIMERS}.rocprof_legacy:RocprofTimer",
            ("hip",),
            "each kernel's own time, from the first rocprof around the worker",
            whole_process=True,
        ),
        TimerRow(
            "batched", f"{_TIMERS}.batched:BatchedTimer", ("cuda", "hip"), "many invocations back to back, divided"
        ),
        TimerRow("host", f"{_TIMERS}.host:HostTimer", ("cpu",), "wall time of one invocation, overhead included"),
        TimerRow(
            "hal",
            f"{_TIMERS}.hal:HalTimer",
            ("cpu",),
            "each dispatch's time, from IREE's own profile of iree-benchmark-module; artifacts only",
            cache=("hot",),
            baselines=False,
        ),
    )
}


def find_timer(name: str) -> TimerRow:
    """The row called `name`; raises UnknownNameError with the nearest ones."""
    try:
        return TIMERS[name]
    except KeyError:
        raise UnknownNameError("timer", name, [*TIMERS, "auto"]) from None


def step_ns(name: str | None) -> float:
    """What a timer's figures are multiples of, ns; 0 where that is not known, or the timer is not."""
    row = TIMERS.get(name or "")
    return row.step_ns if row else 0.0


def load(name: str) -> Timer:
    """The timer called `name`; the one that only launches for a whole-process timer."""
    row = find_timer(name)
    where = f"{_TIMERS}.host:LaunchOnlyTimer" if row.whole_process else row.where
    module, _, attribute = where.partition(":")
    timer: Timer = getattr(importlib.import_module(module), attribute)()
    return timer


def missing(name: str, device: str) -> str | None:
    """None when the timer is usable on a device; else what is missing and how to get it, in one line."""
    row = find_timer(name)
    if (kind := kind_of(device)) not in row.devices:
        return f"timer {name} serves {' and '.join(row.devices)}, not {kind}; --timer auto picks one that does"
    module, _, attribute = row.where.partition(":")
    if importlib.util.find_spec(module) is None:
        return f"timer {name} is not part of this installation of ireebench"
    reason: str | None = getattr(importlib.import_module(module), attribute)().missing(device)
    return reason


def refuses(name: str, cache: tuple[CachePolicy, ...]) -> str | None:
    """None when the timer serves these cache policies; else why not."""
    row = find_timer(name)
    wrong = [policy for policy in cache if policy not in row.cache]
    return f"timer {name} measures {' and '.join(row.cache)} only, not {', '.join(wrong)}" if wrong else None


def resolve(name: str, device: str) -> str:
    """`name` itself, or for "auto" the first timer of the table that is usable on the device.

    Raises UnknownNameError for a name in no table; LookupError with every reason when `auto` finds none.
    """
    if name != "auto":
        return find_timer(name).name
    reasons = []
    for row in TIMERS.values():
        if kind_of(device) in row.devices:
            reason = missing(row.name, device)
            if reason is None:
                return row.name
            reasons.append(f"{row.name}: {reason}")
    raise LookupError("no timer is usable here: " + "; ".join(reasons))
