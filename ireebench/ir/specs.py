"""Tuning specs, built with the compiler's Python bindings: several problems and both stages of a split in one file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ireebench.ir.attributes import compilation_info
from ireebench.ir.layout import Layout

_ACTION = "apply_op_config"
_ENTRY = "__kernel_config"  # the name that `tuning_spec_with_default_entrypoint` demands


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
