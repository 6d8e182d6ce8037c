"""A request's path, query, headers and body as the arguments of an operation."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.operation import Operation, Parameter, RawRequest
from postern.kernel.http.problems import BadRequest, Invalid, ProblemError
from postern.kernel.http.responses import NotFound
from postern.kernel.http.validation import invalid_value, unknown_parameters
from postern.kernel.values import JSON_DEPTH_LIMIT, as_id, is_too_deep

T = TypeVar("T")
QUERY_VALUE_LIMIT = 4_096
EMPTY_BODY = 2
"""Bytes of `{}`, which many clients send where there is nothing to say."""

NESTED = f"The body is nested too deeply: more than {JSON_DEPTH_LIMIT} arrays and objects inside each other."
SUSPECT = (b"\\u", b"\0", b"9999-12-31", b"0001-01-01")
"""What a text that holds something we cannot keep has in it."""


class UnsupportedMediaType(BadRequest):
    """Send the body as `Content-Type: application/json`."""

    status = 415


class BodyInvalid(BadRequest):
    """The body is not valid JSON."""


def bind_arguments(each: Operation[Any, Any]) -> Callable[[RawRequest, Call], Awaitable[dict[str, Any]]]:
    """The function that makes an operation's arguments from a request."""
    taken = inspect.signature(each.function).parameters
    parameters = [parameter for parameter in each.parameters if parameter.name in taken]
    wants_call, wants_request = "call" in taken, "request" in taken
    decoder = _Decoder(each.body) if each.body is not None else None
    in_query = frozenset(parameter.wire for parameter in parameters if parameter.place == "query")
    takes_nothing = decoder is None and not wants_request and each.method != "GET"

    async def bind(request: RawRequest, call: Call) -> dict[str, Any]:
        given: dict[str, Any] = {}
        if not each.any_query and request.scope["query_string"]:
            _refuse_unknown(request, in_query)
        if takes_nothing and _has_body(request.headers):
            _refuse_body(await request.body(), request.headers.get("content-type", ""))
        if wants_call:
            given["call"] = call
        if wants_request:
            given["request"] = request
        for parameter in parameters:
            try:
                given[parameter.name] = _read_parameter(parameter, request)
            except Invalid:
                if not parameter.or_nothing:
                    raise
                given[parameter.name] = parameter.default
        if decoder:
            given["data"] = decoder(await request.body(), request.headers.get("content-type", ""))
        return given

    return bind


def is_head(request: RawRequest) -> bool:
    """Whether the request is a HEAD: reads nothing, so that it should count for nothing."""
    return bool(request.scope.get("postern_head"))


def _refuse_unknown(request: RawRequest, allowed: frozenset[str]) -> None:
    """Raises Invalid for query parameters that the operation does not take, and for one that is given twice."""
    names = [name for name, _ in request.query_params.multi_items()]
    unknown = [name for name in dict.fromkeys(names) if name not in allowed]
    if unknown:
        raise unknown_parameters(unknown, allowed)
    for name in allowed:
        if names.count(name) > 1:
            raise Invalid.at(f"query/{name}", f"`{name}` is given more than once.", "repeated_parameter")


def _has_body(headers: Mapping[str, str]) -> bool:
    return "transfer-encoding" in headers or int(headers.get("content-length") or 0) > EMPTY_BODY


def _refuse_body(body: bytes, content_type: str) -> None:
    """Raises Invalid where an operation without a body is sent fields, which would have no effect."""
    if content_type.partition(";")[0].strip().lower() not in ("", "application/json"):
        return
    try:
        fields = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BodyInvalid("The body is not valid JSON, and this operation takes none.") from None
    if isinstance(fields, dict) and fields:
        name = str(next(iter(fields)))[:100]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        raise Invalid.at(f"/{name}", f"There is no field `{name}` here: this operation takes no body.", "unknown_field")


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
    where = f"{parameter.place}/{parameter.wire}"
    if text is None:
        if parameter.required:
            raise Invalid.at(where, f"`{parameter.wire}` is required.", "required")
        return parameter.default
    if "\0" in text or len(text) > QUERY_VALUE_LIMIT:
        raise Invalid.at(where, "This value is too long or holds a NUL character.")
    given: Any = text
    if parameter.is_list:
        given = [part.strip() for part in text.split(",") if part.strip()]
    known = parameter.choices
    if known and parameter.is_list:
        given = [known.get(each.lower(), each) for each in given]
    elif known:
        given = known.get(text.lower(), text)
    if not given and (parameter.is_list or parameter.choices):
        return parameter.default  # `status=` of an empty form field asks for nothing in particular.
    try:
        # A number is no moment: strictly read, only ISO 8601 is one.
        value = msgspec.convert(given, parameter.given_type, strict=parameter.is_moment)
    except msgspec.ValidationError as error:
        raise invalid_value(error, parameter.given_type, where) from None
    if isinstance(value, datetime):
        _refuse_out_of_range(value, where)
        # In UTC: ISO 8601 allows offsets up to 23:59, PostgreSQL takes none beyond 15:59.
        return value.astimezone(UTC) if value.tzinfo else value
    return value


class _Decoder:
    """Decodes a JSON body into its type, and says where it is wrong."""

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
    """A JSON text as the decoder's type, if all of it can be kept. Raises Invalid and BodyInvalid.

    What the type leaves as `msgspec.Raw` is judged when it is read in its turn.
    """
    try:
        value = decoder.decode(body)
        if is_too_deep(bytes(body)):
            raise _nested_too_deeply()
        if any(each in bytes(body) for each in SUSPECT):
            _refuse_unstorable(value, "")
    except msgspec.ValidationError as error:
        raise invalid_value(error, decoder.type) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BodyInvalid(f"The body is not valid JSON: {error}.") from None
    except RecursionError:
        raise _nested_too_deeply() from None
    return value


def _nested_too_deeply() -> BodyInvalid:
    return BodyInvalid(NESTED, errors=[ProblemError(path="", code="too_deep", message=NESTED)])


def _refuse_unstorable(value: Any, path: str) -> None:
    """Raises Invalid for what PostgreSQL cannot keep and no mail should carry.

    These are NUL, lone surrogates, and moments that fall outside the years 1 to 9999 in UTC.
    """
    if isinstance(value, str):
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise Invalid.at(path, "This text holds a NUL or an unpaired surrogate.", "unstorable")
    elif isinstance(value, datetime):
        _refuse_out_of_range(value, path)
    elif isinstance(value, msgspec.Struct):
        for name, wire in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
            _refuse_unstorable(getattr(value, name), f"{path}/{wire}")
    elif isinstance(value, list):
        for index, item in enumerate(value):  # pyright: ignore[reportUnknownArgumentType]
            _refuse_unstorable(item, f"{path}/{index}")
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_unstorable(key, path)
            _refuse_unstorable(item, f"{path}/{key}")


def _refuse_out_of_range(moment: datetime, path: str) -> None:
    try:
        moment.astimezone(UTC)
    except OverflowError:
        raise Invalid.at(path, "This moment is not within the years 1 to 9999 in UTC.", "unstorable") from None
