"""The OpenAPI 3.1 document, made from the operations themselves."""

import importlib
import re
from collections.abc import Sequence
from types import NoneType
from typing import Any, get_args, get_origin

import msgspec

from postern.kernel import http
from postern.kernel.credentials import (
    CredentialInvalid,
    CredentialMissing,
    CredentialNotAccepted,
    PermissionMissing,
    ProjectMissing,
)
from postern.kernel.examples import Examples
from postern.kernel.http import Operation
from postern.kernel.limits import TooManyRequests
from postern.kernel.pages import Listed
from postern.kernel.problems import Fault, Invalid, Problem
from postern.kernel.values import Record, to_plain

VERSION = "0.1.0"
METHODS = {"GET": "get", "POST": "post", "PATCH": "patch", "PUT": "put", "DELETE": "delete"}


class ProblemDocument(Record):
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: list[Fault]


def document(operations: Sequence[Operation[Any, Any]], examples: Examples) -> dict[str, Any]:
    """The whole document; `examples` fills those of the answers."""
    shown = [each for each in operations if not each.hidden]
    kinds = [each.body for each in shown if each.body is not None]
    kinds += [_answer_type(each) for each in shown if _answer_type(each) is not None]
    kinds += [parameter.type for each in shown for parameter in each.taken]
    schemas, components = msgspec.json.schema_components(
        [*kinds, ProblemDocument], ref_template="#/components/schemas/{name}", schema_hook=_schema
    )
    schema_of = {repr(kind): schema for kind, schema in zip([*kinds, ProblemDocument], schemas, strict=True)}
    for each in shown:
        if each.status == 201 or each.method == "PUT":
            examples.made_from(_answer_type(each), each.example)
    problems = {kind for each in shown for kinds in _problems(each).values() for kind in kinds}
    paths: dict[str, Any] = {}
    for each, operation_id in zip(shown, _operation_ids(shown), strict=True):
        entry = {"operationId": operation_id, **_entry(each, schema_of, examples)}
        paths.setdefault(each.wire_path, {})[METHODS[each.method]] = entry
    areas = sorted({each.area for each in shown})
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Postern",
            "version": VERSION,
            "summary": "E-mail delivery and customer identity behind one API.",
            "description": "Self-hosted. Errors are RFC 9457 problem documents; identifiers are opaque strings.",
            "license": {"name": "MIT", "identifier": "MIT"},
            "contact": {"name": "Postern", "url": "https://github.com/postern/postern"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": area, "description": _about(area)} for area in areas],
        "paths": paths,
        "components": {
            "schemas": {name: _tidy(schema) for name, schema in components.items()},
            "examples": {_name_of(kind): _problem(kind) for kind in sorted(problems, key=_name_of)},
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A secret key, a developer's access token, or a customer's token.",
                }
            },
        },
    }


def _operation_ids(shown: Sequence[Operation[Any, Any]]) -> list[str]:
    """The function's name; its area is added where two areas have a function of that name."""
    names = [each.name if "{app_id}" not in each.path else f"{each.name}_of_app" for each in shown]
    return [
        name if names.count(name) == 1 else f"{name}_of_{each.area}" for name, each in zip(names, shown, strict=True)
    ]


def _schema(kind: Any) -> dict[str, Any]:
    if isinstance(kind, type) and issubclass(kind, Exception):
        return {"type": "string"}
    if getattr(kind, "__name__", "") == "Moment":
        return {"type": "string", "format": "date-time"}
    raise NotImplementedError(str(kind))


def _answer_type(each: Operation[Any, Any]) -> Any:
    hint = each.returns
    if hint in (None, NoneType) or hint is http.Answer:
        return None
    if get_origin(hint) is Listed:
        return list[get_args(hint)[0]]
    return hint


def _entry(each: Operation[Any, Any], schema_of: dict[str, Any], examples: Examples) -> dict[str, Any]:
    summary, description = _words(each)
    if each.needs:
        description += f"\n\nPermission: `{each.needs}`."
    if each.accepts:
        description += f"\n\nCredentials: {', '.join(sorted(kind.replace('_', ' ') for kind in each.accepts))}."
    entry: dict[str, Any] = {
        "summary": summary,
        "description": description.strip() or summary,
        "tags": [each.area],
        "parameters": [_parameter(parameter, schema_of) for parameter in each.taken],
        "responses": _responses(each, schema_of, examples),
        "security": [{"bearer": []}] if each.accepts and "nobody" not in each.accepts else [],
    }
    if each.needs:
        entry["x-permission"] = each.needs
    if each.body is not None:
        media: dict[str, Any] = {"schema": _tidy(schema_of[repr(each.body)])}
        if each.example is not None:
            media["examples"] = {"example": {"value": to_plain(each.example)}}
        optional = NoneType in get_args(each.body)
        entry["requestBody"] = {"required": not optional, "content": {each.takes: media}}
    elif _takes_something(each):
        entry["requestBody"] = {"required": False, "content": {each.takes: {}}}
    return entry


