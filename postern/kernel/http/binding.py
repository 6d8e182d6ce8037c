"""Binds the path, query, headers and body of a request to the arguments of an operation."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.operation import Operation, Parameter, RawRequest
from postern.kernel.http.problems import BadRequest, Invalid, Problem, ProblemError
from postern.kernel.http.responses import NotFound
from postern.kernel.http.validation import invalid_value, unknown_parameters
from postern.kernel.values import JSON_DEPTH_LIMIT, JSON_VALUES_LIMIT, as_id, has_too_many_values, is_too_deep

T = TypeVar("T")
QUERY_VALUE_LIMIT = 4_096
EMPTY_BODY_LENGTH = 2
"""The length of `{}`, which many clients send as an empty body."""

NESTED = f"The body is nested too deeply: at most {JSON_DEPTH_LIMIT} levels of arrays and objects are allowed."
MANY_VALUES = (
    f"The body has too many values: its arrays and objects may have at most {JSON_VALUES_LIMIT:,} values together."
)
UNSTORABLE_MARKS = (b"\\u", b"\0", b"9999-12-31", b"0001-01-01")
"""A body with a value that PostgreSQL cannot store has one of these byte sequences. Other bodies are not searched."""


class UnsupportedMediaType(BadRequest):
    """Send the body as `Content-Type: application/json`."""

    status = 415


class BodyInvalid(BadRequest):
    """The body is not valid JSON."""


def bind_arguments(operation: Operation[Any, Any]) -> Callable[[RawRequest, Call], Awaitable[dict[str, Any]]]:
    """Return a function that reads the arguments of an operation from a request. It raises Invalid, BodyInvalid and
    UnsupportedMediaType."""
    declared = inspect.signature(operation.function).parameters
    parameters = [parameter for parameter in operation.parameters if parameter.name in declared]
    wants_call, wants_request = "call" in declared, "request" in declared
    decoder = _Decoder(operation.body) if operation.body is not None else None
    in_query = frozenset(parameter.wire for parameter in parameters if parameter.place == "query")
    rejects_body = (
        decoder is None and not wants_request and operation.method != "GET" and operation.compatible_api is None
    )

    async def bind(request: RawRequest, call: Call) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        if not operation.any_query and request.scope["query_string"]:
            _reject_unknown(request, in_query)
        if rejects_body and _has_body(request.headers):
            _reject_body(await request.body(), request.headers.get("content-type", ""))
        if wants_call:
            arguments["call"] = call
        if wants_request:
            arguments["request"] = request
        for parameter in parameters:
            try:
                arguments[parameter.name] = _read_parameter(parameter, request)
            except Invalid:
                if not parameter.ignores_invalid:
                    raise
                arguments[parameter.name] = parameter.default
        if decoder:
            arguments["data"] = decoder(await request.body(), request.headers.get("content-type", ""))
        return arguments

    return bind


def is_head(request: RawRequest) -> bool:
    """Whether the request is a HEAD, which must have no side effects such as counting an open."""
    return bool(request.scope.get("postern_head"))


def _reject_unknown(request: RawRequest, allowed: frozenset[str]) -> None:
    """Raises Invalid for undeclared and for repeated query parameters."""
    names = [name for name, _ in request.query_params.multi_items()]
    unknown = [name for name in dict.fromkeys(names) if name not in allowed]
    if unknown:
        raise unknown_parameters(unknown, allowed)
    for name in allowed:
        if names.count(name) > 1:
            raise Invalid.at(f"query/{name}", f"`{name}` must be sent only once.", "repeated_parameter")


def _has_body(headers: Mapping[str, str]) -> bool:
    return "transfer-encoding" in headers or int(headers.get("content-length") or 0) > EMPTY_BODY_LENGTH


def _reject_body(body: bytes, content_type: str) -> None:
    """Raises Invalid if the body has fields, which an operation without a body would ignore."""
    if content_type.partition(";")[0].strip().lower() not in ("", "application/json"):
        return
    try:
        fields = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BodyInvalid("The body is not valid JSON, and this operation accepts no body.") from None
    if isinstance(fields, dict) and fields:
        name = str(next(iter(fields)))[:100]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        raise Invalid.at(
            f"/{name}", f"There is no field `{name}` here: this operation accepts no body.", "unknown_field"
        )


def _read_parameter(parameter: Parameter, request: RawRequest) -> Any:
    if parameter.place == "path":
        text = request.path_params[parameter.name]
        if parameter.type is UUID:
            return as_id(text)
        if "\0" in text:
            raise NotFound
        return text
    source = request.query_params if parameter.place == "query" else request.headers
    text = source.get(parameter.wire)
    location = f"{parameter.place}/{parameter.wire}"
    if text is None:
        if parameter.required:
            raise Invalid.at(location, f"`{parameter.wire}` is required.", "required")
        return parameter.default
    if "\0" in text or len(text) > QUERY_VALUE_LIMIT:
        raise Invalid.at(location, "This value is too long or contains a NUL character.")
    raw: Any = text
    if parameter.is_list:
        raw = [part.strip() for part in text.split(",") if part.strip()]
    choices = parameter.choices
    if choices and parameter.is_list:
        raw = [choices.get(item.lower(), item) for item in raw]
    elif choices:
        raw = choices.get(text.lower(), text)
    if not raw and (parameter.is_list or parameter.choices):
        return parameter.default  # An empty form field (`status=`) is no filter.
    try:
        # Strict for timestamps: otherwise msgspec accepts numbers.
        value = msgspec.convert(raw, parameter.non_null_type, strict=parameter.is_moment)
    except msgspec.ValidationError as error:
        raise invalid_value(error, parameter.non_null_type, location) from None
    if isinstance(value, datetime):
        _reject_out_of_range(value, location)
        # In UTC, because ISO 8601 allows offsets up to 23:59, but PostgreSQL only up to 15:59.
        return value.astimezone(UTC) if value.tzinfo else value
    return value


class _Decoder:
    """Decodes a JSON body into its type. Its errors contain the location of the invalid value."""

    def __init__(self, hint: Any) -> None:
        self._optional = get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint)
        self._decoder = msgspec.json.Decoder(hint)

    def __call__(self, body: bytes, content_type: str) -> Any:
        if not body:
            if self._optional:
                return None
            raise BodyInvalid("The body is missing: send a JSON object.")
        media_type = content_type.partition(";")[0].strip().lower()
        if media_type and media_type != "application/json" and not media_type.endswith("+json"):
            raise UnsupportedMediaType
        return read_json(self._decoder, body)


def read_json(decoder: "msgspec.json.Decoder[T]", body: bytes | msgspec.Raw) -> T:
    """Decode JSON and check that PostgreSQL can store all of it. Raises Invalid and BodyInvalid.

    Parts of type `msgspec.Raw` are checked when they are decoded later.
    """
    document = bytes(body)
    if len(document) > JSON_VALUES_LIMIT and has_too_many_values(document):
        raise BodyInvalid(MANY_VALUES, errors=[ProblemError(path="", code="too_many_values", message=MANY_VALUES)])
    try:
        value = decoder.decode(document)
        if is_too_deep(document):
            raise _nested_too_deeply()
        if any(mark in document for mark in UNSTORABLE_MARKS):
            _reject_unstorable(value, "")
    except msgspec.ValidationError as error:
        raise invalid_value(error, decoder.type) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BodyInvalid(f"The body is not valid JSON: {error}.") from None
    except RecursionError:
        raise _nested_too_deeply() from None
    return value


def read_item(decoder: "msgspec.json.Decoder[T]", item: msgspec.Raw) -> T | Problem:
    """Like `read_json` for one item of a batch: the problem is returned, because it concerns that item only."""
    try:
        return read_json(decoder, item)
    except Problem as problem:
        return problem


def _nested_too_deeply() -> BodyInvalid:
    return BodyInvalid(NESTED, errors=[ProblemError(path="", code="too_deep", message=NESTED)])


def _reject_unstorable(value: Any, path: str) -> None:
    """Raises Invalid for values that PostgreSQL cannot store.

    These are NUL, unpaired surrogates, and timestamps outside the years 1 to 9999 in UTC.
    """
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise Invalid.at(path, "This text contains a NUL character or an unpaired surrogate.", "unstorable")
    elif isinstance(value, datetime):
        _reject_out_of_range(value, path)
    elif isinstance(value, msgspec.Struct):
        for name, wire in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
            _reject_unstorable(getattr(value, name), f"{path}/{wire}")
    elif isinstance(value, list):
        for index, item in enumerate(value):  # pyright: ignore[reportUnknownArgumentType]
            _reject_unstorable(item, f"{path}/{index}")
    elif isinstance(value, dict):
        for key, item in value.items():
            _reject_unstorable(key, path)
            _reject_unstorable(item, f"{path}/{key}")


def _reject_out_of_range(moment: datetime, path: str) -> None:
    try:
        moment.astimezone(UTC)
    except OverflowError:
        raise Invalid.at(path, "This time is not within the years 1 to 9999 in UTC.", "unstorable") from None
