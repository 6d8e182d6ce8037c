"""Lists of Resend's API: newest first, paged by `limit` and by `after` or `before`, the id of an item."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.listing import CountedListQuery, ListQuery
from postern.kernel.http.pagination import CountedPageQuery, LinkedList, Page, write_cursor
from postern.kernel.http.problems import Invalid
from postern.kernel.values import NO_ID, QueryString, as_id

LIST_DEFAULT, LIST_MAX = 20, 100
ANY_PAGE_NUMBER = 2
"""The cursor of a Page begins with a page number. The responses here show none, so any number will do."""

Listed = TypeVar("Listed")
ReadChunk = Callable[[UUID | None, int], Awaitable[LinkedList[Listed]]]
"""Takes an id and a limit. Reads at most `limit` items of one of our lists, beginning after the item with the id, or at
the beginning of the list if the id is None."""


class ResendListQuery(QueryString):
    """Which part of a list is requested: the items after or before the item with an id."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=LIST_MAX)] = LIST_DEFAULT
    after: str | None = None
    before: str | None = None


async def read_list(
    call: Call,
    query: ResendListQuery,
    read: Callable[..., Awaitable[LinkedList[Listed]]],
    scope: str,
    render: Callable[[Listed], dict[str, Any]],
) -> dict[str, Any]:
    """The response for a part of the list that our operation `read` returns. `render` converts its items.

    `scope` must be the scope of the cursors of `read`. Raises Invalid if `after` or `before` is not an id, if both are
    given, or if there is no item `before` in the list.
    """

    async def read_chunk(after: UUID | None, limit: int) -> LinkedList[Listed]:
        cursor = None if after is None else write_cursor(call, scope, [str(after)])
        return await read(call, limit=limit, cursor=cursor)

    return await _response(query, read_chunk, render)


async def read_list_by_query(
    call: Call,
    query: ResendListQuery,
    read: Callable[..., Awaitable[LinkedList[Listed]]],
    query_type: type[ListQuery | CountedListQuery],
    scope: str,
    render: Callable[[Listed], dict[str, Any]],
) -> dict[str, Any]:
    """Like `read_list`, for an operation that takes its limit and cursor as `query`, an object of the type
    `query_type`."""

    async def read_part(call: Call, limit: int, cursor: str | None) -> LinkedList[Listed]:
        return await read(call, query=query_type(limit=limit, cursor=cursor))

    return await read_list(call, query, read_part, scope, render)


async def read_paged_list(
    call: Call,
    query: ResendListQuery,
    read: Callable[..., Awaitable[Page[Listed]]],
    scope: str,
    render: Callable[[Listed], dict[str, Any]],
) -> dict[str, Any]:
    """Like `read_list`, for an operation that returns a Page."""

    async def read_chunk(after: UUID | None, limit: int) -> LinkedList[Listed]:
        cursor = None if after is None else write_cursor(call, scope, [ANY_PAGE_NUMBER, str(after)])
        page = await read(call, page=CountedPageQuery(limit=limit, cursor=cursor, count_limit=1))
        return LinkedList(page.data, page.next_cursor)

    return await _response(query, read_chunk, render)


async def _response(
    query: ResendListQuery, read: ReadChunk[Listed], render: Callable[[Listed], dict[str, Any]]
) -> dict[str, Any]:
    if query.after is not None and query.before is not None:
        raise Invalid.at("query/before", "Send `after` or `before`, not both.")
    if query.before is not None:
        items, has_more = await _read_before(read, _id(query.before, "before"), query.limit)
    else:
        chunk = await read(None if query.after is None else _id(query.after, "after"), query.limit)
        items, has_more = chunk.items, chunk.next_cursor is not None
    return {"object": "list", "has_more": has_more, "data": [render(item) for item in items]}


async def _read_before(read: ReadChunk[Listed], id: UUID, limit: int) -> tuple[list[Listed], bool]:
    """The `limit` items that precede the item with this id, and whether there are more. Raises Invalid if the item is
    not in the list.

    Our lists can only be read from newer to older ids. So bisection looks for an id to start from, such that one chunk
    has the item and at least `limit` items before it. A chunk that starts at `low` has too few items before the
    item; a chunk that starts at `high` ends before the item.
    """
    low, high, begin = id.int, 2**128, None
    while high - low > 1:
        items = (await read(None if begin is None else UUID(int=begin), LIST_MAX + 1)).items
        ids: list[UUID] = [getattr(item, "id", NO_ID) for item in items]
        if id in ids:
            index = ids.index(id)
            if begin is None or index >= limit:
                return items[max(index - limit, 0) : index], begin is not None or index > limit
            low = begin
        elif len(items) <= LIST_MAX or ids[-1] < id:
            break
        else:
            high = begin or ids[0].int + 1
        begin = (low + high) // 2
    raise Invalid.at("query/before", "There is no such record in this list.")


def _id(text: str, name: str) -> UUID:
    record_id = as_id(text)
    if record_id == NO_ID:
        raise Invalid.at(f"query/{name}", f"`{name}` must be the id of a record of the list.")
    return record_id
