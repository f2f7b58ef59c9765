"""Many programs in one module, so that one compiler process serves a batch."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ireebench.ir.program import Program

_ALIAS = re.compile(r"#(config\d+|tiles)\b")


def merge(programs: Sequence[Program]) -> tuple[str, tuple[str, ...]]:
    """One module with the functions of all programs, and their new names in the order of the programs.

    Only programs without a spec and with equal flags can share a module (ValueError otherwise): a spec matches ops of
    any function, flags hold for all. Attribute aliases are hoisted and renumbered; function names get their place.
    """
    if any(p.spec is not None or p.flags != programs[0].flags for p in programs):
        raise ValueError("a batch needs programs with equal flags and no spec")
    aliases: list[str] = []
    functions: list[str] = []
    names: list[str] = []
    for place, program in enumerate(programs):
        name = f"{program.function}_{place}"
        text = _ALIAS.sub(rf"#p{place}_\1", program.mlir)
        text = text.replace(f"func.func @{program.function}(", f"func.func @{name}(")
        lines = text.splitlines()
        aliases += [line for line in lines if line.startswith("#")]
        functions.append("\n".join(line for line in lines if not line.startswith("#")))
        names.append(name)
    return "\n".join([*aliases, *functions]) + "\n", tuple(names)
