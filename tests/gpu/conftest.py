from __future__ import annotations

from collections.abc import Iterator

import pytest

from ireebench.measure import cuda_driver

DEVICE = "cuda://0"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything here needs an NVIDIA card: marked, and skipped with the reason where there is none."""
    absent = cuda_driver.find_device(0) is None
    for item in items:
        if "/gpu/" in item.path.as_posix():
            item.add_marker(pytest.mark.gpu)
            if absent:
                item.add_marker(pytest.mark.skip(reason="no NVIDIA card on this machine (libcuda finds none)"))


@pytest.fixture(scope="session")
def device() -> Iterator[str]:
    """The device URI; waits for everything in the end, so that an error shows in the test that made it."""
    yield DEVICE
    cuda_driver.synchronize(0)
