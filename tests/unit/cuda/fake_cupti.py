"""A `cupti` package at the border of the timer: it hands over records when flushed, as CUPTI does."""

from __future__ import annotations

import types
from collections.abc import Callable
from enum import IntEnum
from typing import Any


class ActivityKind(IntEnum):
    MEMCPY = 1
    MEMSET = 2
    KERNEL = 3
    CONCURRENT_KERNEL = 10


class ActivityMemcpyKind(IntEnum):
    DTOD = 8


class cuptiError(Exception):  # noqa: N801 - CUPTI's own spelling
    pass


class FakeCupti(types.SimpleNamespace):
    """Times advance by `step_ns` a call of get_timestamp. Launches add records, flushes deliver them.

    `late` deliveries come only after that many more flushes; `lose` drops that many records.
    """

    def __init__(self, late: int = 0, lose: int = 0, refuse: bool = False) -> None:
        super().__init__(ActivityKind=ActivityKind, ActivityMemcpyKind=ActivityMemcpyKind, cuptiError=cuptiError)
        self.now_ns = 1_000_000
        self.enabled: list[int] = []
        self.flushes: list[int] = []
        self.waiting: list[Any] = []
        self.late = late
        self.lose = lose
        self.refuse = refuse
        self.deliver: Callable[[list[Any]], None] = lambda _: None

    def get_timestamp(self) -> int:
        self.now_ns += 50_000
        return self.now_ns

    def activity_register_callbacks(self, requested: Callable[[], tuple[int, int]], completed: Any) -> None:
        assert requested()[0] >= 1 << 20
        self.deliver = completed

    def activity_enable(self, kind: int) -> None:
        if self.refuse:
            raise cuptiError("MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED")
        self.enabled.append(kind)

    def activity_disable(self, kind: int) -> None:
        self.enabled.remove(kind)

    def activity_flush_all(self, flag: int) -> None:
        self.flushes.append(flag)
        if self.waiting and self.late > 0:
            self.late -= 1
            return
        records, self.waiting = self.waiting, []
        self.deliver(records)

    def add_kernel(self, name: str, after_ns: int, ns: int) -> None:
        if self.lose > 0:
            self.lose -= 1
            return
        start = self.now_ns + after_ns
        fields = {"grid_x": 4, "grid_y": 2, "grid_z": 1, "block_x": 256, "block_y": 1, "block_z": 1}
        memory = {"static_shared_memory": 128, "dynamic_shared_memory": 1024, "local_memory_per_thread": 16}
        self.waiting.append(
            types.SimpleNamespace(
                kind=ActivityKind.CONCURRENT_KERNEL.value,
                name=name,
                start=start,
                end=start + ns,
                registers_per_thread=40,
                **fields,
                **memory,
            )
        )

    def add_memory(self, kind: ActivityKind, after_ns: int, ns: int) -> None:
        start = self.now_ns + after_ns
        self.waiting.append(
            types.SimpleNamespace(kind=kind.value, copy_kind=8, start=start, end=start + ns, value=0, bytes=64)
        )
