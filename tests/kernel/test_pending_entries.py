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
    """gin_clean_pending_list() returns the number of pages that it takes off the list of pending entries."""
    await create_contacts(project)
    await merge_pending_entries(world.db, indexes=MERGED_INDEXES)
    async with world.db.connection() as connection:
        cursor = await connection.execute("select gin_clean_pending_list('contacts_search')")
        assert await cursor.fetchone() == (0,)


@pytest.mark.usefixtures("one_server")
async def test_all_indexes_with_long_lists_are_merged(world):
    async with world.db.connection() as connection:
        cursor = await connection.execute(PENDING_INDEXES)
        assert sorted(MERGED_INDEXES) == [name for (name,) in await cursor.fetchall()]


@pytest.mark.usefixtures("one_server")
async def test_a_process_does_not_wait_for_another_one_that_merges(world, project):
    await create_contacts(project)
    with psycopg.connect(world.db.url) as first:
        first.execute("select pg_advisory_xact_lock(hashtextextended('pending entries', 0))")
        # To merge the entries of this table, the other process would have to wait.
        first.execute("lock table contacts in access exclusive mode")
        await merge_pending_entries(world.db, indexes=MERGED_INDEXES)


async def create_contacts(project) -> None:
    for number in range(20):
        response = await project.client.post("/contacts", {"email": f"ada{number}@example.com"})
        assert response.status_code == 201
