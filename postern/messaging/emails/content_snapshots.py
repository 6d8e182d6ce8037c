"""Words that many sends share: kept once, at the start of a campaign, and filled for each contact."""

from typing import Any
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.messaging.emails import store
from postern.messaging.emails.model import SendBody


async def insert_snapshot(tx: Transaction, project_id: UUID, content_id: UUID, body: SendBody, now: Moment) -> None:
    """Keep words under an identifier that sends will name."""
    await store.insert_content(tx, project_id=project_id, id=content_id, body=Jsonb(body), now=now)


async def hold_campaign(tx: Transaction, project_id: UUID, ids: list[UUID]) -> None:
    """Keep the sends of these words from being handed over until `release`. Costs the same for any number of sends."""
    await store.set_content_state(tx, project_id=project_id, ids=ids, state="HELD")


async def release(tx: Transaction, project_id: UUID, ids: list[UUID]) -> None:
    """Let the sends of these words be handed over again. What was due meanwhile has no `due_at`: give it one."""
    await store.set_content_state(tx, project_id=project_id, ids=ids, state="GOING")


async def stop_campaign(tx: Transaction, project_id: UUID, ids: list[UUID]) -> None:
    """Never hand over the sends of these words that have not been. They become CANCELLED when they are due."""
    await store.set_content_state(tx, project_id=project_id, ids=ids, state="STOPPED")


async def subjects(db: Queries, project_id: UUID, ids: list[UUID]) -> dict[UUID, str]:
    """The subjects of kept words."""
    return {row.id: row.body.subject for row in await store.get_contents(db, project_id=project_id, ids=ids)}


def values_of(email: str, attributes: dict[str, Any]) -> dict[str, Any]:
    """What templates may use of a contact: its attributes by name, its address, and both under `contact`."""
    return {**attributes, "email": email, "attributes": attributes, "contact": {**attributes, "email": email}}
