"""Tables that would be too wide for a terminal."""

from __future__ import annotations

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
