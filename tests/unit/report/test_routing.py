"""Routing rules from stores whose times are written down here; each expected table is worked out by hand."""

from __future__ import annotations

import itertools
import json
import operator
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from synthetic_store import ENVIRONMENT
from timed_store import Given, Table, finals, timed_store

from ireebench.cli.main import cli
from ireebench.outcome import Status
from ireebench.problems.problem import Problem
from ireebench.report.route_rule import Test as RouteTest
from ireebench.report.route_rule import round_between
from ireebench.report.route_search import find_rule
from ireebench.report.route_shapes import Choice, Shape
from ireebench.space.config import Config
from ireebench.variants import Ship

RECORDED = Path(__file__).parents[3] / "docs" / "results" / "h200" / "padded.db"

# SG=2 is best where N is small, SG=8 where it is large; at 8192 both are within 3%. No other choice was measured.
TWO = (
    finals("a", 4096, 4096, {"SG=2": 100, "SG=8": 130}),
    finals("b", 8192, 4096, {"SG=2": 200, "SG=8": 204}),
    finals("c", 28672, 8192, {"SG=2": 500, "SG=8": 400}),
    finals("d", 57344, 8192, {"SG=2": 900, "SG=8": 800}),
)


def route(path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["route", "gemv", "--from", str(path), "--cache", "cold", *arguments])


def rules(path: Path, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
    result = route(path, "--format", "json", *arguments)
    assert result.exit_code == code, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)["rules"]
    return found


