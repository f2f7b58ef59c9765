from __future__ import annotations

from ireebench.measure.job import Protocol
from ireebench.problems.problem import Problem
from ireebench.space.config import Config
from ireebench.sweep.request import Measuring, Request, Subject, deal, trial_key
from ireebench.targets import find_target

SMALL = Problem("small", "argmax", (1, 1024), "f32")
LARGE = Problem("large", "argmax", (64, 65536), "f32")
MIDDLE = Problem("middle", "argmax", (8, 65536), "f32")
TINY = Problem("tiny", "argmax", (1, 128), "f32")


def request(*devices: str, problems: tuple[Problem, ...] = (SMALL, LARGE, TINY, MIDDLE)) -> Request:
    measuring = Measuring(devices[0], "host", Protocol(), Protocol(), devices=devices)
    return Request("argmax", problems, find_target("cpu"), (), config=Config(), measuring=measuring)


def dealt(r: Request) -> dict[str, list[str]]:
    return {s.measuring.device: [p.id for p in s.problems] for s in deal(r) if s.measuring}


def test_the_largest_problems_are_dealt_out_first_and_keep_their_order() -> None:
    # By bytes: large, middle, small, tiny.
    assert dealt(request("cuda://0", "cuda://1")) == {"cuda://0": ["small", "large"], "cuda://1": ["tiny", "middle"]}
    three = dealt(request("cuda://0", "cuda://1", "cuda://2"))
    assert three == {"cuda://0": ["large", "tiny"], "cuda://1": ["middle"], "cuda://2": ["small"]}


def test_a_device_that_gets_no_problem_is_left_out() -> None:
    assert dealt(request("cuda://0", "cuda://1", problems=(SMALL,))) == {"cuda://0": ["small"]}


def test_a_problem_asked_for_twice_is_measured_once() -> None:
    shares = dealt(request("cuda://0", "cuda://1", problems=(SMALL, LARGE, SMALL)))
    assert shares["cuda://0"] == ["large"]
    assert set(shares["cuda://1"]) == {"small"}


def test_one_device_has_all_problems() -> None:
    r = request("cuda://0")
    assert deal(r) == (r,)


def test_a_dealt_trials_key_is_that_of_a_sweep_of_its_device_alone() -> None:
    _, second = deal(request("cuda://0", "cuda://1"))
    alone = request("cuda://1")
    subject = Subject(MIDDLE, baseline="numpy")
    assert trial_key(second, "here", subject) == trial_key(alone, "here", subject)
    assert trial_key(second, "here", subject) != trial_key(request("cuda://0"), "here", subject)
