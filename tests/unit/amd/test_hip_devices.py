"""Device selection under the two visibility variables."""

from __future__ import annotations

import pytest

from ireebench.errors import UsageError
from ireebench.measure.hip_devices import HipDevice, HipUri, only, parse_uri, rocr_uuid, select, visible

UUIDS = ("GPU-aa", "GPU-bb", "GPU-cc", "GPU-dd")


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("hip", HipUri(0, None)),
        ("hip://", HipUri(0, None)),
        ("hip://3", HipUri(3, None)),
        ("hip://GPU-6A1f0c", HipUri(None, "GPU-6A1f0c")),
    ],
)
def test_uris(uri: str, expected: HipUri) -> None:
    assert parse_uri(uri) == expected


@pytest.mark.parametrize("uri", ["cuda://0", "hip://-1", "hip://x", "hip://GPU-", "hip://GPU-xyz", "hip://GPU-12-"])
def test_a_wrong_uri_shows_the_forms(uri: str) -> None:
    with pytest.raises(UsageError, match="write hip://0 or hip://GPU-<uuid>"):
        parse_uri(uri)


@pytest.mark.parametrize(
    ("env", "physical"),
    [
        ({}, [0, 1, 2, 3]),
        ({"ROCR_VISIBLE_DEVICES": "2,0"}, [2, 0]),
        ({"ROCR_VISIBLE_DEVICES": "GPU-CC, 1"}, [2, 1]),
        ({"ROCR_VISIBLE_DEVICES": "2,0", "HIP_VISIBLE_DEVICES": "1"}, [0]),  # the second of what ROCr left
        ({"HIP_VISIBLE_DEVICES": "3,2"}, [3, 2]),
        ({"ROCR_VISIBLE_DEVICES": "1,9,0"}, [1]),  # the list ends where it names nothing
        ({"ROCR_VISIBLE_DEVICES": "-1"}, []),
        ({"ROCR_VISIBLE_DEVICES": ""}, []),
        ({"ROCR_VISIBLE_DEVICES": "1,1"}, [1]),
    ],
)
def test_what_is_visible_and_in_which_order(env: dict[str, str], physical: list[int]) -> None:
    found = visible(UUIDS, env)
    assert [d.physical for d in found] == physical
    assert [d.index for d in found] == list(range(len(physical)))


def test_a_number_counts_what_is_visible_and_a_uuid_does_not() -> None:
    env = {"ROCR_VISIBLE_DEVICES": "2,0"}
    devices = visible(UUIDS, env)
    assert select("hip://0", devices, env) == HipDevice(0, 2, "GPU-cc")
    assert select("hip://GPU-AA", devices, env) == HipDevice(1, 0, "GPU-aa")


def test_a_hidden_device_is_said_to_be_hidden() -> None:
    env = {"ROCR_VISIBLE_DEVICES": "2,0"}
    with pytest.raises(UsageError, match=r"visible: hip://0 \(GPU-cc\).*hidden by ROCR_VISIBLE_DEVICES=2,0"):
        select("hip://GPU-bb", visible(UUIDS, env), env)


def test_a_program_without_a_device_option_sees_one_gpu() -> None:
    env = {"ROCR_VISIBLE_DEVICES": "2,0", "HIP_VISIBLE_DEVICES": "1", "HOME": "/h"}
    (device,) = visible(UUIDS, env)
    narrowed = only(device, env)
    assert narrowed == {"ROCR_VISIBLE_DEVICES": "GPU-aa", "HOME": "/h"}
    assert [d.physical for d in visible(UUIDS, narrowed)] == [0]


def test_irees_spelling_of_a_uuid_is_rocrs() -> None:
    # "6a1f0c7e2b3d4e5f" in ASCII is 36 61 31 66 30 63 37 65 32 62 33 64 34 65 35 66
    iree = "GPU-36613166-3063-3765-3262-336434653566"
    assert rocr_uuid(iree) == "GPU-6a1f0c7e2b3d4e5f"
    assert rocr_uuid("GPU-6A1F0C7E2B3D4E5F") == "GPU-6a1f0c7e2b3d4e5f"
    devices = visible(["GPU-aa", "GPU-6a1f0c7e2b3d4e5f"], {})
    assert select(f"hip://{iree}", devices, {}).physical == 1
    assert only(devices[1], {})["ROCR_VISIBLE_DEVICES"] == "GPU-6a1f0c7e2b3d4e5f"
