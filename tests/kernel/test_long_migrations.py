"""Long migrations are executed in batches by one process, which may be stopped or killed at any time."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from postern.kernel.database import long_migrations
from postern.kernel.database.long_migrations import Progress, execute_unfinished
from postern.kernel.database.migrations import MigrationError, long_migrations_of, migrate, missing_migrations
from tests.peers.whole_server import empty_database

ROWS = 3_500
FILL = """-- Fills the new column.
-- long migration: rows of books (shelf, id)
update books set pages = pages + 1 where {rows};
"""
INDEX = """-- long migration: index on books
create index concurrently books_pages on books (pages);
"""
LOCK_ROW = """
    select 1 from books where (shelf, id) = (select shelf, id from books order by shelf, id offset %s limit 1)
    for update
"""


@pytest.fixture
def url() -> Iterator[str]:
    """A database without a schema."""
    with empty_database() as url:
        yield url


@pytest.fixture
def folder(tmp_path: Path, url: str) -> Path:
    """A folder with the migration that has made a table, which has got ROWS rows."""
    (tmp_path / "0001_books.sql").write_text(
        "create table books (shelf integer, id uuid, pages integer not null default 0, primary key (shelf, id));"
    )
    migrate(url, folder=tmp_path)
    with psycopg.connect(url) as connection:
        connection.execute(
            f"insert into books (shelf, id) select n % 3, gen_random_uuid() from generate_series(1, {ROWS}) n"
        )
    return tmp_path


def query(url: str, text: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(text.encode()).fetchall()


async def finish(url: str, folder: Path) -> list[Progress]:
    """Execute the long migrations of a folder, and return the reported progress."""
    reported: list[Progress] = []
    assert await execute_unfinished(url, long_migrations_of(folder), reported.append)
    return reported


async def test_rows_are_changed_once_in_batches(url: str, folder: Path) -> None:
    (folder / "0002_fill.sql").write_text(FILL)
    assert migrate(url, folder=folder) == ["0002_fill"]
    assert query(url, "select sum(pages) from books") == [(1_000,)], "the first batch runs with the migration"
    reported = await finish(url, folder)
    assert query(url, "select min(pages), max(pages), count(*) from books") == [(1, 1, ROWS)]
    assert [progress.rows_done for progress in reported] == [1_000, 2_000, 3_000, ROWS]
    assert [progress.fraction for progress in reported] == [1_000 / ROWS, 2_000 / ROWS, 3_000 / ROWS, 1.0]
    assert await finish(url, folder) == []
    assert query(url, "select max(pages) from books") == [(1,)]


def test_a_small_table_is_changed_at_once(url: str, folder: Path) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("delete from books where shelf > 0")
    (folder / "0002_fill.sql").write_text(FILL.replace("where", "where pages >= 0 and"))
    (folder / "0003_index.sql").write_text(INDEX)
    migrate(url, folder=folder)
    with psycopg.connect(url) as connection:
        connection.execute("delete from books")
    assert query(url, "select number from migration_progress where finished_at is null") == [(2,)]
    (folder / "0004_fill.sql").write_text(FILL)
    migrate(url, folder=folder)
    assert query(url, "select number from migration_progress where finished_at is not null order by 1") == [(3,), (4,)]


KILLED = """
import sys
from pathlib import Path
import psycopg
from postern.kernel.database.long_migrations import execute, try_lock
from postern.kernel.database.migrations import long_migrations_of
connection = psycopg.connect(sys.argv[1], autocommit=True)
assert try_lock(connection)
for progress in execute(connection, long_migrations_of(Path(sys.argv[2]))[0]):
    print(progress.rows_done, flush=True)
