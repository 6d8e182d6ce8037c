"""SQL statements as typed functions, which run on the pool or in a transaction.

There is no lazy loading and no unit of work: a statement runs when it is called.
"""

import asyncio
import re
import select
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache, wraps
from functools import partial as bind
from operator import itemgetter
from struct import Struct
from types import FunctionType, NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    LiteralString,
    ParamSpec,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)
from uuid import UUID

import msgspec
import psycopg
from psycopg import AsyncConnection, AsyncCursor
from psycopg.adapt import Loader
from psycopg.errors import InternalError_, ReadOnlySqlTransaction
from psycopg.pq import ConnStatus
from psycopg.rows import tuple_row
from psycopg.sql import SQL, Composable, Composed
from psycopg.sql import Literal as SqlLiteral
from psycopg.types import json as pg_json
from psycopg_pool import AsyncConnectionPool
from psycopg_pool.base import AttemptWithBackoff
from psycopg_pool.pool_async import AddConnection

from postern.kernel.database.columns import name_columns
from postern.kernel.database.connections import HAS_CITUS, HAS_DISTRIBUTED_TABLES, NotPrimary, connection_settings
from postern.kernel.values import Moment, id_at, to_json

if TYPE_CHECKING:
    from postern.world import Hooks

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

POOL_WAIT = timedelta(seconds=5)
"""How long a request waits for a connection before it fails with 503."""

RECONNECT_GIVE_UP = timedelta(seconds=30)
"""How long the pool tries to replace a connection. Later it tries when a request needs one."""

REPLICA_CONNECT_SECONDS = 2

PROCESS_NAME = "postern {process} {release}"
"""The name of the connections of a process, such as `postern api 0.1.0`; PostgreSQL shows it in pg_stat_activity."""

PREPARE_AFTER = 1
"""How often a connection runs a statement before it prepares it. PostgreSQL plans a prepared statement five more times
before it keeps a plan."""

ROW_ERRORS = (psycopg.DataError, psycopg.IntegrityError)
"""Errors that are caused by the values of a statement, not by the state of the database server."""

FEW_ROWS = 8
"""In a distributed database, so many rows are inserted one by one rather than together: Citus sends a row to its server
in a tenth of the time of a query, whose rows pass through the coordinator (decision 0171)."""

PoolConnection = AsyncConnection[tuple[Any, ...]]


class Jsonb(pg_json.Jsonb):
    """A JSON value as a parameter for a `jsonb` column."""

    def __init__(self, value: Any) -> None:
        super().__init__(value, dumps=to_json)


def like_pattern(text: str) -> str:
    """The `like` pattern that finds `text`, trimmed and in lower case, within a lower-case column. `%`, `_` and
    backslashes in `text` are escaped."""
    return "%" + re.sub(r"([\\%_])", r"\\\1", text.strip().lower()) + "%"


def text_literal(value: str) -> SqlLiteral:
    """`value` as a text literal for composed SQL. Doubles each `%`, because psycopg would read a single one as a
    placeholder; the caller must not double it."""
    return SqlLiteral(value.replace("%", "%%"))


def first_id_at(moment: datetime, shift: timedelta) -> SqlLiteral:
    """`id_at` as a literal for composed SQL."""
    return SqlLiteral(id_at(moment, shift))


class Queries:
    """What runs statements: the pool (Database), with one transaction per statement, or an open Transaction."""

    _hooks: "Hooks | None"
    _caches: dict[type, Any]
    is_distributed: bool = False
    """Whether tables are distributed over several servers by Citus. Known as soon as there is a connection."""

    @property
    def hooks(self) -> "Hooks":
        """Functions of higher layers that lower layers call. Raises AssertionError if the database was opened without
        hooks."""
        assert self._hooks is not None, "this database was opened without hooks"
        return self._hooks

    def cache(self, kind: type[T]) -> T:
        """This database's instance of the cache class `kind`, created on first use. Cache only rows that never change.

        A transaction uses the caches of its database.
        """
        cache = self._caches.get(kind)
        if cache is None:
            cache = self._caches[kind] = kind()
        return cache

    def connection(self) -> AbstractAsyncContextManager[PoolConnection]:
        """The connection to run a statement on: one of the pool, or the transaction's."""
        raise NotImplementedError


_limits: ContextVar[tuple[asyncio.Semaphore, ...]] = ContextVar("_limits", default=())
"""Semaphores that the current task must acquire, in this order, before it takes a connection of the pool."""


class ConnectionHold:
    """Records that a task holds a connection of `db`; `is_held` becomes False when the connection is returned."""

    __slots__ = ("db", "is_held")

    def __init__(self, db: "Database") -> None:
        self.db = db
        self.is_held = True


