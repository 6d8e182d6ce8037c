"""Generates the OpenAPI 3.1 document from the operations."""

import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from types import NoneType
from typing import Any, cast, get_args, get_origin

import msgspec

from postern.kernel.http.call import (
    CredentialInvalid,
    CredentialMissing,
    CredentialNotAccepted,
    PermissionMissing,
    ProjectMissing,
)
from postern.kernel.http.handler import BodyInvalid, UnsupportedMediaType
from postern.kernel.http.openapi_examples import MOMENT, Examples
from postern.kernel.http.openapi_fields import describe_fields
from postern.kernel.http.operation import FORM, Operation, Parameter, camel
from postern.kernel.http.pagination import Feed, LinkedList, Page
from postern.kernel.http.problems import Invalid, Problem, ProblemError
from postern.kernel.http.responses import BodyTooLarge, DatabaseUnavailable, HttpResponse, NotFound, problem_document
from postern.kernel.limits import TooManyRequests
from postern.kernel.values import Moment, Record, to_plain

VERSION = version("postern-server")
SCHEMAS = "#/components/schemas/"
METHODS = {"GET": "get", "POST": "post", "PATCH": "patch", "PUT": "put", "DELETE": "delete"}


@dataclass(frozen=True)
class FieldDocs:
    """Those descriptions and examples of fields that do not follow from the types."""

    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    """Descriptions by `field` or `Record.field`."""
    examples: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Examples by `field` or `Record.field`, used for fields that have no value in the generated example of the
    record."""


@dataclass(frozen=True)
class WebhookDoc:
    """An event that webhooks deliver: its name, what happened, and the Struct of the payload's `data`."""

    name: str
    description: str
    data: Any


HEADERS: dict[str, tuple[str, str]] = {
    "X-Request-Id": (
        "Id of the request: the one that the caller sent if it has 8 to 128 letters, digits, `-` or `_`.",
        "0199f1a2-7c00-7000-8000-000000000000",
    ),
    "RateLimit-Policy": ("The rate limit: `q` requests in `w` seconds.", '"project";q=100;w=1'),
    "RateLimit": (
        "Remaining requests (`r`), and seconds until all are available again (`t`).",
        '"project";r=99;t=1',
    ),
    "Retry-After": ("Seconds to wait before repeating the request.", "2"),
    "ETag": (
        "Version: send it as `If-Match` to change only this version of a record, or as `If-None-Match` with a check.",
        '"1769860800000000"',
    ),
    "Link": (
        "URL of the next page; absent at the end.",
        '<https://postern.example.com/projects/…?limit=25&cursor=…>; rel="next"',
    ),
    "Total-Count": ("With `include=total`: number of matching records, counted up to 10,000.", "42"),
    "Idempotent-Replayed": ("`true` if this repeats the response to the first request with this key.", "true"),
    "WWW-Authenticate": ("How to authenticate (RFC 6750).", 'Bearer realm="postern"'),
    "Content-Disposition": ("Name of the file.", 'attachment; filename="export.csv"'),
    "Location": ("URL to go to.", "https://app.example.com/"),
    "Allow": ("Methods that this path supports.", "GET, HEAD"),
}
"""Response headers, with description and example."""


class ProblemDocument(Record):
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str
    errors: list[ProblemError]


