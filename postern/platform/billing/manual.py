"""Booking without money: a page of this server asks for confirmation, and that is all.

The link in its address is signed, lives an hour, and holds for one state of the account: once something was
confirmed, it is worth nothing any more.
"""

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.http.call import Call, Caller
from postern.kernel.http.problems import BadRequest
from postern.platform.audit import operations as audit
from postern.platform.billing import store
from postern.platform.billing.model import BillingAccount, Cycle, Purchase, SubscriptionState
from postern.platform.billing.rules import next_period
from postern.security.secrets import SealBroken

if TYPE_CHECKING:
    from postern.world import World

LINK_LIFE = timedelta(hours=1)


class CancellationUnclear(BadRequest):
    """The portal cancels `b2b` or `all`."""


class BillingConfirmation(msgspec.Struct, frozen=True, kw_only=True):
    """What a link offers to confirm."""

    account_id: UUID
    action: Literal["pro", "b2b", "portal"]
    cycle: Cycle
    version: int
    expires_at: float
    asked_by: UUID | None
    """The developer who asked for the link, and their address: what is confirmed is theirs in the audit log."""
    asked_as: str | None


class ManualProvider:
    """The built-in provider."""

    name = "manual"

    def __init__(self, world: "World") -> None:
        self._world = world

    async def checkout(self, call: Call, account: BillingAccount, purchase: Purchase) -> str:
        return self._page(call, account, purchase.item, purchase.cycle)

    async def portal(self, call: Call, account: BillingAccount) -> str:
        return self._page(call, account, "portal", account.billing_cycle or "monthly")

    async def standing(self, account: BillingAccount) -> SubscriptionState | None:
        return None

    async def cancel_all(self, account: BillingAccount) -> None:
        pass

    async def aclose(self) -> None:
        pass

    def _page(self, call: Call, account: BillingAccount, action: Literal["pro", "b2b", "portal"], cycle: Cycle) -> str:
        offer = BillingConfirmation(
            account_id=account.account_id,
            action=action,
            cycle=cycle,
            version=account.version,
            expires_at=(call.now + LINK_LIFE).timestamp(),
            asked_by=call.caller.actor_id,
            asked_as=call.caller.actor_label,
        )
        sealed = self._world.secrets.seal(msgspec.json.encode(offer), "billing-manual")
        return f"{self._world.settings.public_url}/billing/manual/{sealed.hex()}"


def read_link(world: "World", link: str, now: Moment) -> BillingConfirmation | None:
    """What a link offers; None if it is not ours or too old."""
    try:
        found = msgspec.json.decode(world.secrets.open(bytes.fromhex(link), "billing-manual"), type=BillingConfirmation)
    except (SealBroken, ValueError):
        return None
    return found if found.expires_at > now.timestamp() else None


async def confirm(call: Call, offer: BillingConfirmation, cancel: str | None) -> bool:
    """Do what was offered; false where the account has changed since. Raises CancellationUnclear."""
    asker = Caller(
        kind="nobody",
        actor_type="DEVELOPER",
        actor_id=offer.asked_by,
        actor_label=offer.asked_as,
        account_id=offer.account_id,
    )
    async with call.db.transaction() as tx:
        account = await store.billing_account(tx, account_id=offer.account_id)
        if account is None or account.version != offer.version:
            return False
        after = _after(account, offer, cancel, call.now)
        fields = {name: getattr(after, name) for name in SubscriptionState.__struct_fields__}
        if not await store.settle_billing(
            tx, account_id=offer.account_id, attempt=None, version=offer.version, now=call.now, **fields
        ):
            return False
        said = {"plan": after.plan, "billingCycle": after.billing_cycle, "b2bEnhanced": after.b2b_enhanced}
        there = replace(call, caller=asker)
        await audit.record(tx, there, "billing.changed", "Account", offer.account_id, account_wide=True, **said)
    return True


def _after(account: BillingAccount, offer: BillingConfirmation, cancel: str | None, now: Moment) -> SubscriptionState:
    booked = SubscriptionState(
        plan=account.plan,
        billing_cycle=account.billing_cycle,
        status=account.status,
        current_period_end=account.current_period_end,
        b2b_enhanced=account.b2b_enhanced,
    )
    if offer.action == "b2b":
        return msgspec.structs.replace(booked, b2b_enhanced=True)
    if offer.action == "pro":
        end = next_period(now, offer.cycle)
        return msgspec.structs.replace(
            booked, plan="pro", billing_cycle=offer.cycle, status="active", current_period_end=end
        )
    if cancel == "b2b":
        return msgspec.structs.replace(booked, b2b_enhanced=False)
    if cancel == "all":
        return SubscriptionState(status="cancelled")
    raise CancellationUnclear
