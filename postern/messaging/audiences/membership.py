"""Who belongs where, kept true: when a contact changes, when rules change, and from scratch."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.sql import SQL, Composable

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.values import new_id
from postern.messaging.audiences import store
from postern.messaging.audiences.model import Audience, AudienceChangeResult, DynamicAudience
from postern.messaging.audiences.rules import Rules, condition, read_rules
from postern.platform.events import operations as events

MOVES = ("audience.joined", "audience.left")
COMPILED_KEPT = 20_000
"""Rules that one process keeps."""
JOINED_KEPT = 1_000
"""Combinations of rules whose SQL one process keeps."""


class ChangeActor(NamedTuple):
    """Who caused a change, as its events say."""

    actor_type: str = "SYSTEM"
    actor_id: UUID | None = None
    actor_label: str | None = None


SYSTEM = ChangeActor()


def actor_of(call: Call) -> ChangeActor:
    """The caller as an actor."""
    return ChangeActor(call.caller.actor_type, call.caller.actor_id, call.caller.actor_label)


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
    """Hold changed contacts against all rules of the project, and let them join and leave.

    The caller holds the project's lock (`store.hold_shared`) since before the change. Audiences whose rules name
    others come after them. `engagement_only`: nothing but the last open or click has changed.
    """
    if not ids:
        return
    rulings = await store.dynamic_audiences(
        tx, project_id=project_id, engagement=engagement_only, from_level=from_level
    )
    for _, level in groupby(rulings, key=lambda ruling: ruling.level):
        batch = list(level)
        conditions, values = await _compiled(tx, project_id, batch)
        first = new_id()
        moves = await store.sort_contacts(
            tx,
            project_id=project_id,
            ids=list(ids),
            audience_ids=[ruling.id for ruling in batch],
            conditions=conditions,
            values=Jsonb(values),
            now=now,
            event_id=first,
            **actor._asdict(),
        )
        await events.record_range(tx, project_id, first, MOVES, moves.joined + moves.left)


async def lock_audiences(tx: Transaction, project_id: UUID) -> None:
    """Take the project's lock, shared, before the first of several changes of contacts in one transaction."""
    await store.lock_audiences_shared(tx, project_id=project_id)


async def matching(db: Queries, project_id: UUID, ids: Sequence[UUID], rules: Rules, now: Moment) -> set[UUID]:
    """Those of the contacts that fit rules, audience or not."""
    compiled = condition(rules, 0)
    found = await store.matching(
        db,
        project_id=project_id,
        ids=list(ids),
        condition=compiled.sql,
        values=Jsonb([compiled.values]),
        now=now,
    )
    return set(found)


async def refill_audience(
    tx: Transaction, project_id: UUID, audience: Audience, now: Moment, actor: ChangeActor = SYSTEM
) -> AudienceChangeResult:
    """Choose the members of a dynamic audience from scratch, and of those whose rules name it.

    The caller holds the project's lock alone (`store.hold_alone`).
    """
    change = await _refill(tx, project_id, audience, now, actor)
    links = await store.links(tx, project_id=project_id, ids=[])
    touched = {audience.id}
    for link in sorted(links, key=lambda link: link.level):
        if touched & set(link.depends_on):
            dependent = await store.audience(tx, project_id=project_id, id=link.id)
            assert dependent is not None
            await _refill(tx, project_id, dependent, now, actor)
            touched.add(link.id)
    return change


async def _refill(
    tx: Transaction, project_id: UUID, audience: Audience, now: Moment, actor: ChangeActor
) -> AudienceChangeResult:
    compiled = condition(read_rules(audience.rules), 0)
    first = new_id()
    moves = await store.refill_members(
        tx,
        project_id=project_id,
        audience_id=audience.id,
        condition=compiled.sql,
        values=Jsonb([compiled.values]),
        now=now,
        event_id=first,
        **actor._asdict(),
    )
    told = events.make_event(
        project_id,
        "audience.refilled",
        audience.id,
        now,
        **actor._asdict(),
        name=audience.name,
        added=moves.joined,
        removed=moves.left,
    )
    await events.record_range(tx, project_id, first, MOVES, moves.joined + moves.left)
    await events.record_all(tx, [told])
    return AudienceChangeResult(added=moves.joined, removed=moves.left)


class CompiledRules:
    """The rules of audiences and the SQL made of them. Changed rules have a new `rules_id`: nothing goes stale."""

    def __init__(self) -> None:
        self._rules: dict[UUID, Any] = {}
        self._joined: dict[tuple[UUID, ...], tuple[Composable, list[list[Any]]]] = {}

    async def read(self, tx: Transaction, project_id: UUID, rulings: Sequence[DynamicAudience]) -> None:
        """Read what is not known yet."""
        unknown = [ruling.id for ruling in rulings if ruling.rules_id not in self._rules]
        if unknown:
            if len(self._rules) > COMPILED_KEPT:
                self._rules.clear()
                self._joined.clear()
                unknown = [ruling.id for ruling in rulings]
            for found in await store.rules_of(tx, project_id=project_id, ids=unknown):
                self._rules[found.rules_id] = found.rules

    def joined(self, rules_ids: tuple[UUID, ...]) -> tuple[Composable, list[list[Any]]]:
        """One flat piece of SQL, so that a contact's change does not compose it again."""
        joined = self._joined.get(rules_ids)
        if joined is None:
            conditions = [condition(read_rules(self._rules[each]), slot) for slot, each in enumerate(rules_ids)]
            flat = SQL(", ").join([each.sql for each in conditions]).as_string(None)
            joined = SQL(flat), [each.values for each in conditions]  # pyright: ignore[reportArgumentType]
            if len(self._joined) >= JOINED_KEPT:
                self._joined.clear()
            self._joined[rules_ids] = joined
        return joined


async def _compiled(
    tx: Transaction, project_id: UUID, rulings: Sequence[DynamicAudience]
) -> tuple[Composable, list[list[Any]]]:
    """The conditions of many audiences as the elements of one array, and their values."""
    compiled = tx.cache(CompiledRules)
    await compiled.read(tx, project_id, rulings)
    return compiled.joined(tuple(ruling.rules_id for ruling in rulings))
