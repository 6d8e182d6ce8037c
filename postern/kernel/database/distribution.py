"""Distributes the tables of a database over several servers by Citus, an extension of PostgreSQL.

Each table with a column of tenants is cut into shards by this column, so that all rows of one tenant are on one server,
and a few tables are copied to all servers (reference tables). The other tables stay on the coordinator.

What is left to do follows from the catalog, so each run of `distribute` goes on where an earlier one was interrupted,
and after a migration it treats what the migration has added. Only the definitions of foreign keys and triggers that
were taken off, so that tables can be distributed one by one, are kept in the table `distribution_pending`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, LiteralString, NamedTuple, cast
from uuid import UUID

import psycopg
from psycopg.sql import SQL, Composable, Identifier

from postern.kernel.database.connections import has_citus, has_distributed_tables

MIN_VERSION = 13
"""The oldest supported major version of Citus."""
LOCK_KEY = 0x636974757300
"""The key of the advisory lock that only one run of `distribute` holds."""


class DistributionError(Exception):
    """The database cannot be distributed; the message says why."""


def require_whole(connection: psycopg.Connection, placement: "Placement") -> None:
    """Raise DistributionError if `distribute` has been interrupted, or must be run again after a migration.

    Meanwhile tables lack foreign keys and triggers, or triggers write to tables that they cannot write to.
    """
    distribution = Distribution(connection, placement)
    if distribution.is_begun() and (planned := distribution.plan()):
        raise DistributionError(
            f"The distribution of this database is not finished: {len(planned)} steps are left, the first is: "
            f"{planned[0]}. Run `postern distribute`."
        )


@dataclass(frozen=True)
class Placement:
    """Where the tables are."""

    reference: tuple[LiteralString, ...]
    """Tables that are copied to all servers, in the order in which they refer to each other. A change locks out other
    changes of the same table until its end, so they are only for what seldom changes."""
    local: frozenset[str]
    """Tables with a column of tenants that stay on the coordinator, because their rows are found without it."""
    coordinator: frozenset[str]
    """Tables without a column of tenants that stay on the coordinator. A test compares the lists with the schema."""
    known: tuple[LiteralString, ...]
    """Tables of the coordinator that a statement changes on a condition on others: Citus must know them."""
    columns: dict[str, LiteralString]
    """The column by which a table is distributed, if it is not `tenant_column`."""
    indexes: dict[LiteralString, LiteralString]
    """Unique indexes that lack the column by which their table is distributed, each with the definition of the one that
    takes its place."""
    tenant_column: LiteralString = "project_id"
    tenants: LiteralString = "projects"
    """The reference table with the tenants, by `id`."""


class Step(NamedTuple):
    """A change that is left to do."""

    description: str
    run: Callable[[], None]


class Node(NamedTuple):
    """A server, with the shards on it."""

    address: str
    active: bool
    shards: int
    octets: int | None
    """None if the server cannot be reached."""


class DistributedTable(NamedTuple):
    """A table, and how it is distributed."""

    name: str
    kind: str
    octets: int


class TenantShards(NamedTuple):
    """The shards of all tables with the rows of one tenant, which are on one server."""

    shard: int
    """The id of the shard of one of the tables. The others are next to it, and move with it."""
    is_alone: bool
    """Whether they have no rows of other tenants."""
    address: str
    """The server, `host:port`."""


class ShardGroup(NamedTuple):
    """The shards of all tables with the same range of tenants, which are on one server."""

    number: int
    address: str
    octets: int


@dataclass
class Distribution:
    """The coordinator's database, and where its tables are to be."""

    connection: psycopg.Connection
    placement: Placement
    _tables: dict[str, str] = field(init=False, default_factory=dict[str, str])
    """The column by which each table is distributed: empty for a reference table, `-` for one on the coordinator."""
    _placed: dict[str, str] = field(init=False, default_factory=dict[str, str])
    """The column by which each table is to be distributed; empty for reference tables, which come first, and `-` for
    known ones of the coordinator."""

    def check(self) -> None:
        """Raise DistributionError if this is not the coordinator of a Citus that can be used."""
        version = self._value("select extversion from pg_extension where extname = 'citus'")
        if version is None:
            raise DistributionError(
                "This database has no Citus. Install it on every server, run `create extension citus` in the database "
                "on each, and add the servers with `select citus_add_node('address', 5432)` on this one."
            )
        if int(version.partition("-")[0].partition(".")[0]) < MIN_VERSION:
            raise DistributionError(f"This is Citus {version}; Postern needs {MIN_VERSION} or newer.")
        if not self._value("select exists (select from pg_dist_node where groupid = 0)"):
            raise DistributionError(
                "Citus does not know the address of this server: run `select citus_set_coordinator_host('address', "
                "5432)` on it."
            )
        if not self._value("select exists (select from pg_dist_node where shouldhaveshards and isactive)"):
            raise DistributionError(
                "No server may have shards: add servers with `select citus_add_node('address', 5432)` on this one."
            )

    def is_begun(self) -> bool:
        """Whether tables are distributed, or a run of `distribute` that began to was interrupted. It is False in a
        database without Citus."""
        return has_distributed_tables(self.connection) or (has_citus(self.connection) and bool(self._pending()))

    def lock(self) -> None:
        """Keep other runs out until the connection is closed. Raises DistributionError if there is one."""
        if not self._value("select pg_try_advisory_lock(%s)", LOCK_KEY):
            raise DistributionError("Another `postern distribute` is running.")

    def seconds_since_worker(self) -> float:
        """How long ago a worker of Postern reported; infinite if there is none."""
        seconds = self._value("select extract(epoch from now() - max(seen_at))::float8 from workers")
        return float("inf") if seconds is None else seconds

    def must_copy(self) -> bool:
        """Whether tables must still be distributed. Meanwhile they have neither foreign keys nor triggers."""
        self._read_tables()
        return any(self._is_missing(table) for table in self._placed) or bool(self._pending())

    def nodes(self) -> list[Node]:
        """All servers."""
        return [Node(*row) for row in self.connection.execute(NODES).fetchall()]

    def tables(self) -> list[DistributedTable]:
        """The largest tables."""
        return [DistributedTable(*row) for row in self.connection.execute(TABLES).fetchall()]

    def largest_shards(self) -> list[ShardGroup]:
        """The largest groups of shards. One that is much larger than the others has a large tenant."""
        return [ShardGroup(*row) for row in self.connection.execute(SHARD_GROUPS).fetchall()]

    def plan(self) -> list[str]:
        """What `steps` would do, without changing anything."""
        self._read_tables()
        missing = [table for table in self._placed if self._is_missing(table)]
        keys = self.connection.execute(FOREIGN_KEYS, {"tables": missing}).fetchall()
        triggers = self.connection.execute(TRIGGERS, {"tables": missing}).fetchall()
        moved = f"{len(keys)} foreign keys and {len(triggers)} triggers" if keys or triggers else ""
        indexes = [name for name in self.placement.indexes if self._value("select to_regclass(%s)", name)]
        return [
            *([f"take off {moved}"] if moved else []),
            *[f"replace the index {name}" for name in indexes],
            *[self._describe(table) for table in missing],
            *[f"make {function} known to all servers" for function in self._functions()],
            *(["create the function on_shard"] if self._lacks_on_shard() else []),
            *[f"let {name} write to shards" for name, _ in self._changed_trigger_functions()],
            *[description for _, description, _ in self._pending()],
            *([f"put back {moved}"] if moved else []),
        ]

    def steps(self) -> Iterator[Step]:
        """What is left to do. Each step must be run before the next one is asked for."""
        self._read_tables()
        self._execute(PENDING)
        missing = [table for table in self._placed if self._is_missing(table)]
        if missing:
            yield Step(f"take off the foreign keys and triggers of {len(missing)} tables", partial(self._take, missing))
        for name, definition in self.placement.indexes.items():
            if self._value("select to_regclass(%s) is not null", name):
                yield Step(f"replace the index {name}", partial(self._replace_index, name, definition))
        for table in missing:
            yield Step(self._describe(table), partial(self._place, table))
        for function in self._functions():
            yield Step(
                f"make {function} known to all servers",
                partial(self._execute, "select create_distributed_function(%s::regprocedure)", function),
            )
        if self._lacks_on_shard():
            yield Step("create the function on_shard", partial(self._execute, ON_SHARD))
        for name, definition in self._changed_trigger_functions():
            yield Step(f"let {name} write to shards", partial(self._execute, definition))
        for parent, text in self._clearing_triggers():
            yield Step(f"let deletions in {parent} clear references", partial(self._create_trigger, text))
        for number, description, text in self._pending():
            yield Step(description, partial(self._restore, number, text))

    def has_tenant(self, tenant: UUID) -> bool:
        """Whether there is a tenant with this id."""
        query = SQL("select exists (select from {} where id = %s)").format(Identifier(self.placement.tenants))
        return bool(self._value(query.as_string(self.connection), tenant))

    def shards_of(self, tenant: UUID) -> TenantShards:
        """Where the rows of a tenant are."""
        values = {"table": self._value(FIRST_DISTRIBUTED), "tenant": tenant}
        row = self.connection.execute(SHARDS_OF_TENANT, values).fetchone()
        if row is None:
            raise DistributionError("The tables are not distributed. Run `postern distribute` first.")
        return TenantShards(*row)

    def steps_to_isolate(self, tenant: UUID, address: str, *, block_writes: bool) -> Iterator[Step]:
        """What is left to do until a tenant has shards of its own on the server `address`.

        Writes to the shards wait only at the end of a step, or, with `block_writes`, during all of it. A step that is
        interrupted leaves the shards as they were. Each step must be run before the next one is asked for. Raises
        DistributionError if Citus knows no such server, or if it can divide the shards only with `block_writes`.
        """
        if not self._value(MAY_HAVE_SHARDS, address):
            raise DistributionError(
                f"Citus knows no active server {address} that may have shards. Add it with "
                "`select citus_add_node('address', 5432)` on the coordinator."
            )
        self._execute(RETURNS)
        mode = "block_writes" if block_writes else "force_logical"
        # Those of a run that was interrupted, perhaps for another tenant.
        yield from self._steps_to_return(mode)
        table = self._value(FIRST_DISTRIBUTED)
        present = self.shards_of(tenant)
        if not present.is_alone and block_writes:
            isolate = "select isolate_tenant_to_new_shard(%s::regclass, %s::uuid, 'CASCADE', shard_transfer_mode => %s)"
            yield Step("divide the shards of the project", partial(self._transfer, isolate, table, tenant, mode))
        elif not present.is_alone:
            if present.address == address:
                raise DistributionError(
                    f"The project is on {address}, with others. Citus divides shards on the same server only while "
                    "writes wait: name another server, or use --block-writes."
                )
            yield Step(
                f"copy the shards of the project, with those of others, to {address}",
                partial(self._divide, present, tenant, address, mode),
            )
        present = self.shards_of(tenant)
        if present.address != address:
            yield self._move(present.shard, present.address, address, mode)
        yield from self._steps_to_return(mode)

    def _steps_to_return(self, mode: str) -> Iterator[Step]:
        """Move shards of other tenants that were copied with those of one to where they were."""
        table = self._value(FIRST_DISTRIBUTED)
        for first, last, source in self.connection.execute("select * from distribution_returns").fetchall():
            shard = self.connection.execute(SHARD_OF_RANGE, {"table": table, "first": first, "last": last}).fetchone()
            if shard is not None and shard[1] != source:
                yield self._move(shard[0], shard[1], source, mode)
            self._execute("delete from distribution_returns where first = %s and last = %s", first, last)

    def _divide(self, present: TenantShards, tenant: UUID, address: str, mode: str) -> None:
        """Divide shards into those of the tenant and those before and behind, and note that the latter are to return.

        All of them are created on another server. Those that Citus 13 creates on the same one cannot follow rows that
        change while they are copied: they have no replica identity in the catalog of the slot's snapshot.
        """
        values = {"shard": present.shard, "tenant": tenant, "address": address}
        first, last, own, node = self.connection.execute(RANGE_OF_SHARD, values).fetchone() or (0, 0, 0, 0)
        others = [(begin, end) for begin, end in ((first, own - 1), (own + 1, last)) if begin <= end]
        for begin, end in others:
            self._execute(
                "insert into distribution_returns values (%s, %s, %s) "
                "on conflict (first, last) do update set address = excluded.address",
                begin,
                end,
                present.address,
            )
        points = [str(point) for point in (own - 1, own) if first <= point < last]
        split = "select citus_split_shard_by_split_points(%s, %s::text[], %s::int[], %s)"
        self._transfer(split, present.shard, points, [node] * (len(points) + 1), mode)

    def _move(self, shard: int, source: str, target: str, mode: str) -> Step:
        move = "select citus_move_shard_placement(%s, %s, %s, %s, %s, shard_transfer_mode => %s)"
        values = (shard, *_host_port(source), *_host_port(target), mode)
        return Step(f"move shards from {source} to {target}", partial(self._transfer, move, *values))

    def _transfer(self, query: str, *values: object) -> None:
        """Divide or move shards. Raises DistributionError with the reason of Citus."""
        try:
            self._execute(query, *values)
        except psycopg.Error as error:
            hint = f" {error.diag.message_hint}" if error.diag.message_hint else ""
            reason = f"{error.diag.message_primary or error}.{hint}"
            raise DistributionError(f"Citus cannot do that, and nothing has changed: {reason}") from error

    def _read_tables(self) -> None:
        self._tables = dict(self.connection.execute(DISTRIBUTED_TABLES).fetchall())
        rows = self.connection.execute(TENANT_TABLES, {"column": self.placement.tenant_column}).fetchall()
        names = {name for (name,) in rows if name not in self.placement.local}
        columns = {name: str(self.placement.tenant_column) for name in names} | {
            name: str(column) for name, column in self.placement.columns.items()
        }
        reference, known = self.placement.reference, self.placement.known
        self._placed = dict.fromkeys(reference, "") | dict(sorted(columns.items())) | dict.fromkeys(known, "-")

    def _is_missing(self, table: str) -> bool:
        placed = self._placed[table]
        actual = self._tables.get(table)
        # A foreign key to a reference table makes a table of the coordinator known to Citus, too.
        if actual is None or (actual == "-" and placed != "-"):
            return True
        if actual != placed:
            raise DistributionError(f"The table {table} is distributed in another way ({actual or 'reference'}).")
        return False

    def _describe(self, table: str) -> str:
        column = self._placed[table]
        rows = self._value("select greatest(reltuples, 0)::bigint from pg_class where oid = %s::regclass", table)
        size = f" (about {rows:,} rows)" if rows else ""
        if column == "":
            return f"copy {table} to all servers{size}"
        return f"keep {table} on this server" if column == "-" else f"distribute {table} by {column}{size}"

    def _take(self, tables: list[str]) -> None:
        """Take off the foreign keys and triggers of these tables, and the foreign keys that refer to them, and note
        their definitions: Citus could not distribute the tables one after the other, and rows that are copied into
        shards must not be counted again."""
        with self.connection.transaction():
            keys = self.connection.execute(FOREIGN_KEYS, {"tables": tables}).fetchall()
            for table, name, definition, cleared in keys:
                # Citus refuses SET NULL for a key with the column of the tenant. A trigger does it instead.
                kept = definition if not cleared else re.sub(r" ON DELETE SET NULL \([^)]*\)", "", definition)
                if cleared:
                    self._execute(
                        "insert into distribution_cleared (child, parent, columns, parent_columns, cleared) "
                        "select %s, confrelid::regclass, (select array_agg(attname order by position) "
                        "from unnest(conkey) with ordinality as key (number, position) "
                        "join pg_attribute on attrelid = conrelid and attnum = number), "
                        "(select array_agg(attname order by position) "
                        "from unnest(confkey) with ordinality as key (number, position) "
                        "join pg_attribute on attrelid = confrelid and attnum = number), "
                        "(select array_agg(attname) from unnest(confdelsetcols) as number "
                        "join pg_attribute on attrelid = conrelid and attnum = number) "
                        "from pg_constraint where conname = %s and conrelid = %s::regclass",
                        table,
                        name,
                        table,
                    )
                text = SQL("alter table {} add constraint {} {}").format(
                    Identifier(table), Identifier(name), SQL(cast(LiteralString, kept))
                )
                self._note(f"add the foreign key {name}", text)
                self._execute(SQL("alter table {} drop constraint {}").format(Identifier(table), Identifier(name)))
            for table, name, definition in self.connection.execute(TRIGGERS, {"tables": tables}).fetchall():
                self._note(f"create the trigger {name} of {table}", SQL(cast(LiteralString, definition)))
                self._execute(SQL("drop trigger {} on {}").format(Identifier(name), Identifier(table)))

    def _note(self, description: str, text: Composable) -> None:
        self._execute(
            "insert into distribution_pending (description, text) values (%s, %s)",
            description,
            text.as_string(self.connection),
        )

    def _replace_index(self, name: LiteralString, definition: LiteralString) -> None:
        with self.connection.transaction():
            self._execute(definition)
            self._execute(SQL("drop index {}").format(Identifier(name)))

    def _place(self, table: str) -> None:
        column = self._placed[table]
        if column == "":
            self._execute("select create_reference_table(%s::regclass)", table)
        elif column == "-":
            self._execute("select citus_add_local_table_to_metadata(%s::regclass)", table)
        else:
            # All tables are co-located with the first one: the shards of a tenant are on one server, and move together.
            first = self._value(FIRST_DISTRIBUTED)
            self._execute(
                "select create_distributed_table(%s::regclass, %s, colocate_with => %s)", table, column, first or "none"
            )
        self._read_tables()

    def _functions(self) -> list[str]:
        """The functions that queries use, and that other servers do not know yet."""
        return [name for (name,) in self.connection.execute(UNKNOWN_FUNCTIONS).fetchall()]

    def _lacks_on_shard(self) -> bool:
        return bool(self._value("select to_regprocedure('on_shard(text, oid)') is null"))

    def _changed_trigger_functions(self) -> Iterator[tuple[str, str]]:
        """The functions of triggers that write to tables by their names. On a shard these are the tables of all
        tenants, which a trigger cannot write with the rows of its statement; they must write to the shards beside."""
        distributed = {table for table, column in self._placed.items() if column not in ("", "-")}
        for name, definition, body in self.connection.execute(TRIGGER_FUNCTIONS).fetchall():
            changed = body_for_shards(body, distributed)
            if changed != body:
                yield name, definition.replace(body, changed)

    def _clearing_triggers(self) -> Iterator[tuple[str, str]]:
        """The triggers that set columns to null which refer to a deleted row: as the foreign keys did that were taken
        off."""
        rows = self.connection.execute(CLEARED).fetchall()
        for parent in dict.fromkeys(row[0] for row in rows):
            function = f"clear_references_to_{parent}"
            if self._value("select to_regprocedure(%s) is not null", f"{function}()"):
                continue
            statements = "".join(
                "    execute on_shard($statement$update {{{child}}} set {sets} where {where}$statement$, tg_relid) "
                "using old;\n".format(
                    child=child,
                    sets=", ".join(f"{column} = null" for column in cleared),
                    where=" and ".join(f"{a} = ($1).{b}" for a, b in zip(columns, parent_columns, strict=True)),
                )
                for owner, child, columns, parent_columns, cleared in rows
                if owner == parent
            )
            create = f"create function {function}() returns trigger language plpgsql as $function$"
            trigger = f"create trigger clear_references before delete on {parent} for each row execute function "
            trigger += f"{function}()"
            yield parent, f"{create}\nbegin\n{statements}    return old;\nend $function$;\n{trigger}"

    def _create_trigger(self, text: str) -> None:
        with self.connection.transaction():
            self._execute("set local citus.enable_unsafe_triggers = on")
            for statement in text.split(";\ncreate trigger "):
                self._execute(statement if statement.startswith("create function") else f"create trigger {statement}")

    def _pending(self) -> list[tuple[int, str, str]]:
        if not self._value("select to_regclass('distribution_pending') is not null"):
            return []
        return self.connection.execute(
            "select number, description, text from distribution_pending order by number"
        ).fetchall()

    def _restore(self, number: int, text: str) -> None:
        with self.connection.transaction():
            # Citus cannot check that a trigger changes only the rows of its tenant. Ours do.
            self._execute("set local citus.enable_unsafe_triggers = on")
            self._execute(text)
            self._execute("delete from distribution_pending where number = %s", number)

    def _execute(self, query: str | Composable, *values: object) -> None:
        text = query if isinstance(query, str) else query.as_string(self.connection)
        self.connection.execute(text.encode(), values or None)

    def _value(self, query: str, *values: object) -> Any:
        row = self.connection.execute(query.encode(), values or None).fetchone()
        return row[0] if row else None


