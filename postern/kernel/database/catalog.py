"""What a project holds, as the catalog of the database tells it: every table that has a `project_id`.

Deleting and exporting a project go by this list, so that what a later feature adds is included by itself.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple

import msgspec
import psycopg
from psycopg.sql import SQL, Composable, Identifier, Placeholder

from postern.kernel.database.statements import Queries

CHUNK = 2_000
"""Rows that one statement reads or deletes."""
CHUNKS_AT_ONCE = 100
"""Chunks before a deletion is given back, so that none keeps a worker for itself."""
OF_PROJECT = SQL("project_id = %(project_id)s")


class Column(msgspec.Struct, frozen=True):
    """A column and its type."""

    name: str
    type: str


class RowsToDelete(NamedTuple):
    """Rows to delete: those of a table for which the condition holds."""

    table: str
    which: Composable


class Table(msgspec.Struct, frozen=True):
    """A table of tenants' rows."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[Column, ...]
    """The columns of the primary key."""


TABLES = SQL("""
    select c.relname,
           (select json_agg(json_build_array(a.attname, format_type(a.atttypid, a.atttypmod)) order by a.attnum)
            from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
           (select json_agg(json_build_array(a.attname, format_type(a.atttypid, a.atttypmod))
                            order by array_position(i.indkey::int2[], a.attnum))
            from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey::int2[])
            where i.indrelid = c.oid and i.indisprimary)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = current_schema() and c.relkind in ('r', 'p') and not c.relispartition
      and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'project_id' and a.attnum > 0)
""")

REFERENCES = SQL("""
    select child.relname, parent.relname
    from pg_constraint f join pg_class child on child.oid = f.conrelid join pg_class parent on parent.oid = f.confrelid
    where f.contype = 'f' and f.conrelid <> f.confrelid
""")


async def tenant_tables(db: Queries) -> list[Table]:
    """The tables that hold rows of projects; one that refers to another comes before it."""
    async with db.connection() as connection:
        found = await (await connection.execute(TABLES)).fetchall()
        references = await (await connection.execute(REFERENCES)).fetchall()
    tables = {
        name: Table(
            name,
            tuple(Column(*each) for each in columns),
            tuple(Column(*each) for each in key),
        )
        for name, columns, key in found
    }
    waits_for: dict[str, set[str]] = {name: set() for name in tables}
    for child, parent in references:
        if child in tables and parent in tables:
            waits_for[parent].add(child)
    return [tables[name] for name in _children_first(waits_for)]


def _children_first(waits_for: dict[str, set[str]]) -> list[str]:
    """Names such that each comes after those it waits for; circles are cut at their first name."""
    order: list[str] = []
    left = {name: set(names) for name, names in sorted(waits_for.items())}
    while left:
        free = [name for name, names in left.items() if not names & left.keys()] or [next(iter(left))]
        for name in free:
            del left[name]
        order += free
    return order


# What goes when a row goes, by keys of (project_id, something).
FOLLOWERS = SQL("""
    select child.relname, parent.relname, of_child.attname
    from pg_constraint f join pg_class child on child.oid = f.conrelid join pg_class parent on parent.oid = f.confrelid
    join pg_attribute of_child on of_child.attrelid = f.conrelid and of_child.attnum = f.conkey[2]
    where f.contype = 'f' and f.confdeltype = 'c' and f.conrelid <> f.confrelid and cardinality(f.conkey) = 2
    order by 1, 3
""")


async def tables_referencing(db: Queries, table: str) -> list[RowsToDelete]:
    """The rows that would go with one row of a table, of `project_id` and `id`; who follows a follower comes first."""
    async with db.connection() as connection:
        found = await (await connection.execute(FOLLOWERS)).fetchall()
    tree = [RowsToDelete(table, SQL("project_id = %(project_id)s and id = %(id)s"))]
    for parent in tree:  # It grows while it is walked: breadth first.
        for child, of, column in found:
            if of == parent.table:
                ids = SQL("select id from {} where {}").format(Identifier(parent.table), parent.which)
                which = SQL("project_id = %(project_id)s and {} in ({})").format(Identifier(column), ids)
                tree.append(RowsToDelete(child, which))
    return tree[:0:-1]


