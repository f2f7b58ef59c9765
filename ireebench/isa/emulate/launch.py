"""Starts one dispatch as the hardware and IREE's HIP driver do: registers, kernel arguments, workgroups.

References: LLVM AMDGPU usage, "Initial kernel execution state" and "Kernel descriptor"; IREE's HIP command buffer:
one pointer a binding, then the constants, 32 bits each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ireebench.isa.assembly import Kernel
from ireebench.isa.emulate.arena import Arena, Buffer
from ireebench.isa.emulate.engine import Code, Scheduler, compile_kernel
from ireebench.isa.emulate.errors import Unsupported
from ireebench.isa.emulate.listing import Addresses, KernelCode, Listing
from ireebench.isa.emulate.machine import LocalMemory, Machine, Window
from ireebench.isa.emulate.operands import AGPR_BASE, EXEC, NULL, SCALAR_SLOTS, TTMP, VCC
from ireebench.isa.emulate.report import Counts, Report
from ireebench.isa.emulate.rules import Mode
from ireebench.isa.emulate.waves import Waves

WAVES_AT_ONCE = 64  # waves in one array: enough to hide NumPy's cost a call, small enough for the CPU's caches
KERNARG_LIMIT = 4096  # bytes reserved for arguments; the descriptor's size is checked against it


@dataclass(frozen=True, slots=True)
class Binding:
    """A buffer that a dispatch sees: `length` bytes from `offset`."""

    buffer: Buffer
    offset: int
    length: int
    name: str


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One kernel launch; `workgroups` are the counts in x, y, z."""

    kernel: str
    workgroups: tuple[int, int, int]
    bindings: tuple[Binding, ...]
    constants: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """How to emulate. `limit` is the most instructions that one dispatch's groups of waves may execute.

    `rows` is (given, all): inputs were given in part, and workgroups that read what was not given are left out. Only
    those are started that some usual numbering gives the first rows, unless `exhaustive`.
    """

    sanitize: bool = True
    limit: int = 50_000_000
    rows: tuple[int, int] | None = None
    exhaustive: bool = False


@dataclass(frozen=True, slots=True)
class DispatchResult:
    """What one dispatch did."""

    reports: tuple[Report, ...]
    counts: Counts


def mode_of(kernel: Kernel, target: str) -> Mode:
    """Arithmetic and wave size as the descriptor and the target say."""
    if not re.fullmatch(r"gfx\d+[0-9a-f]{2}", target):
        raise Unsupported(f"target '{target}'")
    generation = int(target.removeprefix("gfx")[:-2])
    d = kernel.descriptor
    lanes = kernel.metadata.wavefront_size or (32 if d.integer("wavefront_size32") else 64)
    if (d.integer("float_round_mode_32") or 0) or (d.integer("float_round_mode_16_64") or 0):
        raise Unsupported("a rounding mode other than nearest even")
    denormals32, denormals16 = d.integer("float_denorm_mode_32"), d.integer("float_denorm_mode_16_64")
    if denormals32 not in (None, 3) or denormals16 not in (None, 3):
        raise Unsupported("flushed denormals")
    ieee = d.integer("ieee_mode")
    return Mode(target, lanes, zeroes_high=generation == 9, ieee=ieee != 0 if generation < 12 else True)


def find_kernel(files: Sequence[Listing], name: str) -> KernelCode:
    """The kernel called `name`; raises Unsupported when no file has it."""
    for f in files:
        for kernel in f.file.kernels:
            if kernel.name == name:
                return KernelCode(kernel, f.file.target, f.constants)
    raise Unsupported(f"kernel '{name}': it is in no assembly file")


def workgroup_size(kernel: Kernel) -> tuple[int, int, int]:
    """Threads of a workgroup in x, y, z."""
    size = kernel.metadata.reqd_workgroup_size
    if size and len(size) == 3:
        return size[0], size[1], size[2]
    if kernel.metadata.max_flat_workgroup_size:
        return kernel.metadata.max_flat_workgroup_size, 1, 1
    raise Unsupported(f"kernel '{kernel.name}': its metadata does not say the workgroup size")


def lds_bytes(kernel: Kernel) -> int:
    """LDS that the descriptor allocates a workgroup, in bytes."""
    return kernel.descriptor.integer("group_segment_fixed_size") or kernel.metadata.group_segment_fixed_size or 0


