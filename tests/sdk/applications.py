"""One small application on each framework for which the SDK has an adapter, and servers that run them on loopback.

All have the same routes: `/open` (with or without a session), `/private` and `/search` (with a session), `/invoices`
(GET needs `invoices:read`, POST `invoices:write`), `/cached` (a response that caches may store), `/broken` (with a
session; fails).
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import uvicorn
from postern_sdk.sessions import CustomerSession

from tests.peers.ports import listening_socket

START_SECONDS = 60


def describe(customer: CustomerSession | None) -> dict[str, Any]:
    """What the routes respond."""
    if customer is None:
        return {"customer": None}
    organization = customer.organization
    return {
        "customer": customer.email,
        "session": customer.session_id,
        "organization": organization and organization.name,
        "permissions": list(organization.permissions if organization else customer.permissions),
    }


def fastapi_application(settings: dict[str, Any]) -> Any:
    from fastapi import Depends, FastAPI
    from fastapi.responses import JSONResponse
    from postern_sdk.fastapi import add_sign_in, current_customer, optional_customer, require

    app = FastAPI()
    add_sign_in(app, **settings)

    async def open_route(customer: Annotated[CustomerSession | None, Depends(optional_customer)]) -> Any:
        return describe(customer)

    async def private_route(customer: Annotated[CustomerSession, Depends(current_customer)]) -> Any:
        return describe(customer)

    async def read_route(customer: Annotated[CustomerSession, Depends(require("invoices:read"))]) -> Any:
        return describe(customer)

    async def write_route(customer: Annotated[CustomerSession, Depends(require("invoices:write"))]) -> Any:
        return describe(customer)

    async def cached_route(customer: Annotated[CustomerSession, Depends(current_customer)]) -> Any:
        return JSONResponse(describe(customer), headers={"Cache-Control": "public, max-age=60"})

    async def broken_route(customer: Annotated[CustomerSession, Depends(current_customer)]) -> Any:
        raise RuntimeError(customer.session_id)

    app.get("/broken")(broken_route)
    app.get("/open")(open_route)
    app.get("/private")(private_route)
    app.get("/search")(private_route)
    app.get("/invoices")(read_route)
    app.post("/invoices")(write_route)
    app.get("/cached")(cached_route)
    return app


def flask_application(settings: dict[str, Any]) -> Any:
    from flask import Flask, jsonify
    from postern_sdk.flask import add_sign_in, current_customer, customer_required, optional_customer, require

    app = Flask(__name__)
    add_sign_in(app, **settings)

    @app.get("/open")
    def open_route() -> Any:
        return describe(optional_customer())

    @app.get("/private")
    @app.get("/search")
    @customer_required
    def private_route() -> Any:
        return describe(current_customer())

    @app.get("/invoices")
    @require("invoices:read")
    async def read_route() -> Any:
        return describe(current_customer())

    @app.post("/invoices")
    def write_route() -> Any:
        current_customer().require("invoices:write")
        return describe(current_customer())

    @app.get("/cached")
    @customer_required
    def cached_route() -> Any:
        response = jsonify(describe(current_customer()))
        response.headers["Cache-Control"] = "public, max-age=60"
        return response

    @app.get("/broken")
    @customer_required
    def broken_route() -> Any:
        raise RuntimeError(current_customer().session_id)

    return app


def django_application(settings: dict[str, Any], *, asynchronous: bool) -> Any:
    import django
    from django.conf import settings as django_settings

    if not django_settings.configured:
        django_settings.configure(
            POSTERN=settings,
            ALLOWED_HOSTS=["*"],
            MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware", "postern_sdk.django.PosternMiddleware"],
            ROOT_URLCONF="tests.sdk.django_urls",
            SECRET_KEY="a key of the tests",
            LOGGING_CONFIG=None,
        )
        django.setup()
    from postern_sdk.django import sign_in

    # Django has one configuration for a process.
    django_settings.POSTERN = settings
    sign_in.cache_clear()
    if asynchronous:
        from django.core.asgi import get_asgi_application

        return get_asgi_application()
    from django.core.wsgi import get_wsgi_application

    return get_wsgi_application()


APPLICATIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "fastapi": fastapi_application,
    "flask": flask_application,
    "django": lambda settings: django_application(settings, asynchronous=False),
    "django-async": lambda settings: django_application(settings, asynchronous=True),
}
WSGI = ("flask", "django")


@contextmanager
def running(framework: str, make: Callable[[str], Any]) -> Iterator[str]:
    """Serve the application that `make` returns for a URL. Yields the URL."""
    with running_wsgi(make) if framework in WSGI else running_asgi(make) as url:
        yield url


@contextmanager
def running_asgi(make: Callable[[str], Any]) -> Iterator[str]:
    """Serve an ASGI application with uvicorn in a thread."""
    listener = listening_socket()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = uvicorn.Config(make(url), log_config=None, access_log=False, lifespan="off")
    server, started = uvicorn.Server(config), threading.Event()

    async def serve() -> None:
        task = asyncio.create_task(server.serve([listener]))
        while not server.started and not task.done():
            await asyncio.sleep(0.01)
        started.set()
        await task

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert started.wait(START_SECONDS)
    try:
        yield url
    finally:
        server.should_exit = True
        thread.join(START_SECONDS)


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def running_wsgi(make: Callable[[str], Any]) -> Iterator[str]:
    """Serve a WSGI application with wsgiref in a thread."""
    server = make_server("127.0.0.1", 0, None, handler_class=_QuietHandler)  # pyright: ignore[reportArgumentType]
    url = f"http://127.0.0.1:{server.server_port}"
    server.set_app(make(url))
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.05), daemon=True)
    thread.start()
    try:
        yield url
    finally:
        server.shutdown()
        server.server_close()
        thread.join(START_SECONDS)
