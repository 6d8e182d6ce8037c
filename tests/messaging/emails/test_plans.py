"""The statements of a campaign's messages read only the rows of these messages, in a project that is so new that the
statistics of the planner do not know it yet."""

import json
from collections import Counter
from contextlib import asynccontextmanager
from datetime import timedelta
from types import SimpleNamespace
from uuid import UUID

import msgspec
import psycopg
import pytest

from postern.kernel.database.statements import Jsonb, Queries, open_database
from postern.kernel.due import Lane, claim
from postern.kernel.values import new_id
from postern.messaging.campaigns import store as campaign_store
from postern.messaging.campaigns.model import CampaignRow
from postern.messaging.emails import outcomes, pre_send_check, rules, store
from postern.messaging.emails.model import Postponement
from postern.messaging.emails.work import SENDS, load_jobs
from postern.protocols.mail.transports.transport import Accepted, DeliveryOutcome

KNOWN, NEW, GROUP = 20_000, 2_000, 100
"""Sends of the project that the statistics know; of the new one; and messages of one statement."""
CONTENT = UUID(int=1)
FILL = """
    insert into contacts (project_id, id, email, email_key, attributes, created_at, updated_at)
    select %(project)s, md5(%(project)s::text || n)::uuid, n || '@x.example', n || '@x.example', '{}', now(), now()
    from generate_series(1, %(count)s) n;
    insert into sends (project_id, id, status, lane, message_id, subject, sender, recipient, to_addresses, contact_id,
                       campaign_id, content_id, due_at, created_at, updated_at)
    select %(project)s, gen_random_uuid(), 'QUEUED', 1, '<' || n || '@acme.example>', 'Hello', 'news@acme.example',
           n || '@x.example', array[n || '@x.example'], md5(%(project)s::text || n)::uuid, %(content)s, %(content)s,
           now(), now(), now()
    from generate_series(1, %(count)s) n;
    insert into audience_members (project_id, audience_id, contact_id, joined_at)
    select project_id, %(audience)s, id, created_at from contacts where project_id = %(project)s;
    insert into suppressions (project_id, id, address, reason, source, created_at)
    select %(project)s, gen_random_uuid(), n || '@gone.example', 'BOUNCE', 'reply', now()
    from generate_series(1, %(count)s) n
"""
NODE_ROWS = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck", "Rows Removed by Join Filter")


class ReadRows(Queries):
    """Runs statements on one connection of a database, and counts the rows that they read, by table."""

    def __init__(self, db):
        self._db, self._hooks, self._caches = db, db._hooks, {}
        self.notify_due = None
        self.most = Counter()
        """The most rows that one node of a plan read from each table."""

    @asynccontextmanager
    async def connection(self):
        async with self._db.connection() as connection:
            try:
                await connection.execute("load 'auto_explain'")
            except psycopg.Error as error:
                pytest.skip(f"The module auto_explain of PostgreSQL cannot be loaded: {error}")
            for name, value in {
                "log_min_duration": "0",
                "log_analyze": "on",
                "log_timing": "off",
                "log_format": "json",
                "log_level": "notice",
                "log_nested_statements": "on",
            }.items():
                await connection.execute(f"set auto_explain.{name} = '{value}'")
            connection.add_notice_handler(self._read)
            try:
                yield connection
            finally:
                connection.remove_notice_handler(self._read)
                await connection.execute("set auto_explain.log_min_duration = -1")

    def transaction(self):
        return type(self._db).transaction(self)

    def _read(self, notice):
        _, is_plan, text = notice.message_primary.partition("plan:\n")
        if is_plan:
            self._count(json.loads(text)["Plan"])

    def _count(self, node):
        if table := node.get("Relation Name"):
            rows = node["Actual Loops"] * sum(node.get(name, 0) for name in NODE_ROWS)
            self.most[table] = max(self.most[table], rows)
        for inner in node.get("Plans", []):
            self._count(inner)