def rule(path: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    (only,) = rules(path, *arguments, code=code)
    return only


def rows(found: dict[str, Any]) -> list[tuple[str, dict[str, int]]]:
    return [(r["when"], r["config"]) for r in found["rows"]]


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return timed_store(tmp_path / "two.db", TWO)


def test_two_configurations_that_share_the_shapes_make_two_rows(two: Path) -> None:
    found = rule(two)
    # The cut lies between 8192 and 28672, at the power of two. 8192 goes to SG=2, which loses nothing there.
    assert rows(found) == [("N <= 16384", {"SG": 2}), ("otherwise", {"SG": 8})]
    assert found["rows"][0]["tests"] == [{"feature": "N", "op": "<=", "value": 16384}]
    assert [r["shapes"] for r in found["rows"]] == [2, 2]
    assert [r["worst_loss_percent"] for r in found["rows"]] == [0, 0]
    assert (found["kept"], found["proven_smallest"], found["fewest_choices"]) == (True, True, 2)
    assert (found["prevents"], found["notes"]) == ([], [])


def test_of_tables_of_one_length_the_one_that_loses_least_is_taken(tmp_path: Path) -> None:
    # SG=2 serves a, b, c and SG=8 serves b, c, d: the cut could lie anywhere; in the middle nothing is lost.
    c = finals("c", 28672, 8192, {"SG=2": 408, "SG=8": 400})
    found = rule(timed_store(tmp_path / "least.db", (*TWO[:2], c, TWO[3])))
    assert rows(found) == [("N <= 16384", {"SG": 2}), ("otherwise", {"SG": 8})]
    assert found["losses"][0]["worst_loss_percent"] == 0


def test_a_tile_that_divides_only_aligned_sizes_is_routed_by_alignment(tmp_path: Path) -> None:
    # K = 2880, 4608 and 9728 are odd multiples of 64, 512 and 512; 4096 and 8192, between them, are powers of two.
    aligned, odd = {"PR=2048": 100, "PR=64": 150}, {"PR=64": 100}
    sizes = {2880: odd, 4096: aligned, 4608: odd, 8192: aligned, 9728: odd}
    tables = [finals(f"k{k}", 4096, k, times) for k, times in sizes.items()]
    found = rule(timed_store(tmp_path / "aligned.db", tables))
    assert rows(found) == [("K_align <= 2048", {"PR": 64}), ("otherwise", {"PR": 2048})]


def test_losses_of_the_rule_stand_beside_those_of_one_choice_for_all(two: Path) -> None:
    learnt, _, single = rule(two)["losses"]
    assert (learnt["shapes"], learnt["within"], learnt["worst_loss_percent"]) == (4, 4, 0)
    # SG=8: 30%, 2%, 0, 0. SG=2: 0, 0, 25%, 12.5%. (1.3 * 1.02) ** (1/4) = 1.0731; (1.25 * 1.125) ** (1/4) = 1.0890.
    assert single["what"] == "one choice for all: vd/matvec SG=8"
    assert (single["within"], single["unmeasured"]) == (3, 0)
    assert single["worst_loss_percent"] == pytest.approx(30)
    assert single["geomean_loss_percent"] == pytest.approx(7.31, abs=0.01)


def test_one_configuration_that_is_near_everywhere_makes_one_row(tmp_path: Path) -> None:
    near = (
        finals("a", 4096, 4096, {"SG=2": 100, "SG=8": 102.9, "SG=4": 120}),
        finals("b", 8192, 4096, {"SG=2": 230, "SG=8": 200, "SG=4": 210}),
        finals("c", 28672, 8192, {"SG=4": 400, "SG=8": 412, "SG=2": 440}),
    )
    found = rule(timed_store(tmp_path / "one.db", near))
    assert rows(found) == [("otherwise", {"SG": 8})]
    assert found["rows"][0]["worst_loss_percent"] == pytest.approx(3.0)


def test_a_difference_inside_the_noise_of_a_shape_is_no_loss(tmp_path: Path) -> None:
    tables = (
        finals("a", 4096, 4096, {"SG=2": 100, "SG=8": 104}, noise=0.05),
        finals("b", 8192, 4096, {"SG=2": 230, "SG=8": 200}),
    )
    found = rule(timed_store(tmp_path / "noisy.db", tables), "--held-out", "0")
    assert rows(found) == [("otherwise", {"SG": 8})]
    assert (found["losses"][0]["within"], found["losses"][0]["within_or_noise"]) == (1, 2)
    assert found["notes"] == ["the noise of 1 of 2 shapes is above 3%: there a larger loss counts as none"]
    quiet = timed_store(tmp_path / "quiet.db", [replace(t, noise=0.001) for t in tables])
    assert len(rule(quiet)["rows"]) == 2


def test_too_few_rows_give_the_least_worst_loss_name_the_shapes_and_end_with_3(two: Path) -> None:
    found = rule(two, "--rows", "1", "--held-out", "0", code=3)
    # One row: SG=8 would lose 30% on a, SG=2 loses 25% on c and 12.5% on d.
    assert rows(found) == [("otherwise", {"SG": 2})]
    assert (found["kept"], found["prevents"]) == (False, ["c", "d"])
    assert found["notes"] == [
        "no table of at most 1 row was found within 3% on all shapes: "
        "c (1x28672x8192 f16) loses 25%, d (1x57344x8192 f16) loses 12.5%"
    ]
    assert "note: no table of at most 1 row" in route(two, "--rows", "1").stderr
    assert rule(two, "--rows", "2")["kept"]


def test_rows_that_cannot_do_at_any_loss_give_the_smallest_table_that_does(tmp_path: Path) -> None:
    tables = (finals("a", 4096, 4096, {"SG=2": 100}), finals("b", 8192, 4096, {"SG=8": 200}))
    found = rule(timed_store(tmp_path / "apart.db", tables), "--rows", "1", "--held-out", "0", code=3)
    assert len(found["rows"]) == 2
    assert found["prevents"] == ["b"]
    assert found["notes"][0] == (
        "no table of at most 1 row was found within 3% on all shapes, but one of 2: "
        "the choices that serve most were not measured on b (1x8192x4096 f16)"
    )


def test_problems_that_no_feature_tells_apart_prevent_a_rule_and_are_named(tmp_path: Path) -> None:
    tables = (
        finals("first", 4096, 4096, {"SG=2": 100, "SG=8": 120}),
        finals("second", 4096, 4096, {"SG=2": 110, "SG=8": 100}),
        finals("other", 8192, 4096, {"SG=2": 200, "SG=8": 201}),
    )
    found = rule(timed_store(tmp_path / "twins.db", tables))
    assert (found["kept"], found["prevents"]) == (False, ["first", "second"])
    # SG=2 loses 0 and 10%, SG=8 20% and 0: the least that must be lost is 10%.
    assert rows(found) == [("otherwise", {"SG": 2})]
    assert "first (1x4096x4096 f16) loses 10% (measured more than once, with bests that" in found["notes"][0]


def test_a_held_out_shape_on_which_the_rule_fails_is_told(two: Path) -> None:
    held = rule(two, "--held-out", "4")["held_out"]
    told = {t["problems"][0]: t for t in held["shapes"]}
    # Without c the cut lies between 8192 and 57344, at 32768: c (28672) goes to SG=2, which is 500 / 400 there.
    assert (told["c"]["config"], told["c"]["within"]) == ({"SG": 2}, False)
    assert told["c"]["loss_percent"] == pytest.approx(25)
    assert (told["d"]["config"], told["d"]["within"]) == ({"SG": 8}, True)
    # Without a SG=8 alone does for the other three, and loses 30% on a.
    assert told["a"]["loss_percent"] == pytest.approx(30)
    # Without b the cut between 4096 and 28672 lies at 16384: SG=2.
    assert (told["b"]["config"], told["b"]["loss_percent"]) == ({"SG": 2}, 0)
    assert (held["folds"], held["share_within"]) == (4, 0.5)
    assert sorted(t["fold"] for t in held["shapes"]) == [0, 1, 2, 3]


def test_a_choice_that_was_not_measured_on_a_held_out_shape_is_no_success(tmp_path: Path) -> None:
    failing = Table("c", 28672, 8192, (Given("SG=8", 400), Given("SG=2", status=Status.COMPILE_FAILED)))
    path = timed_store(tmp_path / "failing.db", (*TWO[:2], failing, TWO[3]))
    found = rule(path, "--held-out", "4")
    told = {t["problems"][0]: t for t in found["held_out"]["shapes"]}["c"]
    assert (told["config"], told["loss_percent"], told["status"]) == ({"SG": 2}, None, "compile_failed")
    assert told["within"] is False
    assert found["losses"][1]["unmeasured"] == 1
    assert "not measured: compile_failed" in route(path, "--held-out", "4").stdout


# A whole configuration, as the space has them: 64 lanes read 8 weights each, so PR = 512 divides K = 4096 and not 4000.
WHOLE = "RW=1,SR=1,SG=1,PR=512,TH=8"


def told_of_c(tmp_path: Path, k: int) -> tuple[str, list[str]]:
    """The status of a held-out GEMV of 4096 rows for which only SG=2 was timed, where the others had WHOLE."""
    others = [finals(name, n, 4096, {WHOLE: 100}) for name, n in (("a", 1024), ("b", 2048))]
    path = timed_store(tmp_path / "untried.db", (*others, finals("c", 4096, k, {"SG=2": 100})))
    found = rule(path, "--held-out", "3")
    return {t["problems"][0]: t["status"] for t in found["held_out"]["shapes"]}["c"], found["notes"]


def test_a_choice_that_nobody_tried_on_a_held_out_shape_is_noted_with_the_remedy(tmp_path: Path) -> None:
    status, (note,) = told_of_c(tmp_path, 4096)
    assert status == "not tried"
    assert note.startswith("1 of 3 shapes held out were routed to a choice that was not tried there: a sweep file")


def test_a_choice_that_cannot_be_had_on_a_held_out_shape_names_the_constraint(tmp_path: Path) -> None:
    assert told_of_c(tmp_path, 4000) == ("refused: tile_divides_k", [])


def test_a_configuration_is_never_chosen_where_it_was_not_measured(tmp_path: Path) -> None:
    tables = (
        finals("a", 4096, 4096, {"SG=2": 100, "SG=4": 101}),
        finals("b", 8192, 4096, {"SG=4": 200, "SG=8": 201}),
        finals("c", 28672, 4096, {"SG=8": 400}),
    )
    found = rule(timed_store(tmp_path / "gaps.db", tables))
    assert [s["loss_percent"] is not None for s in found["shapes"]] == [True] * 3
    assert found["fewest_choices"] == len(found["rows"]) == 2


def test_types_of_one_size_are_held_out_together(tmp_path: Path) -> None:
    tables = [replace(t, name=f"{t.name}-{dtype}", dtype=dtype) for t in TWO for dtype in ("f16", "bf16")]
    held = rule(timed_store(tmp_path / "types.db", tables), "--held-out", "30%", "--seed", "5")["held_out"]
    assert {len({t["fold"] for t in held["shapes"]}), len(held["shapes"])} == {1, 2}  # round(0.3 * 4) = 1 size
    assert len({t["problems"][0][0] for t in held["shapes"]}) == 1


def test_the_same_seed_holds_out_the_same_shapes(two: Path) -> None:
    def chosen(seed: int) -> set[str]:
        held = rule(two, "--held-out", "0.5", "--seed", str(seed))["held_out"]
        return {t["problems"][0] for t in held["shapes"]}

    assert chosen(1) == chosen(1)
    assert len({frozenset(chosen(seed)) for seed in range(8)}) > 1


def test_what_only_the_search_timed_is_compared_with_the_search(tmp_path: Path) -> None:
    # In the finals everything takes 10% longer. SG=4 took 104 in the search, in which the best took 100: 4% slower.
    searched = Table("a", 4096, 4096, (Given("SG=2", 110, 100), Given("SG=8", 112, 101), Given("SG=4", None, 104)))
    best = Table("b", 8192, 4096, (Given("SG=4", 220, 200),))
    path = timed_store(tmp_path / "searched.db", (searched, best))
    assert len(rule(path, "--within", "3.9")["rows"]) == 2
    found = rule(path, "--within", "4.1")
    assert rows(found) == [("otherwise", {"SG": 4})]
    assert found["rows"][0]["worst_loss_percent"] == pytest.approx(4)


def test_a_wrong_result_has_no_speed(tmp_path: Path) -> None:
    wrong = Table("a", 4096, 4096, (Given("SG=2", 100), Given("SG=8", 50, status=Status.WRONG_RESULT)))
    found = rule(timed_store(tmp_path / "wrong.db", (wrong,)))
    assert rows(found) == [("otherwise", {"SG": 2})]


def test_by_span_the_gap_between_two_kernels_counts(tmp_path: Path) -> None:
    split = Table("a", 4096, 4096, (Given("SG=2", 100, gap=30), Given("SG=8", 110)))
    path = timed_store(tmp_path / "gap.db", (split,))
    assert rows(rule(path)) == [("otherwise", {"SG": 2})]
    found = rule(path, "--by", "span")
    assert rows(found) == [("otherwise", {"SG": 8})]
    assert found["losses"][0]["worst_loss_percent"] == 0


def test_only_what_ships_on_request(tmp_path: Path) -> None:
    rewrite = replace(TWO[0], trials=(Given("SG=2", 100, ship=Ship.IR_REWRITE), Given("SG=8", 130)))
    alone = Table("e", 1024, 1024, (Given("SG=2", 20, ship=Ship.IR_REWRITE),))
    path = timed_store(tmp_path / "ships.db", (rewrite, *TWO[2:], alone))
    assert len(rule(path)["rows"]) == 2
    found = rule(path, "--ships")
    assert rows(found) == [("otherwise", {"SG": 8})]
    assert found["rows"][0]["worst_loss_percent"] == 0  # against the best that ships
    (left_out,) = found["left_out"]
    assert (left_out["problem"], left_out["reason"]) == ("e", "nothing that ships was timed cold by cupti")
    assert found["notes"] == ["left out, nothing that ships was timed cold by cupti: e (1x1024x1024 f16)"]


def test_devices_are_never_in_one_rule_and_sessions_of_one_device_are(tmp_path: Path) -> None:
    path = timed_store(tmp_path / "many.db", TWO[:2])
    timed_store(path, TWO[2:], replace(ENVIRONMENT, protocol='{"invocations": 50}'))
    timed_store(path, TWO[:1], replace(ENVIRONMENT, device="another device"))
    mine, other = sorted(rules(path), key=lambda r: r["environments"], reverse=True)
    assert (mine["environments"], len(mine["shapes"]), other["device"]) == (2, 4, "another device")
    assert mine["notes"] == ["2 environments are in one rule; each loss compares times of one of them"]
    assert len(other["shapes"]) == 1


def test_the_json_alone_routes_every_shape_as_it_says(tmp_path: Path) -> None:
    rng = random.Random(0)
    tables = [
        finals(f"{n}-{k}-{dtype}", n, k, {f"SG={sg}": 100 + rng.random() * 20 for sg in (1, 2, 4)})
        for n, k, dtype in itertools.product((1024, 4096, 11008), (2048, 4096), ("f16", "bf16"))
    ]
    tables = [replace(t, dtype=t.name.rsplit("-", 1)[1]) for t in tables]
    found = rule(timed_store(tmp_path / "many.db", tables))

    def passes(value: int | str, test: dict[str, Any]) -> bool:
        if test["op"] == "in":
            return value in test["value"]
        return bool({"<=": operator.le, ">": operator.gt}[test["op"]](value, test["value"]))

    assert len(found["rows"]) > 2
    for shape in found["shapes"]:
        mine = shape["features"]
        passed = [all(passes(mine[t["feature"]], t) for t in row["tests"]) for row in found["rows"]]
        assert passed.index(True) == shape["row"]
        assert shape["loss_percent"] <= 3


CHOICES = tuple(Choice("vd", "matvec", Config(sg=2**i)) for i in range(6))


def made_up(rng: random.Random) -> list[Shape]:
    """Up to eight shapes, some choices unmeasured on some."""
    grid = list(itertools.product((256, 512, 3000), (64, 700), ("bf16", "f16", "nf4")))
    shapes = []
    for n, k, dtype in sorted(rng.sample(grid, rng.randint(1, 8))):
        some = [c for c in CHOICES if rng.random() < 0.7] or [CHOICES[0]]
        losses = {c: rng.choice([0.01, 0.02, 0.1, 0.3]) for c in some} | {rng.choice(some): 0.0}
        problem = Problem("p", "gemv", (1, n, k), dtype, None, "f32", "nk")
        best = min(losses, key=lambda c: losses[c])
        features: dict[str, int | str] = {"N": n, "K": k, "dtype": dtype}
        shapes.append(
            Shape(problem, ("p",), features, best, 1.0, losses, dict.fromkeys(losses, Ship.SPEC), {}, 0.0, "gfx942")
        )
    return shapes


def fewest_rows(shapes: Sequence[Shape], within: float) -> int:
    """By trying every table: sets of shapes as bits, conditions from comparisons with the values themselves."""
    everything = (1 << len(shapes)) - 1

    def bits(kept: Sequence[bool]) -> int:
        return sum(1 << i for i, keep in enumerate(kept) if keep)

    single = {bits([s.features[f] <= v for s in shapes]) for f in ("N", "K") for v in (64, 256, 512, 700)}  # type: ignore[operator]
    single |= {bits([s.features["dtype"] == d for s in shapes]) for d in ("f16", "bf16", "nf4")}
    single |= {everything ^ b for b in single}
    taken = {a & b for a in single for b in single} | {1 << i for i in range(len(shapes))}
    serves = [bits([s.losses.get(c, 1.0) <= within for s in shapes]) for c in CHOICES]

    @cache
    def rest(left: int) -> int:
        if any(left & ~s == 0 for s in serves):
            return 1
        parts = ((left & t, left & ~t) for t in taken)
        return 1 + min(rest(b) for a, b in parts if a and b and any(a & ~s == 0 for s in serves))

    return rest(everything)


def test_no_smaller_table_exists_than_the_one_found() -> None:
    lengths = []
    for seed in range(80):
        shapes = made_up(random.Random(seed))
        found = find_rule(shapes, [0.03] * len(shapes))
        assert all(s.losses[found.choose(s)] <= 0.03 for s in shapes)
        assert found.proven
        assert len(found.rows) == fewest_rows(shapes, 0.03)
        lengths.append(len(found.rows))
    assert max(lengths) >= 4


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [(4096, 14336, 8192), (11008, 14336, 12288), (8192, 28672, 16384), (1, 2, 1), (4096, 5120, 4096), (3, 5, 4)],
)
def test_a_cut_is_the_roundest_number_that_parts_its_neighbours(low: int, high: int, cut: int) -> None:
    assert round_between(low, high) == cut