def transferred_share(connection: psycopg.Connection) -> float:
    """How much of the shards that move now is on the new server, from 0 to 1; 0 if none move."""
    row = connection.execute(TRANSFERRED).fetchone()
    return float(row[0]) if row else 0.0


def _host_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host, int(port)


def body_for_shards(body: str, distributed: set[str]) -> str:
    """The body of a trigger's function (PL/pgSQL) with statements that run on the shards beside that of the trigger.

    A statement may use the transition tables of the trigger, and `old` and `new`. It begins a line. How many rows a
    `perform` has read is known by `get diagnostics`, not by `found`.
    """
    if "on_shard(" in body:
        return body
    name = re.compile(
        r"\b(insert into|update|delete from|from|join) ("
        + "|".join(sorted(distributed, key=len, reverse=True))
        + r")\b"
    )

    def on_shard(statement: re.Match[str]) -> str:
        text, count = name.subn(r"\1 {\2}", statement[2])
        if not count:
            return statement[0]
        text = re.sub(r"^perform\b", "select", text)
        records = re.sub(r"\bnew\.", "($2).", re.sub(r"\bold\.", "($1).", text))
        using = " using old, new" if records != text else ""
        return f"{statement[1]}execute on_shard($statement${records}$statement$, tg_relid){using};"

    return re.sub(r"(?ms)^(\s*)((?:with|insert into|update|delete from|perform)\b.*?);", on_shard, body)


