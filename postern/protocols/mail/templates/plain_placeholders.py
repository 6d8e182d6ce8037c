"""Fast path for templates that only contain `{{ name }}` placeholders, without the template engine.

Most templates are of this kind and are filled in one linear pass. All others need the engine, which runs in a separate
process.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

HOLES_MAX: Final = 100
CHARACTERS_MAX: Final = 100_000
"""Of the template, and of the result."""
NUMBER_MAX: Final = 10**15
"""The engine formats integers up to this size like Python does."""

_PLACEHOLDER = re.compile(r"\{\{ *([A-Za-z_][A-Za-z0-9_]{0,63}) *\}\}")
_RESERVED_NAMES: Final = frozenset((
    "true", "false", "none", "True", "False", "None", "and", "or", "not", "in", "is", "if", "else", "elif", "for",
    "loop", "self", "super", "caller", "range", "values", "debug", "namespace", "dict", "cycler", "joiner", "now",
    "lipsum",
))  # fmt: skip
"""Names with a meaning in the engine's language, left to the engine."""


def fill_placeholders(source: str, values: Mapping[str, Any]) -> str | None:
    """The template with its values, exactly as the engine would render it as text; None if it needs the engine.

    Names without a value render as an empty string.
    """
    if "{" not in source:
        return source
    if len(source) > CHARACTERS_MAX:
        return None
    names = _PLACEHOLDER.findall(source)
    if len(names) > HOLES_MAX or source.count("{") != 2 * len(names):
        return None
    filled: dict[str, str] = {}
    size = len(source)
    for name in names:
        text = filled.get(name)
        if text is None:
            text = _as_text(values[name]) if name in values else ""
            if text is None or name in _RESERVED_NAMES:
                return None
            filled[name] = text
        size += len(text)
    return None if size > CHARACTERS_MAX else _PLACEHOLDER.sub(lambda match: filled[match[1]], source)


def _as_text(value: object) -> str | None:
    if type(value) is str:
        return value
    return str(value) if type(value) is int and abs(value) <= NUMBER_MAX else None
