"""Evaluates the assembler's integer expressions: `max(totalnumvgprs(f.num_agpr, f.num_vgpr), 1, 0)`.

Compilers since LLVM 20 write register counts as expressions over `.set` symbols. Reference: LLVM AMDGPU usage,
"Symbols" and "AMDGPU-specific expressions"; precedence as in C.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_TOKEN = re.compile(r"\s*(0[xX][0-9a-fA-F]+|\d+|[A-Za-z_.$][\w.$]*|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!(),<>])")
_MAX_DEPTH = 64


def _truncated_division(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


# operator -> (binding strength, function); true is -1 for comparisons in LLVM's assembler.
_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "||": (1, lambda a, b: int(bool(a or b))),
    "&&": (2, lambda a, b: int(bool(a and b))),
    "|": (3, operator.or_),
    "^": (4, operator.xor),
    "&": (5, operator.and_),
    "==": (6, lambda a, b: -int(a == b)),
    "!=": (6, lambda a, b: -int(a != b)),
    "<": (7, lambda a, b: -int(a < b)),
    ">": (7, lambda a, b: -int(a > b)),
    "<=": (7, lambda a, b: -int(a <= b)),
    ">=": (7, lambda a, b: -int(a >= b)),
    "<<": (8, lambda a, b: a << min(b, 63)),
    ">>": (8, lambda a, b: a >> b),
    "+": (9, operator.add),
    "-": (9, operator.sub),
    "*": (10, operator.mul),
    "/": (10, _truncated_division),
    "%": (10, lambda a, b: a - b * _truncated_division(a, b)),
}

_UNARY: dict[str, Callable[[int], int]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "!": lambda a: int(not a),
}


def _align(value: int, granule: int) -> int:
    return -(-value // granule) * granule


# totalnumvgprs is gfx90a's rule (one file for both kinds); earlier targets take the maximum, and have few AGPRs.
_FUNCTIONS: dict[str, Callable[..., int]] = {
    "max": max,
    "or": lambda *values: int(any(values)),
    "alignto": _align,
    "totalnumvgprs": lambda agpr, vgpr: _align(vgpr, 4) + agpr if agpr else vgpr,
    "extrasgprs": lambda vcc, flat_scratch, xnack: 6 if flat_scratch else 4 if xnack else 2 if vcc else 0,
}


def evaluate(text: str, symbols: Mapping[str, str]) -> int | None:
    """The value of an expression, with symbols as `.set` gave them; None when it can't be told."""
    text = text.strip()
    if text.isdecimal():
        return int(text)
    try:
        return _Parser(_tokens(text), symbols, {}).whole()
    except (_CannotError, ValueError, TypeError, ZeroDivisionError, OverflowError):
        return None


class _CannotError(Exception):
    """The expression is malformed, too deep, or names an unknown symbol."""


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _CannotError
        tokens.append(match.group(1))
        at = match.end()
    return tokens


@dataclass(slots=True)
class _Parser:
    """Precedence climbing over a list of tokens."""

    tokens: list[str]
    symbols: Mapping[str, str]
    known: dict[str, int]  # symbols evaluated so far: without it, `a = b+b, b = c+c, ...` takes exponential time
    at: int = 0
    depth: int = 0

    def whole(self) -> int:
        value = self._binary(0)
        if self.at != len(self.tokens):
            raise _CannotError
        return value

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        if not token:
            raise _CannotError
        self.at += 1
        return token

    def _binary(self, weakest: int) -> int:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise _CannotError
        value = self._unary()
        while (found := _BINARY.get(self._peek())) and found[0] >= weakest:
            self.at += 1
            value = found[1](value, self._binary(found[0] + 1))
        self.depth -= 1
        return value

    def _unary(self) -> int:
        signs = []
        while self._peek() in _UNARY:
            signs.append(self._take())
        value = self._primary()
        for sign in reversed(signs):
            value = _UNARY[sign](value)
        return value

    def _primary(self) -> int:
        token = self._take()
        if token == "(":
            value = self._binary(0)
            self._expect(")")
            return value
        if token[0].isdigit():
            return int(token, 0)
        if self._peek() == "(" and token in _FUNCTIONS:
            return self._call(token)
        return self._symbol(token)

    def _call(self, name: str) -> int:
        self._expect("(")
        arguments = [self._binary(0)]
        while self._peek() == ",":
            self.at += 1
            arguments.append(self._binary(0))
        self._expect(")")
        return _FUNCTIONS[name](*arguments)

    def _symbol(self, name: str) -> int:
        if name not in self.known:
            text = self.symbols.get(name)
            if text is None or self.depth > _MAX_DEPTH:
                raise _CannotError
            self.known[name] = _Parser(_tokens(text), self.symbols, self.known, depth=self.depth + 1).whole()
        return self.known[name]

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise _CannotError
