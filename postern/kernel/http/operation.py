"""HTTP at the edge: an operation is a typed function; this binds requests to it and writes its answer.

A parameter named `call` gets the admitted Call, `data` the JSON body, `request` the raw request; parameters
named in the path get path segments (a malformed UUID becomes the identifier that no record has); the rest are
query parameters, in camelCase on the wire, or headers where annotated with `Header`.
"""

import inspect
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, wraps
from ipaddress import ip_address
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, Generic, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import msgspec
import psycopg
import structlog
from litestar import Request, Response
from litestar.connection import ASGIConnection
from litestar.exceptions import HTTPException
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler
from litestar.response import Stream
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from prometheus_client import Counter, Histogram
from psycopg_pool import PoolTimeout

from postern.kernel.clock import Moment
from postern.kernel.http.call import (
    NOBODY,
    Call,
    Caller,
    CredentialInvalid,
    CredentialMissing,
    CredentialNotAccepted,
    EmailUnverified,
    Kind,
    Origin,
    PermissionMissing,
    etag,
    read_bearer,
)
from postern.kernel.http.pagination import Feed, LinkedList, Page
from postern.kernel.http.problems import (
    BadRequest,
    Conflict,
    ContentTooLarge,
    Invalid,
    Missing,
    Problem,
    ProblemError,
    Unavailable,
)
from postern.kernel.http.validation import invalid_value, unknown_parameters
from postern.kernel.limits import RateLimit
from postern.kernel.untrusted_json import CALLERS_DEPTH_LIMIT, is_too_deep
from postern.kernel.values import as_id, new_id, to_json

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
RawRequest = Request[Any, Any, Any]
log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

BODY_LIMIT = 1_048_576
"""Bytes of a request body, unless the operation takes more."""

QUERY_VALUE_LIMIT = 4_096

FORM = "application/x-www-form-urlencoded"
"""The media type of a page's form."""

EMPTY_BODY = 2
"""Bytes of `{}`, which many clients send where there is nothing to say."""

REQUESTS = Counter("postern_http_requests_total", "Requests answered.", ["operation", "status"])
SECONDS = Histogram("postern_http_request_seconds", "Time to answer a request.", ["operation"])


class NotFound(Missing):
    """There is nothing at this address."""


class MethodNotAllowed(BadRequest):
    """This address does not answer to that method."""

    status = 405


class UnsupportedMediaType(BadRequest):
    """Send the body as `Content-Type: application/json`."""

    status = 415


class BodyTooLarge(ContentTooLarge):
    """The body is larger than this operation takes."""


class RequestIncomplete(BadRequest):
    """The client closed the connection before its request was complete."""


class BodyInvalid(BadRequest):
    """The body is not valid JSON."""


class HostInvalid(BadRequest):
    """A request names the host that it is for in exactly one `Host` header."""


class DatabaseUnavailable(Unavailable, code="database_away"):
    """The database does not answer; nothing was changed. Try again shortly."""


class InUse(Conflict):
    """Something else that is on its way still uses this record."""


class InternalError(Problem):
    """Something went wrong on our side; the request id leads to the log."""


@dataclass(frozen=True)
class HeaderParameter:
    """Marks a parameter that comes from a request header."""

    name: str


@dataclass(frozen=True)
class Lenient:
    """Marks a parameter whose value counts as absent where it cannot be one, for those who did not write it."""


@dataclass(frozen=True)
class HttpResponse:
    """An answer that is not JSON of a record, or has a status or headers of its own."""

    content: bytes | str | AsyncIterator[bytes] = b""
    media_type: str = "application/json"
    status: int = 200
    headers: dict[str, str] | None = None


@dataclass(frozen=True)
class Parameter:
    """One thing an operation takes from the path, the query or a header."""

    name: str
    wire: str
    place: str
    type: Any
    default: Any
    required: bool
    or_nothing: bool = False
    """Whether a value that cannot be one is as if it were absent."""

    @cached_property
    def given_type(self) -> Any:
        """What a text in the request is read as: `null` is a word there, and absence is how None is said."""
        return _without_none(self.type)

    @cached_property
    def is_list(self) -> bool:
        """Whether it takes several values, separated by commas."""
        return get_origin(self._bare_type) is list

    @cached_property
    def choices(self) -> dict[str, str]:
        """The values of an enumeration by their lower-case form: callers may write them in either case."""
        kind = get_args(self._bare_type)[0] if self.is_list else self._bare_type
        return {str(value).lower(): value for value in get_args(kind)} if get_origin(kind) is Literal else {}

    @property
    def _bare_type(self) -> Any:
        kind = self.given_type
        return get_args(kind)[0] if get_origin(kind) is Annotated else kind

    @cached_property
    def is_moment(self) -> bool:
        kind = self.given_type
        return datetime in (kind, *get_args(kind))


