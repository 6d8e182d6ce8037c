"""Operations of the API are typed functions; these decorators declare them.

A parameter named `call` gets the admitted Call, `data` the JSON body, `request` the raw request; parameters
named in the path get path segments (a malformed UUID becomes the identifier that no record has); the rest are
query parameters, in camelCase on the wire, or headers where annotated with `HeaderParameter`.
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

from litestar import Request

from postern.kernel.http.call import Kind
from postern.kernel.http.pagination import LinkedList
from postern.kernel.http.problems import Problem

P = ParamSpec("P")
R = TypeVar("R")
RawRequest = Request[Any, Any, Any]
BODY_LIMIT = 1_048_576
"""Bytes of a request body, unless the operation takes more."""

FORM = "application/x-www-form-urlencoded"
"""The media type of a page's form."""

SERVER_KINDS: frozenset[Kind] = frozenset(("developer", "secret_key"))
DEVELOPER_ONLY: frozenset[Kind] = frozenset(("developer",))


@dataclass(frozen=True)
class HeaderParameter:
    """Marks a parameter that comes from a request header."""

    name: str


@dataclass(frozen=True)
class Lenient:
    """Marks a parameter whose value counts as absent where it cannot be one, for those who did not write it."""


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

    @cached_property
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


def operations_of(*modules: ModuleType) -> list[Operation[Any, Any]]:
    """The operations that modules declare, in the order they are written."""
    found: list[Operation[Any, Any]] = []
    for module in modules:
        found += [each for each in vars(module).values() if isinstance(each, Operation) and each not in found]
    return found


def camel(name: str) -> str:
    """`external_id` as callers write it: `externalId`."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)


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


def _without_none(kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        inner, *more = get_args(kind)
        return Annotated[(_without_none(inner), *more)]
    if get_origin(kind) in (Union, UnionType):
        return Union[tuple(each for each in get_args(kind) if each is not NoneType)]  # noqa: UP007
    return kind
