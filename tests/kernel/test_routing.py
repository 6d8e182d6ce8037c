"""All routes are registered at once, and behave as if they had been registered one by one."""

import httpx
import pytest
from litestar import Litestar, Response, Router, get, post
from litestar.response.base import ASGIResponse
from litestar.types import Empty, Receive, Scope, Send

from postern.kernel.http.routing import AllRoutes, AsgiRoute, FastLitestar


@get("/things/{id:str}", sync_to_thread=False, name="read")
def read(id: str) -> dict[str, str]:
    return {"read": id}


@post("/things/{id:str}", sync_to_thread=False, name="write")
def write(id: str) -> dict[str, str]:
    return {"written": id}


@get(["/", "/all"], sync_to_thread=False)
def both() -> dict[str, str]:
    return {}


@get("/file", sync_to_thread=False)
def file() -> dict[str, str]:
    return {"file": "1"}


async def test_methods_of_a_path_and_routers_are_served() -> None:
    handlers = [read, write, both]
    routers = [Router("/assets", route_handlers=[file])]
    fast = FastLitestar(route_handlers=[AllRoutes(handlers), *routers], openapi_config=None)
    plain = Litestar(route_handlers=[*handlers, *routers], openapi_config=None)
    answers = []
    for app in (fast, plain):
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            requests = [("GET", "/things/1"), ("POST", "/things/1"), ("PUT", "/things/1"), ("OPTIONS", "/things/1")]
            requests += [("GET", "/"), ("GET", "/all"), ("GET", "/assets/file"), ("GET", "/missing")]
            responses = [await client.request(*request) for request in requests]
            allowed = [sorted(response.headers.get("allow", "").split(", ")) for response in responses]
            answers.append([(response.status_code, *allow) for response, allow in zip(responses, allowed, strict=True)])
    # Litestar leaves out the methods of handlers that it has registered later.
    assert (answers[0].pop(3), answers[1].pop(3)[0]) == ((204, "GET", "OPTIONS", "POST"), 204)
    assert answers[0] == answers[1]
    assert [status for status, *_ in answers[0]] == [200, 201, 405, 200, 200, 200, 404]


def test_two_handlers_of_a_method_are_rejected() -> None:
    with pytest.raises(ValueError, match="/things/"):
        AllRoutes([read, read])


async def serve(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["path"] == "/things/2":
        raise LookupError
    await ASGIResponse(body=b"deleted")(scope, receive, send)


async def test_litestar_finds_an_asgi_route_and_handles_its_exceptions_but_makes_no_models_for_it() -> None:
    routes = AllRoutes([read, AsgiRoute("/things/{id:str}", http_method="DELETE", application=serve)])
    app = FastLitestar(
        route_handlers=[routes],
        exception_handlers={LookupError: lambda _, __: Response("missing", status_code=404, media_type="text/plain")},
        openapi_config=None,
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        responses = [await client.delete(path) for path in ("/things/1", "/things/2")]
        options = await client.options("/things/1")
    assert [(response.status_code, response.text) for response in responses] == [(200, "deleted"), (404, "missing")]
    assert (options.status_code, options.headers["allow"]) == (204, "DELETE, GET, OPTIONS")
    served = [handler for handler in routes.handlers if isinstance(handler, AsgiRoute)]
    assert [*map(method_of, served)] == ["DELETE", "OPTIONS"]
    assert all(handler._signature_model is Empty for handler in served), "models take most of the time"


def method_of(handler: AsgiRoute) -> str:
    (method,) = handler.http_methods
    return method
