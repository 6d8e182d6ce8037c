"""The API as the SDK generators see it: operations, object types and problems, read from the OpenAPI document."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

NAMES_FILE = Path(__file__).with_name("names.tsv")

PrimitiveName = Literal["string", "integer", "number", "boolean", "any", "object", "datetime", "date", "bytes"]
"""JSON types; `datetime` and `date` are strings of these formats, `object` has any members, `any` is any JSON value."""


@dataclass(frozen=True)
class Primitive:
    """A type without parts."""

    name: PrimitiveName


@dataclass(frozen=True)
class Enum:
    """One of some strings. A newer server may send others."""

    values: tuple[str, ...]


@dataclass(frozen=True)
class Reference:
    """An object type of the document, by its name."""

    name: str


@dataclass(frozen=True)
class ListOf:
    """A JSON array."""

    item: "Type"


@dataclass(frozen=True)
class MapOf:
    """A JSON object whose member names are free."""

    value: "Type"


@dataclass(frozen=True)
class Nullable:
    """A value or null."""

    value: "Type"


@dataclass(frozen=True)
class OneOf:
    """A value of one of several types. If all are objects, `tag` is the field whose value tells them apart."""

    options: tuple["Type", ...]
    tag: str | None = None


Type = Primitive | Enum | Reference | ListOf | MapOf | Nullable | OneOf


@dataclass(frozen=True)
class Field:
    """A member of an object type."""

    name: str
    type: Type
    required: bool
    description: str


@dataclass(frozen=True)
class ObjectType:
    """A JSON object with known members. `tag` is its value of the field that tells it apart in a `OneOf`."""

    name: str
    description: str
    fields: tuple[Field, ...]
    tag: tuple[str, str] | None = None


@dataclass(frozen=True)
class Parameter:
    """A parameter in the path, the query or a header. An array in the query is sent separated by commas."""

    name: str
    place: Literal["path", "query", "header"]
    type: Type
    required: bool
    description: str


BodyKind = Literal["json", "form", "bytes"]
ResponseKind = Literal["json", "empty", "text", "bytes", "redirect"]
PageKind = Literal["links", "pages", "cursor"]


@dataclass(frozen=True)
class Body:
    """A request's body. `type` of a JSON body is a Reference; form bodies have their fields here."""

    kind: BodyKind
    media_type: str
    required: bool
    type: Type
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True)
class Operation:
    """One operation: how a client calls it (`path` of names, such as `emails.send`) and what is sent.

    `page` says how further pages of a list are read: `links`: an array, the next page's URL in the `Link` header;
    `pages`: `data`, and `nextCursor` or `page` below `pages`; `cursor`: `data` and `nextCursor`. `item` is the type of
    an entry of a list. `authenticated` is False if no credential is needed.
    """

    id: str
    names: tuple[str, ...]
    method: str
    path: str
    tag: str
    summary: str
    description: str
    path_parameters: tuple[Parameter, ...]
    query: tuple[Parameter, ...]
    headers: tuple[Parameter, ...]
    body: Body | None
    response: ResponseKind
    media_type: str
    type: Type | None
    page: PageKind | None
    item: Type | None
    authenticated: bool
    permission: str | None
    problems: tuple[str, ...]
    example: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def idempotent(self) -> bool:
        """Whether a write may be repeated with the same `Idempotency-Key`."""
        return any(each.name == "Idempotency-Key" for each in self.headers)


@dataclass(frozen=True)
class ProblemType:
    """A problem that the API responds with: its code, HTTP status and the text for people."""

    code: str
    status: int
    title: str
    message: str


@dataclass(frozen=True)
class Event:
    """An event that webhooks deliver; `data` is the type of its data."""

    name: str
    description: str
    data: Type


@dataclass(frozen=True)
class Api:
    """The whole API, in the order of the document; object types and problems sorted by name."""

    version: str
    operations: tuple[Operation, ...]
    types: dict[str, ObjectType]
    problems: tuple[ProblemType, ...]
    events: tuple[Event, ...]


def load() -> Api:
    """The API of this source tree.

    Raises ValueError if an operation has no name in names.tsv, a name is used twice or belongs to no operation.
    """
    from postern.app import OPERATIONS
    from postern.examples import EXAMPLES
    from postern.kernel.http.openapi import document
    from postern.kernel.values import to_json
    from postern.platform.events.payloads import PAYLOADS
    from postern.reference import REFERENCE

    return read(json.loads(to_json(document(OPERATIONS, EXAMPLES, REFERENCE, PAYLOADS))), read_names())


