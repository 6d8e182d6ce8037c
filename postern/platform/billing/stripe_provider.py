"""The payment provider Stripe. The row in `billing_accounts` is a copy of the subscriptions at Stripe, updated after
each event."""

import hashlib
import hmac
import re
from collections.abc import Awaitable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import stripe
import structlog

from postern.kernel.http.call import Call
from postern.kernel.values import Moment
from postern.platform.billing import store
from postern.platform.billing.model import (
    BillingAccount,
    BillingUnavailable,
    Cycle,
    NotForSale,
    Purchase,
    SubscriptionState,
)
from postern.platform.billing.rules import StripeSubscription, subscription_state_of

if TYPE_CHECKING:
    from postern.world import World

T = TypeVar("T")
log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

TIMEOUT = timedelta(seconds=30)
"""Maximum duration of one request to Stripe."""
MAX_SIGNATURE_AGE = timedelta(minutes=5)
"""Maximum age of a webhook signature, as Stripe recommends against replay attacks."""
MAX_SUBSCRIPTIONS = 100
"""Maximum number of subscriptions of one customer that are read."""


class StripeProvider:
    """The BillingProvider of POSTERN_BILLING=stripe. Each method raises BillingUnavailable if Stripe cannot be reached
    or refuses the request."""

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
        item_to_buy = (purchase.item, purchase.cycle)
        price = next((price for price, item_and_cycle in self._prices().items() if item_and_cycle == item_to_buy), None)
        if price is None:
            raise NotForSale
        account = await self._with_customer(call, account)
        return_url = f"{self._world.settings.public_url}/billing/done"
        params: Any = {
            "mode": "subscription",
            "customer": account.customer_ref,
            "client_reference_id": str(account.account_id),
            "line_items": [{"price": price, "quantity": 1}],
            "success_url": return_url,
            "cancel_url": f"{return_url}?cancelled=1",
            "subscription_data": {"metadata": {"account": str(account.account_id), "item": purchase.item}},
        }
        session = await _request(self._client.v1.checkout.sessions.create_async(params=params))
        return session.url or return_url

    async def portal(self, call: Call, account: BillingAccount) -> str:
        account = await self._with_customer(call, account)
        params: Any = {
            "customer": account.customer_ref,
            "return_url": f"{self._world.settings.public_url}/billing/done",
        }
        return (await _request(self._client.v1.billing_portal.sessions.create_async(params=params))).url

    async def subscription_state(self, account: BillingAccount) -> SubscriptionState | None:
        if account.customer_ref is None:
            return None
        subscriptions = await self._subscriptions(account.customer_ref)
        return subscription_state_of([_to_subscription(subscription) for subscription in subscriptions], self._prices())

    async def cancel_all(self, account: BillingAccount) -> None:
        if account.customer_ref is None:
            return
        for subscription in await self._subscriptions(account.customer_ref):
            if subscription.status not in ("canceled", "incomplete_expired"):
                await _request(self._client.v1.subscriptions.cancel_async(subscription.id))

    async def aclose(self) -> None:
        await self._http.close_async()

    async def _with_customer(self, call: Call, account: BillingAccount) -> BillingAccount:
        """Return the account with a Stripe customer, which is created if missing. If concurrent requests each create
        one, the first that is stored is used."""
        if account.customer_ref is not None:
            return account
        email = call.caller.actor_label or ""  # A signed-in developer's address.
        params: Any = {"email": email, "metadata": {"account": str(account.account_id)}}
        # Stripe rejects an idempotency key that is repeated with other parameters, so the key contains the email
        # address. A second customer, created for another address, is not stored and never charged.
        email_hash = hashlib.sha256(email.encode()).hexdigest()[:16]
        options: Any = {"idempotency_key": f"postern-account-{account.account_id}-{email_hash}"}
        customer = await _request(self._client.v1.customers.create_async(params=params, options=options))
        return await store.set_stripe_customer(
            call.db, account_id=account.account_id, customer_ref=customer.id, now=call.now
        )

    async def _subscriptions(self, customer: str) -> list[stripe.Subscription]:
        params: Any = {"customer": customer, "status": "all", "limit": MAX_SUBSCRIPTIONS}
        return (await _request(self._client.v1.subscriptions.list_async(params=params))).data

    def _prices(self) -> dict[str, tuple[str, Cycle]]:
        """The item and cycle of each configured Stripe price, keyed by the id of the price."""
        settings = self._world.settings
        configured: list[tuple[str | None, tuple[str, Cycle]]] = [
            (settings.stripe_price_monthly, ("pro", "monthly")),
            (settings.stripe_price_yearly, ("pro", "yearly")),
            (settings.stripe_price_b2b_monthly, ("b2b", "monthly")),
            (settings.stripe_price_b2b_yearly, ("b2b", "yearly")),
        ]
        return {price: item_and_cycle for price, item_and_cycle in configured if price}


async def _request(request: Awaitable[T]) -> T:
    """Await a request to Stripe. Raises BillingUnavailable if it fails, and logs the reason."""
    try:
        return await request
    except stripe.StripeError as error:
        log.warning("stripe_failed", error=type(error).__name__, status=error.http_status, code=error.code)
        raise BillingUnavailable from None


def _to_subscription(subscription: stripe.Subscription) -> StripeSubscription:
    fields: dict[str, Any] = subscription.to_dict()
    items: list[dict[str, Any]] = fields["items"]["data"]
    # API version 2025-03-31 moved current_period_end from the subscription to its items.
    ends = [item.get("current_period_end") or fields.get("current_period_end") for item in items]
    return StripeSubscription(
        status=fields["status"],
        prices=tuple(item["price"]["id"] for item in items),
        current_period_end=max((end for end in ends if end), default=None),
    )


def is_signed(secret: str, body: bytes, header: str, now: Moment) -> bool:
    """Whether a `Stripe-Signature` header is valid: `t=…,v1=…`, with an HMAC-SHA256 of the time, a dot and the body;
    the time is at most 5 minutes from `now`.

    The check of Stripe's library is not used, because it reads the system clock, which tests cannot move.
    """
    timestamp = re.search(r"(?:^|,)\s*t=(\d{1,12})(?:,|$)", header)
    if timestamp is None or abs(now.timestamp() - int(timestamp[1])) > MAX_SIGNATURE_AGE.total_seconds():
        return False
    expected = hmac.new(secret.encode(), timestamp[1].encode() + b"." + body, hashlib.sha256).hexdigest()
    signatures = re.findall(r"(?:^|,)\s*v1=([0-9a-f]{64})", header)
    return any(hmac.compare_digest(expected, signature) for signature in signatures)