def run_dispatch(
    code: KernelCode, memory: tuple[Arena, Buffer], dispatch: Dispatch, options: Options
) -> DispatchResult:
    """Executes one dispatch; raises Unsupported or ExecutionLimit.

    `memory` is the address space and the buffer for the kernel's arguments.
    """
    kernel, target = code.kernel, code.target
    arena, kernargs = memory
    mode = mode_of(kernel, target)
    used, agprs = _registers_used(kernel)
    total = AGPR_BASE + agprs if agprs else used
    mode = Mode(mode.target, mode.lanes, mode.zeroes_high, mode.ieee, temporary=total)
    arguments = _arguments(kernel, arena, dispatch)
    arena.memory[kernargs.start : kernargs.start + len(arguments)] = np.frombuffer(arguments, np.uint8)
    kernargs.provided = max(len(arguments), 1)
    machine = Machine(mode, kernel.name, arena, options.sanitize, LocalMemory(lds_bytes(kernel), 1))
    machine.grid = dispatch.workgroups
    tables = {name: arena.constant(name, data) for name, data in code.constants.items()}
    machine.addresses = Addresses(kernel, {name: arena.address(b) for name, b in tables.items()})
    machine.windows = (
        *_windows(kernargs, len(arguments), dispatch),
        *(Window(b.start, b.end, b.name, b) for b in tables.values()),
    )
    machine.scratch_bytes = kernel.metadata.private_segment_fixed_size or 0
    arena.new_dispatch()
    blocks = compile_kernel(kernel, machine)
    threads = workgroup_size(kernel)
    waves_each = -(-(threads[0] * threads[1] * threads[2]) // mode.lanes)
    together = max(1, WAVES_AT_ONCE // waves_each) * (4 if options.rows else 1)
    executed = groups = 0
    start = _Start(kernel, machine, arena.address(kernargs), arguments, threads, total + 4)
    with np.errstate(all="ignore"):
        for batch in _batches(dispatch.workgroups, together, options):
            machine.dropped = np.zeros(len(batch), np.bool_) if options.rows else None
            machine.lds = LocalMemory(lds_bytes(kernel), len(batch))
            waves, live = start.waves(batch)
            scheduler = Scheduler(blocks, machine, options.limit - executed)
            scheduler.run(waves, live)
            if machine.dropped is not None:
                arena.forget_stores(start.linear(batch)[machine.dropped])
            executed += scheduler.executed
            groups += len(batch) - (int(np.count_nonzero(machine.dropped)) if machine.dropped is not None else 0)
    return DispatchResult(machine.reports.collected(), _counts(blocks, machine, groups, groups * waves_each))


def _counts(code: Code, machine: Machine, workgroups: int, waves: int) -> Counts:
    t = machine.tally
    return Counts(
        machine.kernel,
        workgroups,
        waves,
        dict(sorted(code.instruction_counts().items())),
        code.dpp_count(),
        dict(sorted(t.bytes.items())),
        t.cache_lines,
        t.lds_conflicts,
        t.loads_in_flight,
        t.clamped_lanes,
    )


def _windows(kernargs: Buffer, size: int, dispatch: Dispatch) -> tuple[Window, ...]:
    """What the dispatch may touch. Bindings come first: they are asked for most."""
    seen: dict[tuple[int, int], Window] = {}
    for b in dispatch.bindings:
        start = b.buffer.start + b.offset
        key = (start, start + b.length)
        name = f"{seen[key].name}, {b.name}" if key in seen and b.name not in seen[key].name else b.name
        seen[key] = Window(*key, name, b.buffer)
    return (*seen.values(), Window(kernargs.start, kernargs.start + max(size, 4), "the kernel arguments", kernargs))


_BLOCK_COUNTS = {"hidden_block_count_x": 0, "hidden_block_count_y": 1, "hidden_block_count_z": 2}
_GROUP_SIZES = {"hidden_group_size_x": 0, "hidden_group_size_y": 1, "hidden_group_size_z": 2}
# Hidden arguments that hold nothing here: whole workgroups only, no host services.
_ZERO = frozenset(
    f"hidden_{name}"
    for name in (
        "none", "remainder_x", "remainder_y", "remainder_z", "global_offset_x", "global_offset_y", "global_offset_z",
        "printf_buffer", "hostcall_buffer", "default_queue", "completion_action", "multigrid_sync_arg", "heap_v1",
        "private_base", "shared_base", "queue_ptr", "dynamic_lds_size",
    )
)  # fmt: skip


def _arguments(kernel: Kernel, arena: Arena, dispatch: Dispatch) -> bytes:
    """The kernel argument segment, as the metadata lays it out."""
    meta = kernel.metadata
    size = meta.kernarg_segment_size or max((a.offset + a.size for a in meta.args), default=0)
    if size > KERNARG_LIMIT:
        raise Unsupported(f"{size} bytes of kernel arguments")
    out = bytearray(size)
    bindings, constants = iter(dispatch.bindings), iter(dispatch.constants)
    threads = workgroup_size(kernel)
    given = [0, 0]
    for a in meta.args:
        if a.value_kind == "global_buffer":
            b = next(bindings, None)
            if b is None:
                raise Unsupported(f"kernel '{kernel.name}' takes more than the {given[0]} bindings of its dispatch")
            given[0] += 1
            value = arena.address(b.buffer, b.offset)
        elif a.value_kind == "by_value" and a.size == 4:
            number = next(constants, None)
            if number is None:
                raise Unsupported(f"kernel '{kernel.name}' takes more than the {given[1]} constants of its dispatch")
            given[1] += 1
            value = number & 0xFFFFFFFF
        elif a.value_kind in _BLOCK_COUNTS:
            value = dispatch.workgroups[_BLOCK_COUNTS[a.value_kind]]
        elif a.value_kind in _GROUP_SIZES:
            value = threads[_GROUP_SIZES[a.value_kind]]
        elif a.value_kind == "hidden_grid_dims":
            value = 3
        elif a.value_kind in _ZERO:
            value = 0
        else:
            raise Unsupported(f"kernel argument of kind '{a.value_kind}' and {a.size} bytes")
        out[a.offset : a.offset + a.size] = value.to_bytes(a.size, "little")
    if next(bindings, None) is not None or next(constants, None) is not None:
        raise Unsupported(f"kernel '{kernel.name}' takes fewer bindings or constants than its dispatch gives")
    return bytes(out)


_NUMBERED = re.compile(r"\b([vasn]+)(?:(\d+)|\[(\d+):(\d+)\])")


def _registers_used(kernel: Kernel) -> tuple[int, int]:
    """Vector and accumulation registers that the code names: the descriptor may say fewer by mistake."""
    last = {"v": 0, "a": -1}
    for ins in kernel.instructions:
        for found in _NUMBERED.finditer(ins.text):
            if found.group(1) in last:
                number = int(found.group(4) or found.group(2))
                last[found.group(1)] = max(last[found.group(1)], number)
    return last["v"] + 3, last["a"] + 1


_FEW = 256  # workgroups that are started without asking which rows they have
_ROWS_EACH = (1, 2, 4, 8, 16, 32)  # rows of one workgroup that are thought of


def _likely(grid: tuple[int, int, int], options: Options) -> Iterator[tuple[int, int, int]]:
    """The workgroups to start, in order: all, or those that may have the first rows.

    With rows outermost or innermost in the numbering of workgroups, whatever the rows of one and the pieces of a row.
    """
    x, y, z = grid
    count = x * y * z
    numbers = np.arange(count)
    if options.rows and not options.exhaustive and count > _FEW:
        given, total = options.rows
        chosen = np.zeros(count, np.bool_)
        for each in _ROWS_EACH:
            blocks, wanted = -(-total // each), -(-given // each)
            if blocks <= count and count % blocks == 0:
                chosen |= (numbers // (count // blocks) < wanted) | (numbers % blocks < wanted)
        numbers = numbers[chosen] if chosen.any() else numbers
    for n in numbers.tolist():
        yield n % x, n // x % y, n // (x * y)


def _batches(grid: tuple[int, int, int], together: int, options: Options) -> Iterator[list[tuple[int, int, int]]]:
    ids = _likely(grid, options)
    batch: list[tuple[int, int, int]] = []
    for i in ids:
        batch.append(i)
        if len(batch) == together:
            yield batch
            batch = []
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class _Start:
    """Makes the registers of a batch's waves."""

    kernel: Kernel
    machine: Machine
    kernarg_address: int
    arguments: bytes
    threads: tuple[int, int, int]
    registers: int

    def linear(self, batch: Sequence[tuple[int, int, int]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The numbers of some workgroups in the grid, x fastest."""
        x, y, _ = self.machine.grid
        return np.array([i + x * (j + y * k) for i, j, k in batch], np.int64)

    def waves(self, batch: Sequence[tuple[int, int, int]]) -> tuple[Waves, np.ndarray[tuple[int], np.dtype[np.int64]]]:
        """All waves of some workgroups, and the number of waves of each workgroup."""
        lanes = self.machine.mode.lanes
        size = self.threads[0] * self.threads[1] * self.threads[2]
        each = -(-size // lanes)
        count = each * len(batch)
        group = np.repeat(np.arange(len(batch), dtype=np.int64), each)
        wave = np.tile(np.arange(each, dtype=np.int64), len(batch))
        ids = np.array(batch, np.int64).reshape(-1, 3)[group]
        thread = wave[:, None] * lanes + np.arange(lanes)
        v = np.zeros((self.registers, count, lanes), np.uint32)
        defined = self._work_items(v, thread)
        s = np.zeros((count, SCALAR_SLOTS), np.uint32)
        given = self._scalars(s, ids)
        scratch = np.zeros((count, lanes, -(-self.machine.scratch_bytes // 4)), np.uint32)
        waves = Waves(
            v, s, np.zeros(count, np.bool_), group, wave, ids, scratch, np.broadcast_to(thread < size, (count, lanes))
        )
        waves.write_mask(EXEC, np.ascontiguousarray(thread < size))
        waves.exec_changed()
        if self.machine.sanitize:
            ours = self.machine.mode.temporary
            nothing = np.full((count, lanes), 0xFFFFFFFF, np.uint32)
            waves.poison_v = {r: nothing for r in range(self.registers) if r not in defined and r < ours}
            hollow = np.full(count, 0xFFFFFFFF, np.uint32)
            fixed = given | {NULL, EXEC, EXEC + 1}
            waves.poison_s = {r: hollow for r in range(VCC + 2) if r not in fixed}
            waves.hot = set(waves.poison_v) | {1000 + r for r in waves.poison_s}
        return waves, np.full(len(batch), each, np.int64)

    def _work_items(
        self,
        v: np.ndarray[tuple[int, ...], np.dtype[np.uint32]],
        thread: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    ) -> set[int]:
        """Work-item ids: packed into v0 on gfx90a, gfx94x, gfx95x and gfx11 and newer, else in v0, v1, v2."""
        x = thread % self.threads[0]
        y = thread // self.threads[0] % self.threads[1]
        z = thread // (self.threads[0] * self.threads[1])
        target = self.machine.mode.target
        if target in ("gfx90a", "gfx942", "gfx950") or self.machine.mode.generation >= 11:
            wanted = self.kernel.descriptor.integer("system_vgpr_workitem_id") or 0
            packed = x | (y << 10 if wanted >= 1 else 0) | (z << 20 if wanted >= 2 else 0)
            v[0] = packed.astype(np.uint32)
            return {0}
        for i, values in enumerate((x, y, z)):
            v[i] = values.astype(np.uint32)
        return {0, 1, 2}

    def _scalars(
        self, s: np.ndarray[tuple[int, ...], np.dtype[np.uint32]], ids: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    ) -> set[int]:
        """User and system scalar registers, in the order of the descriptor. Gives the slots that hold something."""
        d = self.kernel.descriptor
        given: set[int] = set()
        at = 0
        generation = self.machine.mode.generation
        for name, width in (
            ("private_segment_buffer", 4), ("dispatch_ptr", 2), ("queue_ptr", 2), ("kernarg_segment_ptr", 2),
            ("dispatch_id", 2), ("flat_scratch_init", 2), ("private_segment_size", 1),
        ):  # fmt: skip
            if not d.integer(f"user_sgpr_{name}"):
                continue
            if name == "kernarg_segment_ptr":
                s[:, at] = self.kernarg_address & 0xFFFFFFFF
                s[:, at + 1] = self.kernarg_address >> 32
                given |= {at, at + 1}
            elif name not in ("private_segment_buffer", "flat_scratch_init", "private_segment_size"):
                raise Unsupported(f"kernel '{self.kernel.name}' takes its {name}")
            at += width
        words = np.frombuffer(self.arguments[: len(self.arguments) // 4 * 4], np.uint32)
        first = d.integer("user_sgpr_kernarg_preload_offset") or 0
        for k in range(d.integer("user_sgpr_kernarg_preload_length") or 0):
            if first + k < len(words):
                s[:, at] = words[first + k]
                given.add(at)
            at += 1
        at = max(at, d.integer("user_sgpr_count") or 0)
        if generation >= 12:  # architected: workgroup ids in trap registers
            s[:, TTMP + 9] = ids[:, 0]
            s[:, TTMP + 7] = ids[:, 1] | (ids[:, 2] << 16)
            return given
        for k, axis in enumerate("xyz"):
            enabled = d.integer(f"system_sgpr_workgroup_id_{axis}")
            if enabled or (enabled is None and axis == "x"):
                s[:, at] = ids[:, k]
                given.add(at)
                at += 1
        return given
