"""A small grammar for filters over figures: `spills == 0 and vgpr < 128 and not lints has full-wait`.

    filter     := term ("or" term)*
    term       := factor ("and" factor)*
    factor     := "not" factor | "(" filter ")" | name operator value | name "is" ("known" | "unknown")
    operator   := "==" | "!=" | "<" | "<=" | ">" | ">=" | "has"
    value      := number | word | "quoted text"

Nothing is evaluated but comparisons. A comparison with a figure that is not known is false, so that an unknown is never
taken for a pass; `is unknown` asks for it. `has` looks for a word in a list, or for text in text.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ireebench.errors import UnknownNameError, UsageError

Figure = int | float | str | bool | Sequence[str] | None
Figures = Mapping[str, Figure]

ALIASES = {"spills": "vgpr_spills", "lds": "lds_bytes", "scratch": "scratch_bytes", "width": "load_width_bytes"}

_TOKEN = re.compile(r"""\s*("[^"]*"|'[^']*'|[<>=!]=|[<>()]|[\w.+-]+(?:[-.][\w]+)*)""")
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_KEYWORDS = frozenset(("and", "or", "not", "has", "is"))
_MAX_DEPTH = 50


class FilterError(UsageError):
    """A filter that can't be read; the message shows where."""


@dataclass(frozen=True, slots=True)
class Where:
    """A filter. `names` are the figures that it looks at."""

    text: str
    names: frozenset[str]
    _matches: Callable[[Figures], bool]

    def matches(self, figures: Figures) -> bool:
        """Whether the figures pass; a figure that is absent counts as unknown."""
        return self._matches(figures)


def parse_where(text: str, columns: Collection[str]) -> Where:
    """Reads a filter over `columns`; raises FilterError or UnknownNameError that say what is wrong and where."""
    parser = _Parser(text, _tokenise(text), frozenset(columns))
    matches = parser.either()
    if parser.at < len(parser.tokens):
        parser.fail("'and', 'or' or the end")
    return Where(text, frozenset(parser.names), matches)


def _tokenise(text: str) -> list[tuple[str, int]]:
    tokens, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            bad = len(text) - len(text[at:].lstrip())
            raise FilterError(f"filter '{text}': can't read '{text[bad : bad + 20].rstrip()}' at character {bad + 1}")
        tokens.append((match.group(1), match.start(1)))
        at = match.end()
    return tokens


class _Parser:
    """Recursive descent; each rule gives a function of the figures."""

    def __init__(self, text: str, tokens: list[tuple[str, int]], columns: frozenset[str]) -> None:
        self.text, self.tokens, self.columns = text, tokens, columns
        self.names: set[str] = set()
        self.at = 0
        self.depth = 0

    def fail(self, expected: str) -> None:
        token, at = self.tokens[self.at] if self.at < len(self.tokens) else ("", len(self.text))
        found = f"'{token}' at character {at + 1}" if token else "the end"
        raise FilterError(f"filter '{self.text}': expected {expected}, found {found}; e.g. spills == 0 and vgpr < 128")

    def _peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def _accept(self, token: str) -> bool:
        found = self._peek() == token
        self.at += found
        return found

    def either(self) -> Callable[[Figures], bool]:
        terms = [self._both()]
        while self._accept("or"):
            terms.append(self._both())
        return terms[0] if len(terms) == 1 else lambda figures: any(term(figures) for term in terms)

    def _both(self) -> Callable[[Figures], bool]:
        factors = [self._factor()]
        while self._accept("and"):
            factors.append(self._factor())
        return factors[0] if len(factors) == 1 else lambda figures: all(factor(figures) for factor in factors)

    def _factor(self) -> Callable[[Figures], bool]:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise FilterError(f"filter: nested more than {_MAX_DEPTH} deep")
        try:
            if self._accept("not"):
                inner = self._factor()
                return lambda figures: not inner(figures)
            if self._accept("("):
                group = self.either()
                if not self._accept(")"):
                    self.fail("')'")
                return group
            return self._comparison()
        finally:
            self.depth -= 1

    def _comparison(self) -> Callable[[Figures], bool]:
        name = self._name()
        if self._accept("is"):
            return self._is(name)
        sign = self._peek()
        if sign != "has" and sign not in _COMPARISONS:
            self.fail("a comparison (== != < <= > >=), 'has' or 'is'")
        self.at += 1
        value = self._value()
        if sign == "has":
            return lambda figures: _has(figures.get(name), value)
        return lambda figures: _compare(figures.get(name), sign, value)

    def _is(self, name: str) -> Callable[[Figures], bool]:
        if self._accept("known"):
            return lambda figures: figures.get(name) is not None
        if self._accept("unknown"):
            return lambda figures: figures.get(name) is None
        self.fail("'known' or 'unknown'")
        raise AssertionError("unreachable")

    def _name(self) -> str:
        word = self._peek()
        if not word or word in _KEYWORDS or not (word[0].isalpha() or word[0] == "_"):
            self.fail("a name")
        name = ALIASES.get(word, word)
        if name not in self.columns:
            raise UnknownNameError("figure", word, [*self.columns, *ALIASES], hint=f"in filter '{self.text}'")
        self.at += 1
        self.names.add(name)
        return name

    def _value(self) -> str:
        word = self._peek()
        if not word or word in _KEYWORDS or word in "()" or word in _COMPARISONS:
            self.fail("a value")
        self.at += 1
        return word[1:-1] if word[0] in "\"'" else word


def _compare(figure: Figure, sign: str, value: str) -> bool:
    if figure is None:
        return False
    number = _number(value)
    if isinstance(figure, bool):
        figure = "yes" if figure else "no"
    if isinstance(figure, int | float):
        return number is not None and _COMPARISONS[sign](figure, number)
    if not isinstance(figure, str):  # a list: its length
        return number is not None and _COMPARISONS[sign](len(figure), number)
    same = figure == value
    return same if sign == "==" else sign == "!=" and not same


def _has(figure: Figure, value: str) -> bool:
    return isinstance(figure, str | Sequence) and value in figure


def _number(text: str) -> float | None:
    try:
        return float(int(text, 0)) if not any(c in text for c in ".eE") or text[:2].lower() == "0x" else float(text)
    except ValueError:
        return None