PENDING = """
    create table if not exists distribution_pending (
        number integer primary key generated always as identity,
        description text not null,
        text text not null
    );
    create table if not exists distribution_cleared (
        parent regclass not null,
        child regclass not null,
        columns text[] not null,
        parent_columns text[] not null,
        cleared text[] not null,
        primary key (parent, child, cleared)
    )
"""

CLEARED = (
    "select parent::text, child::text, columns, parent_columns, cleared from distribution_cleared order by 1, 2, 5"
)

TENANT_TABLES = """
    select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attname = %(column)s
"""

DISTRIBUTED_TABLES = """
    select logicalrelid::text, case
        when partmethod = 'h' then column_to_column_name(logicalrelid, partkey) when repmodel = 't' then '' else '-' end
    from pg_dist_partition
    where (select relnamespace from pg_class where oid = logicalrelid) = current_schema()::regnamespace
"""

FIRST_DISTRIBUTED = "select logicalrelid::text from pg_dist_partition where partmethod = 'h' order by 1 limit 1"

FOREIGN_KEYS = """
    select conrelid::regclass::text, conname, pg_get_constraintdef(oid), confdelsetcols is not null from pg_constraint
    where contype = 'f' and connamespace = current_schema()::regnamespace
      and (conrelid::regclass::text = any (%(tables)s) or confrelid::regclass::text = any (%(tables)s))
    order by 1, 2
"""

