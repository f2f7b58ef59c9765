"""Which devices are present, and what they are called."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ireebench.errors import MissingToolError
from ireebench.measure import device


def test_the_cpu_is_described_by_its_model_and_irees_own_workers() -> None:
    info = device.describe("local-task")
    assert (info.uri, info.driver) == ("local-task", "local-task")
    assert info.cores == len(os.sched_getaffinity(0))
    assert info.task_workers is not None
    assert 1 <= info.task_workers <= (os.cpu_count() or 1)
    assert device.task_workers("local-sync") == 1


def test_the_model_is_read_as_the_kernel_tells_it(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel\t\t: 106\nmodel name\t: Example CPU @ 2.60GHz\n")
    assert device.cpu_model(cpuinfo) == "Example CPU @ 2.60GHz"
    assert device.cpu_model(tmp_path / "absent") == os.uname().machine


def test_the_last_level_cache_is_the_largest_listed(tmp_path: Path) -> None:
    for number, size in enumerate(["48K", "2M", "512K"]):
        (tmp_path / f"index{number}").mkdir()
        (tmp_path / f"index{number}" / "size").write_text(f"{size}\n")
    assert device.last_level_cache_bytes(tmp_path) == 2 * 1024 * 1024
    assert device.last_level_cache_bytes(tmp_path / "absent") is None


def test_auto_is_the_cpu_where_nothing_better_is(monkeypatch: pytest.MonkeyPatch) -> None:
    present: dict[str, list[dict[str, object]]] = {"hip": [], "cuda": [], "cpu": [{}]}
    monkeypatch.setattr(device, "devices_of", lambda kind: present[kind])
    assert device.auto_device() == "local-task"
    present["cuda"] = [{}]
    assert device.auto_device() == "cuda://0"
    present["hip"] = [{}]
    assert device.auto_device() == "hip://0"


def test_a_card_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        device, "devices_of", lambda kind: [{"name": "Card", "path": "GPU-1"}] if kind == "cuda" else []
    )
    assert device.describe("cuda://0").name == "Card"
    assert device.describe("cuda://GPU-1").name == "Card"
    with pytest.raises(MissingToolError, match="no device 'cuda://3'; cuda has 1"):
        device.describe("cuda://3")
    with pytest.raises(MissingToolError, match="ROCm"):
        device.describe("hip://0")


ROCR_ID, HIP_ID = "GPU-6a1f0c7e2b3d4e5f", "GPU-36613166-3063-3765-3262-336434653566"  # one card, in both spellings


def test_an_amd_card_is_found_by_its_number_or_either_spelling_of_its_uuid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", "3,5")
    cards = [{"name": "First", "path": "GPU-30303030-3030-3030-3030-303030303030"}, {"name": "Second", "path": HIP_ID}]
    monkeypatch.setattr(device, "devices_of", lambda kind: cards if kind == "hip" else [])
    for uri in ("hip://1", f"hip://{ROCR_ID}", f"hip://{HIP_ID}"):
        assert device.describe(uri).name == "Second"
        assert device.describe(uri).uri == uri
        assert device.ordinal(uri) == 1
    with pytest.raises(MissingToolError, match=r"no device 'hip://2'; visible: .*; hidden by ROCR_VISIBLE_DEVICES=3,5"):
        device.describe("hip://2")


def test_a_program_that_takes_no_device_is_shown_one_card_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "1")
    monkeypatch.setattr(device, "devices_of", lambda kind: [{"name": "Card", "path": HIP_ID}])
    env = device.alone("hip://0")
    assert env["ROCR_VISIBLE_DEVICES"] == ROCR_ID
    assert "HIP_VISIBLE_DEVICES" not in env


def test_numbers_of_cards_need_no_driver() -> None:
    assert [device.ordinal(d) for d in ("cuda", "cuda://0", "hip://3")] == [0, 0, 3]


def test_a_driver_that_is_not_measured_on_is_refused() -> None:
    with pytest.raises(ValueError, match="vulkan"):
        device.kind_of("vulkan://0")
