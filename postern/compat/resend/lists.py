"""Lists of Resend's API: newest first, with `limit`, and `after` or `before` an id."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.pagination import LinkedList, Page, write_cursor
from postern.kernel.http.problems import Invalid
from postern.kernel.values import NO_ID, as_id

LIST_DEFAULT, LIST_MAX = 20, 100

ItemLimit = Annotated[int, msgspec.Meta(ge=1, le=LIST_MAX)]
Listed = TypeVar("Listed")
ReadPart = Callable[[str | None, int], Awaitable[LinkedList[Listed] | Page[Listed]]]
"""Reads the part of one of our lists that begins at a cursor (None: at its beginning) and has at most so many items."""


async def read_list(
    call: Call,
    read: ReadPart[Listed],
    scope: str,
    render: Callable[[Listed], dict[str, Any]],
    *,
    limit: int,
    after: str | None,
    before: str | None,
    is_page: bool = False,
) -> dict[str, Any]:
    """The response for a part of a list. Raises Invalid if `after` or `before` is not an id.

    `scope` is the name of our list in its cursors; `is_page` tells that `read` returns a Page.
    """

    def cursor_at(id: UUID) -> str:
        return write_cursor(call, scope, [2, str(id)] if is_page else [str(id)])

    if after is not None and before is not None:
        raise Invalid.at("query/before", "Send `after` or `before`, not both.")
    if before is not None:
        items, has_more = await _read_before(read, cursor_at, _id(before, "before"), limit)
    else:
        part = await read(None if after is None else cursor_at(_id(after, "after")), limit)
        items, has_more = _items(part), part.next_cursor is not None
    return {"object": "list", "has_more": has_more, "data": [render(item) for item in items]}


async def _read_before(
    read: ReadPart[Listed], cursor_at: Callable[[UUID], str], id: UUID, limit: int
) -> tuple[list[Listed], bool]:
    """The `limit` items that precede the item with this id, and whether there are more. Raises Invalid if the item is
    not in the list.

    Our lists are read from newer to older ids, beginning below any id. Bisection finds the id to begin at, so that the
    part has the item and enough items before it: beginning at `low` gives too few of these, at `high` too many.
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


def _items(part: "LinkedList[Listed] | Page[Listed]") -> list[Listed]:
    return part.items if isinstance(part, LinkedList) else part.data


def _id(text: str, name: str) -> UUID:
    record_id = as_id(text)
    if record_id == NO_ID:
        raise Invalid.at(f"query/{name}", f"`{name}` must be the id of a record of the list.")
    return record_id
