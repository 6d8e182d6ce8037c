"""HTTP operations on billing, the webhook of Stripe, and the limits of plans."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.handler import BodyInvalid
from postern.kernel.http.operation import DEVELOPER_ONLY, HeaderParameter, RawRequest, get, post
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import NO_ID, to_json
from postern.platform.billing import manual, store
from postern.platform.billing.model import (
    AlreadyBooked,
    Billing,
    BillingAccount,
    BillingPageUrl,
    BillingUnavailable,
    CheckoutRequest,
    NotForSale,
    NothingBooked,
    PlanLimits,
    Purchase,
    SignatureInvalid,
)
from postern.platform.billing.providers import provider_of
from postern.platform.billing.rules import parse_limits, period_end
from postern.platform.projects.quotas import PlanLimitReached, QuotaLeft, QuotaRequest, max_concurrent
from postern.web.pages import PageForm, read_form, simple_page

if TYPE_CHECKING:
    from postern.world import World

EVENTS_KEPT = timedelta(days=60)
"""How long ids of Stripe events are kept to detect repeated events. Stripe retries an event for 3 days, and lets its
users resend it for 30 days."""


SignatureHeader = Annotated[str | None, HeaderParameter("Stripe-Signature")]
LinkText = Annotated[str, msgspec.Meta(max_length=4_000)]


@get("/account/auth-billing", needs="billing:read", accepts=DEVELOPER_ONLY)
async def get_billing(call: Call) -> Billing:
    """Get the plan of your account, its usage and its limits.

    `usage.customers` is the current number of end users in all projects; `usage.emails` the number of e-mails that all
    projects accepted with live credentials in this calendar month (UTC). A limit of null means no limit.
    """
    account = await store.billing_account(call.db, account_id=call.account_id)
    usage = await store.usage(call.db, account_id=call.account_id, month=call.now.date().replace(day=1))
    provider = provider_of(call.world).name
    plan = account.plan if account else "free"
    end = account.current_period_end if account else None
    if account is not None and provider == "manual":
        end = period_end(end, account.billing_cycle, call.now)
    return Billing(
        plan=plan,
        billing_cycle=account.billing_cycle if account else None,
        status=account.status if account else "none",
        current_period_end=end,
        b2b_enhanced=account.b2b_enhanced if account else False,
        usage=usage,
        limits=_limits(call.world, plan),
        provider=provider,
    )


@post(
    "/account/auth-billing/checkout",
    needs="billing:write",
    accepts=DEVELOPER_ONLY,
    problems=[AlreadyBooked, NotForSale, BillingUnavailable],
    example={"billingCycle": "monthly"},
)
async def begin_checkout(call: Call, data: CheckoutRequest) -> BillingPageUrl:
    """Start the checkout of the `pro` plan. Open the returned URL in a browser to confirm it."""
    return await _begin_checkout(call, Purchase(item="pro", cycle=data.billing_cycle))


@post(
    "/account/auth-billing/b2b-enhanced",
    needs="billing:write",
    accepts=DEVELOPER_ONLY,
    problems=[AlreadyBooked, NotForSale, BillingUnavailable],
    example={"billingCycle": "monthly"},
)
async def begin_b2b_checkout(call: Call, data: CheckoutRequest) -> BillingPageUrl:
    """Start the checkout of the B2B add-on. Open the returned URL in a browser to confirm it."""
    return await _begin_checkout(call, Purchase(item="b2b", cycle=data.billing_cycle))


async def _begin_checkout(call: Call, purchase: Purchase) -> BillingPageUrl:
    account = await _get_or_create_account(call)
    if account.b2b_enhanced if purchase.item == "b2b" else account.plan == "pro":
        raise AlreadyBooked
    return BillingPageUrl(url=await provider_of(call.world).checkout(call, account, purchase))


@post(
    "/account/auth-billing/portal",
    needs="billing:write",
    accepts=DEVELOPER_ONLY,
    problems=[NothingBooked, BillingUnavailable],
)
async def open_billing_portal(call: Call) -> BillingPageUrl:
    """Get the URL of the billing portal, where the subscription is changed or cancelled in a browser."""
    account = await store.billing_account(call.db, account_id=call.account_id)
    if account is None or (account.status == "none" and not account.b2b_enhanced):
        raise NothingBooked
    return BillingPageUrl(url=await provider_of(call.world).portal(call, account))


@post(
    "/billing/stripe/events",
    public=True,
    ignore_unknown_query=True,
    problems=[SignatureInvalid],
    hidden=True,
)
async def receive_stripe_event(call: Call, request: RawRequest, signature: SignatureHeader = None) -> HttpResponse:
    """Receive a webhook event of Stripe.

    The event only wakes a worker, which reads the customer's subscriptions from Stripe. So events can arrive twice,
    late and in any order.
    """
    secret = call.world.settings.stripe_webhook_secret
    body = await request.body()
    if call.world.settings.billing != "stripe" or not secret:
        raise SignatureInvalid
    # Stripe's library is an optional part of an installation.
    from postern.platform.billing.stripe_provider import is_signed

    if not is_signed(secret, body, signature or "", call.now):
        raise SignatureInvalid
    event_id, event_type, customer = _read_event(body)
    async with call.db.transaction() as tx:
        expired_before = call.now - EVENTS_KEPT
        if await store.record_stripe_event(
            tx, id=event_id, type=event_type, customer_ref=customer, expired_before=expired_before, now=call.now
        ):
            tx.mark_due("billing_accounts")
    return HttpResponse(to_json({"received": True}))


@get("/billing/manual/{link}", public=True, ignore_unknown_query=True, hidden=True)
async def manual_page(call: Call, link: LinkText) -> HttpResponse:
    """Show the page that asks to confirm a change of plan."""
    confirmation = manual.read_link(call.world, link, call.now)
    account = await store.billing_account(call.db, account_id=confirmation.account_id) if confirmation else None
    if confirmation is None or account is None or account.version != confirmation.version:
        return _invalid_link_page()
    if confirmation.action == "portal":
        return _portal_page(account)
    item = "the pro plan" if confirmation.action == "pro" else "the B2B add-on"
    text = f"Subscribe to {item}, {confirmation.cycle}? This server does not charge money: you only need to confirm."
    return simple_page("Confirm", text, forms=[PageForm(button="Confirm")])


@post("/billing/manual/{link}", public=True, ignore_unknown_query=True, hidden=True)
async def manual_form(call: Call, request: RawRequest, link: LinkText) -> HttpResponse:
    """Apply a confirmed change of plan."""
    form = await read_form(request)
    confirmation = manual.read_link(call.world, link, call.now)
    if confirmation is None or not await manual.confirm(call, confirmation, form.get("cancel")):
        return _invalid_link_page()
    return simple_page("Done", "Your plan was changed. You can close this page.")


@get("/billing/done", public=True, ignore_unknown_query=True, hidden=True)
async def billing_done(call: Call, cancelled: str | None = None) -> HttpResponse:
    """Show the page to which the browser returns from Stripe's checkout and portal."""
    if cancelled:
        return simple_page("Nothing was changed", "You can close this page.")
    return simple_page("Thank you", "Your plan is updated within a minute. You can close this page.")


