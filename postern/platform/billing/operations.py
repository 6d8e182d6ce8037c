"""What an account has booked and used, and booking more."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.binding import BodyInvalid
from postern.kernel.http.call import Call
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
from postern.platform.projects.quotas import PlanLimitReached, QuotaLeft, QuotaRequest, in_parallel
from postern.web.pages import PageForm, read_form, simple_page

if TYPE_CHECKING:
    from postern.world import World

EVENTS_REMEMBERED = timedelta(days=60)
"""Stripe repeats an event for three days; nothing is heard twice in twice the thirty it can be sent again by hand."""


SignatureHeader = Annotated[str | None, HeaderParameter("Stripe-Signature")]
LinkText = Annotated[str, msgspec.Meta(max_length=4_000)]


@get("/account/auth-billing", needs="billing:read", accepts=DEVELOPER_ONLY)
async def get_billing(call: Call) -> Billing:
    """Your account's plan, what it has used and what it allows.

    `usage.customers` counts the end users of all projects now; `usage.emails` the e-mails that all projects accepted
    with live credentials in this calendar month (UTC). A limit of null is none.
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
    """Book the `pro` plan: the answer is the address of a page where somebody confirms it in a browser."""
    account = await _account(call)
    if account.plan == "pro":
        raise AlreadyBooked
    purchase = Purchase(item="pro", cycle=data.billing_cycle)
    return BillingPageUrl(url=await provider_of(call.world).checkout(call, account, purchase))


@post(
    "/account/auth-billing/b2b-enhanced",
    needs="billing:write",
    accepts=DEVELOPER_ONLY,
    problems=[AlreadyBooked, NotForSale, BillingUnavailable],
    example={"billingCycle": "monthly"},
)
async def begin_b2b_checkout(call: Call, data: CheckoutRequest) -> BillingPageUrl:
    """Book the B2B addition: the answer is the address of a page where somebody confirms it in a browser."""
    account = await _account(call)
    if account.b2b_enhanced:
        raise AlreadyBooked
    purchase = Purchase(item="b2b", cycle=data.billing_cycle)
    return BillingPageUrl(url=await provider_of(call.world).checkout(call, account, purchase))


@post(
    "/account/auth-billing/portal",
    needs="billing:write",
    accepts=DEVELOPER_ONLY,
    problems=[NothingBooked, BillingUnavailable],
)
async def open_billing_portal(call: Call) -> BillingPageUrl:
    """The address of a page where what is booked is changed or cancelled."""
    account = await store.billing_account(call.db, account_id=call.account_id)
    if account is None or (account.status == "none" and not account.b2b_enhanced):
        raise NothingBooked
    return BillingPageUrl(url=await provider_of(call.world).portal(call, account))


@post(
    "/billing/stripe/events",
    public=True,
    any_query=True,
    problems=[SignatureInvalid],
    hidden=True,
)
async def receive_stripe_event(call: Call, request: RawRequest, signature: SignatureHeader = None) -> HttpResponse:
    """A signal of Stripe. It only says that something changed: a worker then asks Stripe how things stand, so that
    signals may come twice, late and in any order."""
    from postern.platform.billing.stripe_provider import is_signed

    secret = call.world.settings.stripe_webhook_secret
    body = await request.body()
    if call.world.settings.billing != "stripe" or not secret or not is_signed(secret, body, signature or "", call.now):
        raise SignatureInvalid
    event_id, event_type, customer = _read_event(body)
    async with call.db.transaction() as tx:
        forgotten = call.now - EVENTS_REMEMBERED
        if await store.record_stripe_event(
            tx, id=event_id, type=event_type, customer_ref=customer, forgotten=forgotten, now=call.now
        ):
            tx.makes_due("billing_accounts")
    return HttpResponse(to_json({"received": True}))


@get("/billing/manual/{link}", public=True, any_query=True, hidden=True)
async def manual_page(call: Call, link: LinkText) -> HttpResponse:
    """Asks to confirm a booking."""
    offer = manual.read_link(call.world, link, call.now)
    account = await store.billing_account(call.db, account_id=offer.account_id) if offer else None
    if offer is None or account is None or account.version != offer.version:
        return _invalid_link_page()
    if offer.action == "portal":
        return _portal_page(account)
    item = "the pro plan" if offer.action == "pro" else "the B2B addition"
    words = f"Book {item}, {offer.cycle}? This server takes no money: confirming is all there is to it."
    return simple_page("Confirm", words, forms=[PageForm(button="Confirm")])


