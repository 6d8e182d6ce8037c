"""Handles a request to an operation: checks its credential, permission and rate limit, binds its arguments, calls the
function, and turns the function's value into a response.

`middleware.py` runs before this module; `responses.py` turns the exceptions of operations into responses.
"""

import dataclasses
import inspect
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin
from uuid import UUID

import msgspec
import structlog
from litestar import Request
from litestar.response import Stream
from litestar.types import ASGIApp, Receive, Scope, Send

from postern.kernel.database.replica import FROM_PRIMARY, FROM_REPLICA, REPLICA_ERRORS, Replica
from postern.kernel.http.call import (
    ANONYMOUS,
    Call,
    Caller,
    CredentialInvalid,
    CredentialMissing,
    CredentialNotAccepted,
    Origin,
    PermissionMissing,
    content_etag,
    etag,
    is_none_match,
)
from postern.kernel.http.compatible_api import CompatibleApi
from postern.kernel.http.operation import Operation, Parameter, RawRequest, query_structs_of
from postern.kernel.http.pagination import Feed, LinkedList, Page
from postern.kernel.http.problems import BadRequest, Forbidden, Invalid, Missing, Problem, ProblemError, Unauthenticated
from postern.kernel.http.responses import HttpResponse, NotFound
from postern.kernel.http.routing import AsgiRoute
from postern.kernel.http.scheduling import ScheduledRequest, turn_of_large_body
from postern.kernel.http.validation import invalid_value, reject_out_of_range, reject_unknown, reject_unstorable
from postern.kernel.limits import RateLimit, RateLimitState, TooManyRequests
from postern.kernel.values import (
    JSON_DEPTH_LIMIT,
    JSON_VALUES_LIMIT,
    NO_ID,
    Moment,
    as_id,
    has_too_many_values,
    is_too_deep,
    to_json,
)

T = TypeVar("T")

VISITOR_ADDRESS, VISITOR_AGENT = "Postern-Visitor-Address", "Postern-Visitor-Agent"
"""The visitor's IP address and user agent. A project's server sends them when it calls sign-in operations with its
secret key."""

MAX_ADDRESS_CHARACTERS = 64
MAX_AGENT_CHARACTERS = 512
"""A longer IP address or user agent is cut off."""
MAX_LANGUAGE_CHARACTERS = 256
"""A longer `Accept-Language`, `lang` or `ui_locales` is cut off."""
LANGUAGE_PARAMETERS = ("lang", "ui_locales")
"""Parameters of the query with the language of a page; the second one is that of OpenID Connect Core §3.1.2.1."""
PROJECT_RATE_WINDOW = timedelta(seconds=1)

MAX_VALUE_CHARACTERS = 4_096
"""A longer value of a query parameter or header is rejected."""
JSON = "application/json"
WITHOUT_CONTENT = (204, 304)
EMPTY_BODY_LENGTH = 2
"""The length in bytes of `{}`, which many clients send as an empty body."""

TOO_DEEP_MESSAGE = (
    f"The body is nested too deeply: at most {JSON_DEPTH_LIMIT} levels of arrays and objects are allowed."
)
TOO_MANY_VALUES_MESSAGE = (
    f"The body has too many values: its arrays and objects may have at most {JSON_VALUES_LIMIT:,} values together."
)
UNSTORABLE_MARKS = ((b"\\", b"\\u"), (b"\0", b"\0"), (b"-", b"9999-12-31"), (b"-", b"0001-01-01"))
"""A body with a value that PostgreSQL cannot store contains at least one of these byte sequences. The values of other
bodies need no check. With each is a character of it, which is searched much faster in a large attachment."""


class UnsupportedMediaType(BadRequest):
    """Send the body as `Content-Type: application/json`."""

    status = 415


class BodyInvalid(BadRequest):
    """The body is not valid JSON."""


def handler_of(operation: Operation[Any, Any]) -> AsgiRoute:
    """The Litestar route of an operation. Litestar finds the route and handles exceptions; the route does the rest
    itself, because Litestar's own handling of arguments and responses would cost more CPU time than all of it
    (docs/decisions/0102-what-a-request-costs.md)."""
    return AsgiRoute(
        re.sub(r"{(\w+)}", r"{\1:str}", operation.path),
        http_method=operation.method,
        application=_application_of(operation),
        opt={"operation": operation, "needs": operation.needs},
        request_max_body_size=operation.body_limit,
        name=f"{operation.method} {operation.path}",
    )


