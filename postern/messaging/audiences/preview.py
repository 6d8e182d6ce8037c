"""HTTP operation that shows which contacts rules choose, without an audience."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID
from weakref import WeakValueDictionary

import psycopg

from postern.kernel.database.statements import Jsonb, Transaction, limit_connections
from postern.kernel.http.call import Call
from postern.kernel.http.operation import post
from postern.kernel.http.problems import Invalid, Unprocessable
from postern.kernel.values import Body, Record
from postern.messaging.audiences import store
from postern.messaging.audiences.model import Contact
from postern.messaging.audiences.rules import Rules, audiences_named, check_rules, compile_rules

if TYPE_CHECKING:
    from postern.world import World

PREVIEW_TIME: Final = timedelta(seconds=5)
"""How long each of the two queries of a preview may take."""
PREVIEW_CONTACTS: Final = 10
"""Maximum number of contacts that a preview shows."""
CONNECTIONS_PER_PREVIEW: Final = 4
"""Database connections of a process for each concurrent preview: previews use at most a quarter of them."""


class PreviewTooSlow(Unprocessable):
    """Counting the contacts of these rules takes longer than 5 seconds. Use fewer conditions, or conditions that fewer
    contacts match, or create the audience: its members are determined without this limit."""


class AudiencePreviewRequest(Body):
    """The rules to preview."""

    rules: Rules


class AudiencePreview(Record):
    """The contacts that rules choose now."""

    count: int
    """The number of all contacts that match."""
    contacts: list[Contact]
    """The newest contacts that match, at most 10."""


class PreviewSlots:
    """Limits how many previews run at the same time in this process: one per project, and in total one for every
    CONNECTIONS_PER_PREVIEW database connections."""

    def __init__(self, world: "World") -> None:
        self._all = asyncio.Semaphore(max(1, world.db.size // CONNECTIONS_PER_PREVIEW))
        self._by_project: WeakValueDictionary[UUID, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, project_id: UUID) -> tuple[asyncio.Semaphore, asyncio.Semaphore]:
        """The semaphores to acquire for a preview of a project, in this order."""
        return self._by_project.setdefault(project_id, asyncio.Semaphore(1)), self._all

    async def aclose(self) -> None:
        """Does nothing; a resource of a World must have this method."""


@post(
    "/projects/{project_id}/audiences/preview",
    needs="audiences:read",
    problems=[PreviewTooSlow],
    example={"rules": {"match": "all", "conditions": [{"field": "plan", "operator": "eq", "value": "pro"}]}},
)
async def preview_audience(call: Call, data: AudiencePreviewRequest) -> AudiencePreview:
    """Count the contacts that rules choose, with up to 10 of them, without storing an audience.

    The rules are those of `PATCH …/audiences/{id}/rules`. Counting may take at most 5 seconds.
    """
    try:
        check_rules(data.rules)
    except Invalid as problem:
        raise problem.relocated(lambda path: f"/rules{path}") from None
    compiled = compile_rules(data.rules, slot=0)
    values = Jsonb([compiled.values])
    try:
        with limit_connections(*_slots(call.world).of(call.project_id)):
            async with call.db.transaction() as tx:
                await store.limit_duration(tx, milliseconds=str(round(PREVIEW_TIME.total_seconds() * 1_000)))
                await _require_audiences(tx, call.project_id, data.rules)
                count = await store.count_matching(
                    tx, project_id=call.project_id, condition=compiled.sql, values=values, now=call.now
                )
                contacts = await store.newest_matching(
                    tx,
                    project_id=call.project_id,
                    condition=compiled.sql,
                    values=values,
                    now=call.now,
                    limit=min(count, PREVIEW_CONTACTS),
                )
    except psycopg.errors.QueryCanceled:
        raise PreviewTooSlow from None
    return AudiencePreview(count=count, contacts=contacts)


async def _require_audiences(tx: Transaction, project_id: UUID, rules: Rules) -> None:
    """Raises Invalid if the rules refer to an audience that does not exist."""
    named = audiences_named(rules)
    if named - set(await store.existing_audiences(tx, project_id=project_id, ids=sorted(named))):
        raise Invalid.at("/rules/conditions", "The rules refer to an audience that does not exist.", "audience_missing")


def _slots(world: "World") -> PreviewSlots:
    return world.resources[PreviewSlots]
