"""The bulk CSV reader against the standard library's, on anything that a csv writer can write."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ireebench.measure.rocprof import csv_columns

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\x00"), max_size=30)
NUMBERS = st.one_of(
    st.integers(0, 10**18 - 1).map(str),
    st.integers(-(10**9), 10**9).map(str),
    st.sampled_from(["", "nan", "1.5", "5329321973213203.25", "x", "9" * 30, "0x10", " 7 "]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(NAMES, NUMBERS, NAMES, NUMBERS), max_size=12),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
    block=st.sampled_from([64, 1 << 20]),
)
def test_the_bulk_reader_reads_what_the_standard_one_reads(
    tmp_path: Path, rows: list[tuple[str, str, str, str]], quoting: int, end: str, block: int
) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=quoting, lineterminator=end)  # type: ignore[arg-type]
    writer.writerow(["name", "one", "text", "two"])
    writer.writerows(rows)
    path = tmp_path / "x.csv"
    path.write_bytes(out.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_columns, "_BLOCK", block)
        found = csv_columns.scan(path, 4, [1, 3], [(0, 0), (2, 2)])
    assert found.malformed == 0
    for column, text in zip((0, 2), found.texts, strict=True):
        assert [text.values[c][0] for c in text.codes.tolist()] == [r[column] for r in rows]
    for column, number in zip((1, 3), found.numbers, strict=True):
        for i, row in enumerate(rows):
            plain = row[column].strip()
            if plain.lstrip("-").isdecimal() and len(plain) < 20:
                assert (number.whole[i], number.milli[i], number.valid[i]) == (int(plain), 0, True)
            elif plain in ("", "nan", "x", "0x10", "9" * 30):
                assert not number.valid[i]
    if any(r[1] == "5329321973213203.25" for r in rows):
        at = [r[1] for r in rows].index("5329321973213203.25")
        assert (found.numbers[0].whole[at], found.numbers[0].milli[at]) == (5329321973213203, 250)
