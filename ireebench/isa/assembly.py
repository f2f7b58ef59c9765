"""AMDGCN assembly as data: instructions, kernels, descriptors and metadata, as written and without judgement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

Modifier = tuple[str, str | None]
Value = int | str


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction.

    `line` counts from 1. `mnemonic` is in lower case as written ("v_max_f32_dpp"). `operands` are split at top-level
    commas; each counter of an `s_waitcnt` and each clause of an `s_delay_alu` is an operand. `modifiers` come after the
    operands: ("offset", "16"), ("quad_perm", "[1,0,3,2]"), ("nt", None). `text` is the source without its comment.
    `second` is the other half of a dual-issue pair (`a :: b`, RDNA3 and later): one instruction, and both halves read
    their operands before either writes.
    """

    line: int
    mnemonic: str
    operands: tuple[str, ...]
    modifiers: tuple[Modifier, ...]
    text: str
    second: Instruction | None = None

    def modifier(self, name: str) -> str | None:
        """The value of a modifier: "" for a flag that is present, None for an absent one."""
        for key, value in self.modifiers:
            if key == name:
                return value if value is not None else ""
        return None

    def has(self, *names: str) -> bool:
        """Whether any of these modifiers is present."""
        return any(key in names for key, _ in self.modifiers)


@dataclass(frozen=True, slots=True)
class KernelDescriptor:
    """The `.amdhsa_*` directives of a kernel, without their prefix: {"next_free_vgpr": 28, ...}.

    Values are integers; an expression that could not be evaluated stays text. Reference: LLVM AMDGPU usage, "AMDHSA
    kernel assembler directives".
    """

    values: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))

    def integer(self, name: str) -> int | None:
        """The integer value of `.amdhsa_<name>`; None when absent or not a number."""
        value = self.values.get(name)
        return value if isinstance(value, int) else None

    @property
    def present(self) -> bool:
        """Whether the file has a descriptor for this kernel."""
        return bool(self.values)


@dataclass(frozen=True, slots=True)
class KernelArgument:
    """One kernel argument. `offset` and `size` are bytes in the kernarg segment; `value_kind` as in the metadata."""

    offset: int
    size: int
    value_kind: str
    actual_access: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class KernelMetadata:
    """The kernel's entry in `.amdgpu_metadata`; None where the file does not say.

    Segment sizes are bytes: `group_segment_fixed_size` a workgroup (LDS), `private_segment_fixed_size` a lane.
    Reference: LLVM AMDGPU usage, "Code object V5 metadata".
    """

    args: tuple[KernelArgument, ...] = ()
    kernarg_segment_size: int | None = None
    group_segment_fixed_size: int | None = None
    private_segment_fixed_size: int | None = None
    vgpr_count: int | None = None
    agpr_count: int | None = None
    sgpr_count: int | None = None
    vgpr_spill_count: int | None = None
    sgpr_spill_count: int | None = None
    max_flat_workgroup_size: int | None = None
    reqd_workgroup_size: tuple[int, ...] | None = None
    wavefront_size: int | None = None
    uses_dynamic_stack: bool | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel. `labels` give the index in `instructions` that each label stands before (it may be the end)."""

    name: str
    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]
    descriptor: KernelDescriptor
    metadata: KernelMetadata
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class AssemblyFile:
    """A file. `target` is the processor ("gfx942"), or "" when the file names none.

    `unknown_lines` counts lines that are neither comment, directive, label nor instruction. `metadata_error` says why
    the metadata could not be read, in one line.
    """

    target: str
    kernels: tuple[Kernel, ...]
    unknown_lines: int
    metadata_error: str | None = None
