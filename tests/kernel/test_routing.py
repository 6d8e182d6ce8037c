"""All routes are registered at once, and behave as if they had been registered one by one."""

import httpx
import pytest
from litestar import Litestar, Router, get, post

from postern.kernel.http.routing import AllRoutes, FastLitestar


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