def read_names(file: Path = NAMES_FILE) -> dict[str, tuple[str, ...]]:
    """The client's method of each operationId: `("emails", "send")` of `sendEmail`. Raises ValueError on duplicates."""
    names: dict[str, tuple[str, ...]] = {}
    for line in file.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        operation_id, _, name = line.partition("\t")
        if operation_id in names or tuple(name.split(".")) in names.values():
            raise ValueError(f"{file.name} names {operation_id} or {name} twice.")
        names[operation_id] = tuple(name.split("."))
    return names


def read(document: dict[str, Any], names: dict[str, tuple[str, ...]]) -> Api:
    """The API of an OpenAPI document."""
    schemas: dict[str, dict[str, Any]] = document["components"]["schemas"]
    tags = _tags(document)
    types = {
        name: ObjectType(name, schema.get("description", ""), tuple(_fields(schema)), tags.get(name))
        for name, schema in sorted(schemas.items())
    }
    entries = [
        (method.upper(), path, entry)
        for path, methods in document["paths"].items()
        for method, entry in methods.items()
        if method in {"get", "post", "put", "patch", "delete"} and not _is_stream(entry)
    ]
    ids = {entry["operationId"] for _, _, entry in entries}
    if wrong := sorted(ids ^ names.keys()):
        raise ValueError(f"{NAMES_FILE.name} lacks these operations, or they no longer exist: {', '.join(wrong)}.")
    operations = tuple(
        _operation(method, path, entry, names[entry["operationId"]], schemas) for method, path, entry in entries
    )
    problems = {
        example["value"]["code"]: ProblemType(
            example["value"]["code"],
            example["value"]["status"],
            example["value"]["title"],
            example["value"].get("detail", ""),
        )
        for example in document["components"]["examples"].values()
        if isinstance(example["value"], dict) and "code" in example["value"] and "requestId" in example["value"]
    }
    events = tuple(
        Event(name, entry["post"].get("description", ""), _event_data(entry["post"], schemas))
        for name, entry in document.get("webhooks", {}).items()
    )
    return Api(
        document["info"]["version"], operations, types, tuple(problems[code] for code in sorted(problems)), events
    )


def _is_stream(entry: dict[str, Any]) -> bool:
    """Whether an operation responds with server-sent events, for which platforms have clients (EventSource)."""
    return "text/event-stream" in entry["responses"].get("200", {}).get("content", {})


