"""Attribute types: the type of a JSON value, and how CSV cells are parsed by type."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from types import NoneType
from typing import Any, Final, NamedTuple

import msgspec

from postern.kernel.http.pagination import unescape_formula
from postern.kernel.values import is_too_deep
from postern.messaging.audiences.model import AttributeType
from postern.messaging.audiences.rules import read_moment

NUMBER_LENGTH: Final = 400
"""Maximum characters of a cell that is parsed as a number; the largest double has 309 digits."""


class CellInvalid(Exception):
    """A cell that does not match the type of its attribute; the message says which format is expected."""


class KnownType(NamedTuple):
    """The type of an attribute, and whether it was declared or inferred."""

    type: AttributeType
    inferred: bool
    """Whether the type was inferred from values; then a cell that does not match it is kept as a string."""


KnownTypes = Mapping[str, KnownType]
"""Types of attributes by name."""
Reader = Callable[[str], Any]
"""Parses a non-empty cell; returns its value, or None for a blank cell. Raises CellInvalid."""
TypeParser = Callable[[str], Any]
"""Parses a cell as a value of one type; returns None if the cell does not match the type."""


def type_of(value: Any) -> AttributeType | None:
    """The attribute type of a JSON value; None for objects, null and empty strings."""
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return None if not value else "string" if read_moment(value) is None else "date"
        case list():
            return "list"
        case _:
            return None


def types_of(attributes_of_contacts: Iterable[dict[str, Any]]) -> dict[str, AttributeType]:
    """For each attribute name, the type of the first value that has a type."""
    types: dict[str, AttributeType] = {}
    for attributes in attributes_of_contacts:
        for name, value in attributes.items():
            if name not in types and (kind := type_of(value)) is not None:
                types[name] = kind
    return types


def can_hold(type: AttributeType | None, value: Any) -> bool:
    """Whether a cell of that type can hold the value, so that an import reads the same value back."""
    return type is not None and _HOLDS[type](value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_HOLDS: Final[dict[AttributeType, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str) and value != "",
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "date": lambda value: isinstance(value, str) and read_moment(value) is not None,
    "list": lambda value: isinstance(value, list),
}
"""Per type, whether a cell of it can hold a value."""


_ONLY: Final[dict[AttributeType, set[type]]] = {
    "string": {str, NoneType},
    "number": {int, float, NoneType},
    "boolean": {bool, NoneType},
    "date": {NoneType},
    "list": {list, NoneType},
}
"""Per type, classes of values that a cell of it can hold, except an empty string."""


def columns_of(types: Mapping[str, AttributeType], contacts: Sequence[dict[str, Any]]) -> list[list[Any]]:
    """The columns of exported contacts with these attributes: those of `types`, and a last column `attributes`.

    The last column has an object with the values that no other cell can hold, or None if there are none.
    """
    columns: list[list[Any]] = []
    for name, kind in types.items():
        values = [attributes.get(name) for attributes in contacts]
        if not set(map(type, values)) <= _ONLY[kind] or (kind == "string" and "" in values):
            holds = _HOLDS[kind]
            if kind == "date":  # Contacts share dates, and parsing one takes most of the time of a row.
                dates = {text for text in {value for value in values if type(value) is str} if holds(text)}
                values = [value if type(value) is str and value in dates else None for value in values]
            else:
                values = [value if value is not None and holds(value) else None for value in values]
        columns.append(values)
    count = sum(len(values) - values.count(None) for values in columns)
    if count == sum(map(len, contacts)):
        return [*columns, [None] * len(contacts)]
    others = [
        {name: value for name, value in attributes.items() if not can_hold(types.get(name), value)} or None
        for attributes in contacts
    ]
    return [*columns, others]


_PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,15})?")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_LENIENT_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def infer(cells: Iterable[str]) -> AttributeType | None:
    """The type that all cells of a column match, otherwise `string`; None if all cells are blank or JSON objects.

    Cells with leading zeros, plus signs or more than 15 digits are strings: they are codes or telephone numbers.
    """
    common: str | None = None
    for cell in cells:
        if cell and not cell.isspace():
            kind = _kind_of(cell)
            if kind == "string" or common not in (None, kind):
                return "string"
            common = kind
    return None if common == "object" else common  # pyright: ignore[reportReturnType]


def _kind_of(cell: str) -> str:
    """The type that a cell matches; `object` for a JSON object, which is no attribute type."""
    first = cell[0]
    if first in "-0123456789" and _PLAIN_NUMBER.fullmatch(cell):
        return "number"
    if first in "0123456789":
        return "string" if read_moment(cell) is None else "date"
    if first in "tTfF" and cell.lower() in ("true", "false"):
        return "boolean"
    if first in "[{":
        value = _json(cell)
        return "list" if isinstance(value, list) else "object" if isinstance(value, dict) else "string"
    return "string"


def reader_of(known_type: KnownType | None) -> Reader:
    """The parser for cells of an attribute with this type.

    For a cell that does not match, the parser raises CellInvalid if the type was declared, and returns a string if the
    type was inferred. Without a type (None), cells are JSON objects or strings.
    """
    if known_type is None:
        return _object_or_text
    if known_type.type == "string":
        return _text
    if known_type.type == "date" and known_type.inferred:
        return _inferred_date
    strict, lenient, error = _PARSERS[known_type.type]

    def read(cell: str) -> Any:
        value = strict(cell)
        if value is not None:
            return value
        text = unescape_formula(cell)
        stripped = text.strip()
        if not stripped:
            return None
        value = (strict if known_type.inferred else lenient)(stripped)
        if value is None and not known_type.inferred:
            raise CellInvalid(f"{error}; the attribute is declared as {known_type.type}")
        return text if value is None else value

    return read


def _text(cell: str) -> str:
    return unescape_formula(cell) if cell[0] == "'" else cell


def _object_or_text(cell: str) -> Any:
    value = _json(cell) if cell[0] == "{" else None
    return value if isinstance(value, dict) else unescape_formula(cell)  # pyright: ignore[reportUnknownVariableType]


def _json(text: str) -> Any:
    """The value of a JSON cell; None if it is not JSON or is nested too deeply."""
    try:
        value = msgspec.json.decode(text)
        return None if is_too_deep(text.encode()) else value
    except (msgspec.DecodeError, RecursionError):
        return None


def _number(text: str) -> int | float | None:
    if _PLAIN_NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return _parse_number(text, _NUMBER)


def _parse_number(text: str, pattern: re.Pattern[str]) -> int | float | None:
    if len(text) > NUMBER_LENGTH or not pattern.fullmatch(text):
        return None
    number = float(text)
    if not isfinite(number):
        return None
    return int(text) if text.lstrip("+-").isdigit() else number


def _lenient_number(text: str) -> int | float | None:
    return _parse_number(text, _LENIENT_NUMBER)


_BOOLEANS: Final[dict[str, bool]] = {"true": True, "false": False}
_TRUE_WORDS: Final = ("true", "yes", "1", "y", "t")
_FALSE_WORDS: Final = ("false", "no", "0", "n", "f")


def _inferred_date(cell: str) -> str | None:
    """Parse a cell of an inferred date attribute. Non-dates are kept as strings, so most cells need no parsing."""
    if cell[0] in "0123456789" and not cell[-1].isspace():
        return cell
    text = unescape_formula(cell)
    stripped = text.strip()
    return stripped if read_moment(stripped) else text if stripped else None


def _boolean(text: str) -> bool | None:
    return _BOOLEANS.get(text if text in _BOOLEANS else text.lower())


def _lenient_boolean(text: str) -> bool | None:
    word = text.lower()
    return True if word in _TRUE_WORDS else False if word in _FALSE_WORDS else None


def _date(text: str) -> str | None:
    return None if read_moment(text) is None else text


def _list(text: str) -> list[Any] | None:
    value = _json(text) if text[0] == "[" else None
    return value if isinstance(value, list) else None  # pyright: ignore[reportUnknownVariableType]


_PARSERS: Final[dict[AttributeType, tuple[TypeParser, TypeParser, str]]] = {
    "number": (_number, _lenient_number, "is not a number like 1234.5"),
    "boolean": (_boolean, _lenient_boolean, "is neither true nor false"),
    "date": (_date, _date, "is not an ISO 8601 date like 2026-01-31"),
    "list": (_list, _list, 'is not a JSON list like ["a", "b"]'),
}
"""Per type: the strict parser, which is used first and alone if the type is inferred; the lenient parser, which is
also used if the type is declared; and the error message."""
