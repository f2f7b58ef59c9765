from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ireebench.measure import cuda_driver
from ireebench.measure.timers import cupti as cupti_timer
from ireebench.measure.timers.cupti import CuptiTimer
from ireebench.measure.timers.profiler_lock import exclusive
from ireebench.measure.timers.torch_profiler import read_trace

_spec = importlib.util.spec_from_file_location("fake_cupti", Path(__file__).parent / "fake_cupti.py")
assert _spec is not None
assert _spec.loader is not None
fake_cupti = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fake_cupti)
ActivityKind = fake_cupti.ActivityKind


class Launcher:
    """A runnable whose launch does what it is told."""

    copies = 4

    def __init__(self, body: Callable[[int], None]) -> None:
        self.body = body

    def launch(self, copy: int) -> None:
        self.body(copy)

    def sync(self) -> None:
        pass

    def poison(self) -> None:
        pass

    def outputs(self) -> tuple[Any, ...]:
        return ()

    def close(self) -> None:
        pass


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Installs a fake `cupti` package; the driver's wait is nothing here."""

    def install(**options: Any) -> Any:
        api = fake_cupti.FakeCupti(**options)
        monkeypatch.setitem(sys.modules, "cupti", types.SimpleNamespace(cupti=api))
        monkeypatch.setitem(sys.modules, "cupti.cupti", api)
        monkeypatch.setattr(cuda_driver, "synchronize", lambda ordinal: None)
        monkeypatch.setattr(cupti_timer, "_FLUSH_PAUSE_S", 0.0)
        return api

    return install


def test_kernels_copies_and_fills_become_records_of_their_invocation(fake: Callable[..., Any]) -> None:
    api = fake()

    def body(copy: int) -> None:
        api.add_memory(ActivityKind.MEMSET, 3_000, 500)
        api.add_kernel("_ZN3cub6KernelIfEEvv", 4_000, 2_000 + copy)
        api.add_memory(ActivityKind.MEMCPY, 7_000, 300)

    timer = CuptiTimer()
    with timer.session("cuda://0"):
        assert timer.sample(Launcher(body), []) == []
        got = timer.sample(Launcher(body), [0, 1, 2])
    assert [(i.kernel_ns, i.span_ns) for i in got] == [(2_800, 4_300), (2_801, 4_300), (2_802, 4_300)]
    fill, kernel, copy = got[0].records
    assert (fill.name, fill.kind, copy.name, copy.kind) == ("fill", "fill", "copy DTOD", "copy")
    assert (kernel.name, kernel.registers, kernel.local_bytes, kernel.shared_bytes) == ("cub::Kernel", 40, 16, 1_152)
    assert (kernel.grid, kernel.block) == ((4, 2, 1), (256, 1, 1))


def test_kernels_copies_and_fills_are_recorded_during_a_call_and_only_then(fake: Callable[..., Any]) -> None:
    api = fake()
    timer = CuptiTimer()
    seen = []

    def body(copy: int) -> None:
        seen.append(sorted(api.enabled))
        api.add_kernel("k", 5_000, 1_000)

    with timer.session("cuda://0"):
        assert api.enabled == []  # an upload between calls must not wait for CUPTI's buffers
        timer.sample(Launcher(body), [0, 0])
        assert api.enabled == []
    assert seen == [[1, 2, 10]] * 2
    assert api.flushes[-1] == 1
    with pytest.raises(RuntimeError, match="outside of a session"):
        timer.sample(Launcher(lambda c: None), [0])


def test_records_are_read_once_a_call_not_once_a_launch(fake: Callable[..., Any]) -> None:
    api = fake()
    timer = CuptiTimer()
    with timer.session("cuda://0"):
        timer.sample(Launcher(lambda c: api.add_kernel("k", 5_000, 1_000)), [0] * 500)
        assert api.flushes == [0, 0]


def test_records_that_come_late_are_waited_for(fake: Callable[..., Any]) -> None:
    api = fake(late=7)
    timer = CuptiTimer()
    with timer.session("cuda://0"):
        got = timer.sample(Launcher(lambda c: api.add_kernel("k", 5_000, 1_000)), [0, 0])
    assert [i.kernel_ns for i in got] == [1_000, 1_000]


