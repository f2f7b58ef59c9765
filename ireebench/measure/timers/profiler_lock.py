"""One GPU profiler at a time: CUPTI serves one client, and a second silently takes the records of the first."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_HELD = threading.Lock()


@contextmanager
def exclusive(name: str) -> Iterator[None]:
    """Holds the profiler for the timer `name`; raises RuntimeError while another one, or PyTorch's own, is active."""
    if not _HELD.acquire(blocking=False):
        raise RuntimeError(f"timer {name}: another profiler is active in this process; only one can be")
    try:
        torch = sys.modules.get("torch")
        active = getattr(getattr(torch, "autograd", None), "_profiler_enabled", None)
        if active is not None and active():
            raise RuntimeError(f"timer {name}: torch.profiler is active in this process; only one profiler can be")
        yield
    finally:
        _HELD.release()
