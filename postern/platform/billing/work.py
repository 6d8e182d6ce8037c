"""Asking the provider how an account stands after it signalled a change, and ending what a deleted account booked."""

from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from postern.kernel.due import Work, one_by_one
from postern.platform.billing import store
from postern.platform.billing.model import BillingAccount, BillingUnavailable, SubscriptionState
from postern.platform.billing.providers import provider_of

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

FIRST_PAUSE = timedelta(seconds=10)
LONGEST_PAUSE = timedelta(hours=1)


async def reconcile(world: "World", account: BillingAccount) -> None:
    """Make our copy what the provider says. A signal that comes meanwhile makes this attempt count for nothing."""
    provider = provider_of(world)
    try:
        if account.closing:
            await provider.cancel_all(account)
            await store.closed(world.db, account_id=account.account_id, attempt=account.attempt)
            return
        standing = await provider.standing(account)
    except BillingUnavailable:
        pause = min(FIRST_PAUSE * 2 ** min(account.attempt, 10), LONGEST_PAUSE)
        due_at = world.clock() + pause
        await store.reschedule(world.db, account_id=account.account_id, attempt=account.attempt, due_at=due_at)
        return
    standing = standing or SubscriptionState(
        **{name: getattr(account, name) for name in SubscriptionState.__struct_fields__}
    )
    fields = {name: getattr(standing, name) for name in SubscriptionState.__struct_fields__}
    settled = await store.settle_billing(
        world.db,
        account_id=account.account_id,
        attempt=account.attempt,
        version=None,
        now=world.clock(),
        **fields,
    )
    log.info("billing_reconciled", account=str(account.account_id), plan=standing.plan, settled=settled)


BILLING: Work[BillingAccount] = Work(
    name="billing",
    table="billing_accounts",
    kind=BillingAccount,
    lease=timedelta(minutes=2),
    do=one_by_one(reconcile),
    partition_column="account_id",
)