async def close_account(tx: Transaction, call: Call) -> None:
    """Schedule the end of billing for the call's account, which is being deleted: a worker cancels all subscriptions of
    the account and deletes its billing data."""
    if await store.mark_closing(tx, account_id=call.account_id, now=call.now):
        tx.mark_due("billing_accounts")


async def quota_of_plan(db: Queries, world: "World", request: QuotaRequest) -> QuotaLeft | None:
    """Return how many more records or e-mails the plan of an account allows, and the problem to raise beyond that.

    Returns None if the plan sets no limit, or if the project does not exist.

    In a transaction the limit is exact also for concurrent requests: near the limit, this locks the account until the
    transaction ends, so that they count one after the other.
    """
    account_id = request.account_id or await store.account_of(db, project_id=request.project_id or NO_ID)
    if account_id is None:
        return None
    account = await store.billing_account(db, account_id=account_id)
    plan = account.plan if account else "free"
    limit = getattr(_limits(world, plan), request.what)
    if limit is None:
        return None
    used = await _count_used(db, account_id, request)
    # Concurrent requests may have created up to `max_concurrent` records that are not visible here.
    if isinstance(db, Transaction) and used + request.more + max_concurrent(request.what) > limit:
        await store.lock_account(db, account_id=account_id)
        used = await _count_used(db, account_id, request)
    refusal = PlanLimitReached(f"The {plan} plan allows {limit} {request.what}; {used} are used. Choose a larger plan.")
    return QuotaLeft(limit - used, refusal)


async def _count_used(db: Queries, account_id: UUID, request: QuotaRequest) -> int:
    if request.what == "projects":
        return await store.count_projects(db, account_id=account_id)
    usage = await store.usage(db, account_id=account_id, month=request.now.date().replace(day=1))
    return usage.customers if request.what == "customers" else usage.emails


def _limits(world: "World", plan: str) -> PlanLimits:
    return parse_limits(world.settings.plan_limits).get(plan, PlanLimits())


async def _get_or_create_account(call: Call) -> BillingAccount:
    provider = provider_of(call.world).name
    await store.insert_billing_account(call.db, account_id=call.account_id, provider=provider, now=call.now)
    return await store.set_provider(call.db, account_id=call.account_id, provider=provider)


def _read_event(body: bytes) -> tuple[str, str, str | None]:
    """Return the id and type of a Stripe event, and the id of the customer it concerns. Raises BodyInvalid."""
    try:
        event: Any = msgspec.json.decode(body)
        stripe_object: Any = event["data"]["object"]
        customer = stripe_object["id"] if stripe_object.get("object") == "customer" else stripe_object.get("customer")
        if isinstance(customer, dict):
            customer = customer["id"]
        return str(event["id"])[:255], str(event["type"])[:255], None if customer is None else str(customer)
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError):
        raise BodyInvalid("The body is not a Stripe event.") from None


def _portal_page(account: BillingAccount) -> HttpResponse:
    forms = [PageForm(button="Cancel everything", hidden={"cancel": "all"})]
    if account.b2b_enhanced:
        forms.insert(0, PageForm(button="Cancel the B2B add-on", hidden={"cancel": "b2b"}))
    cycle = f", paid {account.billing_cycle}" if account.billing_cycle else ""
    return simple_page("Your plan", f"You have the {account.plan} plan{cycle}.", forms=forms)


def _invalid_link_page() -> HttpResponse:
    message = "This link has expired, or your plan was changed after it was created. Start the checkout again."
    return simple_page("This link is not valid", error=message, status=404)
