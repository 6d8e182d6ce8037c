"""Lists of Resend's API: newest first, paged by `limit` and by `after` or `before`, the id of an item."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.pagination import LinkedList, Page, write_cursor
from postern.kernel.http.problems import Invalid
from postern.kernel.values import NO_ID, as_id

LIST_DEFAULT, LIST_MAX = 20, 100
ANY_PAGE_NUMBER = 2
"""The cursors of a Page begin with a page number, which the responses here do not have."""

ItemLimit = Annotated[int, msgspec.Meta(ge=1, le=LIST_MAX)]
Listed = TypeVar("Listed")
ReadChunk = Callable[[str | None, int], Awaitable[LinkedList[Listed] | Page[Listed]]]
"""Reads at most so many items of one of our lists that follow a cursor (None: from its beginning)."""


async def read_list(
    call: Call,
    read: ReadChunk[Listed],
    scope: str,
    render: Callable[[Listed], dict[str, Any]],
    *,
    limit: int,
    after: str | None,
    before: str | None,
    is_page: bool = False,
) -> dict[str, Any]:
    """The response for a part of a list.

    `scope` must be the scope of our list's own cursors. `is_page`: `read` returns a Page, whose cursors have another
    form than those of a LinkedList. Raises Invalid if `after` or `before` is not an id, if both are given, or if there
    is no item `before` in the list.
    """

    def cursor_at(id: UUID) -> str:
        return write_cursor(call, scope, [ANY_PAGE_NUMBER, str(id)] if is_page else [str(id)])

    if after is not None and before is not None:
        raise Invalid.at("query/before", "Send `after` or `before`, not both.")
    if before is not None:
        items, has_more = await _read_before(read, cursor_at, _id(before, "before"), limit)
    else:
        chunk = await read(None if after is None else cursor_at(_id(after, "after")), limit)
        items, has_more = _items(chunk), chunk.next_cursor is not None
    return {"object": "list", "has_more": has_more, "data": [render(item) for item in items]}


async def _read_before(
    read: ReadChunk[Listed], cursor_at: Callable[[UUID], str], id: UUID, limit: int
) -> tuple[list[Listed], bool]:
    """The `limit` items that precede the item with this id, and whether there are more. Raises Invalid if the item is
    not in the list.

    Our lists can only be read towards older ids. So bisection looks for an id to start from, such that one chunk has
    the item and at least `limit` items before it. From `low` there are too few before it; from `high` the chunk ends
    before the item.
    """
    low, high, begin = id.int, 2**128, None
    while high - low > 1:
        items = _items(await read(None if begin is None else cursor_at(UUID(int=begin)), LIST_MAX + 1))
        ids: list[UUID] = [getattr(item, "id", NO_ID) for item in items]
        if id in ids:
            place = ids.index(id)
            if begin is None or place >= limit:
                return items[max(place - limit, 0) : place], begin is not None or place > limit
            low = begin
        elif len(items) <= LIST_MAX or ids[-1] < id:
            break
        else:
            high = begin or ids[0].int + 1
        begin = (low + high) // 2
    raise Invalid.at("query/before", "There is no such record in this list.")


def _items(chunk: "LinkedList[Listed] | Page[Listed]") -> list[Listed]:
    return chunk.items if isinstance(chunk, LinkedList) else chunk.data


def _id(text: str, name: str) -> UUID:
    record_id = as_id(text)
    if record_id == NO_ID:
        raise Invalid.at(f"query/{name}", f"`{name}` must be the id of a record of the list.")
    return record_id
