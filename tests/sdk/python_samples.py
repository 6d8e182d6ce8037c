"""One call of every operation with the Python client, as source code: its arguments are the examples of the API."""

from dataclasses import dataclass
from typing import Any

from sdk.generator.model import (
    Api,
    Enum,
    ListOf,
    Nullable,
    OneOf,
    Operation,
    Parameter,
    Primitive,
    Reference,
    Type,
    snake_case,
)
from sdk.generator.python import argument_name, takes_if_match

PROJECT = "019c13f9-5a00-7244-8210-e48437b65569"
IF_MATCH = '"1769860800000000"'
IDEMPOTENCY_KEY = "order-42"
CSV = b"email,first name\r\nada@example.com,Ada\r\n"


@dataclass(frozen=True)
class Sample:
    """A call, and the request that it must send."""

    operation: Operation
    function: str
    call: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any
    """The JSON value, the form's fields, or the bytes; None without a body."""


def samples(api: Api) -> list[Sample]:
    """A sample of each operation."""
    return [_sample(api, operation) for operation in api.operations]


def source(listed: list[Sample], *, is_async: bool) -> str:
    """A module with a function for each sample, annotated with what it returns."""
    client = "AsyncPostern" if is_async else "Postern"
    functions: list[str] = []
    for sample in listed:
        is_list = sample.operation.page is not None
        returned = _returned(sample.operation)
        if is_list:
            returned = f"{'AsyncPage' if is_async else 'Page'}[{returned}]"
        head = f"async def {sample.function}" if is_async else f"def {sample.function}"
        waiting = "await " if is_async else ""
        functions.append(f"{head}(client: {client}) -> {returned}:\n    return {waiting}client.{sample.call}\n")
    return (
        "from typing import Any\n\n"
        "from postern_sdk import AsyncPage, AsyncPostern, Page, Postern, types\n\n\n" + "\n\n".join(functions)
    )


def _sample(api: Api, operation: Operation) -> Sample:
    arguments: list[str] = []
    path = operation.path.replace("{projectId}", PROJECT).replace("{appId}", PROJECT)
    for parameter in operation.path_parameters:
        if parameter.name not in {"projectId", "appId"}:
            # Not only letters, because values must be encoded.
            arguments.append(repr(f"{parameter.name} 1/2"))
            path = path.replace(f"{{{parameter.name}}}", f"{parameter.name}%201%2F2")
    body: Any = None
    headers: dict[str, str] = {}
    if operation.body is not None:
        if operation.body.kind == "bytes":
            body = CSV
            arguments.append(f"data={CSV!r}")
        elif operation.body.kind == "form":
            body = {field.name: f"{field.name} & more" for field in operation.body.fields}
        else:
            assert isinstance(operation.body.type, Reference)
            fields = api.types[operation.body.type.name].fields
            assert operation.example or not any(field.required for field in fields), operation.id
            body = operation.example
        if isinstance(body, dict):
            arguments += [f"{argument_name(name)}={value!r}" for name, value in body.items()]
        headers["content-type"] = operation.body.media_type
    query: dict[str, str] = {}
    for parameter in operation.query:
        value, text = _value(parameter)
        arguments.append(f"{argument_name(parameter.name)}={value!r}")
        query[parameter.name] = text
    if any(header.name == "Prefer" for header in operation.headers):
        arguments.append("prefer='wait=0'")
        headers["prefer"] = "wait=0"
    names = {argument_name(key) for key in (body if isinstance(body, dict) else ())}
    fields = {field.name for field in _fields(api, operation)}
    if operation.idempotent and "idempotencyKey" not in fields | names:
        arguments.append(f"idempotency_key={IDEMPOTENCY_KEY!r}")
        headers["idempotency-key"] = IDEMPOTENCY_KEY
    if takes_if_match(operation):
        arguments.append(f"if_match={IF_MATCH!r}")
        headers["if-match"] = IF_MATCH
    name = ".".join(snake_case(key) for key in operation.names)
    call = f"{name}({', '.join(arguments)})"
    return Sample(operation, f"call_{snake_case(operation.id)}", call, path, query, headers, body)


def _fields(api: Api, operation: Operation) -> Any:
    if operation.body is None or not isinstance(operation.body.type, Reference):
        return ()
    return api.types[operation.body.type.name].fields


def _value(parameter: Parameter) -> tuple[Any, str]:
    match parameter.type:
        case Enum(values):
            return values[0], values[0]
        case ListOf(Enum(values)):
            return list(values[:2]), ",".join(values[:2])
        case ListOf():
            return ["a b", "c"], "a b,c"
        case Primitive("integer"):
            return 2, "2"
        case Primitive("number"):
            return 0.5, "0.5"
        case Primitive("boolean"):
            return True, "true"
        case Primitive("datetime"):
            return "2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"
        case Primitive("date"):
            return "2026-01-31", "2026-01-31"
        case _:
            return "ä & b", "ä & b"


def _returned(operation: Operation) -> str:
    if operation.response == "json":
        type_ = operation.item or operation.type
        assert type_ is not None
        return _type(type_)
    return {"empty": "None", "bytes": "bytes"}.get(operation.response, "str")


def _type(type_: Type) -> str:
    match type_:
        case Reference(name):
            return f"types.{name}"
        case ListOf(item):
            return f"list[{_type(item)}]"
        case Primitive("object"):
            return "dict[str, Any]"
        case Primitive("string"):
            return "str"
        case Nullable() | OneOf() | _:
            raise AssertionError(type_)
