"""How samples are taken, as pure functions: order of turns, when to stop, which copy of the input comes next.

Elapsed times come from the monotonic clock (`time.perf_counter_ns`); a step of the wall clock cannot reach them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ireebench.measure.job import CachePolicy, Protocol

# Before each turn an entry runs untimed, so that its code and (hot) its input are back where the turn before it left
# them: at most this many launches, and at most this share of the turn's seconds.
REWARM_LAUNCHES = 5
REWARM_SHARE = 0.1

# Warm-up launches of a kernel so slow that its seconds are over before: the first loads its code and maps its memory,
# the second shows that it is through with that. Its clock has had the seconds to rise in, as a faster kernel's. Ten of
# 0.3 s each, hot and cold, are 6 s (stock IREE's split on an H200; all warm-up of 18 problems took 9 s there).
LEAST_WARMUPS = 2

# The longest a single call of a timer is planned to take: the stopping rule is looked at between calls.
CHUNK_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Budget:
    """What one stretch of launches may take: stops at `most` launches or after `seconds`, but not below `least`."""

    most: int
    least: int
    seconds: float

    def done(self, launches: int, elapsed_ns: int) -> bool:
        """Whether a stretch that has run `launches` times in `elapsed_ns` ns is over."""
        if launches >= self.most:
            return True
        return launches >= self.least and elapsed_ns >= self.seconds * 1e9

    def chunk(self, launches: int, elapsed_ns: int, launch_ns: float | None) -> int:
        """How many launches to ask for next (at least 1), from what one has taken so far.

        `launch_ns` is what a launch took in an earlier stretch; with neither, the first chunk is a single launch. Grows
        at most tenfold a step, so that one unusual launch does not decide.
        """
        left = self.most - launches
        if launches == 0 and launch_ns is None:
            return min(left, 1)
        per_launch_ns = max(elapsed_ns / launches if launches else launch_ns or 1.0, 1.0)
        time_left_ns = max(self.seconds * 1e9 - elapsed_ns, 0.0)
        fits = int(min(time_left_ns, CHUNK_SECONDS * 1e9) / per_launch_ns)
        wanted = max(fits, 1, self.least - launches if time_left_ns == 0.0 or launches == 0 else 1)
        return min(left, wanted, 10 * launches or left)


def warmup_budget(protocol: Protocol) -> Budget:
    """The stretch before an entry's first turn in a process."""
    return Budget(protocol.warmup, min(LEAST_WARMUPS, protocol.warmup), protocol.seconds)


def turn_budget(protocol: Protocol) -> Budget:
    """One entry's stretch in one round: its share of the samples, of the seconds and of the least number."""
    most = max(protocol.invocations, protocol.min_samples)
    return Budget(
        math.ceil(most / protocol.rounds),
        math.ceil(protocol.min_samples / protocol.rounds),
        protocol.seconds / protocol.rounds,
    )


def rewarm_budget(protocol: Protocol) -> Budget:
    """The untimed launches that open a turn; none where the protocol asks for no warm-up."""
    most = min(REWARM_LAUNCHES, protocol.warmup)
    return Budget(most, min(1, most), REWARM_SHARE * protocol.seconds / protocol.rounds)


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a stretch of launches came to."""

    launches: int
    elapsed_ns: int

    @property
    def launch_ns(self) -> float | None:
        """Mean time of a launch; None where there was none."""
        return self.elapsed_ns / self.launches if self.launches else None


def run_stretch(
    budget: Budget, launch: Callable[[int], None], clock_ns: Callable[[], int], launch_ns: float | None = None
) -> Stretch:
    """Calls `launch(n)` with chunk sizes until the budget is spent.

    A clock that steps backwards counts as standing still: the stretch may then take longer, but it ends, because
    launches are bounded too.
    """
    launches = 0
    elapsed_ns = 0
    while not budget.done(launches, elapsed_ns):
        count = budget.chunk(launches, elapsed_ns, launch_ns)
        start = clock_ns()
        launch(count)
        elapsed_ns += max(clock_ns() - start, 0)
        launches += count
    return Stretch(launches, elapsed_ns)


def turn_order(keys: Sequence[str], seed: int, process: int, cache: CachePolicy, round_number: int) -> list[str]:
    """The order in which entries take their turns in one round: a permutation that only the arguments decide."""
    order = sorted(keys)
    random.Random(f"{seed}/{process}/{cache}/{round_number}").shuffle(order)
    return order


def cold_copies(input_bytes: int, cache_bytes: int) -> int:
    """Copies of the input that together exceed twice the last-level cache: 1 where a single one does."""
    return 2 * cache_bytes // max(input_bytes, 1) + 1


@dataclass(slots=True)
class Rotation:
    """Deals out copies of the input: always 0 for hot; the next in turn for cold, whoever asks.

    One rotation serves all entries of a group: an entry that began at a copy which its predecessor had just read
    would find it in the cache.
    """

    copies: int
    position: int = 0

    def take(self, count: int, cache: CachePolicy) -> list[int]:
        """The copies that the next `count` launches read."""
        if cache == "hot":
            return [0] * count
        first = self.position
        self.position = (first + count) % self.copies
        return [(first + i) % self.copies for i in range(count)]
