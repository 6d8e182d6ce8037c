"""Conversion of variables in Resend's templates, `{{{NAME|fallback}}}`, to tags of our template engine, and back.

Other text that our engine would read as a tag is plain text in Resend's templates, so it is escaped.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

CONTACT_NAMES: Mapping[str, str] = {
    "FIRST_NAME": "firstName",
    "LAST_NAME": "lastName",
    "EMAIL": "email",
    "contact.first_name": "contact.firstName",
    "contact.last_name": "contact.lastName",
    "RESEND_UNSUBSCRIBE_URL": "unsubscribe_url",
}
"""Names in a broadcast, with their names in our campaigns."""
_RESEND_NAMES = {ours: theirs for theirs, ours in CONTACT_NAMES.items()}

_VARIABLE = re.compile(r"\{\{\{\s*([A-Za-z_][\w.]*)\s*(?:\|([^{}]*))?\}\}\}|\{[{%#]")
"""A variable of Resend, or the beginning of a tag of our engine."""
_TAG = re.compile(r'\{\{ (?:"(\{[{%#])"|([A-Za-z_][\w.]*)(?:\|default\(((?:"(?:[^"\\]|\\.)*"|[^"()]*)), true\))?) \}\}')
"""What `from_resend_variables` writes."""


def from_resend_variables(
    text: str | None, fallbacks: Mapping[str, Any] | None = None, names: Mapping[str, str] | None = None
) -> str | None:
    """Convert Resend's variables in a text to tags of our template engine; None for None.

    `fallbacks` has fallback values for variables that have none in the text, keyed by name. `names` has our name of
    each variable that is renamed. In HTML, the engine escapes all values, also those of variables in three braces.
    """

    def tag(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return f'{{{{ "{match[0]}" }}}}'
        fallback = match[2] if match[2] is not None else (fallbacks or {}).get(name)
        ending = "" if fallback is None else f"|default({msgspec.json.encode(fallback).decode()}, true)"
        return f"{{{{ {(names or {}).get(name, name)}{ending} }}}}"

    return None if text is None else _VARIABLE.sub(tag, text)


def to_resend_variables(text: str | None, *, is_broadcast: bool = False) -> str | None:
    """Convert tags that `from_resend_variables` wrote back to Resend's variables. Other text, such as that of templates
    that were not created through this API, is unchanged."""

    def variable(match: re.Match[str]) -> str:
        if match[1]:
            return match[1]
        name = _RESEND_NAMES.get(match[2], match[2]) if is_broadcast else match[2]
        fallback = "" if match[3] is None else f"|{_read(match[3])}"
        return f"{{{{{{{name}{fallback}}}}}}}"

    return None if text is None else _TAG.sub(variable, text)


def fallbacks_of(*texts: str | None) -> dict[str, Any]:
    """The names of the variables in texts that `from_resend_variables` wrote, each with its fallback value or None."""
    matches = [match for text in texts for match in _TAG.finditer(text or "") if match[2]]
    return {match[2]: None if match[3] is None else _read(match[3]) for match in matches}


def _read(literal: str) -> Any:
    try:
        return msgspec.json.decode(literal)
    except msgspec.DecodeError:
        return literal