def document(
    operations: Sequence[Operation[Any, Any]],
    examples: Examples,
    field_docs: FieldDocs | None = None,
    webhooks: Sequence[WebhookDoc] = (),
) -> dict[str, Any]:
    """The complete document, without hidden operations. `field_docs` has descriptions and examples of fields.

    `examples` generates the examples of responses; the request bodies of the operations are added to it.
    """
    field_docs = field_docs or FieldDocs()
    visible = [operation for operation in operations if not operation.hidden]
    types = [type_ for operation in visible for type_ in _types(operation) if type_ is not None]
    types += [parameter.type for operation in visible for parameter in operation.all_parameters]
    types.append(ProblemDocument)
    # Items of type `msgspec.Raw`, which are decoded one by one, have their type in `extra`.
    types += [struct for struct in _structs(types) if struct not in types]
    payloads = list(dict.fromkeys(webhook.data for webhook in webhooks))
    types += payloads
    schemas, components = msgspec.json.schema_components(
        types, ref_template="#/components/schemas/{name}", schema_hook=_custom_schema
    )
    schemas, components = _inline_enums(schemas, components)
    schema_of = {repr(type_): schema for type_, schema in zip(types, schemas, strict=True)}
    # The example of a created record has the values of the example of its request body.
    for operation in visible:
        if operation.status == 201 or operation.method == "PUT":
            examples.register_body(_response_type(operation), operation.example)
    problems = {
        problem
        for operation in visible
        for problems_of_status in _problems_by_status(operation).values()
        for problem in problems_of_status
    }
    paths: dict[str, Any] = {}
    for operation in visible:
        entry = {"operationId": _operation_id(operation), **_entry(operation, schema_of, examples)}
        paths.setdefault(operation.wire_path, {})[METHODS[operation.method]] = entry
    areas = {operation.area: operation.function.__module__.rpartition(".")[0] for operation in visible}
    # `describe_fields` takes the examples of a body's fields from the example of the body.
    for operation in visible:
        examples.register_body(operation.body, operation.example)
    described = list(dict.fromkeys([*object_types(visible), *_structs(payloads)]))
    describe_fields(components, described, _request_types(visible), examples, field_docs, payloads)
    content = {
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
        "tags": [
            {"name": area, "description": _tag_description(area, package)} for area, package in sorted(areas.items())
        ],
        "paths": paths,
        "webhooks": {webhook.name: _webhook_entry(webhook, schema_of, examples) for webhook in webhooks},
        "components": {
            "schemas": {name: _copy(schema) for name, schema in components.items()},
            "headers": {
                name: {"description": text, "schema": {"type": "string"}, "example": example}
                for name, (text, example) in HEADERS.items()
            },
            "examples": {_problem_key(kind): _problem_example(kind) for kind in sorted(problems, key=_problem_key)},
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A secret key, a developer's access token, or a customer's token.",
                }
            },
        },
    }
    return _renamed(content, _public_names(components))


def object_types(visible: Sequence[Operation[Any, Any]]) -> list[Any]:
    """All Structs in the bodies and responses of `visible` operations, including nested ones and ProblemDocument;
    generic ones with their type arguments."""
    types = [type_ for operation in visible for type_ in _types(operation) if type_ is not None]
    return _structs([*types, ProblemDocument])


def _types(operation: Operation[Any, Any]) -> list[Any]:
    """The types of the request body, the response and the errors; None where there is none."""
    return [operation.body, _response_type(operation), *(error.body for error in operation.other_errors.values())]


def _request_types(visible: Sequence[Operation[Any, Any]]) -> set[Any]:
    """The object types in request bodies."""
    return set(_structs([operation.body for operation in visible if operation.body is not None]))


def _structs(types: Iterable[Any]) -> list[Any]:
    """The Structs among the types and their fields, without duplicates."""
    classes: dict[Any, None] = {}
    to_visit: list[Any] = list(msgspec.inspect.multi_type_info(types))
    while to_visit:
        info = to_visit.pop()
        if isinstance(info, msgspec.inspect.StructType):
            if info.cls in classes:
                continue
            classes[info.cls] = None
            to_visit += [struct_field.type for struct_field in info.fields]
        if isinstance(info, msgspec.inspect.Metadata) and info.extra and "decoded_as" in info.extra:
            to_visit.append(msgspec.inspect.type_info(info.extra["decoded_as"]))
        to_visit += getattr(info, "types", ())
        to_visit += [inner for name in ("type", "item_type", "value_type") if (inner := getattr(info, name, None))]
        to_visit += getattr(info, "item_types", ())
    return list(classes)