_current_hold: ContextVar[ConnectionHold | None] = ContextVar("_current_hold", default=None)
"""The hold of the current task, or one inherited from the task that started it. An inherited hold may have ended: see
`is_held`."""


class SecondConnection(RuntimeError):
    """A task that holds a connection requested another one from the pool.

    Under load, every task could hold one connection and wait forever for a second one. Run the statement on the open
    transaction, or before or after it.
    """


@contextmanager
def limit_connections(*semaphores: asyncio.Semaphore) -> Iterator[None]:
    """Make this block, and the tasks that it starts, acquire `semaphores` before each connection of the pool.

    Each semaphore limits how many connections all blocks that use it hold at the same time.
    """
    token = _limits.set(semaphores)
    try:
        yield
    finally:
        _limits.reset(token)


class Transaction(Queries):
    """An open transaction. Functions that must run in one have a parameter of this type."""

    def __init__(self, connection: PoolConnection, db: "Database") -> None:
        self._connection = connection
        self._hooks, self._caches = db._hooks, db._caches
        self.due: set[tuple[str, UUID | None]] = set()
        self.is_distributed = db.is_distributed

    async def lock_quota(self, quota: str, owner: UUID) -> None:
        """Take the advisory lock with the name `quota` of an owner (a project or account) until the transaction ends.

        Call this before counting the records that a quota limits (or reading what another rule depends on), so that
        concurrent transactions cannot break the quota or rule together, and before taking other locks.
        """
        await self._connection.execute(
            "select pg_advisory_xact_lock(hashtextextended(%s, 0))", (f"count:{quota}:{owner}",)
        )

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """Undo only the block, and not the whole transaction, if it raises."""
        async with self._connection.transaction():
            yield

    def mark_due(self, table: str, project_id: UUID | None = None) -> None:
        """Notify workers after the commit that `table` has rows of this project that are due, now or later. Does not
        change any row.

        Without `project_id`, or for a table whose partitions are not projects, workers search all partitions.
        """
        self.due.add((table, project_id))

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[PoolConnection]:
        yield self._connection


