# Generated from _async/pages.py by script/client: do not edit.
"""Lists that are read page by page."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from postern_sdk._answers import PageContent

T = TypeVar("T")


class Page(Generic[T]):
    """One page of a list. Iterating over it continues with the entries of the following pages."""

    def __init__(self, content: "PageContent", read: Callable[[dict[str, Any]], "Page[T]"]) -> None:
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

    def next(self) -> "Page[T] | None":
        """The following page; None after the last one."""
        return None if self._next_query is None else self._read(self._next_query)

    def __iter__(self) -> Iterator[T]:
        page: Page[T] | None = self
        while page is not None:
            for entry in page.data:
                yield entry
            page = page.next()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.data)} entries{', more follow' if self.has_next else ''}>"