TRIGGERS = """
    select tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) from pg_trigger
    where not tgisinternal and tgrelid::regclass::text = any (%(tables)s)
      and (select relnamespace from pg_class where oid = tgrelid) = current_schema()::regnamespace
    order by 1, 2
"""

TRIGGER_FUNCTIONS = """
    select proname, pg_get_functiondef(oid), prosrc from pg_proc
    where pronamespace = current_schema()::regnamespace and prorettype = 'trigger'::regtype order by 1
"""

UNKNOWN_FUNCTIONS = """
    select p.oid::regprocedure::text from pg_proc p
    where p.pronamespace = current_schema()::regnamespace and p.prorettype <> 'trigger'::regtype
      and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
      and not exists (select from pg_catalog.pg_dist_object o where o.classid = 'pg_proc'::regclass and o.objid = p.oid)
    order by 1
"""

SHARDS_OF_TENANT = """
    select s.shardid, d.shardminvalue = d.shardmaxvalue, s.nodename || ':' || s.nodeport
    from pg_dist_shard d join citus_shards s using (shardid)
    where d.shardid = get_shard_id_for_distribution_column(%(table)s::regclass, %(tenant)s::uuid)
"""

MAY_HAVE_SHARDS = """
    select exists (select from pg_dist_node
                   where nodename || ':' || nodeport = %s and shouldhaveshards and isactive and noderole = 'primary')
"""

