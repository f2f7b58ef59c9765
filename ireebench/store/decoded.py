"""A sequence that stays text until somebody looks into it: most readers of a large store never do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class Decoded(Sequence[T]):
    """The elements that `decode` finds in `text`; an empty list's text is false without being decoded."""

    __slots__ = ("_decode", "_text", "_values")

    def __init__(self, text: str, decode: Callable[[str], tuple[T, ...]]) -> None:
        self._text = text
        self._decode = decode
        self._values: tuple[T, ...] | None = None

    def _all(self) -> tuple[T, ...]:
        if self._values is None:
            self._values = self._decode(self._text)
        return self._values

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())

    def __bool__(self) -> bool:
        return self._text not in ("", "[]")

    def __iter__(self) -> Iterator[T]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        return self._all() == tuple(other) if isinstance(other, Decoded | tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())


def decoded(text: str | None, decode: Callable[[str], tuple[T, ...]]) -> Sequence[T]:
    """A sequence for a column that may hold nothing."""
    return Decoded(text, decode) if text and text != "[]" else ()