class Database(Queries):
    """The connection pool. A statement that runs directly on it is its own transaction."""

    def __init__(self, pool: "DatabasePool", url: str, hooks: "Hooks | None" = None, name: str | None = None) -> None:
        self._pool = pool
        self.url = url
        self.name = name
        """What PostgreSQL shows beside the connections of this process; None for a command."""
        self._hooks, self._caches = hooks, {}
        self.notify_due: Callable[[str, UUID | None], None] | None = None
        """Tells the workers that a table has due rows. Called after the commit, for what was passed to `mark_due`."""

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[PoolConnection]:
        """A connection of the pool. Raises SecondConnection if the task already holds one.

        If the server refuses to write because it is a standby, the connection is closed, and NotPrimary raised.
        """
        outer = _current_hold.get()
        if outer is not None and outer.is_held and outer.db is self:
            raise SecondConnection(SecondConnection.__doc__)
        semaphores, hold = _limits.get(), ConnectionHold(self)
        _current_hold.set(hold)
        try:
            if not semaphores:
                async with self._pool.connection() as connection:
                    try:
                        yield connection
                    except ReadOnlySqlTransaction as error:
                        raise await _closed_standby(connection, error) from error
                    except InternalError_ as error:
                        if other := _error_of_server(error):
                            raise other from error
                        raise
                return
            async with AsyncExitStack() as stack:
                for semaphore in semaphores:
                    await stack.enter_async_context(semaphore)
                connection = await stack.enter_async_context(self._pool.connection())
                try:
                    yield connection
                except ReadOnlySqlTransaction as error:
                    raise await _closed_standby(connection, error) from error
                except InternalError_ as error:
                    if other := _error_of_server(error):
                        raise other from error
                    raise
        finally:
            hold.is_held = False
            _current_hold.set(outer)

    @property
    def size(self) -> int:
        """Maximum number of connections."""
        return self._pool.max_size

    @property
    def is_distributed(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._pool.is_distributed is True

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Run the block in a transaction: commit at its end, roll back if it raises. Then wake the workers of tables
        that the block marked as due.

        Raises SecondConnection if the task already holds a connection.
        """
        async with self.connection() as connection, connection.transaction():
            tx = Transaction(connection, self)
            yield tx
        if self.notify_due:
            for table, partition in tx.due:
                self.notify_due(table, partition)

    async def reconnect(self) -> None:
        """Replace all connections, those in use when they are returned."""
        await self._pool.drain()


async def _closed_standby(connection: PoolConnection, error: ReadOnlySqlTransaction) -> NotPrimary:
    """Close a connection whose server refuses to write, so that it does not get back into the pool: it would fail
    again, and what it reads may be old. Returns the error to raise instead."""
    await connection.close()
    return NotPrimary(str(error))


class ReconnectAttempt(AttemptWithBackoff):
    """Attempts of the pool to connect, one each second.

    psycopg doubles the pause each time, so that a process would notice a new primary as much later as the fail-over has
    taken.
    """

    DELAY_BACKOFF = 1.0


class DatabasePool(AsyncConnectionPool[PoolConnection]):
    """The pool of psycopg, changed so that no connection is lost if a task is cancelled while it returns one."""

    is_distributed: bool | None = None
    """Whether tables are distributed over several servers; None before the first connection."""

    async def _add_connection(self, attempt: AttemptWithBackoff | None, growing: bool = False) -> None:
        await super()._add_connection(attempt or ReconnectAttempt(timeout=self.reconnect_timeout), growing)

    async def putconn(self, conn: PoolConnection) -> None:
        """Return a connection, to the next task that waits for one or to the pool."""
        if self._waiting or self._lock.locked():
            await asyncio.shield(super().putconn(conn))
        else:
            # `putconn` returns here without suspending the task, so that a cancellation cannot interrupt it, and the
            # extra task of `shield` is not needed.
            await super().putconn(conn)

    async def _get_ready_connection(self, timeout: float | None) -> PoolConnection | None:  # noqa: ASYNC109
        """Take the idle connection that was returned last; psycopg takes the one that was returned first.

        So a process uses as few connections as its concurrent statements need. Each connection plans each statement for
        itself, ten times or more until PostgreSQL keeps a plan, and has caches of its own.

        Connections that the server has closed meanwhile are replaced: after a restart or a fail-over, all are.
        """
        while self._pool and _is_closed_by_server(self._pool[-1]):
            await self._pool.pop().close()
            self._stats[self._CONNECTIONS_LOST] += 1
            self.run_task(AddConnection(self))
        self._pool.rotate(1)
        return await super()._get_ready_connection(timeout)


def _is_closed_by_server(connection: PoolConnection) -> bool:
    """Whether the server has ended an idle connection, as far as this host knows. Takes some microseconds."""
    pgconn = connection.pgconn
    poll = select.poll()
    try:
        poll.register(pgconn.socket, select.POLLIN)
        # An idle connection receives changes of parameters at most, or why it ends and then the end itself.
        while poll.poll(0):
            pgconn.consume_input()
    except psycopg.OperationalError:
        return True
    return pgconn.status != ConnStatus.OK


@asynccontextmanager
async def open_database(
    url: str,
    *,
    pooler_url: str | None = None,
    size: int = 10,
    is_replica: bool = False,
    hooks: "Hooks | None" = None,
    name: str | None = None,
) -> AsyncIterator[Database]:
    """Open a pool of at most `size` connections for the duration of the block.

    They connect to the connection pooler at `pooler_url`, or to `url` if there is none. A replica gets connections only
    when they are needed, and is given up soon if it does not answer. The pool connects in the
    background and reconnects by itself, so this raises no error if the database is unavailable. The database shows
    `name` beside the connections, unless the URL contains another one.
    """
    kwargs: dict[str, Any] = {"autocommit": True, "row_factory": tuple_row}
    if pooler_url is None:
        kwargs |= {"options": "-c timezone=UTC", "prepare_threshold": PREPARE_AFTER}
    else:
        # Each transaction may run on another connection of the server, which lacks what an earlier one has prepared.
        kwargs |= {"prepare_threshold": None}
    if name is not None:
        kwargs["fallback_application_name"] = name
    connect_to = pooler_url or url
    if is_replica and "connect_timeout" not in connect_to:
        kwargs["connect_timeout"] = REPLICA_CONNECT_SECONDS
    kwargs = connection_settings(connect_to, is_replica=is_replica, is_pooler=pooler_url is not None) | kwargs

    async def configure(connection: PoolConnection) -> None:
        if pooler_url is not None:
            await _configure_pooled(connection)
        if pool.is_distributed is None:
            pool.is_distributed = await _has_distributed_tables(connection)

    pool = DatabasePool(
        connect_to,
        min_size=0 if is_replica else min(2, size),
        max_size=size,
        open=False,
        timeout=POOL_WAIT.total_seconds(),
        reconnect_timeout=RECONNECT_GIVE_UP.total_seconds(),
        kwargs=kwargs,
        configure=configure,
    )
    async with pool:
        yield Database(pool, url, hooks, name)


async def _configure_pooled(connection: PoolConnection) -> None:
    """Set the time zone by a command: PgBouncer refuses startup options. It notices the change, and sets the same time
    zone on each connection of the server that it gives to this one."""
    await connection.execute("set timezone to 'UTC'")


async def _has_distributed_tables(connection: PoolConnection) -> bool:
    """Whether this is the coordinator of a Citus with distributed tables. An extension without them changes nothing."""
    for query in (HAS_CITUS, HAS_DISTRIBUTED_TABLES):
        row = await (await connection.execute(query)).fetchone()
        if row is None or not row[0]:
            return False
    return True


_FOR_DISTRIBUTED = re.compile(r"\s*/\*distributed (.*?) ?\*/", re.DOTALL)
_FOR_SINGLE = re.compile(r"/\*single\*/(.*?)/\*end\*/", re.DOTALL)


def single_text(text: LiteralString) -> LiteralString:
    """A statement for a single server: without the parts in `/*distributed … */`."""
    return cast(LiteralString, _FOR_SINGLE.sub(r"\1", _FOR_DISTRIBUTED.sub("", text)))


def distributed_text(text: LiteralString, project: LiteralString = "") -> LiteralString:
    """A statement for a distributed database: without the parts between `/*single*/` and `/*end*/`, and with `project`
    instead of `:project`."""
    return cast(
        LiteralString,
        _FOR_DISTRIBUTED.sub(lambda part: " " + part[1].replace(":project", project), _FOR_SINGLE.sub("", text)),
    )


def _project_of(hints: dict[str, Any]) -> LiteralString:
    """What a column must be equal to, so that it is the project of a statement, or one of its projects."""
    if "project_ids" in hints:
        return "any (%(project_ids)s)"
    lists = [get_args(hint)[0] for hint in hints.values() if get_origin(hint) is list]
    fields = {field.name for kind in lists if is_struct(kind) for field in _fields_of(kind)}
    is_list = get_origin(hints.get("project_id")) is list or ("project_id" in fields and "project_id" not in hints)
    return "any (%(project_id)s)" if is_list else "%(project_id)s"


@dataclass(frozen=True)
class Statement:
    """A declared statement. A test checks all of them against the schema."""

    name: str
    text: LiteralString
    distributed_text: LiteralString
    """The statement in a distributed database."""
    parameters: frozenset[str]
    row: Any
    """The type of one row; None if the statement returns no rows."""


STATEMENTS: list[Statement] = []


def statement(
    text: LiteralString, *, partial: bool = False, binary: bool = False
) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Awaitable[R]]]:
    """Make a function run one SQL statement.

    The function's first parameter is where the statement runs (Queries). The others are the parameters of the
    statement: `%(name)s` for values, `{name}` for composed SQL. A positional parameter of a Struct type provides its
    fields; one of type `list[Struct]` provides for each field an array of its values (`unnest(%(name)s::text[])`).
    Fields that the SQL does not use are not sent.
    JSON fields are sent as `jsonb`, see `_field_readers`.

    `insert into table {row}` inserts into the columns of their names: each field of the Structs, `project_id`, and each
    other keyword parameter that the SQL does not use elsewhere. Any other insert must use every field of its Structs,
    unless `partial` is set, so that no field is left out by mistake.

    The return type determines the result: `list[T]` all rows, `T | None` at most one row, `T` exactly one row
    (otherwise AssertionError), `bool` whether a row was found or changed, `int` the only column of the only row, `None`
    nothing.

    Parts in `/*distributed … */` belong to the statement only in a distributed database, parts between `/*single*/` and
    `/*end*/` only on a single server. In a distributed database a statement must name its project for each table where
    Citus looks for it: in a condition of the query that has the table, although it follows from others. On a single
    server such a condition can lead to worse plans, see docs/decisions/0106-batches-name-the-project-of-each-row.md.
    `:project` in these parts is the value of `project_id`, or any value of a list `project_id` or `project_ids`.

    With `binary`, PostgreSQL sends the rows in its binary format, which takes half as many bytes for `bytea`. No column
    may be a timestamp then.

    Raises TypeError at import if the parameters do not match the SQL.
    """

    def declare(function: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
        hints = get_type_hints(function)
        sql, values_of, returned = _read_declaration(function, hints, single_text(text), partial=partial)
        distributed_sql, _, _ = _read_declaration(
            function, hints, distributed_text(text, _project_of(hints)), partial=True, subset=True
        )
        read, row = _result_reader(returned)
        _register(function, sql, row, distributed_sql)
        composed = (SQL(sql), SQL(distributed_sql)) if re.search(r"{\w+}", sql) else None

        @wraps(function)
        async def run(*args: P.args, **kwargs: P.kwargs) -> R:
            db, *structs = args
            assert isinstance(db, Queries)
            values = values_of(structs, kwargs)
            async with db.connection() as connection:
                distributed = db.is_distributed
                if composed is None:
                    query = distributed_sql if distributed else sql
                else:
                    query = composed[distributed].format(**_composed_parts(values, is_distributed=distributed))
                try:
                    return await read(await connection.execute(query, values, binary=binary))
                except InternalError_ as error:
                    if other := _error_of_server(error):
                        raise other from error
                    raise

        return run

    return declare


_ERRORS_OF_SERVERS: list[tuple[str, type[psycopg.Error]]] = [
    (r"violates foreign key constraint", psycopg.errors.ForeignKeyViolation),
    (r"duplicate key value violates unique constraint", psycopg.errors.UniqueViolation),
    (r"violates check constraint", psycopg.errors.CheckViolation),
    (r"violates not-null constraint", psycopg.errors.NotNullViolation),
    (r"invalid byte sequence|invalid input syntax|out of range|value too long", psycopg.DataError),
    (r"connection marked as essential|connection to the remote node|lost connection", psycopg.OperationalError),
    (r"terminating connection|closed the connection|the database system is", psycopg.OperationalError),
    # A shard has moved, or was divided, after the statement was planned.
    (r"could not find valid entry for shard", psycopg.OperationalError),
]


def _error_of_server(error: InternalError_) -> psycopg.Error | None:
    """The error of a server behind the coordinator; None if it is another.

    Citus reports such an error as an internal one (XX000), with the message of the server, when it inserts rows that it
    has read from a query, and when a server goes away in a transaction.
    """
    message = error.diag.message_primary or ""
    kind = next((kind for pattern, kind in _ERRORS_OF_SERVERS if re.search(pattern, message)), None)
    return None if kind is None else kind(message)


def constraint_of(error: psycopg.Error) -> str:
    """The name of the constraint that an error names; empty if it names none. The constraint of a part of a distributed
    table has the number of the part after its name, and an error of another server names it only in its message."""
    named = re.search(r'constraint "(\w+)"', str(error))
    name = error.diag.constraint_name or (named[1] if named else "")
    return re.sub(r"_\d{6,}$", "", name)


def streamed_statement(
    text: LiteralString,
) -> Callable[[Callable[P, AsyncIterator[R]]], Callable[P, AsyncIterator[R]]]:
    """Like `statement`, but streams any number of rows through a server-side cursor in constant memory.

    The function must be annotated `AsyncIterator[T]`, or `AsyncIterator[list[T]]` to get the rows in lists of
    ROWS_FETCHED, and needs an open transaction. If `T` is a tuple, the rows are not converted.
    """

    def declare(function: Callable[P, AsyncIterator[R]]) -> Callable[P, AsyncIterator[R]]:
        hints = get_type_hints(function)
        sql, values_of, returned = _read_declaration(function, hints, single_text(text))
        distributed_sql, _, _ = _read_declaration(
            function, hints, distributed_text(text, _project_of(hints)), partial=True, subset=True
        )
        (item,) = get_args(returned)
        in_lists = get_origin(item) is list
        row = get_args(item)[0] if in_lists else item
        _register(function, sql, row, distributed_sql)

        @wraps(function)
        async def run(*args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[R, None]:
            db, *structs = args
            assert isinstance(db, Transaction), f"{function.__name__} needs a transaction."
            values = values_of(structs, kwargs)
            parts = _composed_parts(values, is_distributed=db.is_distributed)
            query = SQL(distributed_sql if db.is_distributed else sql).format(**parts)
            async with db.connection() as connection, connection.cursor(name=function.__name__) as cursor:
                await cursor.execute(query, values)
                make = None if get_origin(row) is tuple else row_maker(row, [c.name for c in cursor.description or ()])
                while fetched := await cursor.fetchmany(ROWS_FETCHED):
                    made: list[Any] = list(map(make, fetched)) if make else fetched
                    if in_lists:
                        yield cast(R, made)
                    else:
                        for made_row in made:
                            yield made_row

        return run

    return declare


ROWS_FETCHED = 1_000
"""Rows that a streamed statement fetches at a time."""


def moment_text(column: LiteralString) -> LiteralString:
    """SQL for a timestamp as text in the format of the API; a large export formats it faster than in Python."""
    return "to_char(" + column + """, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""


def copied_statement(
    text: LiteralString,
) -> Callable[[Callable[P, Awaitable[None]]], Callable[P, Awaitable[None]]]:
    """Make a function insert rows with `COPY table (project_id, …) FROM STDIN (FORMAT BINARY)`, the fastest way for
    thousands of rows.

    The function needs an open transaction and has the parameters `project_id`, `constants` (the values of the columns
    after `project_id` that are the same in all rows, as `copied_value`), and `rows`: the other values of each row, in
    the binary format of COPY (`copied_value`, `copied_octets`, `copied_json`), one after the other. Errors are those of
    an insert.
    """
    columns = text[text.index("(") + 1 : text.index(")")].split(",")
    row_start = len(columns).to_bytes(2, "big")

    def declare(function: Callable[P, Awaitable[None]]) -> Callable[P, Awaitable[None]]:
        name = f"{function.__module__}.{function.__name__}"
        STATEMENTS.append(Statement(name, text, text, frozenset(("project_id", "constants", "rows")), None))

        @wraps(function)
        async def run(*args: P.args, **kwargs: P.kwargs) -> None:
            (db,), rows = args, cast(Sequence[bytes], kwargs["rows"])
            assert isinstance(db, Transaction), f"{function.__name__} needs a transaction."
            constants = cast(Sequence[bytes], kwargs["constants"])
            first = b"".join((row_start, copied_value(cast(UUID, kwargs["project_id"])), *constants))
            async with db.connection() as connection, connection.cursor() as cursor:
                try:
                    async with cursor.copy(text) as copy:
                        await copy.write(_COPY_SIGNATURE)
                        for start in range(0, len(rows), COPIED_TOGETHER):
                            await copy.write(first + first.join(rows[start : start + COPIED_TOGETHER]))
                        await copy.write(_COPY_END)
                except InternalError_ as error:
                    if other := _error_of_server(error):
                        raise other from error
                    raise

        return run

    return declare


COPIED_TOGETHER = 2_000
"""Rows that are sent together, so that a COPY does not occupy the event loop for long."""
_COPY_SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END = b"\xff\xff"
_LENGTH = Struct("!i")
_TIMESTAMP = Struct("!q")
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
"""PostgreSQL counts the microseconds of a timestamp from here."""


def copied_value(value: str | bool | UUID | datetime | None) -> bytes:
    """A value of a column of type text, boolean, uuid or timestamptz in the binary format of COPY (PostgreSQL's
    documentation of COPY, “Binary Format”): its length as 4 octets, and its octets."""
    match value:
        case None:
            return _LENGTH.pack(-1)
        case bool():
            octets = b"\1" if value else b"\0"
        case UUID():
            octets = value.bytes
        case datetime():
            octets = _TIMESTAMP.pack((value - _EPOCH) // timedelta(microseconds=1))
        case str():
            octets = value.encode()
    return _LENGTH.pack(len(octets)) + octets


def copied_octets(values: Sequence[bytes]) -> list[bytes]:
    """The UTF-8 texts or ids of a column in the binary format of COPY: faster than a call of `copied_value` for
    each."""
    return [length + value for length, value in zip(map(_LENGTH.pack, map(len, values)), values, strict=True)]


def copied_json(values: Iterable[bytes]) -> list[bytes]:
    """The JSON texts of a column of type jsonb in the binary format of COPY; the 1 before a text is a version."""
    return copied_octets([b"\1" + value for value in values])


def _composed_parts(values: dict[str, Any], *, is_distributed: bool) -> dict[str, Composable]:
    """The composed SQL among the values of a statement, for a single server or a distributed database.

    Only its constant parts are changed, never the values in it. `:project` in them is the project of the statement,
    which has one project or a list of them.
    """
    is_list = isinstance(values.get("project_id"), list)
    project: LiteralString = "any (%(project_id)s)" if is_list else "%(project_id)s"

    def in_form(part: Composable) -> Composable:
        if isinstance(part, Composed):
            return Composed([in_form(inner) for inner in part])
        if isinstance(part, SQL) and "/*" in part._obj:  # pyright: ignore[reportPrivateUsage]
            return _part_in_form(part._obj, project, is_distributed)  # pyright: ignore[reportPrivateUsage]
        return part

    return {key: in_form(part) for key, part in values.items() if isinstance(part, Composable)}


@lru_cache(1_024)
def _part_in_form(text: LiteralString, project: LiteralString, is_distributed: bool) -> SQL:
    return SQL(distributed_text(text, project) if is_distributed else single_text(text))


_NAME_IN_SQL = re.compile(r"%\((\w+)\)s|{(\w+)}")


def _names_in(text: str) -> frozenset[str]:
    return frozenset(value or part for value, part in _NAME_IN_SQL.findall(text))


def _register(function: Callable[..., Any], text: LiteralString, row: Any, distributed: LiteralString) -> None:
    name = f"{function.__module__}.{function.__name__}"
    STATEMENTS.append(Statement(name, text, distributed, _names_in(text), row))


def _row_type(hint: Any) -> Any:
    """The type of one row of a statement that returns `hint`: `T` of `T`, `T | None`, `list[T]` and
    `AsyncIterator[T]`."""
    while get_origin(hint) in (list, AsyncIterator, Union, UnionType):
        hint = get_args(hint)[0] if get_origin(hint) in (list, AsyncIterator) else _without_none(hint)
        if get_origin(hint) in (Union, UnionType):
            return hint
    return hint


ValuesOf = Callable[[Sequence[Any], dict[str, Any]], dict[str, Any]]
"""Converts the Structs and keyword arguments of a call to the parameters of the statement."""


def _read_declaration(
    function: Callable[..., Any],
    hints: dict[str, Any],
    text: LiteralString,
    *,
    partial: bool = False,
    subset: bool = False,
) -> tuple[LiteralString, ValuesOf, Any]:
    """The SQL of a statement, the conversion of arguments to parameters, and the return type. `hints` are the types of
    the function's parameters and of its result.

    Raises TypeError if the SQL uses an unknown name, if two parameters or fields have the same name, if a parameter is
    not used without `subset`, or if an insert leaves out fields without `partial`.
    """
    name = f"{function.__module__}.{function.__name__}"
    # Not `inspect.signature`, which takes ten times as long, for a thousand statements at each start of a process.
    code = cast(FunctionType, function).__code__
    parameters = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    keyword_only = parameters[code.co_argcount - 1 :]
    used = _names_in(text)
    if "row" in used:
        columns: list[str] = []
        for parameter in parameters:
            hint = hints[parameter]
            if is_struct(hint):
                columns += [field.name for field in _fields_of(hint)]
            elif parameter == "project_id" or parameter not in used:
                columns.append(parameter)
        values = ", ".join(f"%({column})s" for column in columns)
        text = cast(LiteralString, text.replace("{row}", f"({', '.join(columns)}) values ({values})"))
        used = _names_in(text)
    is_insert = text.lstrip().startswith("insert into")
    declared: set[str] = set()
    converters: list[Callable[[Any], dict[str, Any]]] = []
    for parameter in parameters:
        hint = hints[parameter]
        if parameter in keyword_only:
            fields = {parameter}
        else:
            many = get_origin(hint) is list
            struct = get_args(hint)[0] if many else hint
            if not is_struct(struct):
                raise TypeError(f"{name}: the parameter {parameter} is neither keyword-only nor a Struct.")
            readers = _field_readers(struct, used, many=many)
            converters.append(bind(_read_arrays if many else _read_fields, readers))
            # If the SQL uses no field, the parameter's name is added, so that `declared != used` reports it below.
            fields = {field for field, _ in readers} or {parameter}
            left_out = {field.name for field in _fields_of(struct)} - fields
            if is_insert and left_out and not partial:
                raise TypeError(f"{name} does not insert {sorted(left_out)}.")
        if declared & fields:
            raise TypeError(f"{name} has two values for {sorted(declared & fields)}.")
        declared |= fields
    row = _row_type(hints["return"])
    if is_struct(row):
        text = cast(LiteralString, name_columns(text, [field.name for field in _fields_of(row)]))
    if declared != used and not (subset and used < declared):
        raise TypeError(f"{name} and its SQL disagree about {sorted(declared ^ used)}.")

    def values_of(arguments: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        for convert, argument in zip(converters, arguments, strict=True):
            kwargs |= convert(argument)
        return kwargs

    return text, values_of, hints["return"]


FieldReader = tuple[str, Callable[[Any], Any] | None]
"""A field of a Struct and the conversion of its value to a parameter; None if it needs none."""


def _field_readers(struct: Any, used: frozenset[str], *, many: bool) -> list[FieldReader]:
    """The fields of a Struct that a statement uses, each with its conversion.

    Objects are sent as `jsonb`, lists of plain values as arrays. In `list[Struct]`, lists are `jsonb` too, because
    PostgreSQL has no arrays of arrays of different lengths.
    """

    def conversion(hint: Any) -> Callable[[Any], Any] | None:
        if hint is Any:
            return _json_of_any
        if _holds_json(hint) or (many and _is_list(hint)):
            return _json
        return None

    return [(field.name, conversion(field.type)) for field in _fields_of(struct) if field.name in used]


def _holds_json(hint: Any) -> bool:
    """Whether values of a type are sent as `jsonb`: objects, and lists whose items are objects or lists."""
    if is_struct(hint) or hint is dict or get_origin(hint) is dict:
        return True
    if get_origin(hint) in (list, tuple):
        return any(_is_list(kind) or _holds_json(kind) for kind in get_args(hint))
    return get_origin(hint) in (Union, UnionType, Annotated) and any(_holds_json(kind) for kind in get_args(hint))


def _is_list(hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType, Annotated):
        return any(_is_list(kind) for kind in get_args(hint))
    return hint in (list, tuple) or get_origin(hint) in (list, tuple)


@lru_cache(4_096)
def _fields_of(struct: Any) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields of a Struct, whose types are resolved once: many statements have the same one."""
    return msgspec.structs.fields(struct)


def is_struct(hint: Any) -> bool:
    """Whether a type is a msgspec Struct."""
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct)


def _json(value: Any) -> Any:
    return None if value is None else Jsonb(value)


def _json_of_any(value: Any) -> Any:
    return Jsonb(value) if isinstance(value, dict | list | tuple | msgspec.Struct) else value


def _read_fields(readers: list[FieldReader], struct: Any) -> dict[str, Any]:
    return {name: read(getattr(struct, name)) if read else getattr(struct, name) for name, read in readers}


def _read_arrays(readers: list[FieldReader], rows: Sequence[Any]) -> dict[str, Any]:
    return {
        name: [read(getattr(row, name)) for row in rows] if read else [getattr(row, name) for row in rows]
        for name, read in readers
    }


def _result_reader(hint: Any) -> tuple[Callable[[AsyncCursor[Any]], Awaitable[Any]], Any]:
    """A function that reads a cursor as `hint`, and the type of one row if it returns rows."""
    if hint in (bool, NoneType, None):

        async def has_changed(cursor: AsyncCursor[Any]) -> bool | None:
            return cursor.rowcount > 0 if hint is bool else None

        return has_changed, None
    many = get_origin(hint) is list
    optional = not many and NoneType in get_args(hint)
    row = get_args(hint)[0] if many else _without_none(hint)
    makers: dict[tuple[bytes | None, ...], Callable[[tuple[Any, ...]], Any]] = {}

    async def rows(cursor: AsyncCursor[Any]) -> Any:
        result = cursor.pgresult
        assert result is not None
        # Not `cursor.description`, which creates an object for every column of every result.
        names = tuple([result.fname(index) for index in range(result.nfields)])
        make = makers.get(names)
        if make is None:
            make = makers[names] = row_maker(row, [column.name for column in cursor.description or ()])
        records = [make(values) for values in await cursor.fetchall()]
        if many:
            return records
        if len(records) != 1 and not (optional and not records):
            raise AssertionError(f"Expected one row, found {len(records)}.")
        return records[0] if records else None

    return rows, row


def _without_none(hint: Any) -> Any:
    if get_origin(hint) not in (Union, UnionType):
        return hint
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    return kinds[0] if len(kinds) == 1 else hint


def row_maker(kind: Any, columns: list[str]) -> Callable[[tuple[Any, ...]], Any]:
    """Return a function that converts a row to `kind`: a Struct by column names, a plain type from the only column.

    Ignores columns that the Struct does not have. Raises AssertionError if a required field has no column.
    """
    if not is_struct(kind):
        assert len(columns) == 1, f"{kind} takes one column, found {columns}."
        return lambda values: values[0] if _is_plain(kind) else msgspec.convert(values[0], kind)
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    used = [(index, fields[name]) for index, name in enumerate(columns) if name in fields]
    missing = {name for name, field in fields.items() if field.required} - {field.name for _, field in used}
    assert not missing, f"{kind.__name__} needs the columns {sorted(missing)}."
    names = [field.name for _, field in used]
    indexes = [index for index, _ in used]
    select = itemgetter(*indexes) if len(indexes) > 1 else None
    to_convert = [(field.name, field.type) for _, field in used if not _is_plain(field.type)]

    def make(values: tuple[Any, ...]) -> Any:
        selected = select(values) if select else [values[index] for index in indexes]
        values_by_name: dict[str, Any] = dict(zip(names, selected, strict=True))
        for name, type_ in to_convert:
            values_by_name[name] = msgspec.convert(values_by_name[name], type_)
        return kind(**values_by_name)

    return make


_PLAIN = (str, int, float, bool, bytes, UUID, datetime, date, timedelta, Moment, NoneType, Any, object)


def _is_plain(hint: Any) -> bool:
    """Whether psycopg returns this type, so that no conversion is needed."""
    if hint in _PLAIN or get_origin(hint) is Literal:
        return True
    if get_origin(hint) is dict or hint in (dict, list):
        return True
    return get_origin(hint) in (Union, UnionType, list) and all(_is_plain(kind) for kind in get_args(hint))


@lru_cache(4_096)  # Rows of one result often share timestamps.
def _moment(text: bytes) -> Moment:
    return Moment.fromisoformat(text.decode())


def _register_adapters() -> None:
    """Read timestamps as Moments and JSON with msgspec, in every connection of this process."""

    class MomentLoader(Loader):
        def load(self, data: Any) -> Moment:
            return _moment(bytes(data))

    psycopg.adapters.register_loader("timestamptz", MomentLoader)
    pg_json.set_json_loads(msgspec.json.decode)
    pg_json.set_json_dumps(to_json)


_register_adapters()
