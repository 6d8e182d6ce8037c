"""What is wrong with a value, as a sentence for the caller: where it is, what is allowed there, never a pattern."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import inspect

from postern.kernel.http.problems import Invalid, ProblemError

CHOICES_SHOWN = 60
"""Allowed values that a message lists."""

WORDS = {
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
"""What the JSON types are called in messages."""

SENTENCES = {
    "Invalid RFC3339 encoded datetime": "Expected a time in ISO 8601, such as 2026-01-31T12:00:00Z.",
    "Expected `datetime` with a timezone component": "Expected a time with its zone, such as 2026-01-31T12:00:00Z.",
    "Invalid RFC3339 encoded date": "Expected a date in ISO 8601, such as 2026-01-31.",
    "Invalid UUID": "Expected an identifier (a UUID).",
    "Invalid base64 encoded string": "Expected text in base64.",
    "Number out of range": "This number is out of range.",
    "Integer value out of range": "This number is out of range.",
}

FAULTS_LIMIT = 20
"""Unknown parameters that one answer names."""


def invalid_value(error: msgspec.ValidationError, kind: Any, place: str = "") -> Invalid:
    """The decoder's complaint about a value of the type `kind` as a problem.

    `place` is where the value stands: empty for a body, `query/name` or `header/Name` for a parameter.
    """
    text, _, where = str(error).partition(" - at ")
    # `[...]` is a key that the decoder does not name: the pointer ends at what holds it.
    path = where.rpartition("`$")[2].rstrip("`").partition("[...]")
    steps = [step.strip(".[]") for step in re.findall(r"\.[^.\[]+|\[[^\]]*\]", path[0])]
    pointer = place + "".join("/" + step for step in steps)
    below = ["..."] if path[1] else []
    if found := re.search(r"missing required field `(.+)`", text):
        return Invalid.at(f"{pointer}/{found[1]}", f"`{found[1]}` is required.", "required")
    if found := re.search(r"unknown field `(.+)`", text):
        names = _field_names(_types_at(kind, steps + below))
        return Invalid.at(
            f"{pointer}/{found[1]}", f"There is no field `{found[1]}` here{_listed(names)}", "unknown_field"
        )
    return Invalid.at(pointer, _sentence(text, kind, steps + below, is_parameter=bool(place)))


def unknown_parameters(unknown: Sequence[str], allowed: Iterable[str]) -> Invalid:
    """Query parameters that an operation does not take, and those that it takes."""
    names = sorted(allowed)
    takes = f"it takes {_and(names)}" if names else "it takes none"
    shown = [name[:100] for name in unknown[:FAULTS_LIMIT]]
    faults = [
        ProblemError(
            path=f"query/{name}",
            code="unknown_parameter",
            message=f"This operation has no query parameter `{name}`; {takes}.",
        )
        for name in shown
    ]
    detail = f"This operation has no query parameter {_and(shown)}; {takes}."
    return Invalid(faults[0].message if len(faults) == 1 else detail, errors=faults)


def _sentence(text: str, kind: Any, steps: list[str], *, is_parameter: bool) -> str:
    if text in SENTENCES:
        return SENTENCES[text]
    types = _types_at(kind, steps)
    if found := re.match(r"Invalid (?:enum )?value (.*)", text, re.DOTALL):
        choices = _choices(types) or _tags(kind, steps)
        if choices:
            shown = ", ".join(str(each) for each in choices[:CHOICES_SHOWN])
            return f"Expected one of {shown}; found {found[1][:100]}."
    if " matching regex " in text:
        forms = [form for form in map(_form, types) if form]
        return f"This value does not have the expected form. Expected: {forms[0]}" if forms else "Not a valid value."
    if found := re.match(r"Expected `(\w+)`(?: of length)? (<=|>=|<|>) (\S+)", text):
        return _bound(found[1], found[2], found[3], is_length="of length" in text)
    if found := re.match(r"Expected `([^`]+)`(?:, got `(\w+)`)?$", text):
        expected = " or ".join(WORDS.get(word, word) for word in found[1].split(" | "))
        if is_parameter or not found[2]:
            return f"Expected {expected}."
        return f"Expected {expected}; found {WORDS.get(found[2], found[2]).replace('true or false', 'a boolean')}."
    return text.rstrip(".") + "."


def _bound(word: str, sign: str, limit: str, *, is_length: bool) -> str:
    bound = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}[sign]
    if not is_length:
        return (
            f"Expected a number of {bound} {limit}." if "than" not in bound else f"Expected a number {bound} {limit}."
        )
    unit = {"str": "character", "array": "item", "object": "field"}.get(word, "byte")
    return f"Expected {bound} {limit} {unit}{'' if limit == '1' else 's'}."


def _and(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else quoted[0]


def _listed(names: Sequence[str]) -> str:
    return f"; there are {_and(names[:CHOICES_SHOWN])}." if names else "."


def _types_at(kind: Any, steps: list[str]) -> list[Any]:
    """The types that a value at this place may have, each with its descriptions around it."""
    types = _branches(inspect.type_info(kind))
    for step in steps:
        types = [branch for each in types for inner in _inner(each, step) for branch in _branches(inner)]
    return types


def _branches(info: Any) -> list[Any]:
    bare = _bare(info)
    if isinstance(bare, inspect.UnionType):
        return [branch for each in bare.types for branch in _branches(each)]
    return [info]


def _bare(info: Any) -> Any:
    while isinstance(info, inspect.Metadata):
        info = info.type
    return info


def _inner(info: Any, step: str) -> list[Any]:
    bare = _bare(info)
    if isinstance(bare, inspect.StructType):
        return [field.type for field in bare.fields if field.encode_name == step]
    if isinstance(bare, inspect.DictType):
        return [bare.value_type]
    item = getattr(bare, "item_type", None)
    return [item] if item is not None else []


def _choices(types: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for each in map(_bare, types):
        if isinstance(each, inspect.LiteralType):
            found += each.values
        elif isinstance(each, inspect.EnumType):
            found += [member.value for member in each.cls]
    return list(dict.fromkeys(found))


def _tags(kind: Any, steps: list[str]) -> list[Any]:
    """The values of the field that says which of several objects this is."""
    if not steps:
        return []
    structs = [each for each in map(_bare, _types_at(kind, steps[:-1])) if isinstance(each, inspect.StructType)]
    return [each.tag for each in structs if each.tag_field == steps[-1]]


def _field_names(types: Iterable[Any]) -> list[str]:
    structs = [each for each in map(_bare, types) if isinstance(each, inspect.StructType)]
    return list(dict.fromkeys(field.encode_name for each in structs for field in each.fields))


def _form(info: Any) -> str | None:
    """What the nearest description says of a text that has a pattern."""
    bare, described = _bare(info), None
    while isinstance(info, inspect.Metadata):
        described = (info.extra_json_schema or {}).get("description") or described
        info = info.type
    return described if isinstance(bare, inspect.StrType) and bare.pattern else None
