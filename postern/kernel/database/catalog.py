"""Reads from the database catalog which tables have rows of tenants (a column `project_id`), and deletes and exports
these rows.

Deletion and export of a project use the list of these tables, so that tables of new features are included
automatically.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple

import msgspec
import psycopg
from psycopg.sql import SQL, Composable, Composed, Identifier, Placeholder

from postern.kernel.database.statements import Queries

CHUNK_ROWS = 2_000
"""Rows that one statement reads or deletes."""
BINARY_CHUNK_ROWS = 20
"""Rows that one statement reads if they have binary columns, which can be megabytes each."""
MAX_CHUNKS = 100
"""How many chunks one call of `delete_rows` deletes, so that it does not occupy a worker for long."""
PROJECT_CONDITION = SQL("project_id = %(project_id)s")


class Column(msgspec.Struct, frozen=True):
    """A column and its type."""

    name: str
    type: str


class RowsToDelete(NamedTuple):
    """Rows to delete: the rows of a table that match the condition."""

    table: str
    condition: Composable


class Table(msgspec.Struct, frozen=True):
    """A table with tenants' rows."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[Column, ...]
    """The columns of the primary key."""
    owner: str = "project_id"
    """The column with the id of the project or account that a row belongs to."""


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
      and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = %(owner)s and a.attnum > 0)
""")

REFERENCES = SQL("""
    select child.relname, parent.relname
    from pg_constraint foreign_key
    join pg_class child on child.oid = foreign_key.conrelid
    join pg_class parent on parent.oid = foreign_key.confrelid
    where foreign_key.contype = 'f' and foreign_key.conrelid <> foreign_key.confrelid
""")


async def tenant_tables(db: Queries, owner: str = "project_id") -> list[Table]:
    """The tables with a column named `owner`. A table comes before the tables that it references."""
    async with db.connection() as connection:
        rows = await (await connection.execute(TABLES, {"owner": owner})).fetchall()
        references = await (await connection.execute(REFERENCES)).fetchall()
    tables = {
        name: Table(
            name,
            tuple(Column(*column) for column in columns),
            tuple(Column(*column) for column in key),
            owner,
        )
        for name, columns, key in rows
    }
    referencing: dict[str, set[str]] = {name: set() for name in tables}
    for child, parent in references:
        if child in tables and parent in tables:
            referencing[parent].add(child)
    return [tables[name] for name in _children_first(referencing)]


def _children_first(referencing: dict[str, set[str]]) -> list[str]:
    """Order the names so that each comes after the tables that reference it.

    If all remaining tables are referenced by others (a cycle), the alphabetically first one comes next.
    """
    order: list[str] = []
    remaining = {name: set(names) for name, names in sorted(referencing.items())}
    while remaining:
        unreferenced = [name for name, names in remaining.items() if not names & remaining.keys()] or [
            next(iter(remaining))
        ]
        for name in unreferenced:
            del remaining[name]
        order += unreferenced
    return order


# Foreign keys of (project_id, column) with ON DELETE CASCADE.
CASCADES = SQL("""
    select child.relname, parent.relname, child_column.attname
    from pg_constraint foreign_key
    join pg_class child on child.oid = foreign_key.conrelid
    join pg_class parent on parent.oid = foreign_key.confrelid
    join pg_attribute child_column
      on child_column.attrelid = foreign_key.conrelid and child_column.attnum = foreign_key.conkey[2]
    where foreign_key.contype = 'f' and foreign_key.confdeltype = 'c'
      and foreign_key.conrelid <> foreign_key.confrelid and cardinality(foreign_key.conkey) = 2
    order by 1, 3
