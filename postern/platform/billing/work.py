"""Background work of billing: read subscriptions after a Stripe event, and cancel those of deleted accounts."""

from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from postern.kernel.due import Work, for_each_row
from postern.platform.billing import store
from postern.platform.billing.model import BillingAccount, BillingUnavailable, SubscriptionState
from postern.platform.billing.providers import provider_of

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

FIRST_RETRY_DELAY = timedelta(seconds=10)
MAX_RETRY_DELAY = timedelta(hours=1)


async def reconcile(world: "World", account: BillingAccount) -> None:
    """Store the subscription that the provider reports. If the account is being deleted, cancel all its subscriptions
    and delete its billing data.

    If another event arrives meanwhile, the attempt number has changed, nothing is stored, and the worker runs again. If
    the provider is unavailable, the next attempt is scheduled.
    """
    provider = provider_of(world)
    try:
        if account.closing:
            await provider.cancel_all(account)
            await store.delete_closed_account(world.db, account_id=account.account_id, attempt=account.attempt)
            return
        state = await provider.subscription_state(account)
    except BillingUnavailable:
        delay = min(FIRST_RETRY_DELAY * 2 ** min(account.attempt, 10), MAX_RETRY_DELAY)
        due_at = world.clock() + delay
        await store.reschedule(world.db, account_id=account.account_id, attempt=account.attempt, due_at=due_at)
        return
    # Without a reported state, storing the current one again marks the account as not due.
    state = state or SubscriptionState(**{name: getattr(account, name) for name in SubscriptionState.__struct_fields__})
    is_stored = await store.store_subscription(
        world.db, state, account_id=account.account_id, attempt=account.attempt, version=None, now=world.clock()
    )
    log.info("billing_reconciled", account=str(account.account_id), plan=state.plan, settled=is_stored)


BILLING: Work[BillingAccount] = Work(
    name="billing",
    table="billing_accounts",
    row_type=BillingAccount,
    lease=timedelta(minutes=2),
    do=for_each_row(reconcile),
    partition_column="account_id",
)
