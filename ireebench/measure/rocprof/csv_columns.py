"""Reads chosen columns of a large CSV file into arrays, with numpy alone.

A kernel trace has one line a dispatch and a million lines are common; the standard csv module needs several seconds for
that and pandas as long again to be imported. Here separators are found for a whole block at once, numbers are converted
eight digits at a time, and text columns with few distinct values are looked up, not copied.
"""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
_BLOCK = 1 << 20  # bytes read at once: large against numpy's call overhead, and its arrays stay in the cache
_PAD = 32  # zero bytes before a block, so that the digits before its first comma can be read as whole words
_QUOTE, _COMMA, _NEWLINE, _RETURN = 34, 44, 10, 13
_THREADS = 2
_Parsed = TypeVar("_Parsed")
_Bytes = npt.NDArray[np.uint8]
_Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Number:
    """A numeric column: its whole part, its fraction in thousandths, and where it is a number at all."""

    whole: Ints
    milli: Ints
    valid: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Text:
    """A run of adjacent columns as codes into `values`; a value is the run's fields, unquoted."""

    codes: Ints
    values: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Scan:
    """What was read: one Number for each column asked for, one Text for each run, and lines that were no record."""

    numbers: tuple[Number, ...]
    texts: tuple[Text, ...]
    malformed: int


def header(path: Path) -> tuple[str, ...]:
    """The column names, stripped; empty for an empty file. Raises OSError."""
    with path.open("rb") as f:
        line = f.readline().decode("utf-8-sig", "replace")
    try:
        return tuple(c.strip() for c in _fields_of(line.rstrip("\r\n")))
    except csv.Error:  # a name of a megabyte: no header
        return ()


def _fields_of(line: str) -> list[str]:
    """One line's fields; a stray carriage return or a NUL, which csv refuses, counts as a blank."""
    return next(csv.reader([line.replace("\r", " ").replace("\0", " ")]), [])


def scan(path: Path, width: int, numbers: Sequence[int], runs: Sequence[tuple[int, int]]) -> Scan:
    """Reads the columns `numbers` and the column runs [first, last] of a file with a header of `width` columns.

    Lines with another number of fields (a truncated last line) are counted, blank lines are not. Raises OSError.
    """
    columns: list[list[Number]] = [[] for _ in numbers]
    lookups = [_Lookup() for _ in runs]
    codes: list[list[Ints]] = [[] for _ in runs]
    malformed = 0
    for fields, parsed in _ahead(_blocks(path), lambda block: _parse(block, width, numbers)):
        malformed += fields.malformed
        for out, column in zip(columns, parsed, strict=True):
            out.append(column)
        for coded, lookup, (first, last) in zip(codes, lookups, runs, strict=True):
            coded.append(_codes(fields, first, last, lookup))
    return Scan(
        tuple(_join(c) for c in columns),
        tuple(Text(_cat(c), tuple(_unquote(v) for v in lookup)) for c, lookup in zip(codes, lookups, strict=True)),
        malformed,
    )


def _parse(block: bytes, width: int, numbers: Sequence[int]) -> tuple[_Fields, list[Number]]:
    fields = _split(block, width)
    return fields, [_numbers(fields, column) for column in numbers]


