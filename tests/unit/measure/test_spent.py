from __future__ import annotations

from ireebench.measure.journal import Event, Item
from ireebench.measure.spent import Spent


def test_seconds_add_up_by_phase_with_the_slowest_told() -> None:
    spent = Spent()
    for name, entry, second in (("begin", "a", 0), ("end", "a", 2), ("begin", "b", 2), ("failed", "b", 7)):
        spent.take(Event(name, Item(entry, "load"), {"monotonic_ns": second * 10**9}))
    spent.take(Event("session", None, {}))
    assert str(spent) == "load 7.0 s (most: 5.0 s)"
    assert spent.slowest["load"] == (5.0, "b")


def test_an_item_that_never_ended_counts_nothing() -> None:
    spent = Spent()
    spent.take(Event("begin", Item("a", "check"), {"monotonic_ns": 1}))
    assert str(spent) == "nothing ran"


def test_a_slowest_item_that_rounds_to_nothing_is_left_out() -> None:
    spent = Spent()
    for name, phase, ms in (("begin", "load", 0), ("end", "load", 49), ("begin", "check", 50), ("end", "check", 100)):
        spent.take(Event(name, Item("a", phase), {"monotonic_ns": ms * 10**6}))
    assert str(spent) == "check 0.1 s (most: 0.1 s), load 0.0 s"
