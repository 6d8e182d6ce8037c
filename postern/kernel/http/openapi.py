"""Generates the OpenAPI 3.1 document from the operations."""

import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from types import NoneType
from typing import Any, get_args, get_origin

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.http.binding import BodyInvalid, UnsupportedMediaType
from postern.kernel.http.call import (
    CredentialInvalid,
    CredentialMissing,
    CredentialNotAccepted,
    PermissionMissing,
    ProjectMissing,
)
from postern.kernel.http.openapi_examples import Examples
from postern.kernel.http.openapi_fields import describe_fields
from postern.kernel.http.operation import FORM, Operation, Parameter, camel
from postern.kernel.http.pagination import Feed, LinkedList, Page
from postern.kernel.http.problems import Invalid, Problem, ProblemError
from postern.kernel.http.responses import BodyTooLarge, DatabaseUnavailable, HttpResponse, NotFound, problem_document
from postern.kernel.limits import TooManyRequests
from postern.kernel.values import Record, to_plain

VERSION = version("postern")
SCHEMAS = "#/components/schemas/"
METHODS = {"GET": "get", "POST": "post", "PATCH": "patch", "PUT": "put", "DELETE": "delete"}


@dataclass(frozen=True)
class Reference:
    """Descriptions and examples that are not in the types."""

    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    """Descriptions by `field` or `Record.field`."""
    examples: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Examples by `field` or `Record.field`, for fields without a value in the response's example."""


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
    "ETag": ("Version of the record; send it as `If-Match` to change only this version.", '"1769860800000000"'),
    "Link": (
        "URL of the next page; absent at the end.",
        '<https://postern.example.com/projects/…?limit=25&cursor=…>; rel="next"',
    ),
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
    operations: Sequence[Operation[Any, Any]], examples: Examples, reference: Reference | None = None
) -> dict[str, Any]:
    """The complete document; `examples` generates the examples of responses, `reference` has more descriptions."""
    reference = reference or Reference()
    shown = [each for each in operations if not each.hidden]
    kinds = [each.body for each in shown if each.body is not None]
    kinds += [_answer_type(each) for each in shown if _answer_type(each) is not None]
    kinds += [parameter.type for each in shown for parameter in each.parameters_taken]
    schemas, components = msgspec.json.schema_components(
        [*kinds, ProblemDocument], ref_template="#/components/schemas/{name}", schema_hook=_schema
    )
    schema_of = {repr(kind): schema for kind, schema in zip([*kinds, ProblemDocument], schemas, strict=True)}
    for each in shown:
        if each.status == 201 or each.method == "PUT":
            examples.from_type(_answer_type(each), each.example)
    problems = {kind for each in shown for kinds in _problems(each).values() for kind in kinds}
    paths: dict[str, Any] = {}
    for each in shown:
        entry = {"operationId": _operation_id(each), **_entry(each, schema_of, examples)}
        paths.setdefault(each.wire_path, {})[METHODS[each.method]] = entry
    areas = {each.area: each.function.__module__.rpartition(".")[0] for each in shown}
    for each in shown:
        examples.from_type(each.body, each.example)
    describe_fields(components, types_of_objects(shown), _request_types(shown), examples, reference)
    whole = {
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
        "components": {
            "schemas": {name: _tidy(schema) for name, schema in components.items()},
            "headers": {
                name: {"description": text, "schema": {"type": "string"}, "example": example}
                for name, (text, example) in HEADERS.items()
            },
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
    return _renamed(whole, _public_names(components))


def types_of_objects(shown: Sequence[Operation[Any, Any]]) -> list[Any]:
    """All object types of the document; generic ones with their parameters."""
    kinds = [kind for each in shown for kind in (each.body, _answer_type(each)) if kind is not None]
    return _structs([*kinds, ProblemDocument])


def _request_types(shown: Sequence[Operation[Any, Any]]) -> set[Any]:
    """The types of objects that callers send."""
    return set(_structs([each.body for each in shown if each.body is not None]))


def _structs(kinds: Iterable[Any]) -> list[Any]:
    found: dict[Any, None] = {}
    waiting: list[Any] = list(msgspec.inspect.multi_type_info(kinds))
    while waiting:
        info = waiting.pop()
        if isinstance(info, msgspec.inspect.StructType):
            if info.cls in found:
                continue
            found[info.cls] = None
            waiting += [each.type for each in info.fields]
        waiting += getattr(info, "types", ())
        waiting += [inner for name in ("type", "item_type", "value_type") if (inner := getattr(info, name, None))]
        waiting += getattr(info, "item_types", ())
    return list(found)


def _public_names(components: Iterable[str]) -> dict[str, str]:
    """The public name of each schema: the class name; `Page[Send]` becomes SendPage."""
    return {key: re.sub(r"^(Page|Feed)_(\w+)_$", r"\2\1", key) for key in components}


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    """The document with the public names of schemas."""
    if isinstance(part, list):
        return [_renamed(each, names) for each in part]  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(part, dict):
        return part
    made: dict[str, Any] = {}
    for key, value in part.items():  # pyright: ignore[reportUnknownVariableType]
        if key == "$ref" and isinstance(value, str) and value.startswith(SCHEMAS):
            made[key] = SCHEMAS + names[value.removeprefix(SCHEMAS)]
        elif key == "mapping" and isinstance(value, dict):
            made[key] = {tag: SCHEMAS + names[at.removeprefix(SCHEMAS)] for tag, at in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        elif key == "schemas" and isinstance(value, dict) and value.keys() == names.keys():
            made[key] = {
                names[name]: {**_renamed(schema, names), "title": names[name]}
                for name, schema in value.items()  # pyright: ignore[reportUnknownVariableType]
            }
        else:
            made[key] = _renamed(value, names)
    return made


def _operation_id(each: Operation[Any, Any]) -> str:
    """The function's name, with `OfApp` for operations that also exist under `/apps`."""
    return camel(each.name if "{app_id}" not in each.path else f"{each.name}_of_app")


def _schema(kind: Any) -> dict[str, Any]:
    if isinstance(kind, type) and issubclass(kind, Exception):
        return {"type": "string"}
    if getattr(kind, "__name__", "") == "Moment":
        return {"type": "string", "format": "date-time"}
    raise NotImplementedError(str(kind))


def _answer_type(each: Operation[Any, Any]) -> Any:
    hint = each.returns
    if hint in (None, NoneType) or hint is HttpResponse:
        return None
    if get_origin(hint) is LinkedList:
        return list[get_args(hint)[0]]
    return hint


def _entry(each: Operation[Any, Any], schema_of: dict[str, Any], examples: Examples) -> dict[str, Any]:
    summary, description = _description(each)
    if each.needs:
        description += f"\n\nPermission: `{each.needs}`."
    if each.accepts:
        description += f"\n\nCredentials: {', '.join(sorted(kind.replace('_', ' ') for kind in each.accepts))}."
    entry: dict[str, Any] = {
        "summary": summary,
        "description": description.strip() or summary,
        "tags": [each.area],
        "parameters": [_parameter(parameter, schema_of) for parameter in each.parameters_taken],
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
    elif _has_input(each):
        # Files are also accepted as application/octet-stream, because some clients send no other type.
        taken = [each.takes] if each.takes == FORM else [each.takes, "application/octet-stream"]
        entry["requestBody"] = {
            "required": False,
            "content": {media_type: {"schema": _form_schema(each)} for media_type in taken},
        }
    return entry


def _form_schema(each: Operation[Any, Any]) -> dict[str, Any]:
    """The schema of a body that is not JSON."""
    if each.takes != FORM:
        return {"type": "string", "format": "binary", "description": "The file."}
    fields = {name: {"type": "string", "description": text} for name, text in each.fields.items()}
    return {"type": "object", "properties": fields, "additionalProperties": {"type": "string"}}


def _has_input(each: Operation[Any, Any]) -> bool:
    """Whether the operation reads a body that is not JSON from the request itself."""
    return each.body is None and each.takes != "application/json"


def _description(each: Operation[Any, Any]) -> tuple[str, str]:
    text = re.sub(r"[ \t]*\n[ \t]+", "\n", (each.function.__doc__ or each.name).strip())
    first, _, rest = text.partition("\n\n")
    summary, _, more = first.replace("\n", " ").partition(". ")
    paragraphs = [more.strip(), *(part.replace("\n", " ") for part in rest.split("\n\n"))]
    return summary.rstrip("."), "\n\n".join(part for part in paragraphs if part)


def _parameter(parameter: Parameter, schema_of: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = _tidy(schema_of[repr(parameter.type)])
    if parameter.place == "path" and schema.get("format") == "uuid":
        schema = {"type": "string"}  # Ids are opaque; a malformed one gets the same response as an unknown one.
    choices: list[dict[str, Any]] = schema.get("anyOf", [])
    if {"type": "null"} in choices:
        rest = [each for each in choices if each != {"type": "null"}]
        kept = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
        schema = {**kept, **rest[0]} if len(rest) == 1 else {**kept, "anyOf": rest}
    if parameter.default is not None and "default" not in schema:
        schema["default"] = parameter.default
    description = schema.pop("description", None) or _about_parameter(parameter)
    if parameter.is_list:
        # Several values are in one parameter, separated by commas.
        return {**_parameter_entry(parameter, description, schema), "style": "form", "explode": False}
    return _parameter_entry(parameter, description, schema)


def _parameter_entry(parameter: Parameter, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": parameter.wire,
        "in": parameter.place,
        "required": parameter.required,
        "description": description,
        "schema": schema,
    }


def _about_parameter(parameter: Parameter) -> str:
    words = re.sub(r"(?<!^)([A-Z])", r" \1", parameter.wire).replace("-", " ").lower()
    return f"The {words}." if parameter.place == "path" else words.capitalize() + "."


def _responses(each: Operation[Any, Any], schema_of: dict[str, Any], examples: Examples) -> dict[str, Any]:
    answer = _answer_type(each)
    good: dict[str, Any] = {"description": "Done."}
    if each.returns is HttpResponse:
        good["content"] = {media_type: {"schema": _content(media_type)} for media_type in each.media_types}
    elif answer is not None:
        example = examples.of(answer, each.example, each.shows)
        schema = _tidy(schema_of[repr(answer)])
        good["content"] = {"application/json": {"schema": schema, "examples": {"example": {"value": example}}}}
    responses: dict[str, Any] = {}
    for status in (each.status, *each.or_else):
        named = [*_headers_of(each), *(["Location"] if 300 <= status < 400 else [])]
        responses[str(status)] = {**good, "headers": _header_refs(named)}
    for status, kinds in sorted(_problems(each).items()):
        content: dict[str, Any] = {
            "application/problem+json": {
                "schema": {"$ref": "#/components/schemas/ProblemDocument"},
                "examples": {kind.code(): {"$ref": f"#/components/examples/{_name_of(kind)}"} for kind in kinds},
            }
        }
        if "text/html" in each.media_types:
            content["text/html"] = {"schema": {"type": "string"}}
        named = ["X-Request-Id"]
        named += ["Retry-After"] if any(kind.retry_after_seconds is not None for kind in kinds) else []
        named += ["WWW-Authenticate"] if status == 401 else []
        responses[str(status)] = {
            "description": " ".join(kind.message() for kind in kinds),
            "headers": _header_refs(named),
            "content": content,
        }
    return responses


def _header_refs(names: Sequence[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _headers_of(each: Operation[Any, Any]) -> list[str]:
    """The headers of a successful response."""
    named = ["X-Request-Id"]
    if each.accepts or re.search(r"{(project|app)_id}", each.path):
        named += ["RateLimit-Policy", "RateLimit"]
    kind: Any = get_origin(each.returns) or each.returns
    if kind in (Page, Feed, LinkedList):
        named.append("Link")
    elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        hints = {one.name: one.type for one in msgspec.structs.fields(kind)}
        named += ["ETag"] if Moment in (hints.get("updated_at"), *get_args(hints.get("updated_at"))) else []
    if any(parameter.wire == "Idempotency-Key" for parameter in each.parameters):
        named.append("Idempotent-Replayed")
    if each.returns is HttpResponse and set(each.media_types) & FILES:
        named.append("Content-Disposition")
    return named


FILES = {"text/csv", "message/rfc822", "application/octet-stream"}
BINARY = {"image/gif", "message/rfc822", "application/octet-stream"}


def _content(media_type: str) -> dict[str, Any]:
    if media_type == "application/json":
        return {"type": "object"}
    return {"type": "string", "format": "binary"} if media_type in BINARY else {"type": "string"}


def _name_of(kind: type[Problem]) -> str:
    """The key of a problem's example; problems of different areas may have the same code."""
    return ".".join([*kind.__module__.split(".")[2:-1], kind.code()])


def _problem(kind: type[Problem]) -> dict[str, Any]:
    return {"value": to_plain(problem_document(kind(), "0199f1a2-7c00-7000-8000-000000000000"))}


def _problems(each: Operation[Any, Any]) -> dict[int, list[type[Problem]]]:
    found: list[type[Problem]] = [*each.problems, DatabaseUnavailable]
    if each.accepts:
        if "nobody" not in each.accepts:
            found.append(CredentialMissing)
        found += [CredentialInvalid, CredentialNotAccepted, TooManyRequests]
        if each.needs:
            found.append(PermissionMissing)
    if "{project_id}" in each.path or "{app_id}" in each.path:
        found += [ProjectMissing, TooManyRequests]
    if "{" in each.path:
        found.append(NotFound)
    if each.body is not None:
        found += [BodyInvalid, UnsupportedMediaType, BodyTooLarge]
    if _has_input(each):
        found += [Invalid, BodyTooLarge]
    if each.body is not None or any(
        parameter.place in ("query", "header") and not parameter.or_nothing for parameter in each.parameters
    ):
        found.append(Invalid)
    elif not each.any_query:
        found.append(Invalid)  # For an unknown query parameter.
    by_status: dict[int, list[type[Problem]]] = {}
    for kind in dict.fromkeys(found):
        by_status.setdefault(kind.status, []).append(kind)
    return by_status


def _tag_description(area: str, package: str) -> str:
    return (importlib.import_module(package).__doc__ or area).strip()


def _tidy(schema: Any) -> Any:
    return dict(schema) if isinstance(schema, dict) else schema
