"""The Litestar route of an operation: admit the caller, bind the request, call the function, write the response."""

import re
from typing import Any

from litestar import Response
from litestar.connection import ASGIConnection
from litestar.handlers import HTTPRouteHandler

from postern.kernel.http.admission import admit
from postern.kernel.http.binding import bind_arguments
from postern.kernel.http.call import Call
from postern.kernel.http.operation import Operation, RawRequest
from postern.kernel.http.responses import respond


def handler_of(each: Operation[Any, Any]) -> HTTPRouteHandler:
    """The Litestar route of an operation."""
    bind = bind_arguments(each)

    async def handle(request: RawRequest) -> Response[Any]:
        call: Call = request.scope["postern_call"]  # type: ignore[typeddict-item]
        value = await each.function(**await bind(request, call))
        return respond(each, call, value)

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
