"""Decorators that declare typed functions as operations of the API.

The parameter `call` gets the Call, `data` the JSON body, `request` the raw request. Parameters named in the path get
path segments (a malformed UUID becomes `NO_ID`, which no record has). Other parameters are query parameters, in
camelCase, or headers if they are annotated with `HeaderParameter`; each field of a QueryString is a query parameter.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, wraps
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, Generic, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints
from uuid import UUID

import msgspec
from litestar import Request

from postern.kernel.http.call import Kind, permissions_granting
from postern.kernel.http.compatible_api import CompatibleApi
from postern.kernel.http.pagination import LinkedList, Page
from postern.kernel.http.problems import Problem
from postern.kernel.values import QueryString

P = ParamSpec("P")
R = TypeVar("R")
RawRequest = Request[Any, Any, Any]
BODY_LIMIT = 1_048_576
"""Default limit of a request body, in bytes."""

FORM = "application/x-www-form-urlencoded"
"""The media type of HTML forms."""

PROJECT_PARAMETERS = ("project_id", "app_id")
"""The names of path parameters with the id of a project. An operation may have a second path, with the second name."""

SERVER_KINDS: frozenset[Kind] = frozenset(("developer", "secret_key"))
"""The kinds of credentials that operations accept by default; they must not be in browsers or apps."""
DEVELOPER_ONLY: frozenset[Kind] = frozenset(("developer",))
SECRET_KEY_ONLY: frozenset[Kind] = frozenset(("secret_key",))


@dataclass(frozen=True)
class HeaderParameter:
    """Marks a parameter as a request header."""

    name: str


@dataclass(frozen=True)
class QueryParameter:
    """Gives a query parameter another name than its Python name in camelCase."""

    name: str


@dataclass(frozen=True)
class Lenient:
    """Marks a query parameter of a link. Invalid values are ignored, because the person who follows the link did not
    write them."""


@dataclass(frozen=True)
class Parameter:
    """A path, query or header parameter of an operation."""

    name: str
    wire_name: str
    """The name in requests: camelCase, or the name of the header."""
    place: str
    """`path`, `query` or `header`."""
    type: Any
    default: Any
    required: bool
    ignores_invalid: bool = False
    """Whether an invalid value is treated like an absent one, instead of raising Invalid."""

    @cached_property
    def non_null_type(self) -> Any:
        """The type without None: in a request, None is expressed by omitting the parameter."""
        return _without_none(self.type)

    @cached_property
    def is_list(self) -> bool:
        """Whether the parameter accepts several values, separated by commas."""
        return get_origin(self._bare_type) is list

    @cached_property
    def choices(self) -> dict[str, str]:
        """The values of an enumeration, keyed by their lower-case form, because requests may use either case."""
        kind = get_args(self._bare_type)[0] if self.is_list else self._bare_type
        return {str(value).lower(): value for value in get_args(kind)} if get_origin(kind) is Literal else {}

    @property
    def _bare_type(self) -> Any:
        kind = self.non_null_type
        return get_args(kind)[0] if get_origin(kind) is Annotated else kind

    @cached_property
    def is_moment(self) -> bool:
        """Whether the parameter is a timestamp."""
        kind = self.non_null_type
        return datetime in (kind, *get_args(kind))


@dataclass(frozen=True)
class OtherError:
    """An error response in another form than a problem document, because another standard defines it, or as a page."""

    description: str
    body: type | None = None
    """The type of its JSON; None for a page."""


@dataclass(frozen=True)
class Operation(Generic[P, R]):
    """An operation of the API: its method and path, who may call it, and its function.

    See `operation` for the fields. Calling an Operation calls its function without any checks.
    """

    method: str
    path: str
    function: Callable[P, Awaitable[R]]
    needs: str | None
    accepts: frozenset[Kind]
    """The accepted kinds of credentials; empty if the operation is public."""
    status: int
    other_statuses: tuple[int, ...]
    body_limit: int
    problems: tuple[type[Problem], ...]
    other_errors: Mapping[int, OtherError]
    """By their statuses."""
    parameters: tuple[Parameter, ...]
    body: Any
    """The type of the JSON body; None if there is none."""
    returns: Any
    """The type of the response."""
    media_types: tuple[str, ...]
    takes: str
    """The media type of the request."""
    example: Any
    response_example: Mapping[str, Any]
    hidden: bool
    unverified: bool
    """Whether developers whose e-mail address is not verified may call the operation, if `needs` is None."""
    restricted: bool
    """Whether restricted callers may call the operation."""
    fields: Mapping[str, str]
    """The accepted form fields, with their descriptions."""
    ignore_unknown_query: bool
    """Whether undeclared query parameters are ignored, because mail programs and others add them to links."""
    revalidates: bool = False
    """Whether the response has an `ETag`, and is 304 if this is in the request's `If-None-Match`."""
    reads_replica: bool = False
    """Whether the operation may read from the replica."""
    compatible_api: CompatibleApi | None = None
    """The API of another company that the operation follows; None for our own API."""

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.function(*args, **kwargs)

    @cached_property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def granted_by(self) -> frozenset[str]:
        """The permissions of which a caller must have at least one; empty if the operation needs none."""
        return frozenset() if self.needs is None else permissions_granting(self.needs)

    @property
    def area(self) -> str:
        """The package that declares the operation, such as `emails`."""
        return self.function.__module__.split(".")[2]

    @property
    def wire_path(self) -> str:
        """The path in camelCase, as in the OpenAPI document: `/projects/{projectId}/…`."""
        return re.sub(r"{(\w+)}", lambda match: "{" + camel(match[1]) + "}", self.path)

    def at(self, path: str) -> "Operation[P, R]":
        """A copy of the operation at another path."""
        return replace(self, path=path)

    def as_view(self, path: str, view: Callable[[Any], Any], returns: Any) -> "Operation[P, Any]":
        """A copy of the operation at another path, whose result is converted by `view`: each item of a list, or else
        the whole result.

        `returns` is the type of the converted response.
        """

        @wraps(self.function)
        async def operation(*args: P.args, **kwargs: P.kwargs) -> Any:
            result: Any = await self.function(*args, **kwargs)
            if isinstance(result, LinkedList | Page):
                return result.convert_items(view)  # pyright: ignore[reportUnknownMemberType]
            return view(result)

        return replace(self, path=path, function=operation, returns=returns)  # pyright: ignore[reportReturnType]

    @cached_property
    def project_parameter(self) -> str | None:
        """The name of the path parameter with the id of a project; None if the path has none."""
        return next((name for name in PROJECT_PARAMETERS if f"{{{name}}}" in self.path), None)

    @property
    def all_parameters(self) -> list[Parameter]:
        """All parameters: first those of the path, in its order, even if the function does not declare them."""
        by_name = {parameter.name: parameter for parameter in self.parameters}
        names = re.findall(r"{(\w+)}", self.path)
        in_path = [by_name.get(name) or Parameter(name, camel(name), "path", UUID, None, True) for name in names]
        return [*in_path, *(parameter for parameter in self.parameters if parameter.place != "path")]