def _inline_enums(schemas: Any, components: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The schemas with the values of enums in place of references to them, as for literal types.

    All other components are records, which generated clients have as classes.
    """
    enums = {f"{SCHEMAS}{name}": {"enum": schema["enum"]} for name, schema in components.items() if "enum" in schema}

    def inlined(part: Any) -> Any:
        if isinstance(part, list):
            return [inlined(item) for item in cast(list[Any], part)]
        if not isinstance(part, dict):
            return part
        copied = {key: inlined(value) for key, value in cast(dict[str, Any], part).items()}
        enum = enums.get(copied.get("$ref", ""))
        return copied if enum is None else {**{key: value for key, value in copied.items() if key != "$ref"}, **enum}

    return inlined(schemas), {name: inlined(schema) for name, schema in components.items() if "enum" not in schema}


def _public_names(components: Iterable[str]) -> dict[str, str]:
    """The public name of each schema: the class name; `Page[Send]` becomes SendPage."""
    return {key: re.sub(r"^(Page|Feed)_(\w+)_$", r"\2\1", key) for key in components}


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    """A part of the document, with the public names of schemas."""
    if isinstance(part, list):
        return [_renamed(item, names) for item in part]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(part, dict):
        return part
    renamed: dict[str, Any] = {}
    for key, value in part.items():  # pyright: ignore[reportUnknownVariableType]
        if key == "$ref" and isinstance(value, str) and value.startswith(SCHEMAS):
            renamed[key] = SCHEMAS + names[value.removeprefix(SCHEMAS)]
        elif key == "mapping" and isinstance(value, dict):
            renamed[key] = {tag: SCHEMAS + names[ref.removeprefix(SCHEMAS)] for tag, ref in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        elif key == "schemas" and isinstance(value, dict) and value.keys() == names.keys():
            renamed[key] = {
                names[name]: {**_renamed(schema, names), "title": names[name]}
                for name, schema in value.items()  # pyright: ignore[reportUnknownVariableType]
            }
        else:
            renamed[key] = _renamed(value, names)
    return renamed


def _operation_id(operation: Operation[Any, Any]) -> str:
    """The function's name, with `OfApp` for operations that also exist under `/apps`."""
    return camel(operation.name if "{app_id}" not in operation.path else f"{operation.name}_of_app")


def _custom_schema(kind: Any) -> dict[str, Any]:
    """The schema of a type that msgspec does not support."""
    if isinstance(kind, type) and issubclass(kind, Exception):
        return {"type": "string"}
    if getattr(kind, "__name__", "") == "Moment":
        return {"type": "string", "format": "date-time"}
    raise NotImplementedError(str(kind))


def _response_type(operation: Operation[Any, Any]) -> Any:
    hint = operation.returns
    if hint in (None, NoneType) or hint is HttpResponse:
        return None
    if get_origin(hint) is LinkedList:
        return list[get_args(hint)[0]]
    return hint


def _entry(operation: Operation[Any, Any], schema_of: dict[str, Any], examples: Examples) -> dict[str, Any]:
    summary, description = _description(operation)
    if operation.needs:
        description += f"\n\nPermission: `{operation.needs}`."
    if operation.accepts:
        description += f"\n\nCredentials: {', '.join(sorted(kind.replace('_', ' ') for kind in operation.accepts))}."
    entry: dict[str, Any] = {
        "summary": summary,
        "description": description.strip() or summary,
        "tags": [operation.area],
        "parameters": [_parameter(parameter, schema_of) for parameter in operation.all_parameters],
        "responses": _responses(operation, schema_of, examples),
        "security": [{"bearer": []}] if operation.accepts and "anonymous" not in operation.accepts else [],
    }
    if operation.needs:
        entry["x-permission"] = operation.needs
    if operation.body is not None:
        media: dict[str, Any] = {"schema": _copy(schema_of[repr(operation.body)])}
        if operation.example is not None:
            media["examples"] = {"example": {"value": to_plain(operation.example)}}
        optional = NoneType in get_args(operation.body)
        entry["requestBody"] = {"required": not optional, "content": {operation.takes: media}}
    elif _reads_raw_body(operation):
        # Files are also accepted as application/octet-stream, because some clients send no other type.
        media_types = [operation.takes] if operation.takes == FORM else [operation.takes, "application/octet-stream"]
        entry["requestBody"] = {
            "required": False,
            "content": {media_type: {"schema": _raw_body_schema(operation)} for media_type in media_types},
        }
    return entry


def _webhook_entry(webhook: WebhookDoc, schema_of: dict[str, Any], examples: Examples) -> dict[str, Any]:
    """The request that delivers an event."""
    time: dict[str, Any] = {"type": "string", "format": "date-time", "description": "When it happened (UTC)."}
    name = {"const": webhook.name, "description": "Name of the event."}
    schema = {
        "type": "object",
        "required": ["type", "timestamp", "data"],
        "properties": {"type": name, "timestamp": time, "data": _copy(schema_of[repr(webhook.data)])},
    }
    example = {"type": webhook.name, "timestamp": MOMENT, "data": examples.of(webhook.data)}
    media = {"schema": schema, "examples": {"example": {"value": to_plain(example)}}}
    return {
        "post": {
            "summary": webhook.name,
            "description": webhook.description,
            "tags": ["webhooks"],
            "requestBody": {"required": True, "content": {"application/json": media}},
            "responses": {"2XX": {"description": "The event is delivered."}},
        }
    }


def _raw_body_schema(operation: Operation[Any, Any]) -> dict[str, Any]:
    """The schema of a body that is not JSON: a form or a file."""
    if operation.takes != FORM:
        return {"type": "string", "format": "binary", "description": "The file."}
    fields = {name: {"type": "string", "description": text} for name, text in operation.fields.items()}
    return {"type": "object", "properties": fields, "additionalProperties": {"type": "string"}}


def _reads_raw_body(operation: Operation[Any, Any]) -> bool:
    """Whether the function reads a body that is not JSON, such as a form or file, from the raw request."""
    return operation.body is None and operation.takes != "application/json"


def _description(operation: Operation[Any, Any]) -> tuple[str, str]:
    text = re.sub(r"[ \t]*\n[ \t]+", "\n", (operation.function.__doc__ or operation.name).strip())
    first, _, rest = text.partition("\n\n")
    summary, _, more = first.replace("\n", " ").partition(". ")
    paragraphs = [more.strip(), *(part.replace("\n", " ") for part in rest.split("\n\n"))]
    return summary.rstrip("."), "\n\n".join(part for part in paragraphs if part)


def _parameter(parameter: Parameter, schema_of: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = _copy(schema_of[repr(parameter.type)])
    if parameter.place == "path" and schema.get("format") == "uuid":
        schema = {"type": "string"}  # Ids are opaque; a malformed one gets the same response as an unknown one.
    choices: list[dict[str, Any]] = schema.get("anyOf", [])
    if {"type": "null"} in choices:
        # A parameter is never null: it is omitted instead.
        non_null = [choice for choice in choices if choice != {"type": "null"}]
        others = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
        schema = {**others, **non_null[0]} if len(non_null) == 1 else {**others, "anyOf": non_null}
    if parameter.default is not None and "default" not in schema:
        schema["default"] = parameter.default
    description = schema.pop("description", None) or _default_description(parameter)
    if parameter.is_list:
        # Several values are in one parameter, separated by commas.
        return {**_parameter_entry(parameter, description, schema), "style": "form", "explode": False}
    return _parameter_entry(parameter, description, schema)


def _parameter_entry(parameter: Parameter, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": parameter.wire_name,
        "in": parameter.place,
        "required": parameter.required,
        "description": description,
        "schema": schema,
    }


def _default_description(parameter: Parameter) -> str:
    """The name of the parameter as words."""
    words = re.sub(r"(?<!^)([A-Z])", r" \1", parameter.wire_name).replace("-", " ").lower()
    return f"The {words}." if parameter.place == "path" else words.capitalize() + "."


def _responses(operation: Operation[Any, Any], schema_of: dict[str, Any], examples: Examples) -> dict[str, Any]:
    response_type = _response_type(operation)
    success: dict[str, Any] = {"description": "Done."}
    if operation.returns is HttpResponse:
        success["content"] = {
            media_type: {"schema": _content_schema(media_type)} for media_type in operation.media_types
        }
    elif response_type is not None:
        example = examples.of(response_type, operation.example, operation.response_example)
        schema = _copy(schema_of[repr(response_type)])
        success["content"] = {"application/json": {"schema": schema, "examples": {"example": {"value": example}}}}
    responses: dict[str, Any] = {}
    for status in (operation.status, *operation.other_statuses):
        headers = [*_headers_of(operation), *(["Location"] if 300 <= status < 400 else [])]
        responses[str(status)] = {**success, "headers": _header_refs(headers)}
    if operation.revalidates:
        headers = _header_refs(_headers_of(operation))
        responses["304"] = {"description": "The content is that of the `ETag` in `If-None-Match`.", "headers": headers}
    for status, problems in sorted(_problems_by_status(operation).items()):
        content: dict[str, Any] = {
            "application/problem+json": {
                "schema": {"$ref": "#/components/schemas/ProblemDocument"},
                "examples": {
                    problem.code(): {"$ref": f"#/components/examples/{_problem_key(problem)}"} for problem in problems
                },
            }
        }
        if "text/html" in operation.media_types:
            content["text/html"] = {"schema": {"type": "string"}}
        headers = ["X-Request-Id"]
        headers += ["Retry-After"] if any(problem.retry_after_seconds is not None for problem in problems) else []
        headers += ["WWW-Authenticate"] if status == 401 else []
        responses[str(status)] = {
            "description": " ".join(problem.message() for problem in problems),
            "headers": _header_refs(headers),
            "content": content,
        }
    for status, error in operation.other_errors.items():
        response = responses.setdefault(
            str(status), {"description": "", "headers": _header_refs(["X-Request-Id"]), "content": {}}
        )
        response["description"] = f"{error.description} {response['description']}".strip()
        if error.body is None:
            response["content"]["text/html"] = {"schema": {"type": "string"}}
        else:
            example = {"example": {"value": examples.of(error.body)}}
            schema = _copy(schema_of[repr(error.body)])
            response["content"]["application/json"] = {"schema": schema, "examples": example}
    return responses


def _header_refs(names: Sequence[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _headers_of(operation: Operation[Any, Any]) -> list[str]:
    """The headers of a successful response."""
    headers = ["X-Request-Id"]
    if operation.accepts or operation.project_parameter:
        headers += ["RateLimit-Policy", "RateLimit"]
    if operation.revalidates:
        headers.append("ETag")
    kind: Any = get_origin(operation.returns) or operation.returns
    if kind in (Page, Feed, LinkedList):
        headers.append("Link")
    elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = {struct_field.name: struct_field.type for struct_field in msgspec.structs.fields(kind)}
        headers += ["ETag"] if Moment in (hints.get("updated_at"), *get_args(hints.get("updated_at"))) else []
    if any(parameter.wire_name == "include" for parameter in operation.parameters):
        headers.append("Total-Count")
    if any(parameter.wire_name == "Idempotency-Key" for parameter in operation.parameters):
        headers.append("Idempotent-Replayed")
    if operation.returns is HttpResponse and set(operation.media_types) & FILE_MEDIA_TYPES:
        headers.append("Content-Disposition")
    return headers


FILE_MEDIA_TYPES = {"text/csv", "message/rfc822", "application/octet-stream"}
"""Media types of responses that browsers save as files."""
BINARY_MEDIA_TYPES = {"image/gif", "message/rfc822", "application/octet-stream"}


def _content_schema(media_type: str) -> dict[str, Any]:
    if media_type == "application/json":
        return {"type": "object"}
    return {"type": "string", "format": "binary"} if media_type in BINARY_MEDIA_TYPES else {"type": "string"}


def _problem_key(kind: type[Problem]) -> str:
    """The key of a problem's example; problems of different areas may have the same code."""
    return ".".join([*kind.__module__.split(".")[2:-1], kind.code()])


def _problem_example(kind: type[Problem]) -> dict[str, Any]:
    return {"value": to_plain(problem_document(kind(), "0199f1a2-7c00-7000-8000-000000000000"))}


def _problems_by_status(operation: Operation[Any, Any]) -> dict[int, list[type[Problem]]]:
    """The problems that the operation and its checks can respond with."""
    problems: list[type[Problem]] = [*operation.problems, DatabaseUnavailable]
    if operation.accepts:
        if "anonymous" not in operation.accepts:
            problems.append(CredentialMissing)
        problems += [CredentialInvalid, CredentialNotAccepted, TooManyRequests]
        if operation.needs:
            problems.append(PermissionMissing)
    if operation.project_parameter:
        problems += [ProjectMissing, TooManyRequests]
    if "{" in operation.path:
        problems.append(NotFound)
    if operation.body is not None:
        problems += [BodyInvalid, UnsupportedMediaType, BodyTooLarge]
    if _reads_raw_body(operation):
        problems += [Invalid, BodyTooLarge]
    if operation.body is not None or any(
        parameter.place in ("query", "header") and not parameter.ignores_invalid for parameter in operation.parameters
    ):
        problems.append(Invalid)
    elif not operation.ignore_unknown_query:
        problems.append(Invalid)  # For an unknown query parameter.
    by_status: dict[int, list[type[Problem]]] = {}
    for problem in dict.fromkeys(problems):
        by_status.setdefault(problem.status, []).append(problem)
    return by_status


def _tag_description(area: str, package: str) -> str:
    return (importlib.import_module(package).__doc__ or area).strip()


def _copy(schema: Any) -> Any:
    return dict(schema) if isinstance(schema, dict) else schema
