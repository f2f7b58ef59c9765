"""What the emulator's tests share: small kernels written by hand, and the generator of random programs."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ireebench.compiler.driver import Compiler, Source
from ireebench.compiler.emulated import HAL_PHASE
from ireebench.compiler.flags import DUMP, VMFB, base_flags
from ireebench.isa.emulate.host import read_schedule
from ireebench.isa.emulate.launch import Options
from ireebench.isa.emulate.listing import read_listing
from ireebench.isa.emulate.program import EmulationResult, emulate_schedule
from ireebench.isa.emulate.standalone import BindingSpec, KernelRun, choose_kernel, run_kernel
from ireebench.targets import find_target

Array = npt.NDArray[Any]

KERNEL = """
	.amdgcn_target "amdgcn-amd-amdhsa-unknown-{target}"
	.text
	.type	k,@function
k:
{body}
	s_endpgm
	.amdhsa_kernel k
		.amdhsa_group_segment_fixed_size {lds}
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_ieee_mode 1
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
      - {{ .offset: 0, .size: 8, .value_kind: global_buffer }}
      - {{ .offset: 8, .size: 8, .value_kind: global_buffer }}
    .kernarg_segment_size: 16
    .name: k
    .reqd_workgroup_size: [{threads}, 1, 1]
    .symbol: k.kd
    .wavefront_size: {lanes}
...
	.end_amdgpu_metadata
"""

# s[4:5] input, s[6:7] output, v1 the lane's byte offset.
PROLOGUE = """
	s_load_dwordx4 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
"""


@pytest.fixture(scope="session")
def run_body() -> Callable[..., KernelRun]:
    """Runs a body between PROLOGUE and S_ENDPGM on an input of dwords; gives the run and its output of dwords."""

    def run(
        body: str,
        data: Sequence[int] | Array = (0,) * 64,
        out: int = 64,
        *,
        lds: int = 0,
        threads: int = 64,
        target: str = "gfx942",
        lanes: int = 64,
        grid: int = 1,
        options: Options | None = None,
        prologue: str = PROLOGUE,
    ) -> KernelRun:
        text = KERNEL.format(body=prologue + body, lds=lds, threads=threads, target=target, lanes=lanes)
        values = np.asarray(data, np.uint32)
        specs = (
            BindingSpec("in", values.shape, values.dtype, values),
            BindingSpec("out", (out,), np.dtype(np.uint32), None),
        )
        return run_kernel(choose_kernel(read_listing(text), None), specs, (grid, 1, 1), (), options or Options())

    return run


class Built:
    """A module compiled for an AMD target: its assembly and its host IR, ready to be executed."""

    def __init__(self, compiler: Compiler, mlir: str, target: str) -> None:
        flags = base_flags(find_target(target))
        code = compiler.compile_source(Source(mlir, None, flags))
        host = compiler.compile_source(Source(mlir, None, (*flags, HAL_PHASE)))
        assert code.failure is None, code.failure
        assert host.failure is None, host.failure
        self.files = [read_listing(p.read_text()) for p in sorted((code.folder / DUMP).glob("*.rocmasm"))]
        self.hal = (host.folder / VMFB).read_text()

    def run(self, function: str, inputs: Sequence[Array]) -> EmulationResult:
        return emulate_schedule(read_schedule(self.hal, function), self.files, inputs)


@pytest.fixture(scope="session")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiler]:
    with Compiler(tmp_path_factory.mktemp("emulate-cache")) as c:
        yield c


@pytest.fixture(scope="session")
def build(compiler: Compiler) -> Callable[..., Built]:
    """Compiles MLIR for an AMD target (gfx942 unless told otherwise)."""
    return lambda mlir, target="gfx942": Built(compiler, mlir, target)


@pytest.fixture(scope="session")
def random_programs() -> ModuleType:
    """The generator in `random_programs.py`, which lies beside this file."""
    name = "emulate_random_programs"
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("random_programs.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
