"""Each fault of docs/reliability.md names a test that is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_fault_names_a_test_that_exists() -> None:
    rows = [r for r in (ROOT / "docs" / "reliability.md").read_text().splitlines() if r.startswith("| ")][2:]
    assert len(rows) > 30
    for row in rows:
        found = re.search(r"`(tests/\S+\.py)::(test_\w+)` \|$", row)
        assert found, row
        assert f"def {found[2]}(" in (ROOT / found[1]).read_text(), row