def _application_of(operation: Operation[Any, Any]) -> ASGIApp:
    """The ASGI application that responds to a request to an operation."""
    bind = bind_arguments(operation)
    # A public GET may have effects, such as counting an open or signing a person in. A GET that needs a permission
    # writes at most an entry of the audit log, in one transaction, so it can be cancelled when the client disconnects.
    only_reads = operation.method == "GET" and operation.needs is not None

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        request: RawRequest = Request(scope, receive, send)
        call = await admit(request, operation)
        if only_reads:
            scope["postern_read_only_task"].begin()  # type: ignore[typeddict-item]
        arguments = await bind(request, call)
        if operation.reads_replica and call.world.replica is not None:
            value = await _read_replica(operation, call, call.world.replica, arguments)
        else:
            value = await operation.function(**arguments)
        await respond(operation, call, value, request)

    return serve


async def _read_replica(operation: Operation[Any, Any], call: Call, replica: Replica, arguments: dict[str, Any]) -> Any:
    """Call an operation with the replica as its database, and with the primary if the replica fails."""
    db = await replica.database()
    if db is not call.world.db:
        try:
            value = await operation.function(**{**arguments, "call": dataclasses.replace(call, db=db)})
        except REPLICA_ERRORS as error:
            replica.note_failure(error)
        else:
            FROM_REPLICA.inc()
            if isinstance(value, HttpResponse) and isinstance(value.content, AsyncIterator):
                return dataclasses.replace(value, content=replica.watch(value.content))
            return value
    FROM_PRIMARY.inc()
    return await operation.function(**arguments)


# Admission: the credential, permission and rate limit.


async def admit(connection: RawRequest, operation: Operation[Any, Any]) -> Call:
    """Check credential, e-mail verification, permission and rate limit of a request, and return its Call.

    Raises Unauthenticated, Forbidden, ProjectMissing, TooManyRequests, or Invalid for a malformed visitor address.
    """
    state, scope = connection.app.state, connection.scope
    world = state.world
    project_id = as_id(connection.path_params[operation.project_parameter]) if operation.project_parameter else None
    origin = origin_of(connection)
    caller = ANONYMOUS
    headers: dict[str, str] = {}
    if operation.accepts:
        read_token = operation.compatible_api.read_token if operation.compatible_api else read_bearer
        request: ScheduledRequest | None = scope.get("postern_request")  # type: ignore[assignment]
        token: str | None = None
        try:
            token = read_token(connection.headers)
            caller = await _read_caller(state.readers, world, token, project_id, origin)
        except CredentialInvalid:
            if request is not None:
                request.is_unknown(token)
            raise
        owner = caller.project_id or caller.account_id
        if request is not None and owner is not None:
            # Secret keys have turns of their own: anybody may have a publishable key or a customer's token. By number,
            # because the hash and the comparisons of a UUID are functions in Python.
            request.belongs_to((owner.int, caller.kind == "secret_key"), token)
        _check_caller(operation, caller)
        if caller.kind == "secret_key" and "anonymous" in operation.accepts:
            origin = _visitor_origin(connection.headers, origin)
    if operation.compatible_api is not None and operation.accepts:
        project_id = caller.project_id
        headers |= _take_compatible_request(connection, world, caller, operation.compatible_api)
    elif project_id is not None or caller.account_id is not None:
        rate = rate_of(world, caller)
        headers["RateLimit-Policy"] = rate.policy
        headers["RateLimit"] = world.limiter.take(rate, str(project_id or caller.account_id))
    return Call(
        world=world,
        db=world.db,
        caller=caller,
        now=world.clock(),
        request_id=scope.get("postern_request_id", ""),  # type: ignore[arg-type]
        origin=origin,
        project_id=NO_ID if project_id is None else project_id,
        if_match=connection.headers.get("if-match"),
        headers=headers,
    )


def origin_of(connection: RawRequest) -> Origin:
    """The IP address, user agent and languages of a request."""
    client = connection.scope.get("client")
    agent = connection.headers.get("user-agent", "")
    return Origin(
        ip=client[0][:MAX_ADDRESS_CHARACTERS] if client else "",
        user_agent=agent[:MAX_AGENT_CHARACTERS],
        accept_language=connection.headers.get("accept-language", "")[:MAX_LANGUAGE_CHARACTERS],
        language=language_parameter(connection),
    )


async def is_still_admitted(request: RawRequest, call: Call) -> bool:
    """Whether the credential of a request is still valid and still has the permission that the operation needs.

    For responses that take minutes. Raises OperationalError or PoolTimeout if the database does not respond.
    """
    operation: Operation[Any, Any] = request.scope["route_handler"].opt["operation"]
    try:
        token = read_bearer(request.headers)
        caller = await _read_caller(request.app.state.readers, call.world, token, call.project_id, call.origin)
        _check_caller(operation, caller)
    except (Unauthenticated, Forbidden, Missing):
        return False
    return True