RETURNS = """
    create table if not exists distribution_returns (
        first integer not null, last integer not null, address text not null, primary key (first, last)
    )
"""

RANGE_OF_SHARD = """
    select d.shardminvalue::int, d.shardmaxvalue::int, worker_hash(%(tenant)s::uuid),
           (select nodeid from pg_dist_node where nodename || ':' || nodeport = %(address)s and noderole = 'primary')
    from pg_dist_shard d where d.shardid = %(shard)s
"""

SHARD_OF_RANGE = """
    select s.shardid, s.nodename || ':' || s.nodeport
    from pg_dist_shard d join citus_shards s using (shardid)
    where d.logicalrelid = %(table)s::regclass and d.shardminvalue::int = %(first)s and d.shardmaxvalue::int = %(last)s
"""

TRANSFERRED = """
    select least(coalesce(sum(target_shard_size)::float8 / nullif(sum(source_shard_size), 0), 0), 1)
    from get_rebalance_progress()
"""

NODES = """
    select n.nodename || ':' || n.nodeport, n.isactive, count(s.shardid),
           case when not coalesce(bool_or(s.shard_size is null and s.shardid is not null), false)
                then coalesce(sum(s.shard_size), 0)::bigint end
    from pg_dist_node n left join citus_shards s on (s.nodename, s.nodeport) = (n.nodename, n.nodeport)
      and s.citus_table_type = 'distributed'
    where n.noderole = 'primary' group by 1, 2, n.groupid order by n.groupid
"""