"""


async def test_a_killed_migration_goes_on_where_it_ended(url: str, folder: Path) -> None:
    (folder / "0002_fill.sql").write_text(FILL)
    migrate(url, folder=folder)
    with psycopg.connect(url) as blocker:
        # The third batch waits for one of its rows, so that the process is killed within it.
        blocker.execute(LOCK_ROW, [2_500])
        process = subprocess.Popen([sys.executable, "-c", KILLED, url, str(folder)], stdout=subprocess.PIPE, text=True)
        assert process.stdout
        with process:
            lines = [process.stdout.readline().strip() for _ in range(2)]
            assert not await execute_unfinished(url, long_migrations_of(folder), print), "two processes execute it"
            process.kill()
        assert lines == ["1000", "2000"]
    reported = await finish_when_free(url, folder)
    assert [progress.rows_done for progress in reported] == [2_000, 3_000, ROWS]
    assert query(url, "select min(pages), max(pages) from books") == [(1, 1)]


async def finish_when_free(url: str, folder: Path) -> list[Progress]:
    """Like `finish`, as soon as the server has noticed that the killed process has ended."""
    reported: list[Progress] = []
    while not await execute_unfinished(url, long_migrations_of(folder), reported.append):
        await asyncio.sleep(0.02)
    return reported


async def test_a_batch_that_waits_for_a_row_is_tried_again(url: str, folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(long_migrations, "BATCH_LOCK_TIMEOUT", "20ms")
    (folder / "0002_fill.sql").write_text(FILL)
    migrate(url, folder=folder)
    with psycopg.connect(url) as blocker:
        blocker.execute(LOCK_ROW, [1_500])
        reported: list[Progress] = []

        def report(progress: Progress) -> None:
            reported.append(progress)
            if len(reported) == 2:  # The first batch has been tried again.
                blocker.rollback()

        monkeypatch.setattr(long_migrations, "RETRY_PAUSE", long_migrations.RETRY_PAUSE / 100)
        assert await execute_unfinished(url, long_migrations_of(folder), report)
    assert [progress.rows_done for progress in reported] == [1_000, 1_000, 2_000, 3_000, ROWS]


async def test_a_cancelled_index_is_built_again(url: str, folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(long_migrations, "SMALL_TABLE_BYTES", 0)
    (folder / "0002_index.sql").write_text(INDEX)
    migrate(url, folder=folder)
    validity = "select indisvalid from pg_index where indexrelid = to_regclass('books_pages')"
    statistics = "select count(*) from pg_stats where tablename = 'books'"
    assert query(url, validity) == []
    with psycopg.connect(url) as writer:
        writer.execute("update books set pages = 5 where shelf = 0")
        running = asyncio.create_task(execute_unfinished(url, long_migrations_of(folder), print))
        # It waits for the transaction, while other writes go on.
        while query(url, validity) != [(False,)]:
            await asyncio.sleep(0.02)
        query(url, "update books set pages = 6 where shelf = 1 returning 1")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    query(url, "delete from pg_statistic where starelid = 'books'::regclass returning 1")
    assert [progress.is_finished for progress in await finish(url, folder)] == [False, True]
    assert query(url, validity) == [(True,)]
    assert query(url, statistics) != [(0,)]


def test_what_needs_a_long_migration_finishes_it_first(url: str, folder: Path) -> None:
    (folder / "0002_fill.sql").write_text(FILL)
    migrate(url, folder=folder)
    (folder / "0003_check.sql").write_text("-- needs 0002\nalter table books add check (pages = 1)")
    with psycopg.connect(url, autocommit=True) as other:
        assert long_migrations.try_lock(other)
        with pytest.raises(MigrationError, match="0003_check needs 0002_fill, which another process is executing"):
            migrate(url, folder=folder)
        # The server notices a little later that a connection is closed.
        other.execute("select pg_advisory_unlock(%s)", [long_migrations.EXECUTION_LOCK_KEY])
    assert migrate(url, folder=folder) == ["0003_check"]
    assert query(url, "select min(pages), max(pages) from books") == [(1, 1)]


async def test_a_failing_statement_keeps_what_is_done(url: str, folder: Path) -> None:
    (folder / "0002_fill.sql").write_text(FILL.replace("pages + 1", "1 / (2 - shelf)"))
    (folder / "0003_fill.sql").write_text(FILL)
    migrate(url, folder=folder)
    with pytest.raises(psycopg.errors.DivisionByZero):
        await finish(url, folder)
    progress = query(url, "select rows_done, finished_at is null from migration_progress order by number")
    assert progress == [(2_000, True), (ROWS, False)], "the other migration is not kept from going on"
    with psycopg.connect(url, autocommit=True) as connection:
        assert missing_migrations(connection, folder=folder)[0] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-- long migration: books\nupdate books set pages = 1 where {rows}", "expected `-- long migration: rows of"),
        ("update books set pages = 1 where {rows}", "expected `-- long migration: rows of"),
        (FILL.replace("where {rows}", ""), "must contain the condition"),
        (FILL + "select 1;", "is one statement"),
        (INDEX.replace("concurrently", ""), "expected `create index concurrently NAME on books`"),
    ],
)
def test_a_long_migration_has_a_required_form(url: str, folder: Path, text: str, message: str) -> None:
    (folder / "0002_wrong.sql").write_text(text)
    with pytest.raises(MigrationError, match=f"0002_wrong: .*{message}"):
        migrate(url, folder=folder)
