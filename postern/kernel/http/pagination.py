"""The three shapes of a list, and tables as CSV.

Bare arrays, newest first; pages with an exact total; feeds. All of them take `limit` and `cursor`, and where there is
more they say so in the header `Link: <…>; rel="next"`; pages and feeds have the cursor in `nextCursor` as well.
Cursors are opaque, signed and bound to the project, the operation and its filter: a tampered one is refused.
"""

import base64
import binascii
import csv
import io
import re
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.problems import BadRequest, ProblemError
from postern.kernel.values import NO_ID, Record, as_id, timestamp

Item = TypeVar("Item")

LIST_LIMIT = 1_000
PAGE_LIMIT = 100
PAGE_DEPTH = 10_000
"""Rows that page numbers can reach: skipping rows costs as much as reading them. Cursors reach all."""

ListLimit = Annotated[int, msgspec.Meta(ge=1, le=LIST_LIMIT, description="Rows to answer at most.")]
PageLimit = Annotated[int, msgspec.Meta(ge=1, le=PAGE_LIMIT, description="Rows on a page.")]
PageNumber = Annotated[
    int,
    msgspec.Meta(
        ge=1,
        le=PAGE_DEPTH,
        description="The page to answer, from 1. Page × limit reaches 10,000; follow `nextCursor` to go further.",
    ),
]
Cursor = Annotated[
    str,
    msgspec.Meta(
        max_length=1_000,
        description="Where to go on: the cursor from the previous answer, with the same filters.",
    ),
]


class CursorInvalid(BadRequest):
    """That cursor is not one of ours, or belongs to another list."""


class PageTooDeep(BadRequest):
    """Page numbers reach the first 10,000 rows; follow `nextCursor` to go further."""


class PageAndCursor(BadRequest):
    """Give `page` or `cursor`, not both."""


class Page(Record, Generic[Item]):
    """One page of rows with the exact total; `nextCursor` is null at the end."""

    data: list[Item]
    total: int
    page: int
    pages: int
    next_cursor: str | None = None


class Feed(Record, Generic[Item]):
    """Part of a feed and where it goes on; `nextCursor` is null at the end."""

    data: list[Item]
    next_cursor: str | None


class LinkedList(msgspec.Struct, Generic[Item], frozen=True):
    """A bare array, and where it goes on (sent as a `Link` header)."""

    items: list[Item]
    next_cursor: str | None = None


def offset_of(page: int, limit: int) -> int:
    """The rows before a page. Raises PageTooDeep."""
    if page * limit > PAGE_DEPTH:
        raise PageTooDeep(errors=[ProblemError(path="query/page", code="too_deep", message=PageTooDeep.message())])
    return (page - 1) * limit


def page_of(items: list[Item], total: int, page: int, limit: int) -> Page[Item]:
    """The page envelope."""
    return Page(data=items, total=total, page=page, pages=-(-total // limit))


class PagePosition(msgspec.Struct, frozen=True):
    """Where a page begins: after so many rows, or after the row with this identifier."""

    page: int
    offset: int
    after: UUID | None = None


def position_of(call: Call, scope: str, page: int, limit: int, cursor: str | None) -> PagePosition:
    """Where the page of `scope` begins that a caller asks for. Raises PageTooDeep, PageAndCursor and CursorInvalid."""
    if cursor is None:
        return PagePosition(page, offset_of(page, limit))
    if page != 1:
        raise PageAndCursor(
            errors=[ProblemError(path="query/page", code="page_and_cursor", message=PageAndCursor.message())]
        )
    number, after = read_cursor(call, scope, cursor)
    return PagePosition(int(number), 0, as_id(after))


def page_at(
    call: Call,
    scope: str,
    rows: Sequence[Item],
    total: int,
    position: PagePosition,
    limit: int,
    key: Callable[[Any], UUID] = lambda row: row.id,
) -> Page[Item]:
    """The page envelope of rows that were fetched with one to spare, sorted by `key`."""
    items = list(rows[:limit])
    more = len(rows) > limit
    following = write_cursor(call, scope, [position.page + 1, str(key(items[-1]))]) if more else None
    return Page(data=items, total=total, page=position.page, pages=-(-total // limit), next_cursor=following)


def before_id(call: Call, scope: str, cursor: str | None) -> UUID | None:
    """Where a newest-first list of `scope` goes on: the id that all further rows are below; None at the start."""
    if cursor is None:
        return None
    found = as_id(read_cursor(call, scope, cursor)[0])
    if found == NO_ID:
        raise CursorInvalid
    return found


def linked_list(call: Call, scope: str, rows: Sequence[Item], limit: int) -> LinkedList[Item]:
    """The first `limit` of rows that were fetched with one to spare, ordered by id downwards."""
    more = len(rows) > limit
    last: Any = rows[limit - 1] if more else None
    return LinkedList(list(rows[:limit]), write_cursor(call, scope, [str(last.id)]) if more else None)


def write_cursor(call: Call, scope: str, values: list[Any]) -> str:
    """An opaque position in the list that `scope` (name and filter) describes."""
    payload = msgspec.json.encode(values)
    signature = call.world.secrets.sign("cursor", _bound(call, scope, payload))
    return f"{base64.urlsafe_b64encode(payload).rstrip(b'=').decode()}.{signature}"


def read_cursor(call: Call, scope: str, cursor: str) -> list[Any]:
    """The values of a cursor of this list. Raises CursorInvalid."""
    body, _, signature = cursor.partition(".")
    try:
        payload = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        raise _cursor_invalid() from None
    if not call.world.secrets.verify("cursor", _bound(call, scope, payload), signature):
        raise _cursor_invalid()
    return msgspec.json.decode(payload, type=list[Any])


def _cursor_invalid() -> CursorInvalid:
    return CursorInvalid(
        errors=[ProblemError(path="query/cursor", code="cursor_invalid", message=CursorInvalid.message())]
    )


def _bound(call: Call, scope: str, payload: bytes) -> bytes:
    return f"{call.account_id if call.project_id == NO_ID else call.project_id}|{scope}|".encode() + payload


_FORMULA = re.compile("'*[=+\\-@\t\r\0]")
_GUARDED_FORMULA = re.compile("'+[=+\\-@\t\r\0]")


def guarded(text: str) -> str:
    """A text that no spreadsheet runs as a formula: those that could be one get a leading apostrophe.

    So do texts that would look as if they had got one; `unguarded` takes exactly what was added off again.
    """
    return "'" + text if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    """The text that `guarded` made into this one."""
    return text[1:] if text.startswith("'") and _GUARDED_FORMULA.match(text) else text


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return msgspec.json.encode(value).decode()
    return guarded(value) if isinstance(value, str) else str(value)


async def csv_stream(header: Sequence[str], rows: AsyncIterator[Sequence[Any]]) -> AsyncIterator[bytes]:
    """A table as CSV, in chunks of about 64 KiB, in constant memory."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow([_cell(name) for name in header])
    async for row in rows:
        writer.writerow([_cell(cell) for cell in row])
        if buffer.tell() > 65_536:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()