def snake_case(name: str) -> str:
    """`projectId` as `project_id`, `sendB2bMail` as `send_b2b_mail`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_")


def _operation(
    method: str, path: str, entry: dict[str, Any], names: tuple[str, ...], schemas: dict[str, dict[str, Any]]
) -> Operation:
    parameters = [
        Parameter(
            each["name"], each["in"], _type(each["schema"]), each.get("required", False), each.get("description", "")
        )
        for each in entry.get("parameters", [])
    ]
    if method == "DELETE" and path.endswith("{projectId}"):
        # A call without an id must not delete the project of the client's settings.
        path = path.replace("{projectId}", "{id}")
        parameters = [replace(each, name="id") if each.name == "projectId" else each for each in parameters]
    in_path = {each.name: each for each in parameters if each.place == "path"}
    response, media_type, schema = _success(entry["responses"])
    query = tuple(each for each in parameters if each.place == "query")
    page, item = _page(schema, {each.name for each in query}, schemas)
    return Operation(
        id=entry["operationId"],
        names=names,
        method=method,
        path=path,
        tag=entry["tags"][0],
        summary=entry["summary"],
        description=entry["description"],
        path_parameters=tuple(in_path[name] for name in re.findall(r"{(\w+)}", path)),
        query=query,
        headers=tuple(each for each in parameters if each.place == "header"),
        body=_body(entry.get("requestBody")),
        response=response,
        media_type=media_type,
        type=None if schema is None or response == "empty" else _type(schema),
        page=page,
        item=None if item is None else _type(item),
        authenticated=bool(entry.get("security", True)),
        permission=entry.get("x-permission"),
        problems=tuple(_problems(entry["responses"])),
        example=_example(entry.get("requestBody")),
    )


def _body(request_body: dict[str, Any] | None) -> Body | None:
    if request_body is None:
        return None
    media_type, content = next(iter(request_body["content"].items()))
    required = request_body.get("required", False)
    schema = content["schema"]
    if media_type == "application/x-www-form-urlencoded":
        return Body("form", media_type, required, Primitive("object"), tuple(_fields(schema)))
    if media_type != "application/json":
        return Body("bytes", media_type, required, Primitive("bytes"))
    type_ = _type(schema)
    return Body("json", media_type, required, type_.value if isinstance(type_, Nullable) else type_)


def _example(request_body: dict[str, Any] | None) -> dict[str, Any]:
    for content in (request_body or {}).get("content", {}).values():
        for example in content.get("examples", {}).values():
            if isinstance(example.get("value"), dict):
                return example["value"]
    return {}


def _success(responses: dict[str, Any]) -> tuple[ResponseKind, str, dict[str, Any] | None]:
    for status, response in sorted(responses.items()):
        if status.startswith("2"):
            content = response.get("content", {})
            if not content:
                return "empty", "", None
            media_type, media = next(iter(content.items()))
            if media_type == "application/json":
                return "json", media_type, media["schema"]
            binary = media_type in {"application/octet-stream", "image/gif", "message/rfc822"}
            return ("bytes" if binary else "text"), media_type, None
    return "redirect", "", None


def _page(
    schema: dict[str, Any] | None, query: set[str], schemas: dict[str, dict[str, Any]]
) -> tuple[PageKind | None, dict[str, Any] | None]:
    if schema is None or "cursor" not in query:
        return None, None
    if schema.get("type") == "array":
        return "links", schema["items"]
    properties = schemas[_name(schema)]["properties"]
    return ("pages" if "page" in properties else "cursor"), properties["data"]["items"]


def _problems(responses: dict[str, Any]) -> Iterator[str]:
    for response in responses.values():
        yield from response.get("content", {}).get("application/problem+json", {}).get("examples", {})


def _event_data(entry: dict[str, Any], schemas: dict[str, dict[str, Any]]) -> Type:
    schema = entry["requestBody"]["content"]["application/json"]["schema"]
    if "$ref" in schema:
        schema = schemas[_name(schema)]
    return _type(schema["properties"]["data"])


def _fields(schema: dict[str, Any]) -> Iterator[Field]:
    required = schema.get("required", [])
    for name, each in schema.get("properties", {}).items():
        yield Field(name, _type(each), name in required, each.get("description", ""))


def _type(schema: dict[str, Any]) -> Type:
    if "$ref" in schema:
        return Reference(_name(schema))
    if "anyOf" in schema or "oneOf" in schema:
        options = tuple(_type(each) for each in schema.get("anyOf") or schema["oneOf"] if each.get("type") != "null")
        tag = schema.get("discriminator", {}).get("propertyName")
        one = options[0] if len(options) == 1 else OneOf(options, tag)
        return Nullable(one) if any(each.get("type") == "null" for each in schema.get("anyOf", [])) else one
    if "enum" in schema:
        values = tuple(each for each in schema["enum"] if each is not None)
        return Nullable(Enum(values)) if None in schema["enum"] else Enum(values)
    kind = schema.get("type")
    if isinstance(kind, list):
        raise ValueError(f"A type that is a list is not expected in the document: {schema}")
    if kind == "array":
        return ListOf(_type(schema.get("items", {})))
    if kind == "object":
        extra = schema.get("additionalProperties")
        return MapOf(_type(extra)) if isinstance(extra, dict) and extra else Primitive("object")
    if kind == "string":
        by_format: dict[str, PrimitiveName] = {"date-time": "datetime", "date": "date", "binary": "bytes"}
        return Primitive(by_format.get(schema.get("format", ""), "string"))
    if kind in {"integer", "number", "boolean"}:
        return Primitive(kind)
    return Primitive("any")


def _tags(document: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Of each object type that a discriminator names: the field and its value there."""
    found: dict[str, tuple[str, str]] = {}
    waiting: list[Any] = [document]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            if "discriminator" in each:
                field_name = each["discriminator"]["propertyName"]
                for value, reference in each["discriminator"].get("mapping", {}).items():
                    found[reference.rpartition("/")[2]] = (field_name, value)
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
    return found


def _name(schema: dict[str, Any]) -> str:
    return schema["$ref"].rpartition("/")[2]
