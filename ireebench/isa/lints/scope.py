"""Lints about coherence: operations at device scope that lack the bit which makes them so.

Rules: LLVM AMDGPU usage, memory model of each target, and `SIMemoryLegalizer.cpp`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ireebench.isa.analysis import KernelAnalysis, LoopAnalysis
from ireebench.isa.architecture import generation
from ireebench.isa.assembly import Instruction
from ireebench.isa.classify import Kind, classify
from ireebench.isa.lints.base import LLVM_USAGE, Hit, Lint
from ireebench.isa.registers import reads, writes

_POLL_LENGTH = 40  # a loop that is longer does work and is no wait for a flag
_NEAR = 16  # instructions between an acquire's load and its invalidate, or a release's write-back and its store


@dataclass(frozen=True, slots=True)
class _Scopes:
    """How a family of targets spells device scope."""

    bit: str
    device: Callable[[Instruction], bool]
    invalidates: tuple[str, ...]
    write_backs: tuple[str, ...]


def _scope_device(i: Instruction) -> bool:
    return i.modifier("scope") in ("SCOPE_DEV", "SCOPE_SYS")


_GFX94X = _Scopes("sc1", lambda i: i.has("sc1"), ("buffer_inv",), ("buffer_wbl2",))
_GFX12 = _Scopes("scope:SCOPE_DEV", _scope_device, ("global_inv", "global_wbinv"), ("global_wb",))
# Before gfx94x the invalidate has no scope of its own, and nothing is written back at device scope.
_GFX9_TO_11 = _Scopes("glc", lambda i: i.has("glc"), (), ())
_UNSCOPED_INVALIDATES = ("buffer_wbinvl1_vol", "buffer_wbinvl1", "buffer_gl1_inv")


def _scopes(target: str) -> _Scopes:
    if target.startswith(("gfx94", "gfx95")):
        return _GFX94X
    return _GFX12 if generation(target) >= 12 else _GFX9_TO_11


def _missing_scope(kernel: KernelAnalysis) -> Iterable[Hit]:
    scopes = _scopes(kernel.target)
    instructions = kernel.kernel.instructions
    hits: list[Hit] = []
    if kernel.mix[Kind.CACHE]:
        hits += _cache_operations(instructions, scopes)
        hits += _acquires(instructions, scopes)
        hits += _releases(instructions, scopes)
    for number in kernel.flow.innermost():
        hits += _polls(kernel.loops[number], scopes)
    return {hit.line: hit for hit in hits}.values()


def _cache_operations(instructions: tuple[Instruction, ...], scopes: _Scopes) -> Iterator[Hit]:
    for i in instructions:
        if i.mnemonic in (*scopes.invalidates, *scopes.write_backs) and not scopes.device(i):
            yield Hit(i.line, f"{i.mnemonic} without {scopes.bit} acts within the workgroup only")


def _acquires(instructions: tuple[Instruction, ...], scopes: _Scopes) -> Iterator[Hit]:
    """An acquire is a load at device scope, a wait, an invalidate."""
    for n, i in enumerate(instructions):
        scoped = i.mnemonic in scopes.invalidates and scopes.device(i)
        if scoped or i.mnemonic in _UNSCOPED_INVALIDATES:
            before = _nearest_access(reversed(instructions[max(0, n - _NEAR) : n]))
            if before is not None and classify(before.mnemonic).vector_load and not scopes.device(before):
                yield Hit(before.line, f"the load that line {i.line} acquires has no {scopes.bit}: it may read L1")


def _releases(instructions: tuple[Instruction, ...], scopes: _Scopes) -> Iterator[Hit]:
    """A release is a write-back, a wait, a store at device scope."""
    for n, i in enumerate(instructions):
        if i.mnemonic in scopes.write_backs and scopes.device(i):
            after = _nearest_access(iter(instructions[n + 1 : n + 1 + _NEAR]))
            if after is not None and classify(after.mnemonic).vector_store and not scopes.device(after):
                yield Hit(after.line, f"the store that line {i.line} releases has no {scopes.bit}")


def _nearest_access(instructions: Iterator[Instruction]) -> Instruction | None:
    for i in instructions:
        found = classify(i.mnemonic)
        if found.vector_load or found.vector_store or found.kind is Kind.ATOMIC:
            return i
    return None


def _polls(loop: LoopAnalysis, scopes: _Scopes) -> Iterator[Hit]:
    """A short loop that stores nothing and compares what it loads from an address that it never changes."""
    body = loop.instructions
    if len(body) > _POLL_LENGTH or not loop.load_bytes or any(classify(i.mnemonic).vector_store for i in body):
        return
    written = frozenset[str]().union(*map(writes, body))
    tested = frozenset[str]().union(
        *(reads(i) for i in body if i.mnemonic.startswith(("v_cmp", "v_readfirstlane", "s_cmp")))
    )
    for i in body:
        if not classify(i.mnemonic).vector_load or scopes.device(i):
            continue
        if writes(i) & tested and not (reads(i) & written):
            yield Hit(i.line, f"the loop polls this address with no {scopes.bit}: it may read L1 for ever")


SCOPE_LINTS = (
    Lint(
        "missing-scope",
        "A device-scope operation without its scope bit: a cache operation, the load of an acquire, the store of a"
        " release or a poll that stays within one compute unit's cache.",
        f"{LLVM_USAGE} (memory model: gfx942 sc1, gfx12 scope:SCOPE_DEV, gfx9 to gfx11 glc)",
        _missing_scope,
    ),
)
