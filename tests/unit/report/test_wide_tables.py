"""Tables that would be too wide for a terminal."""

from __future__ import annotations

from dataclasses import replace

from ireebench.report.table import Table, to_csv, to_text

NAME = "k" * 140
WIDE = Table.of(
    ("dispatch", "VGPR spills", "elements/workgroup", "micro-kernel"), [(NAME, 0, 2048, None), (NAME, 12, 64, None)]
)


def test_a_wide_table_parts_its_heads_and_leaves_out_columns_that_say_nothing() -> None:
    assert to_text(WIDE).splitlines() == [
        " " * 140 + "    VGPR  elements/",
        "dispatch".ljust(140) + "  spills  workgroup",
        "-" * 140 + "  ------  ---------",
        NAME + "       0       2048",
        NAME + "      12         64",
    ]


def test_a_wide_table_keeps_every_column_in_csv() -> None:
    assert to_csv(WIDE).splitlines()[0] == "dispatch,VGPR spills,elements/workgroup,micro-kernel"


def test_a_table_that_fits_keeps_one_line_of_heads_and_its_empty_columns() -> None:
    assert to_text(Table.of(("VGPR spills", "why"), [(0, None)])).splitlines() == [
        "VGPR spills  why",
        "-----------  ---",
        "          0  -",
    ]


def test_a_wide_table_with_no_rows_still_has_its_heads() -> None:
    lines = to_text(Table.of(("k" * 160, "elements a row"), [])).splitlines()
    assert lines == [" " * 160 + "  elements", "k" * 160 + "  a row", "-" * 160 + "  --------"]


KERNEL = "k" * 60
TITLES = ("from", "target", "kernel", "figures of it 0", "figures of it 1", "spills")
TWO = Table.of(TITLES, [("a" * 80, "gfx942", KERNEL, 7, 512, 0), ("b" * 80, "gfx942", KERNEL + "2", 12, 64, 0)], "two")


def test_a_parted_table_that_is_too_wide_says_once_what_is_equal_and_numbers_its_rows() -> None:
    assert to_text(replace(TWO, parted=True)).splitlines() == [
        "two; the same for all: target gfx942, spills 0",
        "#  from".ljust(85) + "kernel",
        "-  " + "-" * 80 + "  " + "-" * 61,
        "1  " + "a" * 80 + "  " + KERNEL,
        "2  " + "b" * 80 + "  " + KERNEL + "2",
        "",
        "   figures  figures",
        "#  of it 0  of it 1",
        "-  -------  -------",
        "1        7      512",
        "2       12       64",
    ]


def test_a_table_that_is_not_parted_keeps_its_rows_whole() -> None:
    assert len(to_text(TWO).splitlines()) == 1 + 2 + 1 + 2
    assert to_csv(replace(TWO, parted=True)) == to_csv(TWO)


def test_what_is_equal_is_said_once_only_where_there_are_several_rows() -> None:
    one = replace(Table.of(("from", "kernel", "VGPR"), [("a" * 100, "b" * 100, 3)]), parted=True)
    assert to_text(one).splitlines() == [
        "#  from".ljust(105) + "kernel",
        "-  " + "-" * 100 + "  " + "-" * 100,
        "1  " + "a" * 100 + "  " + "b" * 100,
        "",
        "#  VGPR",
        "-  ----",
        "1     3",
    ]
