"""Sends requests: credentials, time limits, retries and errors. It knows no single operation."""

from collections.abc import Iterable, Mapping
from copy import copy
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from postern_sdk._async.pages import AsyncPage
from postern_sdk._async_io import (
    AsyncTimeLimit,
    async_content_of,
    async_present_key,
    async_sleep,
    async_start_list,
)
from postern_sdk._request import (
    DEFAULT_RETRIES,
    DEFAULT_TIMEOUT_SECONDS,
    Answer,
    AsyncKey,
    Operation,
    Request,
    Settings,
    environment_key,
    wait_before_retry,
)
from postern_sdk.errors import ConfigurationError, ConnectionFailed, InvalidResponse, RequestTimedOut

if TYPE_CHECKING:
    import httpx

    from postern_sdk._async.pages import AsyncPaged


class AsyncTransport:
    """The settings and connections of a client.

    Args:
        url: The server's URL; otherwise POSTERN_URL.
        key: An API key, an access token, or a function that returns one for each request; otherwise POSTERN_KEY.
        project: The id of the project that calls are about; otherwise POSTERN_PROJECT.
        timeout: Seconds for one attempt.
        retries: Further attempts after a failure that may pass. Writes are repeated only if they take an idempotency
            key.
        insecure: Whether the key may be sent over unencrypted http to other machines.
        http_client: The client of httpx to use, for proxies or certificates; the caller closes it.
    """

    def __init__(
        self,
        url: str | None = None,
        key: AsyncKey | None = None,
        project: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT_SECONDS,
        retries: int = DEFAULT_RETRIES,
        insecure: bool = False,
        http_client: "httpx.AsyncClient | None" = None,
    ) -> None:
        self._settings = Settings(url, project, timeout, retries, insecure)
        self._key: AsyncKey = environment_key() if key is None else key
        self._connections = AsyncConnections(http_client)

    def with_options(
        self,
        *,
        key: AsyncKey | None = None,
        project: str | None = None,
        timeout: float | None = None,
        retries: int | None = None,
    ) -> Self:
        """A client with other settings that uses the same connections, such as one with a customer's access token."""
        other = copy(self)
        for name in [name for name in vars(other) if not name.startswith("_")]:
            del vars(other)[name]
        other._settings = copy(self._settings)
        other._settings.project = self._settings.project if project is None else project
        other._settings.timeout = self._settings.timeout if timeout is None else timeout
        other._settings.retries = self._settings.retries if retries is None else retries
        other._key = self._key if key is None else key
        return other

    async def aclose(self) -> None:
        """Close the connections."""
        await self._connections.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url={self._settings.url!r}, project={self._settings.project!r})"

    async def _call(self, operation: Operation, path_values: Iterable[str] = (), **values: Any) -> Any:
        """Call an operation. `values` are those of `Settings.request`.

        Raises APIError, ConnectionFailed, InvalidResponse or ConfigurationError.
        """
        return await self._send(self._settings.request(operation, path_values, **values))

    def _list(
        self, operation: Operation, path_values: Iterable[str] = (), *, query: Mapping[str, Any], **values: Any
    ) -> "AsyncPaged[Any]":
        """Read a list from its first page on. Raises like `_call`."""
        path_values = tuple(path_values)

        async def read(changed: Mapping[str, Any]) -> AsyncPage[Any]:
            request = self._settings.request(operation, path_values, query={**query, **changed}, **values)
            return AsyncPage(await self._send(request), read)

        return async_start_list(lambda: read({}))

    async def _send(self, request: Request) -> Any:
        """Send a request until its response is read, or no further attempt is allowed."""
        from postern_sdk._answers import is_retried, page_of, result_of

        read = page_of if request.operation.page else result_of
        attempts = 1 + (self._settings.retries if request.is_repeatable else 0)
        attempt = 0
        while True:
            is_last = attempt + 1 >= attempts
            answer: Answer | None = None
            try:
                answer = await self._attempt(request)
                if is_last or not is_retried(request, answer):
                    return read(request, answer)
            except (ConnectionFailed, InvalidResponse):
                answer = None
                if is_last:
                    raise
            wait = wait_before_retry(attempt, answer)
            if wait is None and answer is not None:
                return read(request, answer)
            await async_sleep(wait or 0.0)
            attempt += 1

    async def _attempt(self, request: Request) -> Answer:
        import httpx

        from postern_sdk._answers import invalid_response

        operation = request.operation
        client = self._connections.client()
        headers = request.headers | self._settings.authorization(await async_present_key(self._key), operation)
        try:
            sent = client.build_request(
                operation.method,
                request.url,
                headers=headers,
                content=async_content_of(request.content),
                timeout=request.timeout,
            )
        except httpx.InvalidURL as error:
            raise ConfigurationError(f"{request.url} is not a URL: {error}.") from error
        status, received_headers, body = 0, {}, bytearray()
        try:
            async with AsyncTimeLimit(request.timeout) as limit:
                response = await client.send(sent, stream=True, follow_redirects=False)
                status, received_headers = response.status_code, response.headers
                try:
                    async for chunk in response.aiter_bytes():
                        body += chunk
                        limit.check()
                finally:
                    await response.aclose()
        except (TimeoutError, httpx.TimeoutException) as error:
            unsent = isinstance(error, (httpx.ConnectTimeout, httpx.PoolTimeout))
            reason = f"did not answer completely within {request.timeout:g} s"
            raise _failure(RequestTimedOut, request, reason, unsent=unsent) from error
        except httpx.DecodingError as error:
            raise invalid_response(request, Answer(status, received_headers, b""), str(error)) from error
        except httpx.TransportError as error:
            if not status:
                unsent = isinstance(error, (httpx.ConnectError, httpx.ProxyError, httpx.UnsupportedProtocol))
                raise _failure(
                    ConnectionFailed, request, f"did not answer ({_reason(error)})", unsent=unsent
                ) from error
            if status < 300:
                answer = Answer(status, received_headers, bytes(body))
                raise invalid_response(request, answer, "the connection was closed before its end") from error
        return Answer(status, received_headers, bytes(body))


def _failure(kind: type[ConnectionFailed], request: Request, reason: str, *, unsent: bool) -> ConnectionFailed:
    if unsent:
        executed = "The request was not sent."
    elif request.operation.method in {"GET", "HEAD"}:
        executed = "The request changes nothing, and can be repeated."
    else:
        executed = "The request may have been executed."
    host = request.url.split("?")[0]
    return kind(
        f"{request.operation.id}: {host} {reason}. {executed}",
        may_have_been_executed=not unsent and request.operation.method not in {"GET", "HEAD"},
        idempotency_key=request.idempotency_key,
    )


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


class AsyncConnections:
    """The client of httpx, made at the first request, shared by clients with other settings."""

    def __init__(self, client: "httpx.AsyncClient | None") -> None:
        self._client = client
        self._is_own = client is None

    def client(self) -> "httpx.AsyncClient":
        """The client of httpx, with the proxies of the environment."""
        if self._client is None:
            from http.cookiejar import CookieJar, DefaultCookiePolicy

            import httpx

            # Cookies are not kept: those of one customer's sign-in must not be sent with the requests for another.
            jar = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
            self._client = httpx.AsyncClient(cookies=jar)
        return self._client

    async def aclose(self) -> None:
        """Close the connections, unless the caller owns the client. A later request opens new ones."""
        if self._is_own and self._client is not None:
            client, self._client = self._client, None
            await client.aclose()
