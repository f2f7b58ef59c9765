"""Reads the YAML of `.amdgpu_metadata` with a real parser: both block and flow style occur."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from ireebench.isa.assembly import KernelArgument, KernelMetadata

# The C parser is several times faster; wheels have it, some source builds do not.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Metadata:
    """A file's metadata: kernels by name, the target triple, and why it could not be read."""

    kernels: Mapping[str, KernelMetadata] = field(default_factory=dict)
    target: str = ""
    error: str | None = None


def parse_metadata(text: str) -> Metadata:
    """Reads the YAML document; what is malformed is left out and reported in `error`, never raised."""
    try:
        document = yaml.load(text, Loader=_LOADER)  # a safe loader, chosen above
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as e:
        return Metadata(error=f"metadata is not valid YAML: {str(e).splitlines()[0]}")
    if not isinstance(document, dict):
        return Metadata(error="metadata is not a YAML mapping")
    entries = document.get("amdhsa.kernels")
    kernels = {
        str(entry[".name"]): _kernel(entry)
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and ".name" in entry
    }
    return Metadata(kernels, str(document.get("amdhsa.target", "")))


def _kernel(entry: Mapping[Any, Any]) -> KernelMetadata:
    def count(name: str) -> int | None:
        return _int(entry.get(f".{name}"))

    sizes = entry.get(".reqd_workgroup_size")
    dynamic = entry.get(".uses_dynamic_stack")
    args = entry.get(".args")
    return KernelMetadata(
        args=tuple(_argument(a) for a in args if isinstance(a, dict)) if isinstance(args, list) else (),
        kernarg_segment_size=count("kernarg_segment_size"),
        group_segment_fixed_size=count("group_segment_fixed_size"),
        private_segment_fixed_size=count("private_segment_fixed_size"),
        vgpr_count=count("vgpr_count"),
        agpr_count=count("agpr_count"),
        sgpr_count=count("sgpr_count"),
        vgpr_spill_count=count("vgpr_spill_count"),
        sgpr_spill_count=count("sgpr_spill_count"),
        max_flat_workgroup_size=count("max_flat_workgroup_size"),
        reqd_workgroup_size=tuple(s for s in sizes if isinstance(s, int)) if isinstance(sizes, list) else None,
        wavefront_size=count("wavefront_size"),
        uses_dynamic_stack=dynamic if isinstance(dynamic, bool) else None,
    )


def _argument(entry: Mapping[Any, Any]) -> KernelArgument:
    access, name = entry.get(".actual_access"), entry.get(".name")
    return KernelArgument(
        offset=_int(entry.get(".offset")) or 0,
        size=_int(entry.get(".size")) or 0,
        value_kind=str(entry.get(".value_kind", "")),
        actual_access=str(access) if access is not None else None,
        name=str(name) if name is not None else None,
    )


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
