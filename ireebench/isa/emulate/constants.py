"""Bytes of a module's constants, from the attribute that the compiler's `hal` phase holds them in.

IREE packs constants into buffers: `#util.composite<1152xi8, [dense<...> : tensor<256xi32>, dense<0> : vector<32xi8>]>`
lists a buffer's pieces in order, padding included.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ireebench.isa.emulate.errors import Unsupported

_COMPOSITE = re.compile(r"#util\.composite<(\d+)xi8, (\[.*)\]>\Z", re.DOTALL)
# Element types that lie in memory as NumPy holds them.
_ELEMENTS = frozenset(("f16", "f32", "f64", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"))


def constant_bytes(attribute: Any) -> bytes:
    """The bytes of a `util.buffer.constant`'s value. Raises Unsupported for what is written in another way."""
    from iree.compiler import ir

    found = _COMPOSITE.match(str(attribute))
    if not found:
        return _dense(attribute)
    size, pieces = int(found[1]), f"{found[2].rstrip().removesuffix(',')}]"
    data = b"".join(_dense(piece) for piece in ir.ArrayAttr(ir.Attribute.parse(pieces)))
    if len(data) != size:
        raise Unsupported(f"constant of {size} bytes: its pieces make {len(data)}")
    return data


def _dense(attribute: Any) -> bytes:
    """The bytes of a `dense<...>`, splats written out."""
    from iree.compiler import ir

    try:
        values = ir.DenseElementsAttr(attribute)
    except ValueError:
        raise Unsupported(f"constant written as {str(attribute)[:60]}") from None
    element = str(ir.ShapedType(values.type).element_type)
    if element not in _ELEMENTS:
        raise Unsupported(f"constant of {element} elements")
    return np.ascontiguousarray(np.asarray(values)).tobytes()
