"""Descriptions and examples of fields, for the API reference.

The description of a field is the first of: the string below the field in the source, the description of its type, an
entry of FieldDocs, the string below a field with the same name in another class.
"""

import ast
import inspect
import re
import sys
from collections.abc import Collection, Mapping, Sequence
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
    components: dict[str, Any],
    types: Sequence[Any],
    request_types: set[Any],
    examples: Examples,
    field_docs: "FieldDocs",
    event_types: Collection[Any] = (),
) -> None:
    """Give every property of the schemas in `components` a description and an example; modifies the schemas.

    `types` are all object types, `request_types` those in request bodies, `event_types` those of the data of events.

    Defaults become part of the description, because code generators treat a property with `default` as always present.
    Responses always have all fields, so all fields of types that are neither in requests nor in events become required.
    In the data of events, fields that have a default may be absent.
    """
    examples = replace(examples, without_sample=set())
    docstrings: dict[str, str] = {}
    for kind in types:
        for base in (get_origin(kind) or kind).__mro__:
            docstrings = {**_docstrings(base), **docstrings}
    field_docs = replace(field_docs, fields={**docstrings, **field_docs.fields})
    for kind in types:
        schema = components.get(_key_of(kind, components))
        if not schema or "properties" not in schema:
            continue
        if kind not in request_types and kind not in event_types:
            schema["required"] = [*schema["properties"]]
        example = _example_of(kind, examples, is_request=kind in request_types)
        for name, property_schema in schema["properties"].items():
            _describe(kind, name, property_schema, example.get(name), examples, field_docs)


def _describe(
    kind: Any, name: str, schema: dict[str, Any], value: Any, examples: Examples, field_docs: "FieldDocs"
) -> None:
    owner: Any = get_origin(kind) or kind
    docstring = next((text for base in owner.__mro__ if (text := _docstrings(base).get(name))), None)
    keys = [f"{base.__name__}.{name}" for base in owner.__mro__] + [name]
    fallback_texts = [field_docs.fields[key] for key in keys if key in field_docs.fields]
    text = docstring or schema.get("description") or (fallback_texts[0] if fallback_texts else None)
    default = schema.pop("default", None)
    if text is None:
        return
    if default not in (None, [], {}, "") and "Default" not in text:
        text = f"{text.rstrip('.')}. Default: `{msgspec.json.encode(default).decode()}`."
    schema["description"] = text
    if _is_record(schema):
        return
    fallback_values = [field_docs.examples[key] for key in keys if key in field_docs.examples]
    if value in (None, name, [], {}):
        value = fallback_values[0] if fallback_values else value
    if value is None or _choices(schema):
        value = value if value in _choices(schema) else _value_of_schema(schema)
    if value is not None:
        schema["examples"] = [value]


def _choices(schema: Mapping[str, Any]) -> list[Any]:
    return [value for choice in (schema, *schema.get("anyOf", [])) for value in choice.get("enum", [])]


def _is_record(schema: Mapping[str, Any]) -> bool:
    """Whether a property is an object or a list of objects, whose fields have their own examples."""
    choices = [schema, *schema.get("anyOf", []), schema.get("items", {}), *schema.get("items", {}).get("anyOf", [])]
    return any("$ref" in choice for choice in choices)


def _value_of_schema(schema: Mapping[str, Any]) -> Any:
    """A value for a property without an example."""
    for choice in (schema, *schema.get("anyOf", [])):
        if "enum" in choice:
            return choice["enum"][0]
        if choice.get("format") == "date-time":
            return "2026-01-31T12:00:00.000Z"
        if choice.get("type") in ("boolean", "integer", "number"):
            return {"boolean": True, "integer": choice.get("minimum", 1), "number": 0.5}[choice["type"]]
        if choice.get("type") in ("array", "object"):
            return [] if choice["type"] == "array" else {}
    return None


def _example_of(kind: Any, examples: Examples, *, is_request: bool) -> dict[str, Any]:
    """Example values of the fields of a type. Request types may be recursive, so their fields are built separately."""
    owner: Any = get_origin(kind) or kind
    if not is_request:
        example = examples.of(kind)
        return example if isinstance(example, dict) else {}
    body = examples.bodies.get(owner, {})
    values: dict[str, Any] = {}
    for struct_field in msgspec.structs.fields(owner):
        name = struct_field.encode_name
        keys = [f"{base.__name__}.{name}" for base in owner.__mro__] + [name]
        sample = next((examples.samples[key] for key in keys if key in examples.samples), None)
        values[name] = to_plain(body.get(name, sample))
    return values


def _key_of(kind: Any, components: Mapping[str, Any]) -> str:
    """The key of a type's schema in `components`: the class name, with the module if two classes have that name."""
    owner: Any = get_origin(kind) or kind
    short = owner.__name__
    if arguments := get_args(kind):
        short = f"{short}[{', '.join(argument.__name__ for argument in arguments)}]"
    names = (f"{owner.__module__}.{short}", short)
    keys = [re.sub(r"[^a-zA-Z0-9.\-_]", "_", name) for name in names]
    return next((key for key in keys if key in components), "")


@cache
def _docstrings(kind: type) -> dict[str, str]:
    """The strings below the fields of a class, keyed by the field's name in JSON."""
    if not issubclass(kind, msgspec.Struct) or kind is msgspec.Struct:
        return {}
    definition = _classes(kind.__module__).get(kind.__qualname__)
    json_names = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
    docstrings: dict[str, str] = {}
    for field, next_statement in pairwise(definition.body if definition else []):
        target = field.target if isinstance(field, ast.AnnAssign) else None
        if not isinstance(target, ast.Name) or not isinstance(next_statement, ast.Expr):
            continue
        if isinstance(next_statement.value, ast.Constant) and isinstance(next_statement.value.value, str):
            text = re.sub(r"\s+", " ", next_statement.value.value).strip()
            docstrings[json_names.get(target.id, target.id)] = text[:1].upper() + text[1:]
    return docstrings


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """The definitions of the classes at the top of a module; empty if its source is not installed.

    Each module is parsed once: `inspect.getsource` would do so for each class, which took half a second at every start.
    """
    try:
        source = inspect.getsource(sys.modules[module])
    except (OSError, TypeError):
        return {}
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