def test_sizes_that_are_almost_equal_are_named_and_not_parted(tmp_path: Path) -> None:
    tables = (
        finals("a", 128000, 4096, {"SG=2": 100, "SG=8": 120}),
        finals("b", 128256, 4096, {"SG=2": 120, "SG=8": 100}),
        finals("c", 32000, 4096, {"SG=2": 50, "SG=8": 50}),
    )
    found = rule(timed_store(tmp_path / "close.db", tables), "--held-out", "0")
    assert len(found["rows"]) == 2
    (test,) = found["rows"][0]["tests"]
    assert (test["feature"], test["op"], test["value"]) in [("N", "in", [128000]), ("N", "in", [128256])]


def test_a_size_at_the_cut_is_not_above_it() -> None:
    at_most, above = RouteTest("N", "<=", 4096), RouteTest("N", ">", 4096)
    assert [at_most.holds({"N": n}) for n in (4095, 4096, 4097)] == [True, True, False]
    assert [above.holds({"N": n}) for n in (4095, 4096, 4097)] == [False, False, True]
    assert (str(RouteTest("bytes", ">", 3 << 20)), str(RouteTest("dtype", "in", ("bf16", "f16")))) == (
        "bytes > 3 MiB",
        "dtype in bf16, f16",
    )


def test_a_table_almost_as_long_as_its_shapes_says_so(tmp_path: Path) -> None:
    tables = [finals(f"p{i}", 1024 << i, 4096, {f"SG={1 << i}": 100}) for i in range(4)]
    found = rule(timed_store(tmp_path / "list.db", tables), "--held-out", "0")
    assert found["notes"] == ["4 rows for 4 shapes: this lists the shapes rather than rules them"]


