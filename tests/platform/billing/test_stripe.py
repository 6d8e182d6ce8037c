"""Billing with Stripe, against a fake of its documented API."""

import asyncio
from datetime import timedelta

import msgspec
import pytest

from tests.conftest import PASSWORD
from tests.peers.stripe_api import KEY, WEBHOOK_SECRET, StripeApi, event, signature, stripe_api
from tests.platform.accounts.members import AccountHelper


@pytest.fixture
async def stripe():
    async with stripe_api() as api:
        yield api


@pytest.fixture
def settings(settings, stripe):
    return msgspec.structs.replace(
        settings,
        billing="stripe",
        stripe_secret_key=KEY,
        stripe_webhook_secret=WEBHOOK_SECRET,
        stripe_api=stripe.url,
        stripe_price_monthly="price_m",
        stripe_price_yearly="price_y",
        stripe_price_b2b_monthly="price_b",
    )


async def billing(project) -> dict:
    return (await project.developer.get("/account/auth-billing")).json()


async def send_event(stranger, clock, body: bytes, **more):
    headers = {"stripe-signature": signature(body, clock().timestamp(), **more), "content-type": "application/json"}
    return await stranger.request("POST", "http://postern.test/billing/stripe/events", content=body, headers=headers)


async def customer_of(project, stripe: StripeApi) -> str:
    response = await project.developer.post("/account/auth-billing/checkout", {"billingCycle": "yearly"})
    assert response.status_code == 200, response.text
    assert response.json() == {"url": "https://checkout.stripe.com/c/pay/price_y"}
    return list(stripe.customers)[-1]


async def test_from_checkout_to_cancellation(project, stripe, stranger, clock, run_due_work):
    customer = await customer_of(project, stripe)
    assert (await billing(project))["plan"] == "free"
    subscription = stripe.subscribe(customer, "price_y")
    response = await send_event(
        stranger, clock, event("evt_1" + customer, "customer.subscription.created", subscription)
    )
    assert (response.status_code, response.json()) == (200, {"received": True})
    await run_due_work()
    current = await billing(project)
    assert (current["plan"], current["billingCycle"], current["status"], current["provider"]) == (
        "pro",
        "yearly",
        "active",
        "stripe",
    )
    assert current["currentPeriodEnd"] == "2030-03-17T17:46:40.000Z"
    again = await project.developer.post("/account/auth-billing/checkout", {"billingCycle": "monthly"})
    assert (again.status_code, again.json()["code"]) == (409, "already_booked")
    portal = await project.developer.post("/account/auth-billing/portal")
    assert portal.json() == {"url": f"https://billing.stripe.com/p/{customer}"}
    subscription["status"] = "past_due"
    await send_event(stranger, clock, event("evt_2" + customer, "invoice.payment_failed", {"customer": customer}))
    await run_due_work()
    assert [(await billing(project))[name] for name in ("plan", "status")] == ["pro", "past_due"]
    subscription["status"] = "canceled"
    await send_event(stranger, clock, event("evt_3" + customer, "customer.subscription.deleted", subscription))
    await run_due_work()
    ended = await billing(project)
    assert (ended["plan"], ended["status"], ended["billingCycle"]) == ("free", "cancelled", None)


async def test_the_b2b_addition_is_a_separate_subscription(project, stripe, stranger, clock, run_due_work):
    response = await project.developer.post("/account/auth-billing/b2b-enhanced", {"billingCycle": "monthly"})
    assert response.json()["url"].endswith("price_b")
    (customer,) = stripe.customers
    stripe.subscribe(customer, "price_b")
    await send_event(stranger, clock, event("evt_b" + customer, "checkout.session.completed", {"customer": customer}))
    await run_due_work()
    current = await billing(project)
    assert (current["b2bEnhanced"], current["plan"]) == (True, "free")
    unpriced = await project.developer.post("/account/auth-billing/checkout", {"billingCycle": "weekly"})
    assert unpriced.status_code == 400


async def test_an_item_without_a_price_is_not_for_sale(project, stripe):
    response = await project.developer.post("/account/auth-billing/b2b-enhanced", {"billingCycle": "yearly"})
    assert (response.status_code, response.json()["code"]) == (409, "not_for_sale")


async def test_a_repeated_event_is_processed_once(project, stripe, stranger, clock, run_due_work):
    customer = await customer_of(project, stripe)
    body = event("evt_twice" + customer, "customer.subscription.created", stripe.subscribe(customer, "price_m"))
    await asyncio.gather(*(send_event(stranger, clock, body) for _ in range(5)))
    await run_due_work()
    request_count = len(stripe.asked)
    assert (await billing(project))["plan"] == "pro"
    assert (await send_event(stranger, clock, body)).status_code == 200
    await run_due_work()
    assert len(stripe.asked) == request_count


