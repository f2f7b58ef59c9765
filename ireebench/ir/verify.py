"""Parses and verifies MLIR with the compiler's bindings, before the compiler is started."""

from __future__ import annotations


def verify(mlir: str) -> str | None:
    """The first diagnostic of parsing and verifying `mlir`, on one line with its line number, or None if it is good."""
    from iree.compiler import ir

    with ir.Context(), ir.Location.unknown():
        try:
            ir.Module.parse(mlir).operation.verify()
        except ir.MLIRError as error:
            first = next(iter(error.error_diagnostics), None)
            text = str(error) if first is None else f"{_line(str(first.location))}{first.message}"
            return " ".join(text.split())
    return None


def _line(location: str) -> str:
    """`loc("-":3:4)` as "line 3: "; empty where there is none."""
    parts = location.removesuffix(")").split(":")
    return f"line {parts[-2]}: " if len(parts) >= 3 and parts[-2].isdigit() else ""