def operation(
    method: str,
    path: str,
    *,
    needs: str | None = None,
    accepts: Iterable[Kind] = SERVER_KINDS,
    public: bool = False,
    status: int | None = None,
    other_statuses: Sequence[int] = (),
    body_limit: int = BODY_LIMIT,
    problems: Sequence[type[Problem]] = (),
    other_errors: Mapping[int, OtherError] | None = None,
    media_types: Sequence[str] = ("application/json",),
    takes: str = "application/json",
    example: Any = None,
    response_type: Any = None,
    response_example: Mapping[str, Any] | None = None,
    hidden: bool = False,
    unverified: bool = False,
    restricted: bool = False,
    fields: Mapping[str, str] | None = None,
    ignore_unknown_query: bool = False,
    revalidates: bool = False,
    reads_replica: bool = False,
    compatible_api: CompatibleApi | None = None,
) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """Declare an operation of the API: return a decorator that turns a function into an Operation.

    * `needs`: the required permission (`area:verb`). Without it, any credential of a kind in `accepts` is sufficient.
    * `public`: no credential is read.
    * `unverified`: callers with an `unverified_problem` may call the operation, if it has no `needs`.
    * `restricted`: callers with a `restricted_problem` may call the operation, because it concerns no credentials and
      deletes nothing.
    * `status`: of a successful response; default 200, or 204 if the function returns None. `other_statuses`: further
      success statuses.
    * `body_limit`: in bytes.
    * `takes`: the media type of the request. If it is FORM, `fields` has the form's fields with their descriptions.
    * `ignore_unknown_query`: undeclared query parameters are ignored instead of rejected. This is for pages and
      callbacks, because mail programs, identity providers and campaign tools add parameters (`utm_source`, `fbclid`).
    * `revalidates`: the response has an `ETag`, a digest of its content. If the client sends it as `If-None-Match`, and
      the content is the same, the response is 304.
    * `reads_replica`: the operation only reads, and `call.db` may be the read replica. For reading much, such as logs,
      statistics and exports.
    * `compatible_api`: the operation follows this API of another company. It accepts only secret keys, whose project it
      uses, ignores undeclared query parameters, and is not in the OpenAPI document. `path` is below the API's path.

    The other parameters describe the operation in the OpenAPI document:

    * `problems`: the problems that the function raises, besides those of the checks before it.
    * `other_errors`: the errors that it returns in another form than a problem document, by their statuses.
    * `example`: an example of the body. `response_example`: values of fields for the example of the response, which is
      otherwise generated from the types and `example`.
    * `media_types` and `response_type`: the media types and JSON type of the response if the function returns an
      HttpResponse. With `text/html`, browsers get errors as pages.
    * `hidden`: the operation is omitted, and browsers get errors as pages.
    """

    def declare(function: Callable[P, Awaitable[R]]) -> Operation[P, R]:
        hints = get_type_hints(function, include_extras=True)
        returns = hints.get("return")
        parameters = tuple(_parameters(function, hints, path))
        return Operation(
            method=method,
            path=path if compatible_api is None else compatible_api.path + path,
            function=function,
            needs=needs,
            accepts=frozenset() if public else SECRET_KEY_ONLY if compatible_api else frozenset(accepts),
            status=status or (204 if returns in (None, NoneType) else 200),
            other_statuses=tuple(other_statuses),
            body_limit=body_limit,
            problems=tuple(problems),
            other_errors=other_errors or {},
            parameters=parameters,
            body=hints.get("data"),
            returns=returns if response_type is None else response_type,
            media_types=tuple(media_types),
            takes=takes,
            example=example,
            response_example=response_example or {},
            hidden=hidden or compatible_api is not None,
            unverified=unverified,
            restricted=restricted,
            fields=fields or {},
            ignore_unknown_query=ignore_unknown_query or compatible_api is not None,
            revalidates=revalidates,
            reads_replica=reads_replica,
            compatible_api=compatible_api,
        )

    return declare


