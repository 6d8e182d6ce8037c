"""Migrations are applied once, in order, by one process at a time, and their files never change afterwards."""

import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import AsyncConnection

from postern.kernel.database import migrations
from postern.kernel.database.migrations import MigrationError, migrate, pending
from tests.peers.whole_server import empty_database
from tests.schema import read_checksums

CREATE_SHELVES = "create table shelves (id integer primary key);\ninsert into shelves values (1);\n"
ADD_LABELS = "alter table shelves add column label text not null default '100% wood';\n"


@pytest.fixture
def url() -> Iterator[str]:
    """An empty database."""
    with empty_database() as url:
        yield url


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two migrations."""
    (tmp_path / "0001_shelves.sql").write_text(CREATE_SHELVES)
    (tmp_path / "0002_labels.sql").write_text(ADD_LABELS)
    (tmp_path / "README.md").write_text("Not a migration.")
    return tmp_path


def query(url: str, text: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(text.encode()).fetchall()


def test_missing_migrations_are_applied_in_order_and_once(url: str, folder: Path) -> None:
    assert migrate(url, folder=folder) == ["0001_shelves", "0002_labels"]
    assert migrate(url, folder=folder) == []
    (folder / "0003_more.sql").write_text("insert into shelves values (2)")
    assert migrate(url, folder=folder) == ["0003_more"]
    assert query(url, "select id, label from shelves order by id") == [(1, "100% wood"), (2, "100% wood")]
    assert query(url, "select number, name from schema_migrations where applied_at <= now() order by 1") == [
        (1, "0001_shelves"),
        (2, "0002_labels"),
        (3, "0003_more"),
    ]


async def test_pending_lists_missing_migrations(url: str, folder: Path) -> None:
    async with await AsyncConnection.connect(url, autocommit=True) as connection:
        assert await pending(connection, folder=folder) == ["0001_shelves", "0002_labels"]
        migrate(url, folder=folder)
        assert await pending(connection, folder=folder) == []


def test_a_changed_migration_is_rejected(url: str, folder: Path) -> None:
    migrate(url, folder=folder)
    (folder / "0001_shelves.sql").write_text(CREATE_SHELVES + "-- A later comment.\n")
    (folder / "0003_more.sql").write_text("insert into shelves values (2)")
    with pytest.raises(MigrationError, match=r"0001_shelves has changed.*into a new one"):
        migrate(url, folder=folder)
    assert query(url, "select count(*) from shelves") == [(1,)], "a migration after the changed one was applied"


def test_a_failed_migration_changes_nothing(url: str, folder: Path) -> None:
    (folder / "0003_broken.sql").write_text("create table partial ();\ninsert into shelves\nvalues (nonsense);\n")
    with pytest.raises(MigrationError, match=r"0003_broken \(line 3\).*nonsense"):
        migrate(url, folder=folder)
    assert query(url, "select to_regclass('partial') is null, max(number) from schema_migrations") == [(True, 2)]


def test_concurrent_runs_apply_each_migration_once(url: str, folder: Path) -> None:
    (folder / "0003_slow.sql").write_text("select pg_sleep(0.3); insert into shelves values (2)")
    with ThreadPoolExecutor(4) as pool:
        applied = list(pool.map(lambda _: migrate(url, folder=folder), range(4)))
    assert sorted(name for names in applied for name in names) == ["0001_shelves", "0002_labels", "0003_slow"]


def test_an_older_release_accepts_a_newer_schema(url: str, folder: Path) -> None:
    migrate(url, folder=folder)
    (folder / "0002_labels.sql").unlink()
    assert migrate(url, folder=folder) == []


def test_a_migration_is_retried_while_a_table_is_locked(
    url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "LOCK_TIMEOUT", "50ms")
    monkeypatch.setattr(migrations, "TRIES", 100)
    (folder / "0002_labels.sql").unlink()
    migrate(url, folder=folder)
    (folder / "0002_labels.sql").write_text(ADD_LABELS)
    with psycopg.connect(url) as reader:
        reader.execute("select 1 from shelves")
        release_lock = threading.Timer(0.4, reader.rollback)
        release_lock.start()
        assert migrate(url, folder=folder) == ["0002_labels"]
        release_lock.join()


def test_a_migration_fails_if_a_table_stays_locked(url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "LOCK_TIMEOUT", "10ms")
    monkeypatch.setattr(migrations, "TRIES", 2)
    (folder / "0002_labels.sql").unlink()
    migrate(url, folder=folder)
    (folder / "0002_labels.sql").write_text(ADD_LABELS)
    with psycopg.connect(url) as reader:
        reader.execute("select 1 from shelves")
        with pytest.raises(MigrationError, match="0002_labels: a table it needs stayed locked"):
            migrate(url, folder=folder)


@pytest.mark.parametrize("name", ["1_short.sql", "0003-dash.sql", "0003_Upper.sql", "notes.sql"])
def test_migration_file_names_are_validated(folder: Path, name: str) -> None:
    (folder / name).write_text("select 1")
    with pytest.raises(MigrationError, match=name):
        migrations.migrations(folder)


def test_migration_numbers_are_unique(folder: Path) -> None:
    (folder / "0002_again.sql").write_text("select 1")
    with pytest.raises(MigrationError, match="0002_again and 0002_labels"):
        migrations.migrations(folder)


@pytest.mark.parametrize(("version", "is_supported"), [(140012, False), (150000, True), (180006, True)])
def test_an_old_postgresql_is_rejected(version: int, is_supported: bool) -> None:
    if is_supported:
        migrations.check_server(version)
    else:
        with pytest.raises(MigrationError, match="is PostgreSQL 14; Postern needs 15 or newer"):
            migrations.check_server(version)


def test_a_database_that_cannot_store_all_text_is_rejected(url: str, folder: Path) -> None:
    name = f"ascii_{uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"create database {name} encoding 'SQL_ASCII' locale 'C' template template0")
        try:
            with pytest.raises(MigrationError, match="has the encoding SQL_ASCII; Postern needs UTF8") as error:
                migrate(url.replace(connection.info.dbname, name), folder=folder)
            connection.execute(str(error.value).split(": ")[1].replace("postern", f"{name}_new"))
            connection.execute(f"drop database {name}_new")
        finally:
            connection.execute(f"drop database {name}")


REPLACED_NUMBERS = [
    *(*range(1, 16), 25, 30, 31, 32, 35, 36, 37, 38, 40, 41, 45, 46, 47, 48, 55, 60, 61, 62, 63, 64, 65, 67, 68),
    *(70, 71, 72, 75, 76, 77, 80, 81),
]


def record_as_applied(url: str, numbers: list[int]) -> None:
    """Replace the recorded migrations by old ones with these numbers."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("delete from schema_migrations")
        for number in numbers:
            connection.execute("insert into schema_migrations values (%s, %s, 'x')", [number, f"{number:04}_old"])


