"""Statements of a test's database that wait for a lock, on all servers of a distributed one."""

import asyncio

import psycopg

IS_CITUS = "select exists (select from pg_extension where extname = 'citus')"
WAITING = "select count(*) from {} where datname = current_database() and wait_event_type = 'Lock'"


async def lock_waits(connection: psycopg.AsyncConnection, condition: str = "true") -> int:
    """How many statements that meet an SQL condition wait for a lock now.

    Not by `pg_locks`, which also has the locks of the databases of other test processes.
    """
    (is_citus,) = await (await connection.execute(IS_CITUS)).fetchone() or (False,)
    query = WAITING.format("citus_stat_activity" if is_citus else "pg_stat_activity") + f" and {condition}"
    (count,) = await (await connection.execute(query.encode())).fetchone() or (0,)
    return count


async def until_lock_waits(url: str, expected: int | None = None, seconds: float = 60) -> None:
    """Return when as many statements wait for a lock, or any (None). Raises TimeoutError."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection, asyncio.timeout(seconds):
        while (waits := await lock_waits(connection)) != expected and not (waits and expected is None):
            await asyncio.sleep(0.01)
