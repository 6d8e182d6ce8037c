"""Lists of the API in three forms (arrays, pages, feeds), and CSV.

Arrays are newest first, pages have a total (exact without `countLimit`), feeds have none. All accept `limit` and
`cursor`. If there are more records, the header `Link: <…>; rel="next"` has the next URL; pages and feeds also have
`nextCursor`. Cursors are opaque, signed, and bound to the project, the list and its filters; a modified cursor is
rejected. Functions for cursors have a parameter `scope`: a text with the name of the list and its filters.
"""

import asyncio
import base64
import binascii
import csv
import io
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from types import NoneType
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.problems import BadRequest, ProblemError
from postern.kernel.values import NO_ID, QueryString, Record, as_id, timestamp

Item = TypeVar("Item")
Converted = TypeVar("Converted")

LIST_LIMIT = 1_000
PAGE_LIMIT = 100
PAGE_DEPTH = 10_000
"""Page numbers reach only this many rows, because the rows before a page are read and skipped. Cursors reach all."""

ListLimit = Annotated[int, msgspec.Meta(ge=1, le=LIST_LIMIT, description="Maximum number of records.")]
PageLimit = Annotated[int, msgspec.Meta(ge=1, le=PAGE_LIMIT, description="Records per page.")]
PageNumber = Annotated[
    int,
    msgspec.Meta(
        ge=1,
        le=PAGE_DEPTH,
        description="Page number from 1. Page × limit is at most 10,000; use `nextCursor` to go further.",
    ),
]
Cursor = Annotated[
    str,
    msgspec.Meta(
        max_length=1_000,
        description="The cursor from the previous response, with the same filters.",
    ),
]


class PageQuery(QueryString):
    """Which page of a list is requested: by its number, or by the cursor from the page before it."""

    page: PageNumber = 1
    limit: PageLimit = 25
    cursor: Cursor | None = None


COUNT_LIMIT = 10_000

CountLimit = Annotated[
    int,
    msgspec.Meta(
        ge=1,
        le=COUNT_LIMIT,
        description="Count no more than this many records: a `total` of this number means that many or more.",
    ),
]


class CountedPageQuery(PageQuery):
    """A page of a list whose exact total can take long to count."""

    count_limit: CountLimit | None = None


class CursorInvalid(BadRequest):
    """This cursor is invalid, or belongs to another list or other filters."""


class PageTooDeep(BadRequest):
    """Page numbers reach the first 10,000 rows; follow `nextCursor` to go further."""


class PageAndCursor(BadRequest):
    """Send `page` or `cursor`, not both."""


class Page(Record, Generic[Item]):
    """A page of records with the total, exact without `countLimit`; `nextCursor` is null on the last page."""

    data: list[Item]
    total: int
    page: int
    pages: int
    next_cursor: str | None = None

    def with_data(self, data: list[Converted]) -> "Page[Converted]":
        """The page with `data` instead of its records."""
        return Page(data=data, total=self.total, page=self.page, pages=self.pages, next_cursor=self.next_cursor)

    def convert_items(self, convert: Callable[[Item], Converted]) -> "Page[Converted]":
        """The page with each record converted by `convert`."""
        return self.with_data([convert(item) for item in self.data])


class Feed(Record, Generic[Item]):
    """A part of a feed; `nextCursor` is null at the end."""

    data: list[Item]
    next_cursor: str | None


class LinkedList(msgspec.Struct, Generic[Item], frozen=True):
    """An array, and the cursor of the next part, which is sent in a `Link` header; None at the end."""

    items: list[Item]
    next_cursor: str | None = None

    def convert_items(self, convert: Callable[[Item], Converted]) -> "LinkedList[Converted]":
        """The list with each item converted by `convert`."""
        return LinkedList([convert(item) for item in self.items], self.next_cursor)


