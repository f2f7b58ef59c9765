"""Checks that the spec of a problem's best configuration is applied: compiles the plain op with it, reads the dumps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from ireebench.candidate import Candidate
from ireebench.compiler.driver import Compiled, Source
from ireebench.compiler.flags import SPEC, compiler_flags
from ireebench.compiler.spec_check import check_spec
from ireebench.errors import UserError
from ireebench.ir.build import build_program
from ireebench.ir.flags import flags_of, shipping_flags
from ireebench.report.best import Best, SpecAnswer, device_of
from ireebench.report.best_specs import ShippedSpec, candidate_of, spec_of
from ireebench.report.evidence import Evidence
from ireebench.report.ranking import Standing
from ireebench.space.config import Config
from ireebench.targets import TARGETS, Target
from ireebench.variants import FORMS, VARIANTS, Ship


class SpecCompiler(Protocol):
    """What compiles a module under limits: `ireebench.compiler.driver.Compiler`."""

    def compile_source(self, source: Source) -> Compiled:
        """Compiles one module."""


def find_best(found: Sequence[Evidence], compiler: SpecCompiler | None) -> tuple[Best, ...]:
    """Every timed problem's best under each cache policy; specs are checked by `compiler`, or not with None."""
    best = []
    for evidence in found:
        for cache in evidence.caches:
            for s in evidence.standings(cache):
                if s.candidates:
                    best.append(Best(device_of(evidence), s, _answer(s, compiler)))
    return named_apart(best)


def _answer(standing: Standing, compiler: SpecCompiler | None) -> SpecAnswer:
    row = standing.best_shipping
    if row is None:
        return SpecAnswer(None, None, (), None, "no spec: nothing that was timed ships without rewriting IR")
    target = TARGETS.get(row.trial.target)
    if target is None:
        return SpecAnswer(None, None, (), None, f"no spec: target {row.trial.target} is not in the table")
    if row.trial.ship is Ship.FLAGS:
        flags = flags_of(candidate_of(row, target))
        why = "flags alone" if flags else "the compiler's own choice"
        return SpecAnswer(None, None, flags, None, f"no spec needed: {why}")
    spec = spec_of(row, target)
    if spec is None:
        return SpecAnswer(None, None, (), None, f"no spec: no entry says this on {target.name}")
    if compiler is None:
        return SpecAnswer(spec.file, spec.text, shipping_flags(spec.candidate), None, "not checked")
    return _checked(spec, target, compiler)


def plain_candidate(candidate: Candidate) -> Candidate:
    """The op as a model emits it: what the spec has to configure in a user's own IR."""
    form = "native" if candidate.form.name == "split_attr" else candidate.form.name
    return Candidate(candidate.problem, VARIANTS["default"], FORMS[form], Config(), candidate.target)


def _checked(spec: ShippedSpec, target: Target, compiler: SpecCompiler) -> SpecAnswer:
    flags = shipping_flags(spec.candidate)
    try:
        mlir = build_program(plain_candidate(spec.candidate)).mlir
        compiled = compiler.compile_source(Source(mlir, spec.text, compiler_flags(target, flags, SPEC)))
    except UserError as e:
        return SpecAnswer(spec.file, spec.text, flags, None, f"not checked: {e}")
    report = check_spec(spec.text, compiled, target)
    wrong = [op.reason for op in report.ops if not op.applied]
    if report.good and not wrong:
        return SpecAnswer(spec.file, spec.text, flags, True, f"applied to {len(report.ops)} of {len(report.ops)} ops")
    failed = compiled.failure.reason if compiled.failure else "no op was found"
    return SpecAnswer(spec.file, spec.text, flags, False, wrong[0] if wrong else failed)


def named_apart(best: Sequence[Best]) -> tuple[Best, ...]:
    """File names that differ where the specs do, in more than what was measured: by shape and cache policy."""
    texts: dict[str, set[str]] = {}
    for b in best:
        if b.spec.file:
            _measured, _, what = (b.spec.text or "").partition("\n")
            texts.setdefault(b.spec.file, set()).add(what)

    def name(b: Best) -> str | None:
        file = b.spec.file
        if file is None or len(texts[file]) == 1:
            return file
        return file.replace(".mlir", f"-{b.problem.shape_text}-{b.cache}.mlir")

    return tuple(replace(b, spec=replace(b.spec, file=name(b))) for b in best)
