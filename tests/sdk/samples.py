"""One call of every operation, made from the examples and schemas of the OpenAPI document."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, quote

from jsonschema_rs import Draft202012Validator

from postern.app import OPERATIONS
from postern.examples import EXAMPLES
from postern.kernel.http.openapi import document
from postern.kernel.values import to_json
from postern.reference import REFERENCE
from sdk.generator.model import Api, Operation, read, read_names

PROJECT = "0198c2a0-0000-7000-8000-000000000001"
CSV = "email,name\nada@example.com,Ada\n"
WITHOUT_SCHEMA = ("projectId", "appId")


@cache
def openapi() -> dict[str, Any]:
    """The OpenAPI document."""
    return json.loads(to_json(document(OPERATIONS, EXAMPLES, REFERENCE)))


@cache
def api() -> Api:
    """The API as the generators see it."""
    return read(openapi(), read_names())


@cache
def entries() -> dict[str, dict[str, Any]]:
    """The entries of the document by operationId."""
    return {entry["operationId"]: entry for methods in openapi()["paths"].values() for entry in methods.values()}


@dataclass(frozen=True)
class Sample:
    """The values of one call. `params` are fields of a JSON or form body or query parameters."""

    operation: Operation
    path: dict[str, Any]
    """Values of the path without the project's."""
    params: dict[str, Any] | None
    raw: str | None
    """The body of operations that take bytes."""

    @property
    def expected_path(self) -> str:
        """The path that the call must request."""
        path = self.operation.path
        for name, value in {**dict.fromkeys(WITHOUT_SCHEMA, PROJECT), **self.path}.items():
            path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
        return path


@cache
def samples() -> tuple[Sample, ...]:
    """A sample of every operation, with every query parameter and an example body."""
    return tuple(_sample(api(), operation) for operation in api().operations)


def _sample(api: Api, operation: Operation) -> Sample:
    schemas = {parameter["name"]: parameter for parameter in entries()[operation.id].get("parameters", [])}
    path = {
        # The id of the project to delete is an argument, although the document calls it `projectId`.
        parameter.name: value_of(schemas.get(parameter.name) or schemas["projectId"])
        for parameter in operation.path_parameters
        if parameter.name not in WITHOUT_SCHEMA
    }
    params: dict[str, Any] | None = None
    kind = operation.body.kind if operation.body else None
    if kind == "json":
        params = operation.example
    elif kind == "form" and operation.body:
        params = {parameter.name: f"a & b of {parameter.name}" for parameter in operation.body.fields}
    elif operation.query:
        params = {parameter.name: value_of(schemas[parameter.name]) for parameter in operation.query}
    return Sample(operation, path, params, CSV if kind == "bytes" else None)


def value_of(parameter: dict[str, Any]) -> Any:
    """A value that a parameter's schema accepts."""
    schema = parameter["schema"]
    if "enum" in schema:
        return next(candidate for candidate in schema["enum"] if candidate is not None)
    match schema.get("type"):
        case "integer" | "number":
            return max(schema.get("minimum", 1), 1)
        case "boolean":
            return True
        case "array":
            return [value_of({"schema": schema["items"]})] * 2
        case _:
            pass
    if schema.get("format") == "date-time":
        return "2026-01-31T12:00:00Z"
    candidates = [
        parameter.get("example"),
        schema.get("default"),
        "a b/c?d&é",
        "0198c2a0-0000-7000-8000-00000000000a",
        "a" * 43,
        "2026-01-31",
        "ada@example.com",
        "https://app.example/callback",
    ]
    validator = Draft202012Validator(schema)
    return next(candidate for candidate in candidates if isinstance(candidate, str) and validator.is_valid(candidate))


def response_of(operation: Operation) -> tuple[int, str, bytes]:
    """Status, media type and body of the documented response."""
    responses = entries()[operation.id]["responses"]
    status = next(status for status in sorted(responses) if status[0] in "23")
    content = responses[status].get("content", {})
    if operation.response == "json":
        example = next(iter(content["application/json"]["examples"].values()))["value"]
        return int(status), "application/json", json.dumps(example).encode()
    body = {"empty": b"", "redirect": b"", "text": "Zoë".encode(), "bytes": b"\x00\xff\r\n"}[operation.response]
    return int(status), operation.media_type, body


def check_request(
    sample: Sample, method: str, path: str, query: dict[str, str], body: bytes, content_type: str
) -> None:
    """Compare a request with the document. Raises AssertionError."""
    operation = sample.operation
    assert (method, path) == (operation.method, sample.expected_path), operation.id
    parameters = {
        entry["name"]: entry for entry in entries()[operation.id].get("parameters", []) if entry["in"] == "query"
    }
    assert query.keys() <= parameters.keys(), operation.id
    expected = {} if operation.body and operation.body.kind != "bytes" else sample.params or {}
    assert query == {name: _text(value) for name, value in expected.items()}, operation.id
    if operation.body is None:
        assert (body, content_type) == (b"", ""), operation.id
        return
    assert content_type.partition(";")[0] == operation.body.media_type, operation.id
    if operation.body.kind == "json":
        assert json.loads(body) == sample.params, operation.id
        schema = entries()[operation.id]["requestBody"]["content"]["application/json"]["schema"]
        validator = Draft202012Validator({**schema, "components": openapi()["components"]})
        assert list(validator.iter_errors(json.loads(body))) == [], operation.id
    elif operation.body.kind == "form":
        assert dict(parse_qsl(body.decode())) == sample.params, operation.id
    else:
        assert body.decode() == sample.raw, operation.id


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_text(item) for item in value)
    return str(value).lower() if isinstance(value, bool) else str(value)
