"""Says, for each op of a compiled file, whether a tuning spec's configuration was used, and if not, why not."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ireebench.compiler.configured import Dispatch, Op
from ireebench.compiler.driver import STDERR, Compiled
from ireebench.compiler.evidence import owner_of, read_dispatches
from ireebench.compiler.spec_entries import Given, SpecEntry, read_entries
from ireebench.compiler.spec_rules import broken_rules
from ireebench.ir.flags import split_flags
from ireebench.targets import Target

# The dispatches before anything is configured: there even where the spec can't be loaded.
_SOURCES = "module_*_dispatch_*[0-9].mlir"
_CUDA = "IREE 3.13 ignores tuning specs on cuda; use the attribute route (ireebench mlir prints it)"
_SPLITS = (8192, 4096, 2048, 1024)  # chunks that are offered, largest first


@dataclass(frozen=True, slots=True)
class OpReport:
    """One op. `shape` is its first operand's (None in place of a dynamic size); `reason` says why not, or with what."""

    function: str
    op: str
    shape: tuple[int | None, ...]
    element_type: str
    applied: bool
    reason: str


@dataclass(frozen=True, slots=True)
class SpecReport:
    """The answer. `broken` are the rules that the spec breaks; `unused` its entries that no op got.

    `compiles`: whether the file compiles with the spec. `entries` counts what could be read of the spec.
    """

    ops: tuple[OpReport, ...]
    broken: tuple[str, ...]
    unused: tuple[str, ...]
    compiles: bool
    entries: int

    @property
    def good(self) -> bool:
        """Whether the file compiles, some op got its configuration, and none that an entry is for went without."""
        wanted = [op for op in self.ops if op.applied or not op.reason.startswith(_NO_ENTRY)]
        return self.compiles and bool(wanted) and all(op.applied for op in wanted)


_NO_ENTRY = "no entry is for it"


def check_spec(spec: str, compiled: Compiled, target: Target) -> SpecReport:
    """The report on a file that was compiled with `spec`, from its dumps, whether or not the compile succeeded."""
    broken = broken_rules(spec)
    try:
        entries = read_entries(spec)
    except ValueError:
        entries = ()
    configured = {d.symbol: d for d in read_dispatches(compiled.folder)}
    dispatches = [configured.get(d.symbol, d) for d in read_dispatches(compiled.folder, files=_SOURCES)]
    errors = _errors(compiled.folder)
    check = _Check(entries, broken, target, compiled, errors)
    reports, used = [], set()
    for dispatch in dispatches:
        if dispatch.root is None:
            continue
        entry = check.applied_entry(dispatch)
        used |= {entry.name} if entry else set()
        reports.append(check.report(dispatch, dispatch.root, entry))
    return SpecReport(
        ops=tuple(reports),
        broken=broken,
        unused=tuple(e.about for e in entries if e.name not in used),
        compiles=compiled.failure is None,
        entries=len(entries),
    )


def _errors(folder: Path) -> Mapping[str, str]:
    """The first error of each dispatch that failed, by "<function>_dispatch_<n>"."""
    try:
        output = (folder / STDERR).read_text(errors="replace")
    except OSError:
        return {}
    found: dict[str, str] = {}
    pattern = r"^dump/configured_module_(\S+?)\.mlir:\d+:\d+: error: (.*)$"
    for dispatch, message in re.findall(pattern, output, re.MULTILINE):
        found.setdefault(dispatch, message)
    return found


def _typed(op: Op) -> str:
    return f"{'x'.join('?' if n is None else str(n) for n in op.input_shape)}x{op.element_type}"


def _applied(dispatch: Dispatch) -> Given | None:
    op = dispatch.root
    if op is None or op.lowering is None or dispatch.translation is None:
        return None
    return Given(op.lowering, dispatch.translation)


