"""A sweep's last lines say how many candidates the emulator executed, and why not the rest."""

from __future__ import annotations

from ireebench.outcome import Stage, Status
from ireebench.problems.check import CheckResult
from ireebench.problems.problem import Problem
from ireebench.report.sweep_report import make_report
from ireebench.space.config import Config
from ireebench.store.trial import Trial
from ireebench.variants import Ship

PROBLEM = Problem("p", "gemv", (1, 64, 1024), "q4_0", None, "f32", "nk")
RIGHT, WRONG = CheckResult(True, by="emulator"), CheckResult(False, "element 3 is wrong", by="emulator")


def trial(key: str, status: Status, reason: str | None, check: CheckResult | None) -> Trial:
    return Trial(
        key, PROBLEM, "gfx942", "vd", None, "dequant", Ship.SPEC, Config(), status, Stage.COMPILED, reason, check=check
    )


def lines(*trials: Trial) -> tuple[str, ...]:
    return make_report(trials, (), {}, 10).lines[1:]


def test_what_was_not_executed_is_counted_by_reason() -> None:
    assert lines(
        trial("a", Status.OK, None, RIGHT),
        trial("b", Status.WRONG_RESULT, "emulated: element 3 is wrong", WRONG),
        trial("c", Status.OK, "not emulated: the emulator has no x", None),
        trial("d", Status.OK, "not emulated: the emulator has no y", None),
        trial("e", Status.OK, "not emulated: the emulator has no y", None),
        trial("f", Status.COMPILE_FAILED, "failed to distribute", None),
    ) == (
        "2 of 5 compiled candidates executed by the emulator, 1 right.",
        "2 not emulated: the emulator has no y",
        "1 not emulated: the emulator has no x",
    )


def test_a_sweep_that_did_not_ask_the_emulator_says_nothing_of_it() -> None:
    assert lines(trial("a", Status.OK, None, None)) == ()
