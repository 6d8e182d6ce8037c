"""What becomes due with customers: letters to write, and what has passed and may be forgotten."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from postern.identity.customers import challenge_store
from postern.identity.customers.challenge_store import ExpiringRow, QueuedMail
from postern.identity.customers.mailer import send_queued_mail
from postern.kernel.due import Work, one_by_one

if TYPE_CHECKING:
    from postern.world import World

LETTER_LEASE = timedelta(minutes=1)
FORGET_LEASE = timedelta(minutes=10)


async def forget_challenges(world: "World", share: list[ExpiringRow]) -> None:
    """Let challenges go that nobody can answer any more."""
    ids = [row.id for row in share]
    await challenge_store.delete_expired_challenges(
        world.db, project_id=share[0].project_id, ids=ids, now=world.clock()
    )


WORK: list[Work[Any]] = [
    Work("customers.letters", "customer_letters", QueuedMail, LETTER_LEASE, one_by_one(send_queued_mail)),
    Work("customers.challenges", "customer_challenges", ExpiringRow, FORGET_LEASE, forget_challenges, share=1_000),
]
