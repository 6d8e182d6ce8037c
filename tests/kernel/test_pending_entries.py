"""Workers merge the pending entries of search indexes, so that no request has to."""

import psycopg
import pytest

from postern.cli.processes import MERGED_INDEXES
from postern.instance_store import merge_pending_entries

PENDING_INDEXES = """
    select c.relname from pg_class c where exists (
        select from unnest(c.reloptions) as option where option like 'gin_pending_list_limit=%')
    order by c.relname
"""


@pytest.mark.usefixtures("one_server")
async def test_pending_entries_are_merged(world, project):
    await create_contacts(project)
    await merge_pending_entries(world.db, index="contacts_search")
    with psycopg.connect(world.db.url) as connection:
        assert pages_merged(connection) == 0


@pytest.mark.usefixtures("one_server")
async def test_all_indexes_with_long_lists_are_merged(world):
    with psycopg.connect(world.db.url) as connection:
        assert sorted(MERGED_INDEXES) == [name for (name,) in connection.execute(PENDING_INDEXES).fetchall()]


@pytest.mark.usefixtures("one_server")
async def test_one_process_merges_at_a_time(world, project):
    await create_contacts(project)
    with psycopg.connect(world.db.url) as first:
        first.execute("select pg_advisory_xact_lock(hashtextextended('pending entries', 0))")
        # New entries of a transaction that is still open, so that nothing else has merged them already.
        first.execute("update contacts set email_key = 'x' || email_key where project_id = %s", [project.id])
        await merge_pending_entries(world.db, index="contacts_search")
        assert pages_merged(first) > 0
        first.rollback()


async def create_contacts(project) -> None:
    for number in range(20):
        response = await project.client.post("/contacts", {"email": f"ada{number}@example.com"})
        assert response.status_code == 201


def pages_merged(connection: psycopg.Connection) -> int:
    """Merge the entries that are still pending; returns the number of pages that had them."""
    row = connection.execute("select gin_clean_pending_list('contacts_search')").fetchone()
    assert row is not None
    return row[0]