TABLES = """
    select table_name::text, citus_table_type, coalesce(sum(shard_size), 0)::bigint from citus_shards
    group by 1, 2 order by 3 desc, 1 limit 10
"""

SHARD_GROUPS = """
    select row_number() over (order by d.shardminvalue::bigint), s.nodename || ':' || s.nodeport,
           coalesce(sum(s.shard_size), 0)::bigint
    from citus_shards s join pg_dist_shard d using (shardid) where s.citus_table_type = 'distributed'
    group by d.shardminvalue, s.nodename, s.nodeport order by 3 desc, 1 limit 3
"""

# The shard with the same range of each table is on the same server. In a backup that was restored into a single server,
# the table is not a shard.
ON_SHARD = """
    create function on_shard(statement text, relation oid) returns text language plpgsql stable as $function$
    declare
        mentioned text;
        beside text;
        shard bigint;
    begin
        if to_regclass('pg_catalog.pg_dist_shard') is not null then
            select shardid into shard from pg_dist_shard
            where shardid = substring(relation::regclass::text from '_(\\d+)$')::bigint;
        end if;
        for mentioned in select distinct match[1] from regexp_matches(statement, '{(\\w+)}', 'g') as match loop
            beside := quote_ident(mentioned);
            if shard is not null then
                select shard_name(other.logicalrelid, other.shardid) into strict beside from pg_dist_shard this
                join pg_dist_shard other on other.shardminvalue = this.shardminvalue
                where this.shardid = shard and other.logicalrelid = mentioned::regclass;
            end if;
            statement := replace(statement, '{' || mentioned || '}', beside);
        end loop;
        return statement;
    end $function$
"""
