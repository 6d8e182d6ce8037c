"""Exchanges with the server that run in synchronous and in asynchronous code.

An exchange is a generator: it yields what it waits for, and gets the result. The decisions therefore stand once, and
only `run` and `run_async` know how to wait.
"""

import asyncio
import ssl
import time
from collections.abc import Generator, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import httpx
import msgspec

from postern_sdk._request import USER_AGENT
from postern_sdk.errors import ServerUnavailable

BODY_LIMIT = 1_048_576
"""Largest response body, in bytes, that is read."""
WAIT_SECONDS = 60
"""Longest wait for a refresh of the signing keys, which ends sooner by itself unless its thread was lost in a fork."""


@dataclass(frozen=True)
class ApiRequest:
    """A request to the server."""

    method: str
    url: str
    json: Any = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    timeout: float = 10.0
    """Seconds until the whole response must have been received."""


@dataclass(frozen=True)
class ApiResponse:
    """A response of the server: its status, and its body, which is None unless it is JSON."""

    status: int
    body: Any = field(repr=False)


T = TypeVar("T")
Exchange = Generator[ApiRequest | Future[None], ApiResponse | None, T]
"""A generator that yields requests, and refreshes of the signing keys to wait for."""


def send(request: ApiRequest) -> Exchange[ApiResponse]:
    """Send a request. Raises ServerUnavailable for a missing answer, 429 and 5xx."""
    response = yield request
    assert response is not None
    if response.status == 429 or response.status >= 500:
        raise ServerUnavailable(f"The Postern server answered {request.method} {request.url} with {response.status}.")
    return response


def run(exchange: Exchange[T]) -> T:
    """Run an exchange and return its result."""
    try:
        step = next(exchange)
        while True:
            try:
                response = _wait(step) if isinstance(step, Future) else _send(step)
            except ServerUnavailable as failure:
                step = exchange.throw(failure)
            else:
                step = exchange.send(response)
    except StopIteration as stop:
        return stop.value


async def run_async(exchange: Exchange[T]) -> T:
    """Run an exchange and return its result."""
    try:
        step = next(exchange)
        while True:
            try:
                response = await (_wait_async(step) if isinstance(step, Future) else _send_async(step))
            except ServerUnavailable as failure:
                step = exchange.throw(failure)
            else:
                step = exchange.send(response)
    except StopIteration as stop:
        return stop.value


def fetch(url: str, timeout: float) -> ApiResponse:
    """The response to a GET request. Raises ServerUnavailable."""
    return _send(ApiRequest("GET", url, timeout=timeout))


def _wait(step: Future[None]) -> None:
    wait((step,), WAIT_SECONDS)


async def _wait_async(step: Future[None]) -> None:
    # `asyncio.wait` leaves the future alone if this task is cancelled: other requests wait for it, too.
    await asyncio.wait((asyncio.wrap_future(step),), timeout=WAIT_SECONDS)


def _send(request: ApiRequest) -> ApiResponse:
    deadline, body = time.monotonic() + request.timeout, bytearray()
    try:
        with (
            httpx.Client(timeout=request.timeout, verify=_tls()) as client,
            client.stream(**_parameters(request)) as response,
        ):
            for chunk in response.iter_bytes():
                _receive(body, chunk, deadline)
            return ApiResponse(response.status_code, _json_of(body))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise _unavailable(request, error) from error


async def _send_async(request: ApiRequest) -> ApiResponse:
    deadline, body = time.monotonic() + request.timeout, bytearray()
    try:
        # A client for each request, because a client belongs to one event loop. Requests are rare: one for each
        # session in five minutes.
        async with (
            httpx.AsyncClient(timeout=request.timeout, verify=_tls()) as client,
            client.stream(**_parameters(request)) as response,
        ):
            async for chunk in response.aiter_bytes():
                _receive(body, chunk, deadline)
            return ApiResponse(response.status_code, _json_of(body))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise _unavailable(request, error) from error


@cache
def _tls() -> ssl.SSLContext:
    """One context for all clients, because reading the certificates takes many times longer than a request."""
    return httpx.create_ssl_context()


def _parameters(request: ApiRequest) -> dict[str, Any]:
    headers = {"User-Agent": USER_AGENT, "Accept": "application/json", **request.headers}
    body = {} if request.json is None else {"json": request.json}
    return {"method": request.method, "url": request.url, "headers": headers, **body}


def _receive(body: bytearray, chunk: bytes, deadline: float) -> None:
    """Add a part of a response to `body`. Raises ServerUnavailable if the body is too large or too slow."""
    body += chunk
    if len(body) > BODY_LIMIT:
        raise ServerUnavailable(f"A response of the Postern server has more than {BODY_LIMIT:,} bytes.")
    if time.monotonic() > deadline:
        raise ServerUnavailable("The Postern server took too long to send a response.")


def _json_of(body: bytearray) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _unavailable(request: ApiRequest, error: Exception) -> ServerUnavailable:
    reason = str(error) or type(error).__name__
    return ServerUnavailable(f"The Postern server did not answer {request.method} {request.url}: {reason}.")
