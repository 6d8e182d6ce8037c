"""The parts of the asynchronous client that differ from the other in more than `async` and `await`."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from inspect import isawaitable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from postern_sdk._request import AsyncKey

if TYPE_CHECKING:
    from postern_sdk._async.pages import AsyncPage, AsyncPaged

async_sleep = asyncio.sleep


class AsyncTimeLimit:
    """A block that raises TimeoutError after so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._timeout = asyncio.timeout(seconds)

    async def __aenter__(self) -> "AsyncTimeLimit":
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._timeout.__aexit__(kind, error, traceback)

    def check(self) -> None:
        """The event loop checks the time."""


async def async_present_key(key: AsyncKey) -> str:
    """The key to send."""
    if isinstance(key, str):
        return key
    value: str | Awaitable[str] = key()
    return await value if isawaitable(value) else value


def async_content_of(content: Any) -> Any:
    """A request's content as httpx.AsyncClient takes it."""
    if content is None or isinstance(content, (bytes, AsyncIterable)):
        return content
    return _chunks(content)


async def _chunks(content: Iterable[bytes]) -> AsyncIterator[bytes]:
    for chunk in content:
        yield chunk


def async_start_list(first_page: "Callable[[], Awaitable[AsyncPage[Any]]]") -> "AsyncPaged[Any]":
    """A list whose first page an asynchronous client reads when it is awaited or iterated over."""
    from postern_sdk._async.pages import AsyncPaged

    return AsyncPaged(first_page)