@dataclass(frozen=True, slots=True)
class _Check:
    entries: Sequence[SpecEntry]
    broken: Sequence[str]
    target: Target
    compiled: Compiled
    errors: Mapping[str, str]

    def applied_entry(self, dispatch: Dispatch) -> SpecEntry | None:
        """The entry whose configuration the dump shows, if any that may match gives it."""
        applied = _applied(dispatch)
        if applied is None or self.target.backend == "cuda" or dispatch.root is None:
            return None
        root = dispatch.root
        fits = (e for e in self.entries if e.given and e.may_match(root))
        return next((e for e in fits if e.given and e.given.plain == applied.plain), None)

    def report(self, dispatch: Dispatch, op: Op, entry: SpecEntry | None) -> OpReport:
        """What to say of one op."""
        function, number = owner_of(dispatch.symbol)
        error = self.errors.get(f"{function}_dispatch_{number}")
        if entry is None:
            applied, reason = False, self._why_not(dispatch, op)
        elif error is not None:
            cause = "; ".join(self.broken) or f"the compiler can't do it: {error}{self._needs(op)}"
            applied, reason = False, f"{entry.about}: {cause}"
        elif self.compiled.failure is not None:
            applied, reason = True, f"{entry.about}; but the file does not compile: {self.compiled.failure.reason}"
        else:
            applied, reason = True, entry.about
        return OpReport(function, op.name, op.input_shape, op.element_type, applied, reason)

    def _unusable(self, applied: Given | None) -> str | None:
        """Why the spec as a whole did nothing, if it did nothing."""
        failure = self.compiled.failure
        if self.target.backend == "cuda":
            return _CUDA
        if failure is not None and (self.broken or applied is None):
            return f"the spec can't be used: {'; '.join(self.broken) or failure.reason}"
        return None

    def _why_not(self, dispatch: Dispatch, op: Op) -> str:
        applied = _applied(dispatch)
        unusable = self._unusable(applied)
        if unusable:
            return unusable
        own = f"the compiler chose its own ({applied})" if applied else "the compiler configured nothing"
        matching = [e for e in self.entries if e.may_match(op)]
        if not matching:
            return f"{_NO_ENTRY}; {own}{self._stages(op)}"
        if matching[0].opaque:
            return f"{matching[0].about} matches in a way that can't be followed from here; {own}"
        wanted = matching[0].given
        if wanted is None or applied is None:
            return f"{matching[0].about} gives it no configuration; {own}"
        return f"{matching[0].about} is for it and was not used: {'; '.join(applied.differs_from(wanted))}"

    def _stages(self, op: Op) -> str:
        """Where the entries are for the two stages of a split of this very op: the flags that make it."""
        length = op.input_shape[-1] if op.input_shape else None
        if length is None:
            return ""
        rows = _typed(op).removesuffix(f"{length}x{op.element_type}")
        stages = [n for n in self._chunks(op, rows) if length % n == 0]
        chunk = next((n for n in stages if n < length and length // n in stages), None)
        if chunk is None:
            return ""
        flags = " ".join(split_flags(chunk))
        return f"; the entries are for the two stages of its split into chunks of {chunk}: add --flags '{flags}'"

    def _chunks(self, op: Op, rows: str) -> list[int]:
        """The lengths that entries for this op expect of a reduction over the same rows, in the spec's order."""
        types = (t for e in self.entries if op.name in e.ops for i, t in e.types if i == 0)
        pattern = re.compile(rf"tensor<{re.escape(rows)}(\d+)x{op.element_type}>")
        return [int(match[1]) for t in types if (match := pattern.fullmatch(t))]

    def _needs(self, op: Op) -> str:
        """What helps where the configuration puts several subgroups on a reduction of rank 2 or more."""
        counts = op.lowering.counts("subgroup_basis") if op.lowering else None
        if counts is None or len(counts) < 2 or not op.reduces:
            return ""
        reduced = [n for n, kind in zip(counts, op.iterators, strict=False) if kind == "reduction"]
        length = op.input_shape[-1]
        if max(reduced, default=1) < 2 or length is None or "arg_compare" not in op.name:
            return ""
        shape = "x".join(map(str, op.input_shape))
        chunk = next((n for n in _SPLITS if length % n == 0 and length > n), None)
        problem = f"--shape {shape} --dtype {op.element_type}"
        ways = [f"a spec with one subgroup over the reduction (ireebench spec emit argmax {problem} --variants vd)"]
        if chunk:
            flags = shlex.join(split_flags(chunk))
            emit = f"ireebench spec emit argmax {problem} --variants vd_split"
            ways.append(f"a split: a spec for both stages ({emit}) with {flags}")
        ways.append(
            f"the form 'rows', which no spec makes of a plain op (ireebench mlir argmax {problem} --variants vd)"
        )
        known = f" ({self.compiled.failure.known})" if self.compiled.failure and self.compiled.failure.known else ""
        return f"{known}; what works: {', or '.join(ways)}"