def offset_of(page: int, limit: int) -> int:
    """The number of rows before a page. Raises PageTooDeep beyond PAGE_DEPTH rows."""
    if page * limit > PAGE_DEPTH:
        raise PageTooDeep(errors=[ProblemError(path="query/page", code="too_deep", message=PageTooDeep.message())])
    return (page - 1) * limit


def page_of(items: list[Item], total: int, page: int, limit: int) -> Page[Item]:
    """The response for a page without a cursor; `total` is the number of all records."""
    return Page(data=items, total=total, page=page, pages=-(-total // limit))


class PagePosition(msgspec.Struct, frozen=True):
    """Where a page begins: after `offset` rows, or after the row with the id `after`."""

    page: int
    offset: int
    after: UUID | None = None


def position_of(call: Call, scope: str, page: PageQuery) -> PagePosition:
    """The position of the requested page of the list `scope`. Raises PageTooDeep, PageAndCursor, CursorInvalid."""
    if page.cursor is None:
        return PagePosition(page.page, offset_of(page.page, page.limit))
    if page.page != 1:
        raise PageAndCursor(
            errors=[ProblemError(path="query/page", code="page_and_cursor", message=PageAndCursor.message())]
        )
    number, after = read_cursor(call, scope, page.cursor)
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
    """The response for the page at `position`. Pass up to `limit + 1` rows: the last one only shows that more follow.

    The rows are sorted by `key`, which the cursor of the next page contains.
    """
    items = list(rows[:limit])
    has_more = len(rows) > limit
    next_cursor = write_cursor(call, scope, [position.page + 1, str(key(items[-1]))]) if has_more else None
    return Page(data=items, total=total, page=position.page, pages=-(-total // limit), next_cursor=next_cursor)


async def numbered_page(
    call: Call,
    scope: str,
    page: PageQuery,
    count: Callable[..., Awaitable[int]],
    rows: Callable[..., Awaitable[list[Item]]],
    *structs: Any,
    **filters: Any,
) -> Page[Item]:
    """Read a page of a newest-first list. Raises PageTooDeep, PageAndCursor and CursorInvalid.

    `count` and `rows` are statements. Both are called with `structs` and `filters`, and `rows` also with the parameters
    `before` (an id or None), `limit` and `offset`.
    """
    position = position_of(call, scope, page)
    total = await count(call.db, *structs, **filters)
    fetched = await rows(
        call.db, *structs, **filters, before=position.after, limit=page.limit + 1, offset=position.offset
    )
    return page_at(call, scope, fetched, total, position, page.limit)


def before_id(call: Call, scope: str, cursor: str | None) -> UUID | None:
    """The id below which a newest-first list continues; None at its start. Raises CursorInvalid."""
    if cursor is None:
        return None
    last_id = as_id(read_cursor(call, scope, cursor)[0])
    if last_id == NO_ID:
        raise CursorInvalid
    return last_id


async def newest_first(
    call: Call, scope: str, cursor: str | None, limit: int, rows: Callable[..., Awaitable[list[Item]]], **filters: Any
) -> LinkedList[Item]:
    """Read a part of a newest-first list of the project. Raises CursorInvalid.

    `rows` is a statement; it is called with the parameters `project_id`, `before` (an id or None), `limit` and
    `filters`.
    """
    before = before_id(call, scope, cursor)
    fetched = await rows(call.db, project_id=call.project_id, before=before, limit=limit + 1, **filters)
    return linked_list(call, scope, fetched, limit)


def linked_list(call: Call, scope: str, rows: Sequence[Item], limit: int) -> LinkedList[Item]:
    """The first `limit` rows, newest first. Pass up to `limit + 1` rows: the last one only shows that more follow."""
    has_more = len(rows) > limit
    last: Any = rows[limit - 1] if has_more else None
    return LinkedList(list(rows[:limit]), write_cursor(call, scope, [str(last.id)]) if has_more else None)


def write_cursor(call: Call, scope: str, values: list[Any]) -> str:
    """An opaque, signed cursor for the list `scope`; `values` are its position."""
    payload = msgspec.json.encode(values)
    signature = call.world.secrets.sign("cursor", _signed_content(call, scope, payload))
    return f"{base64.urlsafe_b64encode(payload).rstrip(b'=').decode()}.{signature}"


def read_cursor(call: Call, scope: str, cursor: str) -> list[Any]:
    """The values of a cursor that `write_cursor` created for the same project and `scope`. Raises CursorInvalid."""
    body, _, signature = cursor.partition(".")
    try:
        payload = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        raise _cursor_invalid() from None
    if not call.world.secrets.verify("cursor", _signed_content(call, scope, payload), signature):
        raise _cursor_invalid()
    return msgspec.json.decode(payload, type=list[Any])


def _cursor_invalid() -> CursorInvalid:
    return CursorInvalid(
        errors=[ProblemError(path="query/cursor", code="cursor_invalid", message=CursorInvalid.message())]
    )


def _signed_content(call: Call, scope: str, payload: bytes) -> bytes:
    return f"{call.account_id if call.project_id == NO_ID else call.project_id}|{scope}|".encode() + payload


_FORMULA_STARTS = frozenset("'=+-@\t\r\0")
_FORMULA = re.compile("'*[=+\\-@\t\r\0]")
_GUARDED_FORMULA = re.compile("'+[=+\\-@\t\r\0]")


def escape_formula(text: str) -> str:
    """Prefix a text with an apostrophe if a spreadsheet would evaluate it as a formula.

    Texts that already look prefixed get one more apostrophe, so that `unescape_formula` restores every text exactly.
    """
    return "'" + text if text and text[0] in _FORMULA_STARTS and _FORMULA.match(text) else text


def unescape_formula(text: str) -> str:
    """Undo `escape_formula`."""
    return text[1:] if text.startswith("'") and _GUARDED_FORMULA.match(text) else text


def _cell(value: Any) -> str:
    if type(value) is str:
        return escape_formula(value)
    if value is None:
        return ""
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        return msgspec.json.encode(value).decode()
    return escape_formula(value) if isinstance(value, str) else str(value)


_NUMBER_TYPES = {int, float, NoneType}
_FLAGS = {True: "true", False: "false", None: ""}


def _cells(values: Sequence[Any]) -> Sequence[Any]:
    """The cells of a column for csv.writer, which writes None and numbers like `_cell`."""
    types = set(map(type, values))
    if types <= {str, NoneType} and _FORMULA_STARTS.isdisjoint({text[:1] for text in values if text}):
        return values
    if types <= _NUMBER_TYPES:
        return values
    if types <= {bool, NoneType}:
        return [_FLAGS[value] for value in values]
    return list(map(_cell, values))


def csv_rows(columns: Iterable[Sequence[Any]]) -> bytes:
    """Lines of CSV from the values of each column. Texts are escaped with `escape_formula`."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerows(zip(*map(_cells, columns), strict=True))
    return buffer.getvalue().encode()


def _transposed(rows: list[Any]) -> Iterable[Sequence[Any]]:
    return zip(*rows, strict=True)


async def csv_stream(
    header: Sequence[str],
    batches: AsyncIterator[list[Item]],
    columns: Callable[[list[Item]], Iterable[Sequence[Any]]] = _transposed,
) -> AsyncIterator[bytes]:
    """Stream a table as CSV, in a chunk for each list of rows. Texts are escaped with `escape_formula`.

    `columns` returns the values of each column for a list of rows, which is not empty. It is called in a thread, so
    that a large export does not occupy the event loop, while the next list is fetched.
    """
    yield csv_rows([[name] for name in header])
    previous: asyncio.Future[bytes] | None = None
    async for rows in batches:
        encoded = asyncio.ensure_future(asyncio.to_thread(lambda rows: csv_rows(columns(rows)), rows))
        if previous is not None:
            yield await previous
        previous = encoded
    if previous is not None:
        yield await previous
