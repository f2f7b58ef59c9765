"""Renders the MLIR templates of the `mlir` folder: substitution only; a value that is missing is an error."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from ireebench import resources

if TYPE_CHECKING:
    import jinja2


def _present(value: object) -> object:
    """Refuses None: a value that does not apply must not reach the text."""
    if value is None:
        raise ValueError("a template uses a value that this candidate does not have")
    return value


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    # MLIR is no markup: nothing is escaped.
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.folder("mlir")),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        finalize=_present,
    )


def render(template: str, values: Mapping[str, object]) -> str:
    """The template called `template`, such as "rows.mlir.j2", with `values` filled in."""
    return _environment().get_template(template).render(values)
