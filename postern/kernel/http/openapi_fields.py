"""Descriptions and examples of fields, for the API reference.

The description of a field is the first of: the string below the field in the source, the description of its type, an
entry of FieldDocs, the string below a field with the same name in another class.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args, get_origin

import msgspec

from postern.kernel.http.openapi_examples import Examples
from postern.kernel.values import to_plain

if TYPE_CHECKING:
    from postern.kernel.http.openapi import FieldDocs


def describe_fields(
    components: dict[str, Any], classes: Iterable[Any], sent: set[Any], examples: Examples, field_docs: "FieldDocs"
) -> None:
    """Give every property of the schemas in `components` a description and an example; modifies the schemas.

    `classes` are all object types, `sent` those in request bodies.

    Defaults are part of the description, because generators treat a property with `default` as always present.
    Responses always have all fields, so these are required in types that are not in `sent`.
    """
    examples, kinds = replace(examples, unnamed=set()), [*classes]
    shared: dict[str, str] = {}
    for kind in kinds:
        for each in (get_origin(kind) or kind).__mro__:
            shared = {**_docstrings(each), **shared}
    field_docs = replace(field_docs, fields={**shared, **field_docs.fields})
    for kind in kinds:
        schema = components.get(_key_of(kind, components))
        if not schema or "properties" not in schema:
            continue
        if kind not in sent:
            schema["required"] = [*schema["properties"]]
        example = _example_of(kind, examples, is_sent=kind in sent)
        for name, property_schema in schema["properties"].items():
            _describe(kind, name, property_schema, example.get(name), examples, field_docs)


def _describe(
    kind: Any, name: str, schema: dict[str, Any], value: Any, examples: Examples, field_docs: "FieldDocs"
) -> None:
    owner: Any = get_origin(kind) or kind
    own = next((text for each in owner.__mro__ if (text := _docstrings(each).get(name))), None)
    keys = [f"{each.__name__}.{name}" for each in owner.__mro__] + [name]
    glossary = [field_docs.fields[key] for key in keys if key in field_docs.fields]
    text = own or schema.get("description") or (glossary[0] if glossary else None)
    default = schema.pop("default", None)
    if text is None:
        return
    if default not in (None, [], {}, "") and "Default" not in text:
        text = f"{text.rstrip('.')}. Default: `{msgspec.json.encode(default).decode()}`."
    schema["description"] = text
    if _is_record(schema):
        return
    fallbacks = [field_docs.examples[key] for key in keys if key in field_docs.examples]
    if value in (None, name, [], {}):
        value = fallbacks[0] if fallbacks else value
    if value is None or _choices(schema):
        value = value if value in _choices(schema) else _of_schema(schema)
    if value is not None:
        schema["examples"] = [value]


def _choices(schema: Mapping[str, Any]) -> list[Any]:
    return [value for choice in (schema, *schema.get("anyOf", [])) for value in choice.get("enum", [])]


def _is_record(schema: Mapping[str, Any]) -> bool:
    """Whether a property is an object or a list of objects, whose fields have their own examples."""
    choices = [schema, *schema.get("anyOf", []), schema.get("items", {}), *schema.get("items", {}).get("anyOf", [])]
    return any("$ref" in each for each in choices)


def _of_schema(schema: Mapping[str, Any]) -> Any:
    """A value for a property without an example."""
    for each in (schema, *schema.get("anyOf", [])):
        if "enum" in each:
            return each["enum"][0]
        if each.get("format") == "date-time":
            return "2026-01-31T12:00:00.000Z"
        if each.get("type") in ("boolean", "integer", "number"):
            return {"boolean": True, "integer": each.get("minimum", 1), "number": 0.5}[each["type"]]
        if each.get("type") in ("array", "object"):
            return [] if each["type"] == "array" else {}
    return None


def _example_of(kind: Any, examples: Examples, *, is_sent: bool) -> dict[str, Any]:
    """Example values of the fields of a type. Request types may be recursive, so their fields are built separately."""
    owner: Any = get_origin(kind) or kind
    if not is_sent:
        made = examples.of(kind)
        return made if isinstance(made, dict) else {}
    given = examples.bodies.get(owner, {})
    found: dict[str, Any] = {}
    for each in msgspec.structs.fields(owner):
        name = each.encode_name
        keys = [f"{base.__name__}.{name}" for base in owner.__mro__] + [name]
        sample = next((examples.samples[key] for key in keys if key in examples.samples), None)
        found[name] = to_plain(given.get(name, sample))
    return found


def _key_of(kind: Any, components: Mapping[str, Any]) -> str:
    """The name of a type's schema in msgspec: the class name, or with its module if two classes have that name."""
    owner: Any = get_origin(kind) or kind
    short = owner.__name__
    if arguments := get_args(kind):
        short = f"{short}[{', '.join(each.__name__ for each in arguments)}]"
    names = (f"{owner.__module__}.{short}", short)
    found = [re.sub(r"[^a-zA-Z0-9.\-_]", "_", name) for name in names]
    return next((name for name in found if name in components), "")


@cache
def _docstrings(kind: type) -> dict[str, str]:
    """The strings below the fields of a class, keyed by the field's name in JSON."""
    if not issubclass(kind, msgspec.Struct) or kind is msgspec.Struct:
        return {}
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    except (OSError, TypeError):
        return {}
    wire = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
    found: dict[str, str] = {}
    statements = body.body if isinstance(body, ast.ClassDef) else []
    for field, below in pairwise(statements):
        target = field.target if isinstance(field, ast.AnnAssign) else None
        if not isinstance(target, ast.Name) or not isinstance(below, ast.Expr):
            continue
        if isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
            text = re.sub(r"\s+", " ", below.value.value).strip()
            found[wire.get(target.id, target.id)] = text[:1].upper() + text[1:]
    return found