def ireebench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ireebench.cli.main", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_recorded_h200_gemv_keeps_every_shape_within_three_percent_by_four_rows() -> None:
    store = RECORDED.with_name("gemv-route.db")
    done = ireebench("route", "gemv", "--from", store, "--cache", "cold", "--format", "json")
    assert done.returncode == 0
    (rule,) = json.loads(done.stdout)["rules"]
    assert [row["config"] for row in rule["rows"]] == [
        {"SG": 8, "PR": 2048, "TH": 4, "RW": 1, "SR": 1},
        {"SG": 4, "PR": 512, "TH": 2, "RW": 1, "SR": 1},
        {"SG": 1, "PR": 64, "TH": 2, "RW": 1, "SR": 1},
        {"SG": 1, "PR": 192, "TH": 4, "RW": 2, "SR": 1},
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("gemv", "--from", "none.db"), 2, "none.db: no such store"),
        (("gemv", "--from", RECORDED), 1, "no gemv trial in this store"),
        (("argmin", "--from", RECORDED, "--within", "-1"), 2, "--within is -1; it is a percentage"),
        (("argmin", "--from", RECORDED, "--within", "nan"), 2, "--within is nan"),
        (("argmin", "--from", RECORDED, "--held-out", "1"), 2, "write a number of folds such as 5"),
        (("argmin", "--from", RECORDED, "--held-out", "many"), 2, "a share such as 30%"),
        (("argmin", "--from", RECORDED, "--held-out", "inf"), 2, "a share such as 30%"),
        (("argmin", "--from", RECORDED, "--rows", "0"), 2, "--rows"),
        (("argmin", "--from", RECORDED, "--timer", "cupty"), 1, "there is: --cache hot --target sm_89 --timer cupti"),
        (("argmin",), 2, "--from"),
    ],
)
def test_bad_input_to_route_gets_one_line(arguments: tuple[str | Path, ...], code: int, message: str) -> None:
    done = ireebench("route", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    (line,) = done.stderr.strip().splitlines()
    assert message in line


def test_the_wrong_cache_policy_is_answered_with_what_is_there(two: Path) -> None:
    done = ireebench("route", "gemv", "--from", two)
    assert done.returncode == 1
    assert "no gemv candidate was timed as asked; there is: --cache cold --target gfx942 --timer cupti" in done.stderr