def _check_caller(operation: Operation[Any, Any], caller: Caller) -> None:
    """Raises CredentialMissing, CredentialNotAccepted, PermissionMissing the caller's `unverified_problem` or
    `restricted_problem` if the operation does not admit the caller."""
    if caller.kind not in operation.accepts:
        if caller.kind == "anonymous":
            raise CredentialMissing
        raise CredentialNotAccepted.of(caller.kind, operation.accepts)
    is_permitted = not operation.needs or not caller.permissions.isdisjoint(operation.granted_by)
    # An unverified caller keeps some permissions, which suffice for operations that need them. Operations without need
    # of a permission admit such a caller only if they are declared `unverified`.
    if caller.unverified_problem and not (is_permitted if operation.needs else operation.unverified):
        raise caller.unverified_problem
    if caller.restricted_problem and not operation.restricted:
        raise caller.restricted_problem
    if not is_permitted and not caller.acts_on_itself:
        raise PermissionMissing(f"This operation needs the permission `{operation.needs}`.")


def _visitor_origin(headers: Mapping[str, str], origin: Origin) -> Origin:
    """The visitor's address and user agent, if the project's server sends them. Raises Invalid for a malformed address.

    Without the headers, all visitors share the limits of the server's address.
    """
    address, agent = headers.get(VISITOR_ADDRESS), headers.get(VISITOR_AGENT)
    if address is not None:
        try:
            address = str(ip_address(address.strip()))
        except ValueError:
            raise Invalid.at(f"header/{VISITOR_ADDRESS}", "This is not an IP address.") from None
    return dataclasses.replace(
        origin,
        ip=origin.ip if address is None else address,
        user_agent=origin.user_agent if agent is None else agent[:MAX_AGENT_CHARACTERS],
        is_visitor=address is not None,
    )


def language_parameter(connection: RawRequest) -> str:
    """The language that the query of a request names, as sent; "" if it names none."""
    query = connection.scope["query_string"]
    if b"lang=" not in query and b"ui_locales=" not in query:
        return ""  # Parsing a query takes time.
    parameters = connection.query_params
    return next((str(parameters[name]) for name in LANGUAGE_PARAMETERS if parameters.get(name)), "")[
        :MAX_LANGUAGE_CHARACTERS
    ]


def rate_of(world: Any, caller: Caller) -> RateLimit:
    """The rate limit of requests of the caller's project."""
    quota = world.settings.project_rate if caller.rate_limit is None else caller.rate_limit
    return RateLimit("project", quota, PROJECT_RATE_WINDOW)


def _take_compatible_request(connection: RawRequest, world: Any, caller: Caller, api: CompatibleApi) -> dict[str, str]:
    """Take one request from the project's rate limit. Returns the API's headers for it, which error responses have too.
    Raises TooManyRequests."""
    scope: Any = connection.scope
    rate, now = rate_of(world, caller), world.clock()
    try:
        state = world.limiter.take_request(rate, str(caller.project_id))
    except TooManyRequests as refusal:
        refused = RateLimitState(rate, 0, refusal.retry_after_seconds or 1)
        scope["postern_headers"] = api.rate_limit_headers(refused, now)
        raise
    scope["postern_headers"] = api.rate_limit_headers(state, now)
    return {**scope["postern_headers"]}


async def _read_caller(
    readers: Sequence[Any], world: Any, token: str | None, project_id: UUID | None, origin: Origin
) -> Caller:
    if token is None:
        return ANONYMOUS
    for read in readers:
        caller = await read(world, token, project_id, origin)
        if caller is not None:
            return caller
    raise CredentialInvalid


BEARER_LIMIT = 16_384
"""Longest credential, in characters: that of a customer with many roles, permissions and declared metadata."""


def read_bearer(headers: Mapping[str, str]) -> str | None:
    """The bearer token of a request (RFC 6750 §2.1); None without an `Authorization` header.

    Raises CredentialInvalid if the header has another scheme, or if the token is empty, too long or not ASCII.
    """
    text = headers.get("authorization")
    if text is None:
        return None
    scheme, _, token = text.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token or len(token) > BEARER_LIMIT or not token.isascii():
        raise CredentialInvalid("Send the credential as `Authorization: Bearer …`.")
    return token


# Binding: the arguments of the operation's function.