def _takes_something(each: Operation[Any, Any]) -> bool:
    """Whether the operation reads a body that is not JSON from the request itself."""
    return each.body is None and each.takes != "application/json"


def _words(each: Operation[Any, Any]) -> tuple[str, str]:
    text = re.sub(r"[ \t]*\n[ \t]+", "\n", (each.function.__doc__ or each.name).strip())
    first, _, rest = text.partition("\n\n")
    summary, _, more = first.replace("\n", " ").partition(". ")
    paragraphs = [more.strip(), *(part.replace("\n", " ") for part in rest.split("\n\n"))]
    return summary.rstrip("."), "\n\n".join(part for part in paragraphs if part)


def _parameter(parameter: http.Parameter, schema_of: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = _tidy(schema_of[repr(parameter.type)])
    if parameter.place == "path" and schema.get("format") == "uuid":
        schema = {"type": "string"}  # Identifiers are opaque; a malformed one is simply unknown.
    choices: list[dict[str, Any]] = schema.get("anyOf", [])
    if {"type": "null"} in choices:
        rest = [each for each in choices if each != {"type": "null"}]
        kept = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
        schema = {**kept, **rest[0]} if len(rest) == 1 else {**kept, "anyOf": rest}
    if parameter.default is not None and "default" not in schema:
        schema["default"] = parameter.default
    description = schema.pop("description", None) or _about_parameter(parameter)
    return {
        "name": parameter.wire,
        "in": parameter.place,
        "required": parameter.required,
        "description": description,
        "schema": schema,
    }


def _about_parameter(parameter: http.Parameter) -> str:
    words = re.sub(r"(?<!^)([A-Z])", r" \1", parameter.wire).replace("-", " ").lower()
    return f"The {words}." if parameter.place == "path" else words.capitalize() + "."


def _responses(each: Operation[Any, Any], schema_of: dict[str, Any], examples: Examples) -> dict[str, Any]:
    answer = _answer_type(each)
    good: dict[str, Any] = {"description": "Done."}
    if each.returns is http.Answer:
        good["content"] = {media_type: {} for media_type in each.media_types}
    elif answer is not None:
        example = examples.of(answer, each.example, each.shows)
        schema = _tidy(schema_of[repr(answer)])
        good["content"] = {"application/json": {"schema": schema, "examples": {"example": {"value": example}}}}
    responses: dict[str, Any] = {str(status): good for status in (each.status, *each.or_else)}
    for status, kinds in sorted(_problems(each).items()):
        content: dict[str, Any] = {
            "application/problem+json": {
                "schema": {"$ref": "#/components/schemas/ProblemDocument"},
                "examples": {kind.code(): {"$ref": f"#/components/examples/{_name_of(kind)}"} for kind in kinds},
            }
        }
        if "text/html" in each.media_types:
            content["text/html"] = {}
        responses[str(status)] = {"description": " ".join(kind.message() for kind in kinds), "content": content}
    return responses


def _name_of(kind: type[Problem]) -> str:
    """Two areas may have problems of one code."""
    return ".".join([*kind.__module__.split(".")[1:-1], kind.code()])


def _problem(kind: type[Problem]) -> dict[str, Any]:
    return {"value": to_plain(http.problem_document(kind(), "0199f1a2-7c00-7000-8000-000000000000"))}


def _problems(each: Operation[Any, Any]) -> dict[int, list[type[Problem]]]:
    found: list[type[Problem]] = [*each.problems, http.DatabaseAway]
    if each.accepts:
        if "nobody" not in each.accepts:
            found.append(CredentialMissing)
        found += [CredentialInvalid, CredentialNotAccepted, TooManyRequests]
        if each.needs:
            found.append(PermissionMissing)
    if "{project_id}" in each.path or "{app_id}" in each.path:
        found += [ProjectMissing, TooManyRequests]
    if "{" in each.path:
        found.append(http.NotFound)
    if each.body is not None:
        found += [http.BodyInvalid, http.UnsupportedMediaType, http.BodyTooLarge]
    if _takes_something(each):
        found += [Invalid, http.BodyTooLarge]
    if each.body is not None or any(
        parameter.place in ("query", "header") and not parameter.or_nothing for parameter in each.parameters
    ):
        found.append(Invalid)
    by_status: dict[int, list[type[Problem]]] = {}
    for kind in dict.fromkeys(found):
        by_status.setdefault(kind.status, []).append(kind)
    return by_status


def _about(area: str) -> str:
    return (importlib.import_module(f"postern.{area}").__doc__ or area).strip()


def _tidy(schema: Any) -> Any:
    return dict(schema) if isinstance(schema, dict) else schema
