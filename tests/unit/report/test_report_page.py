from __future__ import annotations

import base64
import html.parser
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from synthetic_store import Recipe, make_evidence, make_store

from ireebench.cli.main import cli
from ireebench.measure.ceiling_device import Reader
from ireebench.measure.ceiling_table import CeilingRow, CeilingTable, Checked, Excess
from ireebench.report.evidence import Evidence
from ireebench.report.page.build import build_page
from ireebench.store.database import Store


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return make_evidence(Recipe())


@pytest.fixture(scope="module")
def page(evidence: Evidence) -> str:
    return build_page([evidence], {evidence.trials[5].key: ("k0, line 12, narrow-load: 4 bytes a lane",)})


def packed(page: str, name: str) -> Any:
    body = re.search(rf'<script type="text/plain" id="{name}">([^<]*)</script>', page)
    assert body is not None
    return json.loads(zlib.decompress(base64.b64decode(body[1])))


class Outline(html.parser.HTMLParser):
    """Tags with their attributes, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_page_asks_nothing_of_the_network(page: str) -> None:
    for tag, attributes in Outline(page).tags:
        for name in ("src", "href", "action", "data"):
            value = attributes.get(name) or "#"
            assert value.startswith(("#", "data:")), (tag, name, value)
    assert "default-src 'none'" in page
    assert "@import" not in page
    assert "url(" not in page


def test_what_a_trial_says_is_never_markup(evidence: Evidence) -> None:
    evil = "</script><img src=x onerror=alert(1)>"
    trials = tuple(replace(t, reason=evil, mlir=evil) if t.reason else t for t in evidence.trials)
    assert evidence.environment is not None
    place = replace(evidence.environment, device=evil)
    shown = build_page([Evidence(trials, evidence.noise, evidence.samples, place, evidence.ceiling)], {})
    assert "<img" not in shown
    assert evil not in shown


def test_every_row_is_there_with_its_figures(page: str, evidence: Evidence) -> None:
    columns = packed(page, "rows")["columns"]
    assert len(columns["t"]) == len(evidence.rows) == 88
    assert {len(v) for v in columns.values()} == {88}
    at = columns["label"].index("vd/native SG=4,PR=2048,TH=8")
    row = next(r for r in evidence.rows if r.trial.label == "vd/native SG=4,PR=2048,TH=8")
    assert row.timing is not None
    assert columns["us"][at] == round(row.timing.median_ns / 1000, 4)
    assert sum(columns["best"]) == 4
    assert sum(columns["ships"]) == 4


def test_details_carry_ir_command_evidence_lints_and_reason(page: str, evidence: Evidence) -> None:
    chunk = packed(page, "chunk-0")
    by_key = {t["key"]: t for t in chunk["trials"]}
    linted = by_key[evidence.trials[5].key]
    assert linted["lints"] == ["k0, line 12, narrow-load: 4 bytes a lane"]
    assert chunk["texts"][linted["mlir"]] == evidence.trials[5].mlir
    assert chunk["texts"][linted["command"]] == evidence.trials[5].command
    assert linted["kernels"][0]["workgroup_size"] is not None
    failed = by_key["llama2-7b 32768 failure 0"]
    assert failed["reason"] == "'func.func' op failed to distribute"
    assert failed["known"].endswith("(iree-org/iree#23005)")


def test_a_text_that_trials_share_is_stored_once(page: str) -> None:
    texts = packed(page, "chunk-0")["texts"]
    assert len(texts) == len(set(texts))
    assert sum(t.startswith("iree-compile") for t in texts) == 2


def test_samples_are_binned_and_none_is_lost(page: str) -> None:
    spreads = packed(page, "rows")["spreads"]
    assert len(spreads) == 4
    assert all(sum(r["counts"]) == r["samples"] == 180 for s in spreads for r in s["rows"])
    assert all(r["processes"] == 3 for s in spreads for r in s["rows"])


def test_charts_and_tables_can_be_read_by_a_screen_reader(page: str) -> None:
    tags = Outline(page).tags
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids))
    charts = [a for t, a in tags if t == "svg"]
    assert len(charts) == 3
    assert all(a["role"] == "img" and a["aria-labelledby"] in ids for a in charts)
    assert all(a.get("aria-labelledby") in ids for t, a in tags if t in ("section", "dialog"))
    assert all(a.get("scope") in ("col", "row") for t, a in tags if t == "th")
    labelled = sum(t == "label" for t, _ in tags)
    assert labelled >= sum(t in ("select", "input") for t, _ in tags)


def test_published_figures_are_marked_and_hidden_until_asked_for(page: str, evidence: Evidence) -> None:
    assert '<html lang="en">' in page
    assert page.count('class="mark published"') > 4
    assert "not measured here" in page
    assert '<html lang="en" class="show-published">' in build_page([evidence], {}, published=True)


def test_a_ceiling_that_was_not_measured_is_not_drawn(evidence: Evidence) -> None:
    without = build_page([Evidence(evidence.trials, evidence.noise, evidence.samples, evidence.environment)], {})
    assert "no ceiling was measured on this device" in without
    assert 'class="ceiling"' not in without


def test_a_view_tells_what_exceeds_the_ceiling_under_its_own_cache_policy_alone(tmp_path: Path) -> None:
    path = make_store(tmp_path / "a.db")
    hot = CeilingRow(1 << 20, "hot", Reader(304, 256), 2000.0, 2000.0, 2000.0, 40, 1, 1)
    beaten = (Checked("warm", 1 << 20, "hot", 1600.0, "cub"), Checked("chilly", 1 << 20, "cold", 1250.0, "cub"))
    excesses = tuple(Excess(kernel, 0.3, again=True) for kernel in beaten)
    table = CeilingTable("synthetic device", "rocprofv3", None, None, (hot, replace(hot, cache="cold")), excesses)
    with Store.open(path, write=True) as store:
        (environment,) = store.environments()
        store.put_ceiling(environment, json.dumps(table.to_json()))
    page, lines = tmp_path / "a.html", "exceeded by a checked kernel, after it was measured again:"
    done = CliRunner().invoke(cli, ["report", str(path), "-o", str(page)])
    assert done.exit_code == 0, done.output
    shown = page.read_text()
    assert f"the ceiling measured on this device; ceiling (hot): {lines} warm by 25%" in shown
    assert "chilly" not in shown  # nothing was timed cold, so there is no such view
    compared = CliRunner().invoke(cli, ["compare", "argmax", "--from", str(path)])
    told = [line for line in compared.stdout.splitlines() if line.startswith("ceiling (")]
    assert told == [f"ceiling (hot): {lines} warm by 25%", f"ceiling (cold): {lines} chilly by 60%"]


def test_trials_that_were_only_compiled_make_a_page_too(evidence: Evidence) -> None:
    compiled = tuple(replace(t, runs=()) for t in evidence.trials if t.variant)
    shown = build_page([Evidence(compiled, {}, evidence.samples, evidence.environment)], {})
    assert "Nothing was timed here" in shown
    assert "<svg" not in shown


def test_two_devices_are_two_summaries_and_never_joined(evidence: Evidence) -> None:
    assert evidence.environment is not None
    other = replace(evidence.environment, device="another device")
    second = Evidence(evidence.trials, evidence.noise, evidence.samples, other, evidence.ceiling)
    shown = build_page([evidence, second], {})
    assert packed(shown, "rows")["devices"] == ["synthetic device", "another device"]
    assert "<h3>another device</h3>" in shown


def test_two_environments_of_one_device_are_told_apart(evidence: Evidence) -> None:
    shown = build_page([evidence, evidence], {})
    assert packed(shown, "rows")["devices"] == ["synthetic device, environment 1", "synthetic device, environment 2"]


def test_compare_writes_the_page_too(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    result = CliRunner().invoke(cli, ["compare", "argmax", "--from", str(store), "-o", str(path)])
    assert result.exit_code == 0
    assert path.read_text().startswith("<!doctype html>")