@dataclass(frozen=True)
class Operation(Generic[P, R]):
    """One operation of the API: where it is, who may call it, and the function that does it."""

    method: str
    path: str
    function: Callable[P, Awaitable[R]]
    needs: str | None
    accepts: frozenset[Kind]
    status: int
    or_else: tuple[int, ...]
    body_limit: int
    problems: tuple[type[Problem], ...]
    parameters: tuple[Parameter, ...]
    body: Any
    returns: Any
    media_types: tuple[str, ...]
    takes: str
    example: Any
    shows: Mapping[str, Any]
    hidden: bool
    unverified: bool
    fields: Mapping[str, str]
    """The fields of a form that it takes, each with what it holds."""
    any_query: bool
    """Whether query parameters that it does not declare are allowed: others add them to links that people follow."""

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.function(*args, **kwargs)

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def area(self) -> str:
        return self.function.__module__.split(".")[2]

    @property
    def wire_path(self) -> str:
        """The path as the specification writes it: `/projects/{projectId}/…`."""
        return re.sub(r"{(\w+)}", lambda found: "{" + camel(found[1]) + "}", self.path)

    def at(self, path: str) -> "Operation[P, R]":
        """The same operation at another address."""
        return replace(self, path=path)

    def as_view(self, path: str, view: Callable[[Any], Any], returns: Any) -> "Operation[P, Any]":
        """The same operation at another address, answering `view` of each record that it answers.

        `returns` is the type of that answer.
        """

        @wraps(self.function)
        async def operation(*args: P.args, **kwargs: P.kwargs) -> Any:
            answer: Any = await self.function(*args, **kwargs)
            if isinstance(answer, LinkedList):
                return LinkedList([view(each) for each in answer.items], answer.next_cursor)  # pyright: ignore[reportUnknownVariableType]
            return view(answer)

        return replace(self, path=path, function=operation, returns=returns)  # pyright: ignore[reportReturnType]

    @property
    def parameters_taken(self) -> list[Parameter]:
        """All that is taken at this address: what the path names, in its order, and the rest."""
        named = {each.name: each for each in self.parameters}
        in_path = re.findall(r"{(\w+)}", self.path)
        there = [named.get(name) or Parameter(name, camel(name), "path", UUID, None, True) for name in in_path]
        return [*there, *(each for each in self.parameters if each.place != "path")]


