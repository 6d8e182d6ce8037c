"""The billing provider without payment: a page of this server on which a developer confirms a change of plan.

The URL of the page contains the encrypted change. The URL is valid for an hour, but no longer than until the billing of
the account changes.
"""

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call, Caller
from postern.kernel.http.problems import BadRequest
from postern.kernel.values import Moment
from postern.platform.audit import operations as audit
from postern.platform.billing import store
from postern.platform.billing.model import BillingAccount, Cycle, Purchase, SubscriptionState
from postern.platform.billing.rules import next_period
from postern.security.secrets import SealBroken

if TYPE_CHECKING:
    from postern.world import World

LINK_LIFETIME = timedelta(hours=1)


class CancellationUnclear(BadRequest):
    """`cancel` must be `b2b` or `all`."""


class BillingConfirmation(msgspec.Struct, frozen=True, kw_only=True):
    """The encrypted content of a link: the change that the page asks a developer to confirm."""

    account_id: UUID
    action: Literal["pro", "b2b", "portal"]
    """`pro` and `b2b` buy that item; `portal` cancels what the developer chooses in the form of the page."""
    cycle: Cycle
    version: int
    """`version` of the account when the link was created; the link is invalid once it has changed."""
    expires_at: float
    """Unix time in seconds."""
    requested_by: UUID | None
    """Id of the developer who requested the link. The audit log names this developer for the confirmed change."""
    requester_label: str | None
    """Label of that developer in the audit log: the email address."""


class ManualProvider:
    """The built-in provider, which takes no payment (POSTERN_BILLING=manual)."""

    name = "manual"

    def __init__(self, world: "World") -> None:
        self._world = world

    async def checkout(self, call: Call, account: BillingAccount, purchase: Purchase) -> str:
        """Return the URL of the page that confirms the purchase; it is valid for LINK_LIFETIME."""
        return self._page(call, account, purchase.item, purchase.cycle)

    async def portal(self, call: Call, account: BillingAccount) -> str:
        """Return the URL of the page that cancels items; it is valid for LINK_LIFETIME."""
        return self._page(call, account, "portal", account.billing_cycle or "monthly")

    async def subscription_state(self, account: BillingAccount) -> SubscriptionState | None:
        """Always returns None: the stored subscription applies, because no other system has one."""
        return None

    async def cancel_all(self, account: BillingAccount) -> None:
        """Do nothing: there are no subscriptions outside this database."""

    async def aclose(self) -> None:
        """Do nothing: there are no connections."""

    def _page(self, call: Call, account: BillingAccount, action: Literal["pro", "b2b", "portal"], cycle: Cycle) -> str:
        confirmation = BillingConfirmation(
            account_id=account.account_id,
            action=action,
            cycle=cycle,
            version=account.version,
            expires_at=(call.now + LINK_LIFETIME).timestamp(),
            requested_by=call.caller.actor_id,
            requester_label=call.caller.actor_label,
        )
        sealed = self._world.secrets.seal(msgspec.json.encode(confirmation), "billing-manual")
        return f"{self._world.settings.public_url}/billing/manual/{sealed.hex()}"


def read_link(world: "World", link: str, now: Moment) -> BillingConfirmation | None:
    """Decrypt `link`, the last segment of the page's path. Returns None if it is invalid or has expired at `now`."""
    try:
        confirmation = msgspec.json.decode(
            world.secrets.open(bytes.fromhex(link), "billing-manual"), type=BillingConfirmation
        )
    except (SealBroken, ValueError):
        return None
    return confirmation if confirmation.expires_at > now.timestamp() else None


async def confirm(call: Call, confirmation: BillingConfirmation, cancel: str | None) -> bool:
    """Apply a confirmed change, and record `billing.changed` in the audit log. Returns False, and changes nothing, if
    the account's billing has changed since the link was created.

    `cancel` is what the portal form cancels: `b2b` or `all`. For the action `portal`, raises CancellationUnclear for
    any other value.
    """
    developer = Caller(
        kind="anonymous",  # The request has no credential except the link.
        actor_type="DEVELOPER",
        actor_id=confirmation.requested_by,
        actor_label=confirmation.requester_label,
        account_id=confirmation.account_id,
    )
    async with call.db.transaction() as tx:
        account = await store.billing_account(tx, account_id=confirmation.account_id)
        if account is None or account.version != confirmation.version:
            return False
        new_state = _state_after(account, confirmation, cancel, call.now)
        # Without `attempt`, which belongs to the worker, only the version is compared.
        if not await store.store_subscription(
            tx,
            new_state,
            account_id=confirmation.account_id,
            attempt=None,
            version=confirmation.version,
            now=call.now,
        ):
            return False
        details = {
            "plan": new_state.plan,
            "billingCycle": new_state.billing_cycle,
            "b2bEnhanced": new_state.b2b_enhanced,
        }
        # The page needs no sign-in: the link proves who requested the change.
        developer_call = replace(call, caller=developer)
        await audit.record(
            tx, developer_call, "billing.changed", "Account", confirmation.account_id, account_wide=True, **details
        )
    return True


def _state_after(
    account: BillingAccount, confirmation: BillingConfirmation, cancel: str | None, now: Moment
) -> SubscriptionState:
    """The state after a confirmed change. Raises CancellationUnclear."""
    current_state = SubscriptionState(
        plan=account.plan,
        billing_cycle=account.billing_cycle,
        status=account.status,
        current_period_end=account.current_period_end,
        b2b_enhanced=account.b2b_enhanced,
    )
    if confirmation.action == "b2b":
        return msgspec.structs.replace(current_state, b2b_enhanced=True)
    if confirmation.action == "pro":
        end = next_period(now, confirmation.cycle)
        return msgspec.structs.replace(
            current_state, plan="pro", billing_cycle=confirmation.cycle, status="active", current_period_end=end
        )
    if cancel == "b2b":
        return msgspec.structs.replace(current_state, b2b_enhanced=False)
    if cancel == "all":
        return SubscriptionState(status="cancelled")
    raise CancellationUnclear
