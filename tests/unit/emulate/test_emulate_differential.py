"""Random programs: gfx942 code on the emulator against the same program compiled for this CPU, bit for bit.

20 programs run here. `IREEBENCH_EMULATE_PROGRAMS=200` runs 200 and `IREEBENCH_EMULATE_TARGET=gfx1100` another target.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ireebench.compiler.driver import Compiler, Source
from ireebench.compiler.flags import VMFB, base_flags
from ireebench.targets import find_target

COUNT = int(os.environ.get("IREEBENCH_EMULATE_PROGRAMS", "20"))
TARGET = os.environ.get("IREEBENCH_EMULATE_TARGET", "gfx942")
BATCH = 20


def on_this_cpu(vmfb: Path, program: Any) -> Any:
    """What the CPU makes of a program; bfloat16 goes in and out as its bits."""
    import iree.runtime as rt

    config = rt.Config("local-sync")
    instance = config.vm_instance
    module = rt.VmModule.mmap(instance, str(vmfb))
    context = rt.SystemContext(vm_modules=[rt.create_hal_module(instance, config.device), module], config=config)
    arguments = []
    for a in program.inputs:
        if a.dtype.name == "bfloat16":
            arguments.append(
                config.device.allocator.allocate_buffer_copy(
                    memory_type=rt.MemoryType.DEVICE_LOCAL,
                    allowed_usage=rt.BufferUsage.DEFAULT,
                    device=config.device,
                    buffer=a.view(np.uint16),
                    element_type=rt.HalElementType.BFLOAT_16,
                )
            )
        else:
            arguments.append(rt.asdevicearray(config.device, a))
    result = context.modules.module[program.name](*arguments)
    return getattr(result, "_buffer_view", result)


def bytes_of(view: Any, size: int) -> Any:
    return np.frombuffer(view.map().asarray((size,), np.dtype(np.uint8)).tobytes(), np.uint8)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("start", range(0, COUNT, BATCH))
def test_random_programs_give_the_cpus_bits(
    build: Callable[..., Any], compiler: Compiler, random_programs: ModuleType, start: int
) -> None:
    programs = [random_programs.make_program(seed) for seed in range(start, min(start + BATCH, COUNT))]
    text = "module {" + "".join(p.text for p in programs) + "\n}\n"
    built = build(text, TARGET)
    host = compiler.compile_source(Source(text, None, base_flags(find_target("cpu"))))
    assert host.failure is None
    wrong = []
    for p in programs:
        result = built.run(p.name, p.inputs)
        assert result.reports == (), p.name
        (got,) = result.outputs
        expected = bytes_of(on_this_cpu(host.folder / VMFB, p), got.nbytes).view(got.dtype).reshape(got.shape)
        assert got.shape == p.shape
        same = random_programs.same_bits(got, expected)
        if not same.all():
            wrong.append(f"{p.name}: {np.count_nonzero(~same)} of {same.size} differ")
    assert not wrong


def test_programs_are_the_same_for_the_same_seed(random_programs: ModuleType) -> None:
    a, b = random_programs.make_program(5), random_programs.make_program(5)
    assert a.text == b.text
    assert all(np.array_equal(x.view(np.uint8), y.view(np.uint8)) for x, y in zip(a.inputs, b.inputs, strict=True))