def _without_none(kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        inner, *more = get_args(kind)
        return Annotated[(_without_none(inner), *more)]
    if get_origin(kind) in (Union, UnionType):
        return Union[tuple(each for each in get_args(kind) if each is not NoneType)]  # noqa: UP007
    return kind


def camel(name: str) -> str:
    """`external_id` as callers write it: `externalId`."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)


SERVER_KINDS: frozenset[Kind] = frozenset(("developer", "secret_key"))
DEVELOPER_ONLY: frozenset[Kind] = frozenset(("developer",))
ANYBODY: frozenset[Kind] = frozenset(("developer", "secret_key", "publishable_key", "customer", "nobody"))


def operation(
    method: str,
    path: str,
    *,
    needs: str | None = None,
    accepts: Iterable[Kind] = SERVER_KINDS,
    public: bool = False,
    status: int | None = None,
    or_else: Sequence[int] = (),
    body_limit: int = BODY_LIMIT,
    problems: Sequence[type[Problem]] = (),
    media_types: Sequence[str] = ("application/json",),
    takes: str = "application/json",
    example: Any = None,
    answers: Any = None,
    shows: Mapping[str, Any] | None = None,
    hidden: bool = False,
    unverified: bool = False,
    fields: Mapping[str, str] | None = None,
    any_query: bool = False,
) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """Declare an operation.

    `needs` is the permission (`area:verb`); None with `public` takes no credential at all, None without it any
    accepted one. `problems` are those the function raises beyond the usual; `example` is a body for the docs;
    `or_else` are other statuses of success. `answers` is the type of the JSON in an Answer; `shows` are fields that
    the example of the answer has beyond those that follow from types and from the body. `unverified` opens an
    operation without `needs` to developers who have not proven their e-mail address. `fields` are those of a form,
    where `takes` is one, with what each holds. `any_query` is for pages and
    callbacks: a query parameter that is not declared is refused elsewhere, and ignored there, because mail programs,
    identity providers and campaign tools add their own (`utm_source`, `fbclid`).
    """

    def declare(function: Callable[P, Awaitable[R]]) -> Operation[P, R]:
        hints = get_type_hints(function, include_extras=True)
        returns = hints.get("return")
        parameters = tuple(_parameters(function, hints, path))
        return Operation(
            method=method,
            path=path,
            function=function,
            needs=needs,
            accepts=frozenset() if public else frozenset(accepts),
            status=status or (204 if returns in (None, NoneType) else 200),
            or_else=tuple(or_else),
            body_limit=body_limit,
            problems=tuple(problems),
            parameters=parameters,
            body=hints.get("data"),
            returns=returns if answers is None else answers,
            media_types=tuple(media_types),
            takes=takes,
            example=example,
            shows=shows or {},
            hidden=hidden,
            unverified=unverified,
            fields=fields or {},
            any_query=any_query,
        )

    return declare


def get(path: str, **kwargs: Any) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """An operation that reads. See `operation`."""
    return operation("GET", path, **kwargs)


def post(path: str, **kwargs: Any) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """An operation that acts; give `status=201` where it creates a record. See `operation`."""
    return operation("POST", path, **kwargs)


def patch(path: str, **kwargs: Any) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """An operation that changes some of a record. See `operation`."""
    return operation("PATCH", path, **kwargs)


def put(path: str, **kwargs: Any) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """An operation that replaces. See `operation`."""
    return operation("PUT", path, **kwargs)


def delete(path: str, **kwargs: Any) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """An operation that takes a record away. See `operation`."""
    return operation("DELETE", path, **kwargs)


def is_head(request: RawRequest) -> bool:
    """Whether the request is a HEAD: reads nothing, so that it should count for nothing."""
    return bool(request.scope.get("postern_head"))


def operations_of(*modules: ModuleType) -> list[Operation[Any, Any]]:
    """The operations that modules declare, in the order they are written."""
    found: list[Operation[Any, Any]] = []
    for module in modules:
        found += [each for each in vars(module).values() if isinstance(each, Operation) and each not in found]
    return found


def handler_of(each: Operation[Any, Any]) -> HTTPRouteHandler:
    """The Litestar route of an operation."""
    bind = _binder(each)

    async def handle(request: RawRequest) -> Response[Any]:
        call: Call = request.scope["postern_call"]  # type: ignore[typeddict-item]
        value = await each.function(**await bind(request, call))
        return _respond(each, call, value)

    handle.__name__ = each.name
    return GuardedHandler(
        re.sub(r"{(\w+)}", r"{\1:str}", each.path),
        http_method=each.method,  # pyright: ignore[reportArgumentType] - one of the methods above
        opt={"operation": each, "needs": each.needs},
        request_max_body_size=each.body_limit,
        guards=[admit],
        status_code=200,
        name=f"{each.method} {each.path}",
    )(handle)


class GuardedHandler(HTTPRouteHandler):
    """A route whose guard gets the route itself: Litestar gives each guard a copy, which costs more than the guard."""

    async def authorize_connection(self, connection: ASGIConnection[Any, Any, Any, Any]) -> None:
        for guard in self.resolve_guards():
            await guard(connection, self)  # pyright: ignore[reportGeneralTypeIssues]


VISITOR_ADDRESS, VISITOR_AGENT = "Postern-Visitor-Address", "Postern-Visitor-Agent"
"""Headers with which a project's own server, by its secret key, says for whom it signs in or up."""
ADDRESS_LIMIT = 64
AGENT_LIMIT = 512


async def admit(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """The one guard: reads the credential, refuses in a fixed order, and leaves a Call for the operation."""
    each: Operation[Any, Any] = handler.opt["operation"]
    state, scope = connection.app.state, connection.scope
    world = state.world
    path = connection.path_params
    project_text = path.get("project_id", path.get("app_id"))
    project_id = as_id(project_text) if project_text is not None else None
    client = scope.get("client")
    agent = connection.headers.get("user-agent", "")
    origin = Origin(ip=client[0][:ADDRESS_LIMIT] if client else "", user_agent=agent[:AGENT_LIMIT])
    caller = NOBODY
    headers: dict[str, str] = {}
    if each.accepts:
        caller = await _read_caller(state.readers, connection, world, project_id, origin)
        if caller.kind not in each.accepts:
            raise CredentialMissing if caller.kind == "nobody" else CredentialNotAccepted
        if caller.kind == "secret_key" and "nobody" in each.accepts:
            origin = _client_of(connection.headers, origin)
        if not caller.is_verified and not (caller.may(each.needs) if each.needs else each.unverified):
            raise EmailUnverified
        # A customer speaks for themselves: where their token is taken at all, no permission stands in between.
        if each.needs and caller.kind != "customer" and not caller.may(each.needs):
            raise PermissionMissing(f"This operation needs the permission `{each.needs}`.")
    if project_id is not None or caller.account_id is not None:
        rate = _rate_of(world, caller)
        headers["RateLimit-Policy"] = rate.policy
        headers["RateLimit"] = world.limiter.take(rate, str(project_id or caller.account_id))
    scope["postern_call"] = Call(  # type: ignore[typeddict-unknown-key]
        world=world,
        db=world.db,
        caller=caller,
        now=world.clock(),
        request_id=scope.get("postern_request_id", ""),  # type: ignore[arg-type]
        origin=origin,
        path_project_id=project_id,
        if_match=connection.headers.get("if-match"),
        headers=headers,
    )


def _client_of(headers: Mapping[str, str], origin: Origin) -> Origin:
    """Who is at the door behind a project's own server, if it says so: else all its visitors would count as one."""
    address, agent = headers.get(VISITOR_ADDRESS), headers.get(VISITOR_AGENT)
    if address is not None:
        try:
            address = str(ip_address(address.strip()))
        except ValueError:
            raise Invalid.at(f"header/{VISITOR_ADDRESS}", "This is no IP address.") from None
    return Origin(
        ip=origin.ip if address is None else address,
        user_agent=origin.user_agent if agent is None else agent[:AGENT_LIMIT],
    )


def _rate_of(world: Any, caller: Caller) -> RateLimit:
    quota = getattr(getattr(caller.project, "settings", None), "rate_limit", None)
    return world.project_rate if quota is None else RateLimit("project", quota, world.project_rate.window)


async def _read_caller(
    readers: Sequence[Any],
    connection: ASGIConnection[Any, Any, Any, Any],
    world: Any,
    project_id: UUID | None,
    origin: Origin,
) -> Caller:
    token = read_bearer(connection.headers)
    if token is None:
        return NOBODY
    for read in readers:
        caller = await read(world, token, project_id, origin)
        if caller is not None:
            return caller
    raise CredentialInvalid


def _parameters(function: Any, hints: dict[str, Any], path: str) -> Iterable[Parameter]:
    in_path = set(re.findall(r"{(\w+)}", path))
    for name, declared in inspect.signature(function).parameters.items():
        if name in ("call", "data", "request"):
            continue
        hint = hints[name]
        header = next((each for each in get_args(hint)[1:] if isinstance(each, HeaderParameter)), None)
        required = declared.default is inspect.Parameter.empty
        default = None if required else declared.default
        if name in in_path:
            yield Parameter(name, camel(name), "path", hint, None, True)
        elif header:
            yield Parameter(name, header.name, "header", hint, default, required)
        else:
            or_nothing = any(isinstance(each, Lenient) for each in get_args(hint)[1:])
            yield Parameter(name, camel(name), "query", hint, default, required, or_nothing)
    for name in sorted(in_path & {"project_id", "app_id"} - set(inspect.signature(function).parameters)):
        yield Parameter(name, camel(name), "path", UUID, None, True)


def _binder(each: Operation[Any, Any]) -> Callable[[RawRequest, Call], Awaitable[dict[str, Any]]]:
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


NESTED = f"The body is nested too deeply: more than {CALLERS_DEPTH_LIMIT} arrays and objects inside each other."
SUSPECT = (b"\\u", b"\0", b"9999-12-31", b"0001-01-01")
"""What a text that holds something we cannot keep has in it."""


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


def _respond(each: Operation[Any, Any], call: Call, value: Any) -> Response[Any]:
    headers = call.headers
    if isinstance(value, HttpResponse):
        headers.update(value.headers or {})
        kind = Response if isinstance(value.content, bytes | str) else Stream
        return kind(value.content, status_code=value.status, media_type=value.media_type, headers=headers)  # type: ignore[arg-type]
    if value is None:
        return Response(b"", status_code=each.status, media_type="application/json", headers=headers)
    if isinstance(value, LinkedList):
        if value.next_cursor:
            headers["Link"] = f'<{_next_link(each, call, value.next_cursor)}>; rel="next"'
        value = value.items
    elif isinstance(value, Page | Feed):
        if value.next_cursor:
            headers["Link"] = f'<{_next_link(each, call, value.next_cursor)}>; rel="next"'
    elif isinstance(updated_at := getattr(value, "updated_at", None), Moment):
        content = to_json(value)
        headers["ETag"] = etag(updated_at, content)
        return Response(content, status_code=each.status, media_type="application/json", headers=headers)
    return Response(to_json(value), status_code=each.status, media_type="application/json", headers=headers)


def _next_link(each: Operation[Any, Any], call: Call, cursor: str) -> str:
    path = each.path.replace("{project_id}", str(call.project_id)).replace("{app_id}", str(call.project_id))
    given = structlog.contextvars.get_contextvars()
    path = given.get("path", path)
    query = [part for part in given.get("query", "").split("&") if part and not part.startswith(("cursor=", "page="))]
    return f"{call.world.settings.public_url}{path}?{'&'.join([*query, f'cursor={cursor}'])}"


def problem_document(problem: Problem, request_id: str) -> dict[str, Any]:
    """A problem as RFC 9457 writes it."""
    more = {"next": problem.next} if problem.next else {}
    return {
        "type": f"/problems/{problem.code()}",
        "title": problem.title(),
        "status": problem.status,
        "detail": problem.detail,
        "code": problem.code(),
        "requestId": request_id,
        "errors": problem.errors,
        **more,
    }


def problem_response(problem: Problem, request_id: str) -> Response[bytes]:
    headers: dict[str, str] = {}
    if problem.retry_after_seconds is not None:
        headers["Retry-After"] = str(problem.retry_after_seconds)
    if problem.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="postern"'
    return Response(
        to_json(problem_document(problem, request_id)),
        status_code=problem.status,
        media_type="application/problem+json",
        headers=headers,
    )


def answer_error(request: RawRequest, error: Exception) -> Response[bytes]:
    """Every exception that leaves an operation ends here, as a problem document."""
    request_id: str = request.scope.get("postern_request_id", "")  # type: ignore[assignment]
    problem = _as_problem(error)
    if isinstance(problem, RequestIncomplete):
        log.info("request_incomplete", request_id=request_id, path=request.scope["path"])
    elif isinstance(problem, InternalError):
        log.error("unexpected_error", request_id=request_id, path=request.scope["path"], exc_info=error)
    elif isinstance(problem, DatabaseUnavailable):
        log.warning("database_away", request_id=request_id, error=str(error).strip())
    response = problem_response(problem, request_id)
    if isinstance(problem, MethodNotAllowed) and isinstance(error, HTTPException) and error.headers:
        # What may be done here instead (RFC 9110 §15.5.6).
        methods = {each.strip() for each in error.headers.get("allow", "").split(",")}
        response.headers["Allow"] = ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))
    return response