def test_untimed_launches_before_a_call_are_left_out(fake: Callable[..., Any]) -> None:
    api = fake(late=1)
    timer = CuptiTimer()
    with timer.session("cuda://0"):
        for _ in range(20):
            api.add_kernel("k", 5_000, 9_999)  # warm-up, whose buffer the first flush does not deliver yet
        got = timer.sample(Launcher(lambda c: api.add_kernel("k", 5_000, 1_000)), [0, 0])
    assert [i.kernel_ns for i in got] == [1_000, 1_000]


def test_lost_records_are_refused(fake: Callable[..., Any]) -> None:
    api = fake(lose=1)
    timer = CuptiTimer()
    with timer.session("cuda://0"):
        with pytest.raises(RuntimeError, match="do not fit 3 invocations: 2 of k"):
            timer.sample(Launcher(lambda c: api.add_kernel("k", 5_000, 1_000)), [0, 0, 0])
        assert api.flushes[-1] == 1  # forced in the end
        # What was left of the failed call does not reach the next one.
        got = timer.sample(Launcher(lambda c: api.add_kernel("k", 5_000, 1_000)), [0])
    assert [i.kernel_ns for i in got] == [1_000]


def test_a_single_invocation_that_lost_a_kernel_is_refused_once_the_entry_is_known(fake: Callable[..., Any]) -> None:
    api = fake()

    def body(copy: int) -> None:
        api.add_kernel("stage1", 5_000, 1_000)
        api.add_kernel("stage2", 6_500, 500)

    timer, runnable = CuptiTimer(), Launcher(body)
    with timer.session("cuda://0"):
        timer.sample(runnable, [0])
        api.lose = 1
        with pytest.raises(RuntimeError, match="ran stage2; earlier ones of the same entry stage1, stage2"):
            timer.sample(runnable, [0])


def test_a_record_that_cannot_be_read_is_an_error_of_the_call(fake: Callable[..., Any]) -> None:
    api = fake()
    timer = CuptiTimer()

    def body(copy: int) -> None:
        api.waiting.append(types.SimpleNamespace(kind=ActivityKind.CONCURRENT_KERNEL.value))

    with timer.session("cuda://0"), pytest.raises(RuntimeError, match="could not be read"):
        timer.sample(Launcher(body), [0])


def test_cupti_that_is_taken_says_by_whom_it_may_be(fake: Callable[..., Any]) -> None:
    api = fake(refuse=True)
    with pytest.raises(RuntimeError, match="ncu, nsys"), CuptiTimer().session("cuda://0"):
        pass
    assert api.enabled == []


def test_two_profilers_at_once_are_refused(fake: Callable[..., Any]) -> None:
    fake()
    with (
        exclusive("torch_profiler"),
        pytest.raises(RuntimeError, match="only one can be"),
        CuptiTimer().session("cuda://0"),
    ):
        pass
    with CuptiTimer().session("cuda://0"):  # free again
        pass


def test_an_active_torch_profiler_is_noticed(fake: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    fake()
    autograd = types.SimpleNamespace(_profiler_enabled=lambda: True)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(autograd=autograd))
    with pytest.raises(RuntimeError, match=r"torch\.profiler is active"), CuptiTimer().session("cuda://0"):
        pass


def test_missing_cupti_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupti", None)
    assert "pip install 'cupti-python" in (CuptiTimer().missing("cuda://0") or "")
    assert CuptiTimer().missing("local-task") == "timer cupti times NVIDIA cards, not local-task"


def test_a_kineto_trace_gives_device_records_to_the_nanosecond() -> None:
    text = """{"traceEvents": [
      {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 1, "dur": 9},
      {"ph": "X", "cat": "kernel", "name": "_Z3fooi", "ts": 1753881234567890.125, "dur": 2.306,
       "args": {"registers per thread": 32, "shared memory": 48, "grid": [132, 1, 1], "block": [256, 1, 1]}},
      {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "ts": 1753881234567880, "dur": 1.024, "args": {}},
      {"ph": "M", "name": "process_name"}]}"""
    fill, kernel = read_trace(text)
    assert (fill.kind, fill.start_ns, fill.end_ns) == ("fill", 1753881234567880000, 1753881234567881024)
    assert (kernel.start_ns, kernel.end_ns) == (1753881234567890125, 1753881234567892431)
    assert (kernel.name, kernel.registers, kernel.shared_bytes) == ("foo", 32, 48)
    assert (kernel.grid, kernel.block) == ((132, 1, 1), (256, 1, 1))
