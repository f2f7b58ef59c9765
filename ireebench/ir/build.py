"""A candidate becomes a program: MLIR, a tuning spec where the form needs one, flags, and what the dumps must show."""

from __future__ import annotations

from ireebench.candidate import Candidate
from ireebench.ir import argcompare, gemv
from ireebench.ir.flags import flags_of
from ireebench.ir.layouts import layouts_of
from ireebench.ir.program import Program
from ireebench.ir.specs import spec_text
from ireebench.ir.templates import render


def build_program(candidate: Candidate, function: str | None = None) -> Program:
    """The program of `candidate`: its function is called after the op unless `function` says otherwise. Pure."""
    name = function or candidate.problem.op
    layouts = layouts_of(candidate)
    # IREE drops the op's own compilation_info when it splits the op: there the configuration can only come from a spec.
    by_spec = candidate.form.name == "split_attr"
    module = gemv if candidate.problem.op == "gemv" else argcompare
    values = module.template_values(candidate, name, () if by_spec else layouts)
    return Program(
        candidate=candidate,
        function=name,
        mlir=render(module.template_name(candidate), values),
        spec=spec_text(layouts) if by_spec and layouts else None,
        flags=flags_of(candidate),
        asked=tuple(layout.asked for layout in layouts),
    )
