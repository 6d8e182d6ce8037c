"""How processes connect to PostgreSQL, so that they go on after a fail-over: to the server that accepts writes, and not
for long to one that does not answer."""

from typing import Any

from psycopg import AsyncConnection, Connection, OperationalError
from psycopg.conninfo import conninfo_to_dict

CONNECT_SECONDS = 5
"""How long a server may take to accept a connection, before the next host of the URL is tried, or an error raised."""
KEEPALIVE_IDLE_SECONDS = 30
"""After this time without use, the operating system checks whether the other side of a connection still exists. It also
keeps firewalls from forgetting the connection."""
KEEPALIVE_INTERVAL_SECONDS = 5
KEEPALIVE_COUNT = 3
"""So many checks without an answer end the connection. The operating system's own values are eleven minutes."""
UNANSWERED_MILLISECONDS = 15_000
"""How long sent data may stay unacknowledged by the other side's operating system, before the connection ends. Without
this, a statement for a machine that has lost its power waits for a quarter of an hour."""

HAS_CITUS = "select to_regclass('pg_catalog.pg_dist_partition') is not null"
"""Whether the database has Citus."""
HAS_DISTRIBUTED_TABLES = "select exists (select from pg_catalog.pg_dist_partition where partmethod = 'h')"
"""Whether this is the coordinator of a Citus with distributed tables; only where HAS_CITUS."""


class NotPrimary(OperationalError):
    """The server is a standby, or was made one: it refuses to write. Nothing was changed."""


def connection_settings(url: str, *, is_replica: bool = False, is_pooler: bool = False) -> dict[str, Any]:
    """Parameters of libpq for a connection to `url`, as keyword arguments of `connect`. Those that the URL has are left
    out.

    Unless it is a replica, only a server that accepts writes is connected to (`target_session_attrs`): a standby, which
    the primary becomes by a fail-over, has old data. PostgreSQL tells which it is when a connection begins; a pooler
    does not, because the next transaction may run on another server.
    """
    settings: dict[str, Any] = {
        "connect_timeout": CONNECT_SECONDS,
        "keepalives_idle": KEEPALIVE_IDLE_SECONDS,
        "keepalives_interval": KEEPALIVE_INTERVAL_SECONDS,
        "keepalives_count": KEEPALIVE_COUNT,
        "tcp_user_timeout": UNANSWERED_MILLISECONDS,
    }
    if not is_replica and not is_pooler:
        settings["target_session_attrs"] = "read-write"
    of_url = conninfo_to_dict(url)
    return {name: value for name, value in settings.items() if name not in of_url}


def connect(url: str, *, name: str | None = None) -> Connection:
    """A connection to the server at `url` that accepts writes, for single statements and migrations. The database shows
    `name` beside it, unless the URL contains another one. Raises OperationalError."""
    return Connection.connect(url, autocommit=True, fallback_application_name=name, **connection_settings(url))


async def connect_async(url: str, *, name: str | None) -> AsyncConnection:
    """Like `connect`."""
    settings = connection_settings(url)
    return await AsyncConnection.connect(url, autocommit=True, fallback_application_name=name, **settings)


def has_citus(connection: Connection) -> bool:
    """Whether the database has Citus."""
    row = connection.execute(HAS_CITUS).fetchone()
    return bool(row and row[0])


def has_distributed_tables(connection: Connection) -> bool:
    """Whether the database is distributed over several servers."""
    if not has_citus(connection):
        return False
    row = connection.execute(HAS_DISTRIBUTED_TABLES).fetchone()
    return bool(row and row[0])