def bind_arguments(operation: Operation[Any, Any]) -> Callable[[RawRequest, Call], Awaitable[dict[str, Any]]]:
    """Return a function that reads the arguments of an operation from a request. It raises Invalid, BodyInvalid and
    UnsupportedMediaType."""
    declared = inspect.signature(operation.function).parameters
    query_structs = query_structs_of(operation.function)
    names = {*declared, *(field for kind in query_structs.values() for field in kind.__struct_fields__)}
    parameters = [parameter for parameter in operation.parameters if parameter.name in names]
    wants_call, wants_request = "call" in declared, "request" in declared
    decoder = _Decoder(operation.body) if operation.body is not None else None
    in_query = frozenset(parameter.wire_name for parameter in parameters if parameter.place == "query")
    rejects_body = (
        decoder is None and not wants_request and operation.method != "GET" and operation.compatible_api is None
    )

    async def bind(request: RawRequest, call: Call) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        if not operation.ignore_unknown_query and request.scope["query_string"]:
            reject_unknown(request.query_params.multi_items(), in_query)
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
        for name, kind in query_structs.items():
            arguments[name] = kind(**{field: arguments.pop(field) for field in kind.__struct_fields__})
        if decoder:
            body = await request.body()
            await turn_of_large_body(request.scope.get("postern_request"), len(body))  # type: ignore[arg-type]
            arguments["data"] = decoder(body, request.headers.get("content-type", ""))
        return arguments

    return bind


def is_head(request: RawRequest) -> bool:
    """Whether the request is a HEAD, which must have no side effects such as counting an open."""
    return bool(request.scope.get("postern_head"))


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
    text = source.get(parameter.wire_name)
    location = f"{parameter.place}/{parameter.wire_name}"
    if text is None:
        if parameter.required:
            raise Invalid.at(location, f"`{parameter.wire_name}` is required.", "required")
        return parameter.default
    if "\0" in text or len(text) > MAX_VALUE_CHARACTERS:
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
        reject_out_of_range(value, location)
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
        raise BodyInvalid(
            TOO_MANY_VALUES_MESSAGE,
            errors=[ProblemError(path="", code="too_many_values", message=TOO_MANY_VALUES_MESSAGE)],
        )
    try:
        value = decoder.decode(document)
        if is_too_deep(document):
            raise _nested_too_deeply()
        if any(character in document and mark in document for character, mark in UNSTORABLE_MARKS):
            reject_unstorable(value)
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
    return BodyInvalid(TOO_DEEP_MESSAGE, errors=[ProblemError(path="", code="too_deep", message=TOO_DEEP_MESSAGE)])


# The response.


async def respond(operation: Operation[Any, Any], call: Call, value: Any, request: RawRequest) -> None:
    """Send the response for the value that an operation returned, with the headers of `call`.

    Adds `Link` if a list has more records, and `ETag` for a record with `updated_at` or if the operation `revalidates`:
    then the response is 304 if the client has it already.
    """
    headers, send = call.headers, request.send
    if isinstance(value, HttpResponse):
        headers.update(value.headers or {})
        if isinstance(value.content, bytes | str):
            content = value.content.encode() if isinstance(value.content, str) else value.content
            await _send(send, value.status, value.media_type, headers, content)
        else:
            stream = Stream(value.content, status_code=value.status, media_type=value.media_type, headers=headers)
            await stream.to_asgi_response(app=None, request=request)(request.scope, request.receive, send)
        return
    if value is None:
        await _send(send, operation.status, JSON, headers, b"")
        return
    updated_at = None
    if isinstance(value, Page | Feed | LinkedList):
        if value.next_cursor:
            headers["Link"] = f'<{_next_link(call, value.next_cursor)}>; rel="next"'
        if isinstance(value, LinkedList):
            value = value.items
    else:
        updated_at = getattr(value, "updated_at", None)
    content = to_json(value)
    if isinstance(updated_at, Moment):
        headers["ETag"] = etag(updated_at, content)
    elif operation.revalidates:
        headers["ETag"] = tag = content_etag(content)
        if not is_none_match(request.headers.get("if-none-match"), tag):
            await _send(send, 304, JSON, headers, b"")
            return
    await _send(send, operation.status, JSON, headers, content)


async def _send(send: Send, status: int, media_type: str, headers: Mapping[str, str], content: bytes) -> None:
    """Send a complete response. 204 and 304 have no content (RFC 9110 §15)."""
    fields = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    if status not in WITHOUT_CONTENT:
        full_type = f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
        fields.append((b"content-type", full_type.encode("latin-1")))
        fields.append((b"content-length", b"%d" % len(content)))
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": content, "more_body": False})


def _next_link(call: Call, cursor: str) -> str:
    request = structlog.contextvars.get_contextvars()  # Set by the middleware.
    query = [part for part in request["query"].split("&") if part and not part.startswith(("cursor=", "page="))]
    return f"{call.world.settings.public_url}{request['path']}?{'&'.join([*query, f'cursor={cursor}'])}"