@post("/billing/manual/{link}", public=True, any_query=True, hidden=True)
async def manual_form(call: Call, request: RawRequest, link: LinkText) -> HttpResponse:
    """Confirms a booking."""
    given = await read_form(request)
    offer = manual.read_link(call.world, link, call.now)
    if offer is None or not await manual.confirm(call, offer, given.get("cancel")):
        return _invalid_link_page()
    return simple_page("Done", "It counts from now on. You can close this page.")


@get("/billing/done", public=True, any_query=True, hidden=True)
async def billing_done(call: Call, cancelled: str | None = None) -> HttpResponse:
    """Where a checkout ends."""
    if cancelled:
        return simple_page("Nothing was booked", "You can close this page.")
    return simple_page("Thank you", "It counts within a minute. You can close this page.")


async def close_account(tx: Transaction, call: Call) -> None:
    """The account is being deleted: end what it has booked, in the background."""
    if await store.close(tx, account_id=call.account_id, now=call.now):
        tx.makes_due("billing_accounts")


async def quota_of_plan(db: Queries, world: "World", wanted: QuotaRequest) -> QuotaLeft | None:
    """What the plan of an account leaves; None where it sets no limit.

    In a transaction exactly so many are given out, also to requests that come at once: the last ones are counted one
    after the other.
    """
    account_id = wanted.account_id or await store.account_of(db, project_id=wanted.project_id or NO_ID)
    if account_id is None:
        return None
    account = await store.billing_account(db, account_id=account_id)
    plan = account.plan if account else "free"
    limit = getattr(_limits(world, plan), wanted.what)
    if limit is None:
        return None
    used = await _used(db, account_id, wanted)
    if isinstance(db, Transaction) and used + wanted.more + in_parallel(wanted.what) > limit:
        await store.lock_account(db, account_id=account_id)
        used = await _used(db, account_id, wanted)
    refusal = PlanLimitReached(f"The {plan} plan allows {limit} {wanted.what}; {used} are used.")
    return QuotaLeft(limit - used, refusal)


async def _used(db: Queries, account_id: UUID, wanted: QuotaRequest) -> int:
    if wanted.what == "projects":
        return await store.count_projects(db, account_id=account_id)
    usage = await store.usage(db, account_id=account_id, month=wanted.now.date().replace(day=1))
    return usage.customers if wanted.what == "customers" else usage.emails


def _limits(world: "World", plan: str) -> PlanLimits:
    return parse_limits(world.settings.plan_limits).get(plan, PlanLimits())


async def _account(call: Call) -> BillingAccount:
    provider = provider_of(call.world).name
    await store.insert_missing(call.db, account_id=call.account_id, provider=provider, now=call.now)
    return await store.set_provider(call.db, account_id=call.account_id, provider=provider)


def _read_event(body: bytes) -> tuple[str, str, str | None]:
    """An event's id and type, and the customer it is about. Raises BodyInvalid."""
    try:
        event: Any = msgspec.json.decode(body)
        about: Any = event["data"]["object"]
        customer = about["id"] if about.get("object") == "customer" else about.get("customer")
        if isinstance(customer, dict):
            customer = customer["id"]
        return str(event["id"])[:255], str(event["type"])[:255], None if customer is None else str(customer)
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError):
        raise BodyInvalid("This is no event of Stripe.") from None


def _portal_page(account: BillingAccount) -> HttpResponse:
    forms = [PageForm(button="Cancel everything", hidden={"cancel": "all"})]
    if account.b2b_enhanced:
        forms.insert(0, PageForm(button="Cancel the B2B addition", hidden={"cancel": "b2b"}))
    plan = f"Your plan is {account.plan}, {account.billing_cycle or 'without a cycle'}."
    return simple_page("What is booked", plan, forms=forms)


def _invalid_link_page() -> HttpResponse:
    words = "This link is too old, or something was confirmed since it was made. Begin again."
    return simple_page("Nothing to confirm", error=words, status=404)