def get(path: str, **kwargs: Any) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """Declare an operation that reads. See `operation`."""
    return operation("GET", path, **kwargs)


def post(path: str, **kwargs: Any) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """Declare an operation that creates or acts; use `status=201` if it creates a record. See `operation`."""
    return operation("POST", path, **kwargs)


def patch(path: str, **kwargs: Any) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """Declare an operation that changes fields of a record. See `operation`."""
    return operation("PATCH", path, **kwargs)


def put(path: str, **kwargs: Any) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """Declare an operation that replaces a record. See `operation`."""
    return operation("PUT", path, **kwargs)


def delete(path: str, **kwargs: Any) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """Declare an operation that deletes a record. See `operation`."""
    return operation("DELETE", path, **kwargs)


def operations_of(*modules: ModuleType) -> list[Operation[Any, Any]]:
    """The operations that the modules declare, in the order of the source."""
    # By their identity: comparing the fields of hundreds of operations with each other takes long.
    operations: dict[int, Operation[Any, Any]] = {}
    for module in modules:
        operations |= {id(value): value for value in vars(module).values() if isinstance(value, Operation)}
    return list(operations.values())


def camel(name: str) -> str:
    """A name in camelCase: `external_id` becomes `externalId`."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)


def query_structs_of(function: Callable[..., Any]) -> dict[str, type[QueryString]]:
    """The parameters of an operation's function that are Structs of query parameters, with their types."""
    hints = function.__annotations__  # Their types are classes, which need not be resolved (get_type_hints).
    return {name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, QueryString)}


def _parameters(function: Any, hints: dict[str, Any], path: str) -> Iterable[Parameter]:
    in_path = set(re.findall(r"{(\w+)}", path))
    query_structs, signature = query_structs_of(function), inspect.signature(function).parameters
    for name, declared in signature.items():
        if name in ("call", "data", "request"):
            continue
        if name in query_structs:
            for field in msgspec.structs.fields(query_structs[name]):
                yield _query_parameter(field.name, field.type, field.default, required=field.required)
            continue
        hint = hints[name]
        header = next((marker for marker in get_args(hint)[1:] if isinstance(marker, HeaderParameter)), None)
        required = declared.default is inspect.Parameter.empty
        default = None if required else declared.default
        if name in in_path:
            yield Parameter(name, camel(name), "path", hint, None, True)
        elif header:
            yield Parameter(name, header.name, "header", hint, default, required)
        else:
            yield _query_parameter(name, hint, default, required=required)
    for name in sorted(in_path & {*PROJECT_PARAMETERS} - set(signature)):
        yield Parameter(name, camel(name), "path", UUID, None, True)


def _query_parameter(name: str, hint: Any, default: Any, *, required: bool) -> Parameter:
    ignores_invalid = any(isinstance(marker, Lenient) for marker in get_args(hint)[1:])
    other_name = next((marker.name for marker in get_args(hint)[1:] if isinstance(marker, QueryParameter)), None)
    return Parameter(name, other_name or camel(name), "query", hint, default, required, ignores_invalid)


def _without_none(kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        inner, *more = get_args(kind)
        return Annotated[(_without_none(inner), *more)]
    if get_origin(kind) in (Union, UnionType):
        return Union[tuple(member for member in get_args(kind) if member is not NoneType)]  # noqa: UP007
    return kind
