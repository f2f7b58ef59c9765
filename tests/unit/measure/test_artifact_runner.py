"""Running compiled modules through the IREE runtime, on the CPU."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ireebench.measure.artifact_runner import ArtifactRunner, Device, Tensor, input_tensors, upload_inputs
from ireebench.problems.ops.base import InputSpec

INPUT = Tensor((4, 512), "bf16")
OUTPUTS = (Tensor((4,), "bf16"), Tensor((4,), "i64"))
POISONED_INDEX = -6510615555426900571  # 0xA5 in all eight bytes


@pytest.fixture(scope="module")
def device() -> Device:
    return Device("local-task")


def data() -> np.ndarray:
    """Row r has 3 at column 100 + r and less elsewhere."""
    rows = np.linspace(-2, 2, 4 * 512, dtype=np.float32).reshape(4, 512)
    rows[np.arange(4), 100 + np.arange(4)] = 3
    return rows.astype(ml_dtypes.bfloat16)


def runner(device: Device, vmfbs: Path, function: str, copies: int = 1) -> ArtifactRunner:
    inputs = upload_inputs(device, [data()], [INPUT], copies)
    return ArtifactRunner(device, vmfbs / f"{function}.vmfb", function, inputs, OUTPUTS)


def test_bfloat16_goes_in_and_comes_out_on_every_copy(device: Device, vmfbs: Path) -> None:
    runnable = runner(device, vmfbs, "good", copies=3)
    assert runnable.copies == 3
    for copy in range(3):
        runnable.launch(copy)
        runnable.sync()
        value, index = runnable.outputs()
        assert value.dtype == ml_dtypes.bfloat16
        assert value.astype(np.float32).tolist() == [3, 3, 3, 3]
        assert index.tolist() == [100, 101, 102, 103]


def test_memory_that_a_kernel_does_not_write_shows_the_poison(device: Device, vmfbs: Path) -> None:
    runnable = runner(device, vmfbs, "untouched")
    for _ in range(3):
        runnable.poison()
        runnable.launch(0)
        _, index = runnable.outputs()
        # The module stores 7 at element 1 and leaves the rest.
        assert index.tolist() == [POISONED_INDEX, 7, POISONED_INDEX, POISONED_INDEX]


def test_a_right_kernel_is_right_after_poisoning(device: Device, vmfbs: Path) -> None:
    runnable = runner(device, vmfbs, "good")
    runnable.poison()
    runnable.launch(0)
    assert runnable.outputs()[1].tolist() == [100, 101, 102, 103]


def test_outputs_are_copies_that_the_next_launch_does_not_change(device: Device, vmfbs: Path) -> None:
    runnable = runner(device, vmfbs, "good")
    runnable.launch(0)
    first = runnable.outputs()[1]
    runnable.poison()
    runnable.launch(0)
    assert first.tolist() == [100, 101, 102, 103]


def test_outputs_of_another_shape_or_type_are_refused(device: Device, vmfbs: Path) -> None:
    inputs = upload_inputs(device, [data()], [INPUT], 1)
    for wrong in ((Tensor((4,), "f16"), OUTPUTS[1]), (Tensor((2,), "bf16"), OUTPUTS[1]), OUTPUTS[:1]):
        runnable = ArtifactRunner(device, vmfbs / "good.vmfb", "good", inputs, wrong)
        runnable.launch(0)
        with pytest.raises(RuntimeError, match="the function returns"):
            runnable.outputs()


@pytest.mark.parametrize("size", [1, 3, 64, 4097])
def test_every_copy_has_the_same_bytes_in_memory_of_its_own(device: Device, size: int) -> None:
    first = np.random.default_rng(0).integers(0, 255, size, np.uint8)
    second = np.arange(4, dtype=np.int32)
    # 300 are more than go into one command buffer.
    inputs = upload_inputs(device, [first, second], [Tensor((size,), "ui8"), Tensor((2, 2), "i32")], 300)
    assert len(inputs.copies) == 300
    for views in inputs.copies:
        assert [list(v.shape) for v in views] == [[size], [2, 2]]
        assert device.download_bytes(views[0]).tobytes() == first.tobytes()
        assert device.download_bytes(views[1]).tobytes() == second.tobytes()
    # On the CPU device memory is the host's: writing to one copy leaves the others as they were.
    inputs.copies[7][0].get_buffer().map().asarray((size,), np.dtype(np.uint8))[:] = 255 - first
    assert device.download_bytes(inputs.copies[7][0]).tobytes() != first.tobytes()
    assert all(device.download_bytes(inputs.copies[i][0]).tobytes() == first.tobytes() for i in (0, 6, 8, 299))


def test_an_input_of_the_wrong_size_is_refused(device: Device) -> None:
    with pytest.raises(ValueError, match="4096"):
        device.upload(np.zeros((4, 511), ml_dtypes.bfloat16), INPUT)


def test_four_bit_elements_are_two_a_byte(device: Device) -> None:
    packed = np.arange(16, dtype=np.uint8).reshape(2, 8)
    spec = InputSpec("weights", (2, 16), "tensor<2x16xi4>", (2, 8), np.dtype(np.uint8))
    (tensor,) = input_tensors([spec])
    assert tensor == Tensor((2, 16), "i4")
    view = device.upload(packed, tensor)
    assert list(view.shape) == [2, 16]
    assert device.download_bytes(view).tolist() == packed.reshape(-1).tolist()


@pytest.mark.parametrize(("text", "element"), [("tensor<f32>", "f32"), ("tensor<3x8xbf16>", "bf16")])
def test_element_types_are_read_from_mlirs_spelling(text: str, element: str) -> None:
    assert input_tensors([InputSpec("x", (), text, (), np.dtype(np.float32))])[0].dtype == element


@pytest.mark.parametrize("uri", ["nothing", "cuda://77", "hip://77"])
def test_a_device_that_cannot_be_opened_is_named(uri: str) -> None:
    with pytest.raises(RuntimeError, match=f"device {uri} cannot be opened"):
        Device(uri)
