"""The user's mistakes and missing tools: one class each; the message says what, where and what to do.

Outcomes of candidates (a compile that fails, a wrong result) are values, never exceptions: see `ireebench.outcome`.
"""

from __future__ import annotations

from collections.abc import Iterable


class UserError(Exception):
    """A mistake that the user can mend. `exit_code` is what the command line ends with (2: usage, 1: anything else)."""

    exit_code = 1


class UsageError(UserError):
    """The command line or an input file asks for something that does not exist or makes no sense."""

    exit_code = 2


class UnknownNameError(UsageError):
    """A name that is in no table; the message gives the nearest ones."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        import difflib

        names = sorted(known)
        near = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.5)
        tail = f"; nearest: {', '.join(near)}" if near else f"; known: {', '.join(names[:12])}"
        super().__init__(f"no {kind} matches '{name}'{tail}{f' ({hint})' if hint else ''}")


class BadShapeError(UsageError):
    """A shape that is malformed, not positive, too large, or of a rank that no form serves."""


class BadFileError(UsageError):
    """A file of the user's that does not say what it must; the message names the file and the key or line."""


class MissingToolError(UserError):
    """A program or package that is needed and absent; the message says how to get it."""


class OutputError(UserError):
    """A place that the user named and that cannot be written."""


class StoreError(UserError):
    """A store that is locked, truncated, of a newer version, or no store at all."""


class MissingStoreError(StoreError):
    """A store that was named and is not there."""

    exit_code = 2