@pytest.mark.usefixtures("one_server")
async def test_statements_of_a_new_project_read_only_the_rows_of_their_messages(new_project, world):
    known, new = [UUID((await new_project()).id) for _ in range(2)]
    audience_ids = {known: new_id(), new: new_id()}
    async with world.db.connection() as connection:
        for project_id, count in ((known, KNOWN), (new, NEW)):
            await connection.execute(
                """insert into audiences (project_id, id, name, type, created_at, updated_at)
                   values (%s, %s, 'All', 'STATIC', now(), now())""",
                (project_id, audience_ids[project_id]),
            )
            values = {"project": project_id, "audience": audience_ids[project_id], "content": CONTENT, "count": count}
            for part in FILL.split(";"):
                await connection.execute(part, values)
            if project_id == known:
                await connection.execute("analyze contacts, sends, audience_members, suppressions")
    db = ReadRows(world.db)
    context = SimpleNamespace(db=db, clock=world.clock, settings=world.settings)
    now = world.clock() + timedelta(minutes=1)
    async with db.transaction() as tx:
        filled = await fill(tx, new, audience_ids[new], now)
    assert filled.queued == GROUP
    sends = await claim(db, SENDS[1], Lane(new), now, GROUP)
    assert len(sends) == GROUP
    await load_jobs(context, sends)
    contact_ids = [send.contact_id for send in sends if send.contact_id]
    async with db.transaction() as tx:
        await store.count_recent_marketing(tx, project_id=new, contact_ids=contact_ids, since=now - timedelta(days=7))
    await store.states_of(db, project_id=new, content_ids=[CONTENT], contact_ids=contact_ids)
    turns = [pre_send_check.SendTurn(send, [send.recipient], skip_unsubscribed=True, needs_mark=True) for send in sends]
    await pre_send_check.check_sends(context, turns)
    await store.renew_leases(
        db,
        project_id=[new] * GROUP,
        id=[send.id for send in sends],
        attempt=[send.attempt for send in sends],
        until=now + timedelta(hours=1),
    )
    waiting = [
        Postponement(id=send.id, attempt=send.attempt, due_at=now, waits_for="RATE", reason="") for send in sends
    ]
    await store.postpone(db, waiting, project_id=new, now=now)
    assert set(await outcomes._settle_together(context, [sent(send, now) for send in sends])) == {"SENT"}
    assert {"audience_members", "contacts", "sends"} <= set(db.most)
    assert not {table: rows for table, rows in db.most.items() if rows > 2 * GROUP}


async def fill(tx, project_id, audience_id, now):
    """Create the sends of a campaign for the first contacts of an audience."""
    fields = {
        **{field.name: None for field in msgspec.structs.fields(CampaignRow)},
        "project_id": project_id,
        "id": new_id(),
        "audience_id": audience_id,
        "cursor": UUID(int=0),
        "started_at": now,
        "is_test": False,
    }
    return await campaign_store.fill_sends(
        tx,
        CampaignRow(**fields),
        limit=GROUP,
        testing=False,
        host="acme.example",
        sender="news@acme.example",
        contents=Jsonb([{"variant_id": None, "content_id": CONTENT, "subject": "Hello"}]),
        cap=10,
        cap_since=now - timedelta(days=7),
        cap_reason="",
        now=now,
    )


def sent(send, now):
    outcome = DeliveryOutcome(
        results=(
            Accepted(
                recipient=send.recipient,
                code=250,
                enhanced="2.0.0",
                text="Ok",
                host="relay.example",
                duration=timedelta(),
            ),
        ),
        host="relay.example",
        duration=timedelta(),
    )
    send_outcome = rules.outcome_of_attempt(send, outcome, now, on_ambiguous="retry", chance=lambda: 0.5)
    return outcomes.FinishedAttempt(send=send, send_outcome=send_outcome, outcome=outcome)


@pytest.mark.usefixtures("one_server")
async def test_statements_for_batches_are_planned_once_for_all_batches(project, world, database_url):
    """Their estimated cost does not depend on the number of projects, so PostgreSQL keeps a plan.

    On a connection of its own: PostgreSQL compares the plan that it may keep with all that it has made before.
    """
    values = {"project_id": [UUID(project.id)], "rows": Jsonb([]), "now": world.clock()}
    async with open_database(database_url, size=1) as db, db.transaction() as tx:
        for _ in range(8):
            await store.settle(tx, **values, attempts=Jsonb([]), allowed=[])
            await store.check_interrupted(tx, **values, lost_reply="", until=world.clock())
            await store.check_before_sending(
                tx, project_id=values["project_id"], rows=values["rows"], until=world.clock()
            )
        async with tx.connection() as connection:
            for parameters, count in (("unsettled_attempt int", 2), ("retries_since timestamptz, outcomes jsonb", 1)):
                cursor = await connection.execute(
                    "select generic_plans > 0 from pg_prepared_statements where strpos(statement, %s) > 0", [parameters]
                )
                assert await cursor.fetchall() == [(True,)] * count, parameters