def test_a_database_with_all_replaced_migrations_adopts_the_baseline(url: str, tmp_path: Path) -> None:
    baseline, *later_migrations = [migration.name for migration in migrations.migrations()]
    shutil.copy(migrations.migrations_folder() / f"{baseline}.sql", tmp_path)
    assert migrate(url, folder=tmp_path) == [baseline] == ["0100_baseline"]
    record_as_applied(url, REPLACED_NUMBERS)
    assert migrate(url) == later_migrations
    assert query(url, "select name from schema_migrations where number = 100") == [("0100_baseline",)]
    assert migrate(url) == []


def test_a_database_with_some_replaced_migrations_is_refused(url: str) -> None:
    migrate(url)
    for numbers in (REPLACED_NUMBERS[:-1], [1, 2]):
        record_as_applied(url, numbers)
        with pytest.raises(MigrationError, match=rf"with {len(numbers)} of its 46 migrations.*up to 0081 first"):
            migrate(url)
        assert query(url, "select count(*) from schema_migrations") == [(len(numbers),)]


def test_the_first_migration_is_the_baseline() -> None:
    assert migrations.migrations()[0].number == migrations.BASELINE


def test_no_migration_has_changed() -> None:
    recorded = read_checksums()
    current = {migration.name: migration.checksum for migration in migrations.migrations()}
    changed = sorted(name for name in recorded if current.get(name) != recorded[name])
    assert not changed, f"{changed} changed or removed: restore the files and put the change into a new migration."
    assert set(current) == set(recorded), "Run script/schema: it adds new migrations to migrations/CHECKSUMS."