async def test_the_order_of_events_does_not_matter(project, stripe, stranger, clock, run_due_work):
    """`deleted` arrives first and `created` last, with an old state: only the current state at Stripe counts."""
    customer = await customer_of(project, stripe)
    subscription = stripe.subscribe(customer, "price_m")
    created = event("evt_old" + customer, "customer.subscription.created", subscription)
    subscription["status"] = "canceled"
    await send_event(stranger, clock, event("evt_new" + customer, "customer.subscription.deleted", subscription))
    await send_event(stranger, clock, created)
    await run_due_work()
    assert (await billing(project))["status"] == "cancelled"


async def test_an_event_during_the_request_to_stripe_is_not_lost(project, stripe, stranger, clock, run_due_work):
    """If the state changes while Stripe's response is on its way, the response is ignored and the request repeated."""
    customer = await customer_of(project, stripe)
    subscription = stripe.subscribe(customer, "price_m")
    request_count = 0

    async def cancel_during_request(method: str, path: str) -> None:
        nonlocal request_count
        request_count += 1
        if request_count == 1:
            subscription["status"] = "canceled"
            body = event("evt_during" + customer, "customer.subscription.deleted", subscription)
            assert (await send_event(stranger, clock, body)).status_code == 200

    await send_event(stranger, clock, event("evt_first" + customer, "customer.subscription.created", subscription))
    stripe.before_answer = cancel_during_request
    await run_due_work()
    assert request_count == 2
    assert (await billing(project))["status"] == "cancelled"


async def test_forged_and_expired_events_are_refused(project, stripe, stranger, clock, run_due_work):
    customer = await customer_of(project, stripe)
    body = event("evt_x" + customer, "customer.subscription.created", stripe.subscribe(customer, "price_m"))
    old = signature(body, clock().timestamp() - 301)
    forged = signature(body, clock().timestamp(), "whsec_other")
    for header in (None, "", "t=1", "t=x,v1=y", old, forged, signature(b"{}", clock().timestamp())):
        headers = {"content-type": "application/json"} | ({} if header is None else {"stripe-signature": header})
        response = await stranger.request(
            "POST", "http://postern.test/billing/stripe/events", content=body, headers=headers
        )
        assert (response.status_code, response.json()["code"]) == (400, "signature_invalid")
    await run_due_work()
    assert (await billing(project))["plan"] == "free"
    for nonsense in (b"[]", b"{}", b"x", b'{"id": 1, "type": 2, "data": {"object": null}}'):
        assert (await send_event(stranger, clock, nonsense)).status_code == 400


async def test_an_event_of_an_unknown_customer_is_ignored(project, stripe, stranger, clock):
    assert (await send_event(stranger, clock, event("evt_else", "x", {"customer": "cus_else"}))).status_code == 200


async def test_requests_to_stripe_are_retried_after_an_outage(project, stripe, stranger, clock, run_due_work):
    customer = await customer_of(project, stripe)
    stripe.subscribe(customer, "price_m")
    stripe.down = True
    refused = await project.developer.post("/account/auth-billing/checkout", {"billingCycle": "monthly"})
    assert (refused.status_code, refused.json()["code"]) == (503, "billing_unavailable")
    assert refused.headers["retry-after"]
    await send_event(
        stranger, clock, event("evt_down" + customer, "customer.subscription.created", {"customer": customer})
    )
    await run_due_work()
    assert (await billing(project))["plan"] == "free"
    stripe.down = False
    clock.move(timedelta(minutes=5))
    await run_due_work()
    assert (await billing(project))["plan"] == "pro"


async def test_concurrent_checkouts_create_one_customer(project, stripe):
    body = {"billingCycle": "monthly"}
    responses = await asyncio.gather(
        *(project.developer.post("/account/auth-billing/checkout", body) for _ in range(4))
    )
    assert {response.status_code for response in responses} == {200}
    assert len(stripe.customers) == 1


async def test_concurrent_checkouts_of_two_members_both_succeed(project, stranger, stripe, run_due_work, world):
    account = AccountHelper(project, stranger, run_due_work, world)
    _, grace = await account.member("ADMIN")
    body = {"billingCycle": "monthly"}
    responses = await asyncio.gather(
        *(client.post("/account/auth-billing/checkout", body) for client in (account.owner, grace))
    )
    assert [response.status_code for response in responses] == [200, 200], [response.text for response in responses]
    assert len({session["customer"] for session in stripe.sessions}) == 1


async def test_deleting_an_account_cancels_its_subscriptions(project, stranger, stripe, clock, run_due_work, world):
    customer = await customer_of(project, stripe)
    subscription = stripe.subscribe(customer, "price_m")
    stripe.down = True
    account = AccountHelper(project, stranger, run_due_work, world)
    assert (await account.owner.delete("/account", {"password": PASSWORD})).status_code == 200
    await run_due_work()
    assert subscription["status"] == "active"
    stripe.down = False
    clock.move(timedelta(minutes=5))
    await run_due_work()
    assert subscription["status"] == "canceled"
    async with world.db.connection() as connection:
        rows = await connection.execute("select 1 from billing_accounts where customer_ref = %s", (customer,))
        assert await rows.fetchone() is None
