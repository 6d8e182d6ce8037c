"""Filters, order and total of lists of records that have a name, such as campaigns and templates.

A list names the fields that are searched; its statement has the table alias `listed` and a parameter `clause`. Pages
continue after the last row's position in the order (keyset pagination), so that a page costs the same everywhere.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from psycopg.sql import SQL, Composable, Identifier
from psycopg.sql import Literal as SqlLiteral

from postern.kernel.database.statements import first_id_at, like_pattern, text_literal
from postern.kernel.http.call import Call
from postern.kernel.http.pagination import (
    LIST_LIMIT,
    Cursor,
    CursorInvalid,
    LinkedList,
    ListLimit,
    read_cursor,
    write_cursor,
)
from postern.kernel.http.problems import Invalid
from postern.kernel.values import ID_TOLERANCE, NO_ID, QueryString, Timestamp, as_id

Row = TypeVar("Row")

TOTAL_LIMIT: Final = 10_000
"""The largest number of records that `include=total` counts."""
MAX_LIMIT_WITH_COUNTS: Final = 100
"""The largest `limit` with `include=counts`, because each record is counted separately."""

SortKey = Literal["createdAt", "-createdAt", "name", "-name", "updatedAt", "-updatedAt"]
NEWEST_FIRST: SortKey = "-createdAt"

Search = Annotated[str, msgspec.Meta(max_length=200, description="Part of the name, in any letter case.")]
SubjectSearch = Annotated[str, msgspec.Meta(max_length=200, description="Part of name or subject, in any letter case.")]
CreatedFrom = Annotated[Timestamp, msgspec.Meta(description="Only records that were created at this time or later.")]
CreatedTo = Annotated[Timestamp, msgspec.Meta(description="Only records that were created before this time.")]
Sort = Annotated[SortKey, msgspec.Meta(description="Order; `-` is descending. `name` ignores the letter case.")]
IncludeTotal = Annotated[
    list[Literal["total"]],
    msgspec.Meta(
        description=f"`total`: the header `Total-Count`, the number of matching records, counted up to {TOTAL_LIMIT:,}."
    ),
]
IncludeCounts = Annotated[
    list[Literal["total", "counts"]],
    msgspec.Meta(
        description="`counts`: each record with its counts, such as the number of members; `limit` is then at most "
        f"{MAX_LIMIT_WITH_COUNTS}. `total`: the header `Total-Count`, the number of matching records, counted up to "
        f"{TOTAL_LIMIT:,}."
    ),
]

_KEYS: dict[str, SQL] = {"name": SQL("lower(listed.name)"), "updatedAt": SQL("listed.updated_at")}
"""The SQL expression of each sort key besides `createdAt`, which is the order of the ids."""


class SortedListQuery(QueryString):
    """Which part of a list is requested, and in which order. Operations take one of the subclasses."""

    from_: CreatedFrom | None = None
    to: CreatedTo | None = None
    sort: Sort = NEWEST_FIRST
    limit: ListLimit = LIST_LIMIT
    cursor: Cursor | None = None

    def filters(self, q: str | None, **values: list[Any]) -> "ListFilter":
        """The filters of the list, with the operation's own: the text to search, and allowed values by column."""
        return ListFilter(q, self.from_, self.to, self.sort, values)


class ListQuery(SortedListQuery):
    """Query of a list whose total is counted on request."""

    include: IncludeTotal | None = None


class CountedListQuery(SortedListQuery):
    """Query of a list whose total is counted on request, and whose records have counts on request: an audience the
    number of its members, a campaign its statistics."""

    include: IncludeCounts | None = None

    @property
    def with_counts(self) -> bool:
        """Whether the counts of each record are requested. Raises Invalid if `limit` is too large for that."""
        if "counts" not in (self.include or ()):
            return False
        if self.limit > MAX_LIMIT_WITH_COUNTS:
            message = f"With `include=counts`, `limit` can be at most {MAX_LIMIT_WITH_COUNTS}."
            raise Invalid.at("query/limit", message, "too_large")
        return True


