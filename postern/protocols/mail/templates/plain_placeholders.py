"""Templates that do nothing but name values: what becomes of them is known without the template engine.

Most templates are such ones. They are filled in one pass of linear time, wherever they are needed; all others are for
the engine, in a process of its own.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

HOLES_MAX: Final = 100
CHARACTERS_MAX: Final = 100_000
"""Of the template, and of what it becomes."""
NUMBER_MAX: Final = 10**15
"""Whole numbers up to this one are written by the engine as Python writes them."""

_HOLE = re.compile(r"\{\{ *([A-Za-z_][A-Za-z0-9_]{0,63}) *\}\}")
_NO_NAMES: Final = frozenset((
    "true", "false", "none", "True", "False", "None", "and", "or", "not", "in", "is", "if", "else", "elif", "for",
    "loop", "self", "super", "caller", "range", "values", "debug", "namespace", "dict", "cycler", "joiner", "now",
    "lipsum",
))  # fmt: skip
"""What an expression may be that looks like a name: for the engine to judge."""


def fill_placeholders(source: str, values: Mapping[str, Any]) -> str | None:
    """The template with its values, as the engine would render it as text; None where only the engine can tell.

    Names without a value are left empty.
    """
    if "{" not in source:
        return source
    if len(source) > CHARACTERS_MAX:
        return None
    names = _HOLE.findall(source)
    if len(names) > HOLES_MAX or source.count("{") != 2 * len(names):
        return None
    filled: dict[str, str] = {}
    size = len(source)
    for name in names:
        text = filled.get(name)
        if text is None:
            text = _written(values[name]) if name in values else ""
            if text is None or name in _NO_NAMES:
                return None
            filled[name] = text
        size += len(text)
    return None if size > CHARACTERS_MAX else _HOLE.sub(lambda hole: filled[hole[1]], source)


def _written(value: object) -> str | None:
    if type(value) is str:
        return value
    return str(value) if type(value) is int and abs(value) <= NUMBER_MAX else None
