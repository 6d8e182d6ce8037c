"""Booking at Stripe, with its own library. Our row is a copy: Stripe is asked again whenever it signals a change."""

import hashlib
import hmac
import re
from collections.abc import Awaitable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import stripe
import structlog

from postern.kernel.clock import Moment
from postern.kernel.http.call import Call
from postern.platform.billing import store
from postern.platform.billing.model import (
    BillingAccount,
    BillingUnavailable,
    Cycle,
    NotForSale,
    Purchase,
    SubscriptionState,
)
from postern.platform.billing.rules import StripeSubscription, standing_of

if TYPE_CHECKING:
    from postern.world import World

T = TypeVar("T")
log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

TIMEOUT = timedelta(seconds=30)
SIGNATURE_AGE = timedelta(minutes=5)
"""How old a signal's signature may be: Stripe's own advice against replays."""
SUBSCRIPTIONS = 100
"""Subscriptions of one customer that are looked at."""


class StripeProvider:
    """Stripe as the provider."""

    name = "stripe"

    def __init__(self, world: "World") -> None:
        self._world = world
        self._http = stripe.HTTPXClient(timeout=TIMEOUT.total_seconds())
        self._client = stripe.StripeClient(
            world.settings.stripe_secret_key or "",
            base_addresses={"api": world.settings.stripe_api},
            http_client=self._http,
            max_network_retries=2,
        )

    async def checkout(self, call: Call, account: BillingAccount, purchase: Purchase) -> str:
        wanted = (purchase.item, purchase.cycle)
        price = next((price for price, kind in self._prices().items() if kind == wanted), None)
        if price is None:
            raise NotForSale
        account = await self._customer(call, account)
        back = f"{self._world.settings.public_url}/billing/done"
        params: Any = {
            "mode": "subscription",
            "customer": account.customer_ref,
            "client_reference_id": str(account.account_id),
            "line_items": [{"price": price, "quantity": 1}],
            "success_url": back,
            "cancel_url": f"{back}?cancelled=1",
            "subscription_data": {"metadata": {"account": str(account.account_id), "item": purchase.item}},
        }
        session = await _ask(self._client.v1.checkout.sessions.create_async(params=params))
        return session.url or back

    async def portal(self, call: Call, account: BillingAccount) -> str:
        account = await self._customer(call, account)
        params: Any = {
            "customer": account.customer_ref,
            "return_url": f"{self._world.settings.public_url}/billing/done",
        }
        return (await _ask(self._client.v1.billing_portal.sessions.create_async(params=params))).url

    async def standing(self, account: BillingAccount) -> SubscriptionState | None:
        if account.customer_ref is None:
            return None
        return standing_of([_read(each) for each in await self._subscriptions(account.customer_ref)], self._prices())

    async def cancel_all(self, account: BillingAccount) -> None:
        if account.customer_ref is None:
            return
        for each in await self._subscriptions(account.customer_ref):
            if each.status not in ("canceled", "incomplete_expired"):
                await _ask(self._client.v1.subscriptions.cancel_async(each.id))

    async def aclose(self) -> None:
        await self._http.close_async()

    async def _customer(self, call: Call, account: BillingAccount) -> BillingAccount:
        """The account with a customer at Stripe; the first one is kept, also when two ask at the same moment."""
        if account.customer_ref is not None:
            return account
        email = call.caller.actor_label or ""
        params: Any = {"email": email, "metadata": {"account": str(account.account_id)}}
        # Stripe takes a key again only with the same parameters: another member, or an address changed since, is
        # another key. The customer that is not kept has nothing to pay.
        asked = hashlib.sha256(email.encode()).hexdigest()[:16]
        options: Any = {"idempotency_key": f"postern-account-{account.account_id}-{asked}"}
        customer = await _ask(self._client.v1.customers.create_async(params=params, options=options))
        return await store.set_stripe_customer(
            call.db, account_id=account.account_id, customer_ref=customer.id, now=call.now
        )

    async def _subscriptions(self, customer: str) -> list[stripe.Subscription]:
        params: Any = {"customer": customer, "status": "all", "limit": SUBSCRIPTIONS}
        return (await _ask(self._client.v1.subscriptions.list_async(params=params))).data

    def _prices(self) -> dict[str, tuple[str, Cycle]]:
        settings = self._world.settings
        known: list[tuple[str | None, tuple[str, Cycle]]] = [
            (settings.stripe_price_monthly, ("pro", "monthly")),
            (settings.stripe_price_yearly, ("pro", "yearly")),
            (settings.stripe_price_b2b_monthly, ("b2b", "monthly")),
            (settings.stripe_price_b2b_yearly, ("b2b", "yearly")),
        ]
        return {price: kind for price, kind in known if price}


async def _ask(question: Awaitable[T]) -> T:
    try:
        return await question
    except stripe.StripeError as error:
        log.warning("stripe_failed", error=type(error).__name__, status=error.http_status, code=error.code)
        raise BillingUnavailable from None


def _read(subscription: stripe.Subscription) -> StripeSubscription:
    told: dict[str, Any] = subscription.to_dict()
    items: list[dict[str, Any]] = told["items"]["data"]
    # The end of the period moved from the subscription to its items with the API of 2025-03-31.
    ends = [each.get("current_period_end") or told.get("current_period_end") for each in items]
    return StripeSubscription(
        status=told["status"],
        prices=tuple(each["price"]["id"] for each in items),
        current_period_end=max((end for end in ends if end), default=None),
    )


def is_signed(secret: str, body: bytes, header: str, now: Moment) -> bool:
    """Whether a signal is Stripe's: `t=…,v1=…`, HMAC-SHA256 over `t.body`, not older than five minutes.

    The library's check asks the machine's clock; this one is told the time.
    """
    stamp = re.search(r"(?:^|,)\s*t=(\d{1,12})(?:,|$)", header)
    if stamp is None or abs(now.timestamp() - int(stamp[1])) > SIGNATURE_AGE.total_seconds():
        return False
    expected = hmac.new(secret.encode(), stamp[1].encode() + b"." + body, hashlib.sha256).hexdigest()
    given = re.findall(r"(?:^|,)\s*v1=([0-9a-f]{64})", header)
    return any(hmac.compare_digest(expected, each) for each in given)
