"""Lists of Resend's API: newest first, with `limit`, and `after` or `before` an id."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.pagination import LinkedList, Page, write_cursor
from postern.kernel.http.problems import Invalid
from postern.kernel.values import NO_ID, as_id

LIST_DEFAULT, LIST_MAX = 20, 100
BEFORE_DEPTH = 10_000
"""Rows that are read to find the id of `before`, because our lists are read from the newest record on."""

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
    if after is not None and before is not None:
        raise Invalid.at("query/before", "Send `after` or `before`, not both.")
    if before is not None:
        items, has_more = await _read_before(read, _id(before, "before"), limit)
    else:
        part = await read(_cursor(call, scope, after, is_page=is_page), limit)
        items, has_more = _items(part), part.next_cursor is not None
    return {"object": "list", "has_more": has_more, "data": [render(item) for item in items]}


def _cursor(call: Call, scope: str, after: str | None, *, is_page: bool) -> str | None:
    if after is None:
        return None
    position = [str(_id(after, "after"))]
    return write_cursor(call, scope, [2, *position] if is_page else position)


async def _read_before(read: ReadPart[Listed], id: UUID, limit: int) -> tuple[list[Listed], bool]:
    """The `limit` items that precede the item with this id. Raises Invalid if it is not among BEFORE_DEPTH items."""
    preceding: deque[Listed] = deque(maxlen=limit + 1)
    cursor, count = None, 0
    while count < BEFORE_DEPTH:
        part = await read(cursor, LIST_MAX)
        for item in _items(part):
            if getattr(item, "id", None) == id:
                items = list(preceding)
                return items[-limit:], len(items) > limit
            preceding.append(item)
        count += LIST_MAX
        if (cursor := part.next_cursor) is None:
            break
    raise Invalid.at("query/before", f"There is no such record among the newest {BEFORE_DEPTH:,}.")


def _items(part: "LinkedList[Listed] | Page[Listed]") -> list[Listed]:
    return part.items if isinstance(part, LinkedList) else part.data


def _id(text: str, name: str) -> UUID:
    record_id = as_id(text)
    if record_id == NO_ID:
        raise Invalid.at(f"query/{name}", f"`{name}` must be the id of a record of the list.")
    return record_id