async def delete_rows(db: Queries, doomed: Sequence[RowsToDelete], **values: Any) -> bool:
    """Delete up to CHUNKS_AT_ONCE chunks of rows; true if a whole round found nothing left.

    Each chunk is a transaction of its own: whoever is killed in between has done no harm, and begins again.
    """
    chunks = 0
    found = True
    while found:
        found = False  # Deleting some rows writes others (counters), so a last round must find nothing.
        for each in doomed:
            while await delete_some(db, each, values):
                found = True
                chunks += 1
                if chunks >= CHUNKS_AT_ONCE:
                    return False
                await asyncio.sleep(0)
    return True


async def delete_some(db: Queries, doomed: RowsToDelete, values: dict[str, Any], limit: int = CHUNK) -> int:
    """Delete at most `limit` rows, in a transaction of its own; returns how many.

    Rows that others still refer to stay for now: none, in that case.
    """
    query = SQL("""
        delete from {table} where project_id = %(project_id)s
          and ctid = any(array(select ctid from {table} where {which} limit %(limit)s))
    """).format(table=Identifier(doomed.table), which=doomed.which)
    try:
        async with db.connection() as connection, connection.transaction():
            return (await connection.execute(query, {**values, "limit": limit})).rowcount
    except psycopg.errors.ForeignKeyViolation:
        return 0


async def rows_as_json(db: Queries, table: Table, project_id: Any, columns: list[Column]) -> AsyncIterator[list[str]]:
    """The rows of a project as JSON objects with camelCase names, in the order of the key, a chunk at a time.

    Each chunk is a query of its own that goes on after the last key: memory stays flat, and a slow reader holds
    neither a connection nor a snapshot.
    """
    key = SQL(", ").join(Identifier(each.name) for each in table.key)
    last: tuple[str, ...] | None = None
    while True:
        query = SQL("""
            select row_to_json(shown)::text, {marks} from (
                select * from {table} where project_id = %(project_id)s and {after} order by {key} limit %(limit)s
            ) as row cross join lateral (select {columns}) as shown order by {key}
        """).format(
            marks=SQL(", ").join(SQL("{}::text").format(Identifier("row", each.name)) for each in table.key),
            table=Identifier(table.name),
            after=SQL("true") if last is None else _after(table.key),
            key=key,
            columns=SQL(", ").join(_shown(each) for each in columns),
        )
        async with db.connection() as connection:
            given = {"project_id": project_id, "limit": CHUNK, **_named(last or ())}
            rows = await (await connection.execute(query, given)).fetchall()
        if rows:
            yield [row[0] for row in rows]
        if len(rows) < CHUNK:
            return
        last = tuple(rows[-1][1:])


def _after(key: tuple[Column, ...]) -> Composable:
    """The rows after the last one shown, whose key comes as the parameters `key_0`, `key_1` …"""
    values = [SQL("cast({} as {})").format(Placeholder(f"key_{at}"), SQL(each.type)) for at, each in enumerate(key)]  # type: ignore[arg-type]
    names = SQL(", ").join(Identifier(each.name) for each in key)
    return SQL("({}) > ({})").format(names, SQL(", ").join(values))


def _named(last: tuple[str, ...]) -> dict[str, str]:
    return {f"key_{at}": value for at, value in enumerate(last)}


def _shown(column: Column) -> Composable:
    """A column under its name in JSON; moments as everywhere in the API."""
    source: Composable = Identifier("row", column.name)
    if column.type == "timestamp with time zone":
        source = SQL("""to_char({} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')""").format(source)
    first, *rest = column.name.split("_")
    return SQL("{} as {}").format(source, Identifier(first + "".join(word.capitalize() for word in rest)))
