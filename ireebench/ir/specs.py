"""Tuning specs, built with the compiler's Python bindings: several problems and both stages of a split in one file."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from ireebench.candidate import Candidate
from ireebench.errors import UsageError
from ireebench.ir.attributes import compilation_info
from ireebench.ir.flags import shipping_flags
from ireebench.ir.layout import Layout
from ireebench.ir.layouts import layouts_of
from ireebench.ir.program import Program

_ACTION = "apply_op_config"
_ENTRY = "__kernel_config"  # the name that `tuning_spec_with_default_entrypoint` demands


def emit_spec(programs: Iterable[Program]) -> str:
    """The tuning spec that gives each program's configuration to a plain op, and in its header what else that needs.

    Raises UsageError for a program that no spec can ship: one that the compiler configures, a form that rewrites the
    IR, or a target that ignores specs.
    """
    candidates = [p.candidate for p in programs]
    for candidate in candidates:
        _refuse(candidate)
    layouts = [layout for candidate in candidates for layout in layouts_of(candidate)]
    return f"{_header(candidates)}{spec_text(layouts)}"


def _refuse(candidate: Candidate) -> None:
    if not candidate.form.ship.ships or candidate.form.name == "generic":
        raise UsageError(
            f"{candidate}: form '{candidate.form.name}' is IR that no model emits, so a tuning spec alone can't ship "
            f"it; print it with: ireebench mlir"
        )
    if not layouts_of(candidate):
        raise UsageError(f"{candidate}: nothing is configured, so there is nothing to put in a tuning spec")
    if candidate.target.backend == "cuda":
        raise UsageError(
            f"{candidate}: IREE 3.13 ignores tuning specs on cuda; put the attribute on the op (ireebench mlir)"
        )


def _header(candidates: Sequence[Candidate]) -> str:
    """What the spec is for, and the flags that each entry needs besides `--iree-codegen-tuning-spec-path`."""
    lines = ["Tuning spec for IREE 3.13: iree-compile MODEL.mlir ... --iree-codegen-tuning-spec-path=THIS_FILE"]
    for candidate in candidates:
        lines.append(str(candidate))
        flags = shipping_flags(candidate)
        if flags:
            lines.append(f"  needs {shlex.join(flags)}")
        elif candidate.form.name == "split_attr":
            attribute = f"iree_linalg_ext.split_reduction = [{candidate.config.st} : index]"
            lines.append(f"  needs {{{attribute}}} on the op: no flag of IREE 3.13 asks for this split")
    return "".join(f"// {line}\n" for line in lines)


def spec_text(layouts: Iterable[Layout]) -> str:
    """A tuning spec that gives each layout to the ops whose first operand has its type; the first of a type wins."""
    from iree.compiler import ir
    from iree.compiler.dialects import transform

    unique = list({(layout.op, layout.operand): layout for layout in reversed(list(layouts))}.values())[::-1]
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        unit = ir.UnitAttr.get()
        module.operation.attributes["iree_codegen.tuning_spec_with_default_entrypoint"] = unit
        module.operation.attributes["transform.with_named_sequence"] = unit
        any_op, any_param = transform.AnyOpType.get(), transform.AnyParamType.get()
        with ir.InsertionPoint(module.body):
            _action(any_op, any_param)
            names = [_matcher(f"match_{n}", layout, any_op, any_param) for n, layout in enumerate(unique)]
            _entry(names, any_op)
        module.operation.verify()
        return str(module)


def _readonly() -> Any:
    from iree.compiler import ir

    return {"transform.readonly": ir.UnitAttr.get()}


def _action(any_op: Any, any_param: Any) -> None:
    """Puts the matched configuration on the matched op."""
    from iree.compiler import ir
    from iree.compiler.dialects import transform

    sequence = transform.NamedSequenceOp(_ACTION, [any_op, any_param], [], arg_attrs=[_readonly(), _readonly()])
    with ir.InsertionPoint(sequence.body):
        op, param = sequence.body.arguments
        transform.AnnotateOp(op, "compilation_info", param=param)
        transform.YieldOp([])


def _matcher(name: str, layout: Layout, any_op: Any, any_param: Any) -> str:
    """A sequence that matches the layout's op by its name and the type of its first operand."""
    from iree.compiler import ir
    from iree.compiler.dialects import preprocessing_transform, transform

    sequence = transform.NamedSequenceOp(name, [any_op], [any_op, any_param], arg_attrs=[_readonly()])
    with ir.InsertionPoint(sequence.body):
        (op,) = sequence.body.arguments
        transform.MatchOperationNameOp(op, [layout.op])
        operand = transform.GetOperandOp(transform.AnyValueType.get(), op, [0])
        preprocessing_transform.MatchCastCompatibleTypesOp(operand, ir.TypeAttr.get(ir.Type.parse(layout.operand)))
        param = transform.ParamConstantOp(any_param, compilation_info(layout))
        transform.YieldOp([op, param])
    return name


def _entry(matchers: Sequence[str], any_op: Any) -> None:
    """The entry point: one foreach_match over all matchers."""
    from iree.compiler import ir
    from iree.compiler.dialects import transform

    consumed = {"transform.consumed": ir.UnitAttr.get()}
    sequence = transform.NamedSequenceOp(_ENTRY, [any_op], [any_op], arg_attrs=[consumed])
    sequence.operation.attributes["iree_codegen.tuning_spec_entrypoint"] = ir.UnitAttr.get()
    with ir.InsertionPoint(sequence.body):
        (root,) = sequence.body.arguments
        names = ir.ArrayAttr.get([ir.FlatSymbolRefAttr.get(name) for name in matchers])
        actions = ir.ArrayAttr.get([ir.FlatSymbolRefAttr.get(_ACTION) for _ in matchers])
        updated = transform.ForeachMatchOp(any_op, [], root, [], names, actions)
        transform.YieldOp([updated.results[0]])
