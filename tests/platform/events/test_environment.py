"""The column `test` of events: migration 0105, and processes of the previous release beside it."""

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from postern.kernel.database.migrations import migrate, migrations_folder
from postern.kernel.values import new_id
from tests.peers.whole_server import empty_database

PREVIOUS_MIGRATIONS = "010[0-4]_*.sql"
EVENTS = [
    ("order.placed", "TEST_KEY", "{}", True),
    ("contact.created", "TEST_KEY", "{}", True),
    ("email.sent", "SYSTEM", '{"test": true}', True),
    ("invitation.accepted", "CUSTOMER", '{"test": true}', True),
    ("customer.signed_in", "CUSTOMER", '{"test": true}', True),
    ("organization.updated", "CUSTOMER", '{"test": true}', True),
    ("email.sent", "SYSTEM", '{"test": false}', False),
    ("customer.signed_in", "CUSTOMER", '{"test": "true"}', False),
    ("order.placed", "API_KEY", '{"test": true}', False),  # The application's own data.
    ("contact.created", "API_KEY", "{}", False),
]
"""Type, actor and data of events, and whether a TEST key caused them."""


@pytest.fixture
def previous(tmp_path: Path) -> Iterator[str]:
    """The URL of a database with the migrations of the previous release and one project."""
    for file in migrations_folder().glob(PREVIOUS_MIGRATIONS):
        shutil.copy(file, tmp_path)
    with empty_database() as url:
        migrate(url, folder=tmp_path)
        yield url


def add_project(connection: psycopg.Connection) -> UUID:
    account, project = new_id(), new_id()
    connection.execute(
        "insert into accounts (id, name, created_at, updated_at) values (%s, 'A', now(), now())", [account]
    )
    connection.execute(
        "insert into projects (id, account_id, name, created_at, updated_at) values (%s, %s, 'P', now(), now())",
        [project, account],
    )
    return project


def insert_as_the_previous_release_does(connection: psycopg.Connection, project: UUID) -> None:
    connection.cursor().executemany(
        "insert into events (project_id, id, type, actor_type, data, occurred_at) values (%s, %s, %s, %s, %s, now())",
        [(project, new_id(), name, actor, data) for name, actor, data, _ in EVENTS],
    )


def marks(connection: psycopg.Connection) -> list[tuple[object, ...]]:
    """Type, actor, data and `test` of all events in the order of their ids."""
    return connection.execute("select type, actor_type, data::text, test from events order by id").fetchall()


def test_events_of_the_previous_release_are_marked(previous):
    """Those from before the migration, those that are committed while it waits for the table, and later ones."""
    with psycopg.connect(previous, autocommit=True) as connection, psycopg.connect(previous) as writer:
        project = add_project(connection)
        insert_as_the_previous_release_does(connection, project)
        insert_as_the_previous_release_does(writer, project)  # The migration reads the table before this commits.
        migration = threading.Thread(target=migrate, args=[previous])
        migration.start()
        waiting = "select count(*) from pg_locks where not granted and mode = 'AccessExclusiveLock'"
        deadline = time.monotonic() + 4
        while connection.execute(waiting).fetchone() == (0,):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        writer.commit()
        migration.join()
        insert_as_the_previous_release_does(connection, project)
        assert marks(connection) == EVENTS * 3