""")


async def dependent_rows(db: Queries, table: str) -> list[RowsToDelete]:
    """The rows that cascading foreign keys delete together with a row of `table`, without that row itself.

    Referencing rows come before the rows that they reference. The conditions have the parameters `project_id` and `id`
    of the row of `table`.
    """
    async with db.connection() as connection:
        references = await (await connection.execute(CASCADES)).fetchall()
    tree = [RowsToDelete(table, SQL("project_id = %(project_id)s and id = %(id)s"))]
    for parent in tree:  # Breadth-first search: the list grows during the loop.
        for child, referenced, column in references:
            if referenced == parent.table:
                ids = SQL("select id from {} where {}").format(Identifier(parent.table), parent.condition)
                condition = SQL("project_id = %(project_id)s and {} in ({})").format(Identifier(column), ids)
                tree.append(RowsToDelete(child, condition))
    return tree[:0:-1]


async def delete_rows(db: Queries, rows: Sequence[RowsToDelete], **values: Any) -> bool:
    """Delete up to MAX_CHUNKS chunks of rows. Returns False if that limit was reached; call it again for the rest.

    Returns True if a complete pass over `rows` deleted nothing: either no rows are left, or the remaining ones are
    still referenced by other rows.

    `values` are the parameters of the conditions, and must contain `project_id`.

    Each chunk is a transaction of its own, so an interrupted deletion can simply be started again.
    """
    chunks = 0
    deleted_any = True
    while deleted_any:
        # Triggers may insert rows, such as counters, into a table that this pass has already emptied. So passes are
        # repeated until one of them deletes nothing.
        deleted_any = False
        for rows_of_table in rows:
            while await delete_some(db, rows_of_table, values):
                deleted_any = True
                chunks += 1
                if chunks >= MAX_CHUNKS:
                    return False
                await asyncio.sleep(0)
    return True


async def delete_some(db: Queries, rows: RowsToDelete, values: dict[str, Any], limit: int = CHUNK_ROWS) -> int:
    """Delete at most `limit` rows in a transaction of its own and return how many.

    If other rows still reference one of them, nothing is deleted and 0 is returned.
    """
    try:
        async with db.connection() as connection, connection.transaction():
            if db.is_distributed:
                names = await (await connection.execute(KEY_COLUMNS, {"table": rows.table})).fetchall()
                query = _delete_by_key(rows, [name for (name,) in names])
            else:
                query = DELETE_BY_CTID.format(table=Identifier(rows.table), condition=rows.condition)
            return (await connection.execute(query, {**values, "limit": limit})).rowcount
    except psycopg.errors.ForeignKeyViolation:
        return 0


DELETE_BY_CTID = SQL("""
    delete from {table} where project_id = %(project_id)s
      and ctid = any(array(select ctid from {table} where {condition} limit %(limit)s))
""")
# Citus refuses ctid, because a row may move to another server.
DELETE_BY_KEY = SQL("""
    delete from {table} where project_id = %(project_id)s
      and ({key}) in (select {key} from {table} where project_id = %(project_id)s and {condition} limit %(limit)s)
""")
KEY_COLUMNS = """
    select a.attname from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey::int2[])
    where i.indrelid = %(table)s::regclass and i.indisprimary order by a.attnum
"""


def _delete_by_key(rows: RowsToDelete, names: list[str]) -> Composed:
    key = SQL(", ").join(Identifier(name) for name in names)
    return DELETE_BY_KEY.format(table=Identifier(rows.table), key=key, condition=rows.condition)


async def rows_as_json(db: Queries, table: Table, owner_id: Any, columns: list[Column]) -> AsyncIterator[list[str]]:
    """Yield the rows of one owner (the value of the column `table.owner`) in chunks of at most CHUNK_ROWS
    (BINARY_CHUNK_ROWS with binary columns), in the order of the primary key.

    Each row is a JSON object as text, with the given columns under camelCase names.

    Each chunk is a separate query that continues after the last key, so memory use is constant and a slow reader holds
    no connection or snapshot.
    """
    key = SQL(", ").join(Identifier(column.name) for column in table.key)
    chunk_rows = BINARY_CHUNK_ROWS if any(column.type == "bytea" for column in columns) else CHUNK_ROWS
    last_key: tuple[str, ...] | None = None
    while True:
        query = SQL("""
            select row_to_json(selected)::text, {key_values} from (
                select * from {table} where {owner} = %(owner_id)s and {after} order by {key} limit %(limit)s
            ) as row cross join lateral (select {columns}) as selected order by {key}
        """).format(
            key_values=SQL(", ").join(SQL("{}::text").format(Identifier("row", column.name)) for column in table.key),
            table=Identifier(table.name),
            owner=Identifier(table.owner),
            after=SQL("true") if last_key is None else _after(table.key),
            key=key,
            columns=SQL(", ").join(_as_json_column(column) for column in columns),
        )
        async with db.connection() as connection:
            parameters = {"owner_id": owner_id, "limit": chunk_rows, **_key_parameters(last_key or ())}
            rows = await (await connection.execute(query, parameters)).fetchall()
        if rows:
            yield [row[0] for row in rows]
        if len(rows) < chunk_rows:
            return
        last_key = tuple(rows[-1][1:])


def _after(key: tuple[Column, ...]) -> Composable:
    """The condition for rows after the last key, which the parameters `key_0`, `key_1` … hold."""
    values = [
        SQL("cast({} as {})").format(Placeholder(f"key_{index}"), SQL(column.type))  # type: ignore[arg-type]
        for index, column in enumerate(key)
    ]
    names = SQL(", ").join(Identifier(column.name) for column in key)
    return SQL("({}) > ({})").format(names, SQL(", ").join(values))


def _key_parameters(key_values: tuple[str, ...]) -> dict[str, str]:
    return {f"key_{index}": value for index, value in enumerate(key_values)}


def _as_json_column(column: Column) -> Composable:
    """A column with its camelCase name; timestamps in the API's format."""
    source: Composable = Identifier("row", column.name)
    if column.type == "timestamp with time zone":
        source = SQL("""to_char({} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')""").format(source)
    first, *rest = column.name.split("_")
    return SQL("{} as {}").format(source, Identifier(first + "".join(word.capitalize() for word in rest)))