def _ahead(blocks: Iterator[bytes], parse: Callable[[bytes], _Parsed]) -> Iterator[_Parsed]:
    """Parses a few blocks ahead in threads, in order: numpy lets go of the interpreter, looking names up does not."""
    with ThreadPoolExecutor(_THREADS) as pool:
        waiting: deque[Future[_Parsed]] = deque()
        for block in blocks:
            waiting.append(pool.submit(parse, block))
            if len(waiting) > _THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _cat(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _join(parts: list[Number]) -> Number:
    valid = np.concatenate([p.valid for p in parts]) if parts else np.empty(0, bool)
    return Number(_cat([p.whole for p in parts]), _cat([p.milli for p in parts]), valid)


def _blocks(path: Path) -> Iterator[bytes]:
    """Whole lines, some megabytes at a time, each block behind `_PAD` zero bytes; the header is left out."""
    pad = bytes(_PAD)
    with path.open("rb") as f:
        f.readline()
        rest = b""
        while data := f.read(_BLOCK):
            cut = data.rfind(b"\n") + 1
            if not cut:
                rest += data
                continue
            yield pad + rest + data[:cut]
            rest = data[cut:]
        if rest.strip():
            yield pad + rest + b"\n"


class _Lookup(dict[bytes, int]):
    """Numbers each distinct key at first sight; a dict, so that looking up a million keys stays in C."""

    def __missing__(self, key: bytes) -> int:
        self[key] = code = len(self)
        return code


@dataclass(frozen=True, slots=True)
class _Fields:
    """A block, and for each record where its fields begin and end (indices into the block)."""

    data: bytes
    raw: _Bytes
    ends: Ints  # (records, width): the separator that ends each field
    first: Ints  # (records,): where the first field begins
    malformed: int

    def begin(self, column: int) -> Ints:
        return self.first if column == 0 else self.ends[:, column - 1] + 1


def _split(data: bytes, width: int) -> _Fields:
    raw = np.frombuffer(data, np.uint8)
    # Quotes are found together with separators: parity over those few is far cheaper than over every byte.
    at = np.flatnonzero((raw == _COMMA) | (raw == _NEWLINE) | (raw == _QUOTE))
    kind = raw[at]
    quote = (kind == _QUOTE).view(np.uint8)
    # A newline ends a record even in quotes: no kernel is named across lines, but files are cut off.
    separates = ((np.bitwise_xor.accumulate(quote) | quote) == 0) | (kind == _NEWLINE)
    at, kind = at[separates], kind[separates]
    lines = np.flatnonzero(kind == _NEWLINE)
    sizes = np.diff(lines, prepend=-1)
    good = sizes == width
    line_starts = np.concatenate(([_PAD], at[lines[:-1]] + 1)) if len(lines) else np.empty(0, np.int64)
    if good.all():
        return _Fields(data, raw, at.reshape(-1, width), line_starts, 0)
    blank = (sizes == 1) & (at[lines] - line_starts <= 1)
    bad = int(np.count_nonzero(~good & ~blank))
    if bad and b'"' in data and width > 1:
        return _split_slowly(data, width)
    ends = at[(lines[good] - width + 1)[:, None] + np.arange(width)]
    return _Fields(data, raw, ends, line_starts[good], bad)


def _split_slowly(data: bytes, width: int) -> _Fields:
    """For a block with a bad line: its quote may be left open, so that parity is wrong after it. Line by line."""
    rows, malformed = [], 0
    for text in data[_PAD:].decode("utf-8", "replace").split("\n"):
        line = _fields_of(text)
        if len(line) == width and text.count('"') % 2 == 0:
            rows.append(line)
        elif any(line):
            malformed += 1
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    clean = bytes(_PAD) + out.getvalue().encode()
    fields = _split(clean, width)
    return _Fields(fields.data, fields.raw, fields.ends, fields.first, malformed)


def _trim(fields: _Fields, column: int) -> tuple[Ints, Ints]:
    """Begin and end of a column's text without its quotes and a carriage return."""
    begin, end = fields.begin(column), fields.ends[:, column]
    if not len(begin):
        return begin, end
    end = end - (fields.raw[end - 1] == _RETURN)
    quoted = (fields.raw[begin] == _QUOTE) & (end - begin >= 2)
    return begin + quoted, end - quoted


def _codes(fields: _Fields, first: int, last: int, lookup: _Lookup) -> Ints:
    begin, end = fields.begin(first), fields.ends[:, last]
    if len(begin) and _all_equal(fields, begin, end):
        return np.full(len(begin), lookup[fields.data[begin[0] : end[0]]], np.int64)
    keys = map(fields.data.__getitem__, map(slice, begin.tolist(), end.tolist()))
    return np.fromiter(map(lookup.__getitem__, keys), np.int64, len(begin))


def _all_equal(fields: _Fields, begin: Ints, end: Ints) -> bool:
    """Whether a block has one value throughout, as the agent of a program on one GPU: then nothing is looked up."""
    length = int(end[0] - begin[0])
    if ((end - begin) != length).any():
        return False
    if length < 8:
        return all(bool((fields.raw[begin + i] == fields.raw[begin[0] + i]).all()) for i in range(length))
    words = _words(fields)
    steps = (*range(0, length - 8, 8), length - 8)
    return all(bool((words[begin + i] == words[begin[0] + i]).all()) for i in steps)


def _words(fields: _Fields) -> _Words:
    """The block as an eight-byte word at every byte."""
    return np.ndarray((len(fields.data) - 7,), "<u8", fields.data, 0, (1,))


def _unquote(value: bytes) -> tuple[str, ...]:
    line = value.decode("utf-8", "replace").rstrip("\r")
    return tuple(_fields_of(line)) or ("",)  # an empty line is a row of no fields, not of one empty field


_ASCII_ZEROS = np.uint64(0x3030303030303030)
_HIGH_NIBBLES = np.uint64(0xF0F0F0F0F0F0F0F0)
_SIXES = np.uint64(0x0606060606060606)


def _eight_digits(words: _Words) -> _Words:
    """The number that eight ASCII digits in each little-endian word spell, by pairs, fours and eights."""
    pairs = (words - _ASCII_ZEROS) * np.uint64(10) + ((words - _ASCII_ZEROS) >> np.uint64(8))
    mask = np.uint64(0x000000FF000000FF)
    low = (pairs & mask) * np.uint64(0x000F424000000064)
    high = ((pairs >> np.uint64(16)) & mask) * np.uint64(0x0000271000000001)
    return (low + high) >> np.uint64(32)


def _numbers(fields: _Fields, column: int) -> Number:
    begin, end = _trim(fields, column)
    n = len(begin)
    if n == 0:
        return Number(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, bool))
    length = end - begin
    words = _words(fields)
    value = np.zeros(n, np.uint64)
    plain = (length > 0) & (length <= 18)  # 18 digits fit an int64 whatever they are
    for part in range(3):
        digits = np.clip(length - 8 * part, 0, 8)
        if not digits.any():
            break
        shift = (8 * (8 - digits)).astype(np.uint64)
        some = digits > 0
        word = words[np.maximum(end - 8 * (part + 1), 0)]
        # Keep the last `digits` bytes, which are the word's high ones; put zeros below. A shift by 64 is undefined.
        keep = np.where(some, ~np.uint64(0) << np.minimum(shift, np.uint64(63)), np.uint64(0))
        word = (word & keep) | (_ASCII_ZEROS & ~keep)
        plain &= ((word & _HIGH_NIBBLES) == _ASCII_ZEROS) & (((word + _SIXES) & _HIGH_NIBBLES) == _ASCII_ZEROS)
        value += _eight_digits(word) * np.uint64(10 ** (8 * part))
    whole = value.astype(np.int64)
    milli = np.zeros(n, np.int64)
    valid = plain.copy()
    for i in np.flatnonzero(~plain).tolist():
        whole[i], milli[i], valid[i] = _decimal(fields.data[begin[i] : end[i]])
    return Number(whole, milli, valid)


def _decimal(text: bytes) -> tuple[int, int, bool]:
    """A number that is not plain digits: whole part (rounded down) and thousandths; False when it is none."""
    try:
        number = Decimal(text.decode().strip())
        whole = int(number // 1) if number >= 0 else -int(-number // 1)
        milli = int((number - whole) * 1000)
    except (ArithmeticError, ValueError):  # Decimal's own errors are arithmetic ones
        return 0, 0, False
    return (whole, milli, True) if abs(whole) < 2**63 else (0, 0, False)
