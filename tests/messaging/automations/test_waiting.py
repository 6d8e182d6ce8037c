"""Waiting runs cost nothing until they are due: searches for due runs do not read them."""

from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import UUID

import pytest
from psycopg.sql import Composable

from postern.kernel import due
from postern.kernel.database.statements import STATEMENTS
from postern.kernel.due import Lane
from postern.kernel.values import new_id
from postern.messaging.automations.work import WORK

WAITING_RUNS = 20_000
ADVANCING, CALLING = WORK
EXPLAIN = b"explain (analyze, format json) "


class ExplainingConnection:
    """A connection that counts how many rows of `automation_runs` its queries read, by `explain (analyze)`."""

    is_distributed = False

    def __init__(self, connection):
        self._connection, self.rows_read, self.scans = connection, 0, set()

    @asynccontextmanager
    async def connection(self):
        yield self

    async def execute(self, query, values):
        query = query.as_bytes() if isinstance(query, Composable) else query
        query = query.encode() if isinstance(query, str) else query
        (plan,) = await (await self._connection.execute(EXPLAIN + query, values)).fetchone()
        self._count(plan[0]["Plan"])
        return await self._connection.execute(query, values)

    def _count(self, node):
        if node.get("Relation Name") == "automation_runs" and "Scan" in node["Node Type"]:
            rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
            self.rows_read += round(rows * node["Actual Loops"])
            self.scans.add(node["Node Type"])
        for inner in node.get("Plans", []):
            self._count(inner)


@pytest.fixture
async def waiting_runs(create_automation, project, world):
    """Inserts many runs that wait for days."""
    automation = await create_automation({"type": "CONTACT_CREATED"}, {"type": "DELAY", "days": 9})
    async with world.db.connection() as connection:
        await connection.execute(
            "insert into automation_runs (project_id, id, automation_id, version, contact_id, once, trigger_event_id,"
            " status, waiting_for, due_at, started_at) select %s, gen_random_uuid(), %s, 1, gen_random_uuid(), true,"
            " gen_random_uuid(), 'WAITING', 'order.placed', %s::timestamptz + n * interval '1 ms', now()"
            " from generate_series(1, %s) n",
            (UUID(project.id), UUID(automation), world.clock() + timedelta(days=9), WAITING_RUNS),
        )
        await connection.execute("analyze automation_runs")
    return automation


@pytest.mark.usefixtures("one_server")
async def test_finding_due_runs_reads_one_row_per_project(waiting_runs, project, world, clock):
    async with world.db.connection() as connection:
        query = "select count(distinct project_id) from automation_runs where due_at is not null"
        (projects,) = await (await connection.execute(query)).fetchone()
        explained = ExplainingConnection(connection)
        for work in (ADVANCING, CALLING):
            due_work = await due.find_due(explained, work, clock())
            assert UUID(project.id) not in {lane.partition for lane in due_work.lanes}
        assert explained.rows_read <= 2 * projects
        assert "Seq Scan" not in explained.scans
        explained = ExplainingConnection(connection)
        assert await due.claim(explained, ADVANCING, Lane(UUID(project.id)), clock(), 500) == []
        assert explained.rows_read == 0


@pytest.mark.usefixtures("one_server")
async def test_an_event_reads_only_the_runs_of_its_contact(waiting_runs, project, world, clock):
    (wake_runs,) = [
        statement.text for statement in STATEMENTS if statement.name == "postern.messaging.automations.store.wake_runs"
    ]
    values = {
        "project_id": [UUID(project.id)],
        "contact_id": [new_id()],
        "event": ["order.placed"],
        "event_id": [new_id()],
        "at": [clock()],
        "test": [False],
    }
    async with world.db.connection() as connection:
        explained = ExplainingConnection(connection)
        await explained.execute(wake_runs, values)
    assert (explained.rows_read, explained.scans) == (0, {"Index Scan"})
