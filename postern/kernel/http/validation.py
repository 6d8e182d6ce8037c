"""Rejects invalid values of requests, with their location. Turns msgspec's validation errors into sentences with the
allowed values, which describe a pattern in words instead of showing the regular expression."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import inspect

from postern.kernel.http.problems import Invalid, ProblemError

CHOICES_SHOWN = 60
"""Maximum number of allowed values in a message."""

TYPE_NAMES = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
    "object": "an object",
    "array": "a list",
    "uuid": "an identifier (a UUID)",
    "datetime": "a time, such as 2026-01-31T12:00:00Z",
    "date": "a date, such as 2026-01-31",
    "bytes": "text in base64",
}
"""Names of JSON types in messages."""

SENTENCES = {
    "Invalid RFC3339 encoded datetime": "Expected a time in ISO 8601, such as 2026-01-31T12:00:00Z.",
    "Expected `datetime` with a timezone component": "Expected a time with its zone, such as 2026-01-31T12:00:00Z.",
    "Invalid RFC3339 encoded date": "Expected a date in ISO 8601, such as 2026-01-31.",
    "Invalid UUID": "Expected an identifier (a UUID).",
    "Invalid base64 encoded string": "Expected text in base64.",
    "Number out of range": "This number is out of range.",
    "Integer value out of range": "This number is out of range.",
}

UNKNOWN_PARAMETERS_LIMIT = 20
"""Maximum number of unknown parameters in one response."""


def invalid_value(error: msgspec.ValidationError, kind: Any, place: str = "") -> Invalid:
    """The problem for a decoder's error about a value of the type `kind`.

    `place` is the location of the value: empty for a body, `query/name` or `header/Name` for a parameter.
    """
    text, _, location = str(error).partition(" - at ")
    # `[...]` is an object key that the decoder does not name, so the pointer ends at the object.
    path, unnamed_key, _ = location.rpartition("`$")[2].rstrip("`").partition("[...]")
    steps = [step.strip(".[]") for step in re.findall(r"\.[^.\[]+|\[[^\]]*\]", path)]
    pointer = place + "".join("/" + step for step in steps)
    last_step = ["..."] if unnamed_key else []
    if match := re.search(r"missing required field `(.+)`", text):
        return Invalid.at(f"{pointer}/{match[1]}", f"`{match[1]}` is required.", "required")
    if match := re.search(r"unknown field `(.+)`", text):
        names = _field_names(_types_at(kind, steps + last_step))
        return Invalid.at(
            f"{pointer}/{match[1]}", f"There is no field `{match[1]}` here{_list_fields(names)}", "unknown_field"
        )
    return Invalid.at(pointer, _sentence(text, kind, steps + last_step, is_parameter=bool(place)))


def reject_unknown(sent: Iterable[tuple[str, Any]], allowed: frozenset[str]) -> None:
    """Raises Invalid for undeclared and for repeated query parameters."""
    names = [name for name, _ in sent]
    unknown = [name for name in dict.fromkeys(names) if name not in allowed]
    if unknown:
        raise _unknown_parameters(unknown, allowed)
    for name in allowed:
        if names.count(name) > 1:
            raise Invalid.at(f"query/{name}", f"`{name}` must be sent only once.", "repeated_parameter")


def _unknown_parameters(unknown: Sequence[str], allowed: Iterable[str]) -> Invalid:
    """The problem for unknown query parameters; the message lists the known ones."""
    names = sorted(allowed)
    accepted = f"it accepts {_join_names(names)}" if names else "it accepts none"
    reported = [name[:100] for name in unknown[:UNKNOWN_PARAMETERS_LIMIT]]
    errors = [
        ProblemError(
            path=f"query/{name}",
            code="unknown_parameter",
            message=f"This operation has no query parameter `{name}`; {accepted}.",
        )
        for name in reported
    ]
    detail = f"This operation has no query parameter {_join_names(reported)}; {accepted}."
    return Invalid(errors[0].message if len(errors) == 1 else detail, errors=errors)


def reject_unstorable(value: Any, path: str = "") -> None:
    """Raises Invalid for values that PostgreSQL cannot store.

    These are NUL, unpaired surrogates, and timestamps outside the years 1 to 9999 in UTC.
    """
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise Invalid.at(path, "This text contains a NUL character or an unpaired surrogate.", "unstorable")
    elif isinstance(value, datetime):
        reject_out_of_range(value, path)
    elif isinstance(value, msgspec.Struct):
        for name, wire_name in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
            reject_unstorable(getattr(value, name), f"{path}/{wire_name}")
    elif isinstance(value, list):
        for index, item in enumerate(value):  # pyright: ignore[reportUnknownArgumentType]
            reject_unstorable(item, f"{path}/{index}")
    elif isinstance(value, dict):
        for key, item in value.items():
            reject_unstorable(key, path)
            reject_unstorable(item, f"{path}/{key}")


def reject_out_of_range(moment: datetime, path: str) -> None:
    """Raises Invalid for a time outside the years 1 to 9999 in UTC."""
    try:
        moment.astimezone(UTC)
    except OverflowError:
        raise Invalid.at(path, "This time is not within the years 1 to 9999 in UTC.", "unstorable") from None


def _sentence(text: str, kind: Any, steps: list[str], *, is_parameter: bool) -> str:
    if text in SENTENCES:
        return SENTENCES[text]
    types = _types_at(kind, steps)
    if match := re.match(r"Invalid (?:enum )?value (.*)", text, re.DOTALL):
        choices = _choices(types) or _tag_values(kind, steps)
        if choices:
            allowed = ", ".join(map(str, choices[:CHOICES_SHOWN]))
            return f"Expected one of {allowed}; found {match[1][:100]}."
    if " matching regex " in text:
        texts = [description for description in map(_pattern_description, types) if description]
        return f"This value does not have the expected form. Expected: {texts[0]}" if texts else "Not a valid value."
    if match := re.match(r"Expected `(\w+)`(?: of length)? (<=|>=|<|>) (\S+)", text):
        return _limit_sentence(match[1], match[2], match[3], is_length="of length" in text)
    if match := re.match(r"Expected `([^`]+)`(?:, got `(\w+)`)?$", text):
        expected = " or ".join(TYPE_NAMES.get(word, word) for word in match[1].split(" | "))
        if is_parameter or not match[2]:
            return f"Expected {expected}."
        return f"Expected {expected}; found {TYPE_NAMES.get(match[2], match[2]).replace('true or false', 'a boolean')}."
    return text.rstrip(".") + "."


def _limit_sentence(word: str, sign: str, limit: str, *, is_length: bool) -> str:
    bound = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}[sign]
    if not is_length:
        return (
            f"Expected a number of {bound} {limit}." if "than" not in bound else f"Expected a number {bound} {limit}."
        )
    unit = {"str": "character", "array": "item", "object": "field"}.get(word, "byte")
    return f"Expected {bound} {limit} {unit}{'' if limit == '1' else 's'}."


def _join_names(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else quoted[0]


def _list_fields(names: Sequence[str]) -> str:
    return f"; there are {_join_names(names[:CHOICES_SHOWN])}." if names else "."


def _types_at(kind: Any, steps: list[str]) -> list[Any]:
    """The possible types of a value at this location, with their metadata."""
    types = _union_members(inspect.type_info(kind))
    for step in steps:
        types = [member for info in types for child in _child_types(info, step) for member in _union_members(child)]
    return types


def _union_members(info: Any) -> list[Any]:
    bare = _without_metadata(info)
    if isinstance(bare, inspect.UnionType):
        return [nested for member in bare.types for nested in _union_members(member)]
    return [info]


def _without_metadata(info: Any) -> Any:
    while isinstance(info, inspect.Metadata):
        info = info.type
    return info


def _child_types(info: Any, step: str) -> list[Any]:
    bare = _without_metadata(info)
    if isinstance(bare, inspect.StructType):
        return [field.type for field in bare.fields if field.encode_name == step]
    if isinstance(bare, inspect.DictType):
        return [bare.value_type]
    item = getattr(bare, "item_type", None)
    return [item] if item is not None else []


def _choices(types: Iterable[Any]) -> list[Any]:
    choices: list[Any] = []
    for info in map(_without_metadata, types):
        if isinstance(info, inspect.LiteralType):
            choices += info.values
        elif isinstance(info, inspect.EnumType):
            choices += [member.value for member in info.cls]
    return list(dict.fromkeys(choices))


def _tag_values(kind: Any, steps: list[str]) -> list[Any]:
    """The possible values of the tag field of a tagged union."""
    if not steps:
        return []
    structs = _structs_of(_types_at(kind, steps[:-1]))
    return [struct.tag for struct in structs if struct.tag_field == steps[-1]]


def _field_names(types: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(field.encode_name for struct in _structs_of(types) for field in struct.fields))


def _structs_of(types: Iterable[Any]) -> list[inspect.StructType]:
    return [info for info in map(_without_metadata, types) if isinstance(info, inspect.StructType)]


def _pattern_description(info: Any) -> str | None:
    """The innermost description of a string type with a pattern."""
    bare, description = _without_metadata(info), None
    while isinstance(info, inspect.Metadata):
        description = (info.extra_json_schema or {}).get("description") or description
        info = info.type
    return description if isinstance(bare, inspect.StrType) and bare.pattern else None