class ListFilter(msgspec.Struct, frozen=True, omit_defaults=True):
    """Filters and order of a list. A record must match all filters that are not None."""

    q: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    sort: SortKey = NEWEST_FIRST
    values: dict[str, list[Any]] = {}
    """Further filters: allowed values by column. Empty lists do not filter."""

    def scope(self, name: str) -> str:
        """The text that binds cursors to the list `name` and these filters."""
        is_default = self == ListFilter(values={column: [] for column in self.values})
        return name if is_default else f"{name}|{msgspec.json.encode(self).decode()}"

    def conditions(self, search_text: SQL) -> list[Composable]:
        """The filters as SQL. `search_text` is the text that `q` searches, in lower case."""
        parts: list[Composable] = [SQL("true")]
        if self.q and self.q.strip():
            parts.append(SQL("{} like {}").format(search_text, text_literal(like_pattern(self.q))))
        if self.since is not None:
            # A range of ids finds the rows by the primary key.
            first_id = first_id_at(self.since, -ID_TOLERANCE)
            parts.append(SQL("listed.id >= {} and listed.created_at >= {}").format(first_id, SqlLiteral(self.since)))
        if self.until is not None:
            end_id = first_id_at(self.until, ID_TOLERANCE)
            parts.append(SQL("listed.id < {} and listed.created_at < {}").format(end_id, SqlLiteral(self.until)))
        for column, allowed in self.values.items():
            if allowed:
                parts.append(SQL("{} = any ({})").format(Identifier("listed", column), SqlLiteral(allowed)))
        return parts


async def sorted_list(
    call: Call,
    name: str,
    query: ListQuery | CountedListQuery,
    filters: ListFilter,
    search_text: SQL,
    rows: Callable[..., Awaitable[list[Row]]],
    count: Callable[..., Awaitable[int]],
    **parameters: Any,
) -> LinkedList[Row]:
    """Read a part of the list `name`, and add the header `Total-Count` if it is requested. Raises CursorInvalid.

    `rows` and `count` are statements; they are called with the parameters `project_id`, `clause`, `limit` and
    `parameters`.
    """
    limit, cursor = query.limit, query.cursor
    scope = filters.scope(name)
    conditions = filters.conditions(search_text)
    if "total" in (query.include or ()):
        matching = SQL(" and ").join(conditions)
        total = await count(call.db, project_id=call.project_id, clause=matching, limit=TOTAL_LIMIT, **parameters)
        call.headers["Total-Count"] = str(total)
    if cursor is not None:
        conditions.append(_after(filters.sort, read_cursor(call, scope, cursor)))
    clause = SQL("{} order by {}").format(SQL(" and ").join(conditions), _order(filters.sort))
    fetched = await rows(call.db, project_id=call.project_id, clause=clause, limit=limit + 1, **parameters)
    has_more = len(fetched) > limit
    next_cursor = cursor_after(call, scope, filters.sort, fetched[limit - 1]) if has_more else None
    return LinkedList(fetched[:limit], next_cursor)


def cursor_after(call: Call, scope: str, sort: SortKey, row: Any) -> str:
    """The cursor of the part of a list after `row`."""
    key = sort.removeprefix("-")
    values = [] if key == "createdAt" else [row.name if key == "name" else row.updated_at.isoformat()]
    return write_cursor(call, scope, [*values, str(row.id)])


def _order(sort: SortKey) -> Composable:
    direction = SQL("desc") if sort.startswith("-") else SQL("asc")
    key = _KEYS.get(sort.removeprefix("-"))
    by_id = SQL("listed.id {}").format(direction)
    return by_id if key is None else SQL("{} {}, {}").format(key, direction, by_id)


def _after(sort: SortKey, position: list[Any]) -> Composable:
    """The condition of rows after the position in a cursor. Raises CursorInvalid."""
    last_id = as_id(position[-1])
    if last_id == NO_ID:
        raise CursorInvalid
    comparison = SQL("<") if sort.startswith("-") else SQL(">")
    key = sort.removeprefix("-")
    if key == "createdAt":
        return SQL("listed.id {} {}").format(comparison, SqlLiteral(last_id))
    value: Composable = (
        SQL("lower({})").format(text_literal(position[0]))
        if key == "name"
        else SqlLiteral(datetime.fromisoformat(position[0]))
    )
    return SQL("({}, listed.id) {} ({}, {})").format(_KEYS[key], comparison, value, SqlLiteral(last_id))
