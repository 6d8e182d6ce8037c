"""Lists that are read page by page."""

from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from postern_sdk._answers import PageContent

T = TypeVar("T")


class AsyncPage(Generic[T]):
    """One page of a list. Iterating over it continues with the entries of the following pages."""

    def __init__(self, content: "PageContent", read: Callable[[dict[str, Any]], Awaitable["AsyncPage[T]"]]) -> None:
        self.data: list[T] = content.data
        """The entries of this page."""
        self.total: int | None = content.total
        """The number of entries of all pages; None if the API does not count them."""
        self._next_query = content.next_query
        self._read = read

    @property
    def has_next(self) -> bool:
        """Whether another page follows."""
        return self._next_query is not None

    async def next(self) -> "AsyncPage[T] | None":
        """The following page; None after the last one."""
        return None if self._next_query is None else await self._read(self._next_query)

    async def __aiter__(self) -> AsyncIterator[T]:
        page: AsyncPage[T] | None = self
        while page is not None:
            for entry in page.data:
                yield entry
            page = await page.next()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.data)} entries{', more follow' if self.has_next else ''}>"


# Not in the synchronous form:


class AsyncPaged(Generic[T]):
    """A list: `await` it for its first page, or iterate over the entries of all pages with `async for`."""

    def __init__(self, first_page: Callable[[], Awaitable[AsyncPage[T]]]) -> None:
        self._first_page = first_page

    def __await__(self) -> Generator[Any, None, AsyncPage[T]]:
        return self._first_page().__await__()

    async def __aiter__(self) -> AsyncIterator[T]:
        async for entry in await self._first_page():
            yield entry