def _as_problem(error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, HTTPException):
        by_status: dict[int, Problem] = {404: NotFound(), 405: MethodNotAllowed(), 413: BodyTooLarge()}
        if error.status_code in by_status:
            return by_status[error.status_code]
        if error.status_code < 500:
            return BadRequest(str(error.detail))
    if isinstance(error, psycopg.errors.NumericValueOutOfRange | psycopg.errors.UntranslatableCharacter):
        return Invalid("A value is out of the range that can be kept.")
    if isinstance(error, psycopg.errors.CheckViolation) and (error.diag.constraint_name or "").startswith("used_by_"):
        return InUse()
    if isinstance(error, psycopg.OperationalError | PoolTimeout):
        return DatabaseUnavailable()
    return InternalError()


SAYS_WHETHER_KEPT = (b"cache-control", b"last-modified")
"""Headers of answers that say by themselves whether they may be kept; the second one is that of files."""


class HttpMiddleware:
    """The outermost layer: request ids, access log, metrics, and headers that every answer carries."""

    REQUEST_ID = re.compile(rb"^[A-Za-z0-9_-]{8,128}$")

    def __init__(self, app: ASGIApp, world: Any = None) -> None:
        self._app = app
        self._world = world

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        request_id = given.decode() if self.REQUEST_ID.match(given) else str(new_id())
        scope["postern_request_id"] = request_id  # type: ignore[typeddict-unknown-key]
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(
            request_id=request_id, path=scope["path"], query=scope.get("query_string", b"").decode("latin-1")
        )
        started, status = time.perf_counter(), 500
        is_head = scope["method"] == "HEAD"
        if is_head:
            # Every GET answers HEAD with the same headers and no body (RFC 9110 §9.3.2). The server's own scope
            # stays as it is: it counts the body it is owed by the method.
            scope = {**scope, "method": "GET", "postern_head": True}  # type: ignore[typeddict-item,typeddict-unknown-key]

        if "\0" in scope["path"]:
            # It names nothing; escaped, it is not found as any other wrong path, where the file system would raise.
            scope = {**scope, "path": scope["path"].replace("\0", "%00")}  # type: ignore[typeddict-item]
        has_body = True

        async def received() -> Any:
            nonlocal has_body
            message = await receive()
            if message["type"] == "http.disconnect" and has_body:
                raise RequestIncomplete
            has_body = has_body and bool(message.get("more_body"))
            return message

        async def stamped(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message["headers"], (b"x-request-id", request_id.encode())]
                headers.append((b"x-content-type-options", b"nosniff"))
                headers += self._protection(headers)
                if not any(name in SAYS_WHETHER_KEPT for name, _ in headers):
                    # Answers hold tokens and people's data (RFC 6749 §5.1); what may be kept says so itself.
                    headers.append((b"cache-control", b"no-store"))
                message = {**message, "headers": headers}  # type: ignore[misc]
            elif is_head and message["type"] == "http.response.body":
                message = {**message, "body": b""}  # type: ignore[misc]
            await send(message)

        try:
            if _names_one_host(scope):
                await self._app(scope, received, stamped)
            else:
                # RFC 9112 §3.2: what stands in front may have read the other one.
                await _refuse(HostInvalid(), request_id, stamped)
        finally:
            handler: Any = scope.get("route_handler")
            each = handler.opt.get("operation") if handler is not None else None
            name = each.name if each is not None else "unknown"
            REQUESTS.labels(name, status).inc()
            SECONDS.labels(name).observe(time.perf_counter() - started)
            log.debug("request", operation=name, status=status, ms=round((time.perf_counter() - started) * 1000, 1))

    def _protection(self, headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Headers that tell a browser what our pages never need."""
        found: list[tuple[bytes, bytes]] = []
        if self._world is not None and self._world.settings.public_url.startswith("https:"):
            found.append(STRICT_TRANSPORT)
        if any(name == b"content-type" and value.startswith(b"text/html") for name, value in headers):
            found += PAGE_PROTECTION
        return found


STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=63072000")
"""Two years of nothing but TLS with this host (RFC 6797), where the base URL has TLS."""
PAGE_PROTECTION = [
    (b"cross-origin-opener-policy", b"same-origin"),
    (
        b"permissions-policy",
        b"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
    ),
]


async def _refuse(problem: Problem, request_id: str, send: Send) -> None:
    """Answer a problem before the request has an operation."""
    body = to_json(problem_document(problem, request_id))
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _names_one_host(scope: Scope) -> bool:
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    return len(hosts) == 1 or (not hosts and scope.get("http_version") == "1.0")


OptionalHeader = Annotated[str | None, msgspec.Meta(max_length=512)]
