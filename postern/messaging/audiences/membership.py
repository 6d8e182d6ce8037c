"""Updates of dynamic audience memberships after contacts or rules change."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.sql import SQL, Composable

from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.values import Moment, new_id
from postern.messaging.audiences import store
from postern.messaging.audiences.model import Audience, AudienceChangeResult, DynamicAudience
from postern.messaging.audiences.rules import Rules, compile_rules, read_rules
from postern.platform.events import operations as events
from postern.platform.events.bulk_store import BulkEvents
from postern.platform.events.model import EventRow

MEMBERSHIP_EVENTS = ("audience.joined", "audience.left")
MAX_CACHED_COMBINATIONS = 1_000
"""Maximum number of combinations of rules whose SQL a process caches."""


class ChangeActor(NamedTuple):
    """Who caused a change, as recorded in events."""

    actor_type: str = "SYSTEM"
    actor_id: UUID | None = None
    actor_label: str | None = None

    def bulk_events(self, now: Moment) -> BulkEvents:
        """The common fields of events that one statement records, with a new first event id."""
        return BulkEvents(event_id=new_id(), now=now, test=self.actor_type == "TEST_KEY", **self._asdict())


SYSTEM = ChangeActor()
TEST_KEY = ChangeActor("TEST_KEY")
"""The actor of changes that a TEST key caused indirectly. Automations that they start send no real mail."""


def actor_of(call: Call) -> ChangeActor:
    """The caller of the operation as an actor."""
    return ChangeActor(call.caller.actor_type, call.caller.actor_id, call.caller.actor_label)


def actor_because_of(event: EventRow) -> ChangeActor:
    """The actor of changes that Postern makes because of an event: SYSTEM or, if a TEST key set it off, TEST_KEY."""
    return TEST_KEY if event.test else SYSTEM


async def contacts_changed(
    tx: Transaction,
    project_id: UUID,
    ids: Sequence[UUID],
    now: Moment,
    actor: ChangeActor = SYSTEM,
    *,
    engagement_only: bool = False,
    from_level: int = 0,
) -> None:
    """Evaluate the project's dynamic audiences for changed contacts: update memberships and record events.

    The caller took the shared lock (`store.lock_audiences_shared`) before the change. Audiences are evaluated by level:
    those whose rules refer to other audiences have a level of 1 or more. With `from_level=1`, only these are evaluated,
    which suffices if only memberships changed. With `engagement_only`, only audiences are evaluated that an open, a
    click or a custom event can affect.
    """
    if not ids:
        return
    audiences = await store.dynamic_audiences(
        tx, project_id=project_id, engagement=engagement_only, from_level=from_level
    )
    for _, audiences_of_level in groupby(audiences, key=lambda audience: audience.level):
        batch = list(audiences_of_level)
        conditions, values = await _compile(tx, project_id, batch)
        bulk = actor.bulk_events(now)
        changes = await store.update_memberships(
            tx,
            bulk,
            project_id=project_id,
            ids=list(ids),
            audience_ids=[audience.id for audience in batch],
            conditions=conditions,
            values=Jsonb(values),
        )
        await events.react_to_range(tx, project_id, bulk.event_id, MEMBERSHIP_EVENTS, changes.joined + changes.left)


async def lock_audiences(tx: Transaction, project_id: UUID) -> None:
    """Take the project's shared audience lock until the transaction ends.

    Call it before the first change of a contact in a transaction.
    """
    await store.lock_audiences_shared(tx, project_id=project_id)


async def matching(db: Queries, project_id: UUID, ids: Sequence[UUID], rules: Rules, now: Moment) -> set[UUID]:
    """The ids of those contacts, among `ids`, that match the rules now."""
    compiled = compile_rules(rules, slot=0)
    matching_ids = await store.matching(
        db,
        project_id=project_id,
        ids=list(ids),
        condition=compiled.sql,
        values=Jsonb([compiled.values]),
        now=now,
    )
    return set(matching_ids)


async def refill_audience(
    tx: Transaction, project_id: UUID, audience: Audience, now: Moment, actor: ChangeActor = SYSTEM
) -> AudienceChangeResult:
    """Recompute the members of a dynamic audience, and of audiences whose rules refer to it, also indirectly.

    Records events. Returns the changes of `audience` only. The caller holds the exclusive lock
    (`store.lock_audiences_exclusively`).
    """
    change = await _refill(tx, project_id, audience, now, actor)
    references = await store.rule_references(tx, project_id=project_id, also_ids=[])
    refilled_ids = {audience.id}
    for reference in sorted(references, key=lambda reference: reference.level):
        if refilled_ids & set(reference.depends_on):
            dependent = await store.audience(tx, project_id=project_id, id=reference.id)
            assert dependent is not None
            await _refill(tx, project_id, dependent, now, actor)
            refilled_ids.add(reference.id)
    return change


async def _refill(
    tx: Transaction, project_id: UUID, audience: Audience, now: Moment, actor: ChangeActor
) -> AudienceChangeResult:
    compiled = compile_rules(read_rules(audience.rules), slot=0)
    bulk = actor.bulk_events(now)
    changes = await store.refill_members(
        tx,
        bulk,
        project_id=project_id,
        audience_id=audience.id,
        condition=compiled.sql,
        values=Jsonb([compiled.values]),
    )
    event = events.make_event(
        project_id,
        "audience.refilled",
        audience.id,
        now,
        **actor._asdict(),
        name=audience.name,
        added=changes.joined,
        removed=changes.left,
    )
    await events.react_to_range(tx, project_id, bulk.event_id, MEMBERSHIP_EVENTS, changes.joined + changes.left)
    await events.record_all(tx, [event])
    return AudienceChangeResult(added=changes.joined, removed=changes.left)


class CompiledRulesCache(dict[tuple[UUID, ...], tuple[Composable, list[list[Any]]]]):
    """A cache of the results of `_compile`, keyed by the `rules_id` of each audience, in order.

    Entries stay valid, because changed rules get a new `rules_id`.
    """


async def _compile(
    tx: Transaction, project_id: UUID, audiences: Sequence[DynamicAudience]
) -> tuple[Composable, list[list[Any]]]:
    """The SQL conditions of many audiences as comma-separated SQL, and the values of each condition."""
    cache = tx.cache(CompiledRulesCache)
    rules_ids = tuple(audience.rules_id for audience in audiences)
    compiled = cache.get(rules_ids)
    if compiled is None:
        stored = await store.rules_of(tx, project_id=project_id, ids=[audience.id for audience in audiences])
        rules = {row.rules_id: row.rules for row in stored}
        conditions = [compile_rules(read_rules(rules[rules_id]), slot) for slot, rules_id in enumerate(rules_ids)]
        flat_sql = SQL(", ").join([condition.sql for condition in conditions]).as_string(None)
        compiled = SQL(flat_sql), [condition.values for condition in conditions]  # pyright: ignore[reportArgumentType]
        if len(cache) >= MAX_CACHED_COMBINATIONS:
            cache.clear()
        cache[rules_ids] = compiled
    return compiled
