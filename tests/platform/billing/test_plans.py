"""Billing with the manual provider, usage, and the limits of plans."""

import asyncio
import re
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postern.kernel.config import SettingInvalid
from postern.kernel.values import Moment
from postern.platform.billing.model import PlanLimits, SubscriptionState
from postern.platform.billing.rules import (
    StripeSubscription,
    next_period,
    parse_limits,
    period_end,
    subscription_state_of,
)

MAIL = {"to": ["a@example.com"], "from": "a@acme.example", "subject": "Hi", "text": "Hello"}


async def billing(project) -> dict:
    return (await project.developer.get("/account/auth-billing")).json()


def path_of(response) -> str:
    assert response.status_code == 200, response.text
    return "http://postern.test/" + response.json()["url"].split("/", 3)[3]


async def test_a_plan_is_booked_on_the_confirmation_page(project, stranger, clock):
    first = await billing(project)
    assert (first["plan"], first["status"], first["billingCycle"], first["provider"]) == (
        "free",
        "none",
        None,
        "manual",
    )
    response = await project.developer.post("/account/auth-billing/checkout", {"billingCycle": "monthly"})
    path = path_of(response)
    page = await stranger.get(path)
    assert page.status_code == 200
    assert "Subscribe to the pro plan, monthly?" in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script|style=| on\w+=", page.text)
    assert (await billing(project))["plan"] == "free"  # Opening the page books nothing.
    assert (await stranger.request("POST", path)).status_code == 200
    current = await billing(project)
    assert (current["plan"], current["status"], current["billingCycle"]) == ("pro", "active", "monthly")
    assert current["currentPeriodEnd"] > clock().isoformat()
    assert (await stranger.request("POST", path)).status_code == 404  # The link works once.
    assert (await stranger.get(path)).status_code == 404


async def test_the_portal_cancels_the_plan_and_the_addition(project, stranger):
    nothing = await project.developer.post("/account/auth-billing/portal")
    assert (nothing.status_code, nothing.json()["code"]) == (409, "nothing_booked")
    for name in ("checkout", "b2b-enhanced"):
        response = await project.developer.post(f"/account/auth-billing/{name}", {"billingCycle": "yearly"})
        assert (await stranger.request("POST", path_of(response))).status_code == 200
    assert (await billing(project))["b2bEnhanced"] is True
    path = path_of(await project.developer.post("/account/auth-billing/portal"))
    assert (await stranger.request("POST", path, data={"cancel": "b2b"})).status_code == 200
    current = await billing(project)
    assert (current["plan"], current["b2bEnhanced"]) == ("pro", False)
    path = path_of(await project.developer.post("/account/auth-billing/portal"))
    for unclear in ({}, {"cancel": ""}, {"cancel": "b2c"}):
        refused = await stranger.request("POST", path, data=unclear)
        assert (refused.status_code, (await billing(project))["plan"]) == (400, "pro")
    assert (await stranger.request("POST", path, data={"cancel": "all"})).status_code == 200
    current = await billing(project)
    assert (current["plan"], current["status"]) == ("free", "cancelled")
    log = (await project.developer.get("/account/audit-log?action=billing.changed")).json()["data"]
    assert {entry["actorEmail"] for entry in log} == {project.email}
    changes = [(entry["metadata"]["plan"], entry["metadata"]["b2bEnhanced"]) for entry in log]
    assert changes == [("free", False), ("pro", False), ("pro", True), ("pro", False)]


async def test_forged_expired_and_outdated_links_are_refused(project, stranger, clock):
    response = await project.developer.post("/account/auth-billing/checkout", {"billingCycle": "monthly"})
    path = path_of(response)
    other = f"{int(path[-2:], 16) ^ 1:02x}"
    for forged in (path[:-2] + other, path[:-1], path + "00", path.rsplit("/", 1)[0] + "/zz"):
        assert (await stranger.request("POST", forged)).status_code == 404
    foreign = await stranger.request("POST", path, headers={"origin": "https://evil.example"})
    assert foreign.status_code == 403
    clock.move(timedelta(hours=1, seconds=1))
    assert (await stranger.request("POST", path)).status_code == 404


async def test_a_link_confirmed_twice_concurrently_is_applied_once(project, stranger):
    response = await project.developer.post("/account/auth-billing/checkout", {"billingCycle": "monthly"})
    responses = await asyncio.gather(*(stranger.request("POST", path_of(response)) for _ in range(5)))
    assert sorted(response.status_code for response in responses) == [200, 404, 404, 404, 404]


async def test_a_checkout_returns_to_a_page(stranger):
    for query, text in (("", "Thank you"), ("?cancelled=1", "Nothing was changed")):
        page = await stranger.get(f"http://postern.test/billing/done{query}")
        assert page.status_code == 200
        assert text in page.text


async def test_billing_requires_the_permissions_of_the_role(project, stranger, run_due_work, world):
    from tests.platform.accounts.members import AccountHelper

    account = AccountHelper(project, stranger, run_due_work, world)
    _, viewer = await account.member("VIEWER")
    assert (await viewer.get("/account/auth-billing")).status_code == 200
    for name in ("checkout", "portal", "b2b-enhanced"):
        body = {"billingCycle": "monthly"}
        assert (await viewer.post(f"/account/auth-billing/{name}", body)).status_code == 403
        assert (await project.client.post(f"/account/auth-billing/{name}", body)).status_code == 403


async def test_usage_counts_live_mail_of_the_month_and_customers(project, clock, new_project):
    other = await new_project()
    for _ in range(2):
        assert (await project.client.post("/emails", MAIL)).status_code == 201
    await project.client.post("/emails/batch", {"emails": [MAIL] * 3})
    await (await project.key(environment="TEST")).post("/emails", MAIL)
    body = {"email": "customer@example.com", "password": "a password nobody guesses"}
    key = await project.key(type="PUBLISHABLE")
    later = await project.developer.patch("", {"settings": {"signIn": {"verifyEmail": "LATER"}}})
    assert later.status_code == 200, later.text
    signed_up = await key.post(f"{project.client.base}/auth/sign-up", body)
    assert signed_up.status_code == 201, signed_up.text
    assert (await billing(project))["usage"] == {"customers": 1, "emails": 5}
    assert (await billing(other))["usage"] == {"customers": 0, "emails": 0}


@pytest.fixture
def small_limits(world):
    world.settings = msgspec.structs.replace(world.settings, plan_limits="free: projects=2 emails=3; pro: projects=4")


async def test_a_plan_limits_projects_and_a_larger_one_allows_more(project, stranger, small_limits):
    create = "http://postern.test/projects"
    assert (await billing(project))["limits"] == {"projects": 2, "customers": None, "emails": 3}
    assert (await project.developer.post(create, {"name": "Second"})).status_code == 201
    refused = await project.developer.post(create, {"name": "Third"})
    assert (refused.status_code, refused.json()["code"]) == (403, "plan_limit_reached")
    assert refused.json()["detail"] == "The free plan allows 2 projects; 2 are used. Choose a larger plan."
    response = await project.developer.post("/account/auth-billing/checkout", {"billingCycle": "monthly"})
    await stranger.request("POST", path_of(response))
    responses = await asyncio.gather(*(project.developer.post(create, {"name": str(n)}) for n in range(5)))
    assert sorted(response.status_code for response in responses) == [201, 201, 403, 403, 403]


async def test_a_plan_limits_mail_and_idempotent_retries_are_not_counted(project, small_limits, clock):
    once = {"idempotency-key": "third"}
    for _ in range(2):
        assert (await project.client.post("/emails", MAIL)).status_code == 201
    third = await project.client.post("/emails", MAIL, headers=once)
    assert third.status_code == 201
    refused = await project.client.post("/emails", MAIL)
    assert (refused.status_code, refused.json()["code"]) == (403, "plan_limit_reached")
    assert (await project.client.post("/emails/batch", {"emails": [MAIL]})).status_code == 403
    again = await project.client.post("/emails", MAIL, headers=once)
    assert (again.status_code, again.json()["id"]) == (201, third.json()["id"])
    assert (await (await project.key(environment="TEST")).post("/emails", MAIL)).status_code == 201


async def test_no_limits_apply_without_plan_limits(project):
    assert (await billing(project))["limits"] == {"projects": None, "customers": None, "emails": None}


REFUSED = (403, "plan_limit_reached")


def status_and_code(response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def set_limits(world, limits: str) -> None:
    world.settings = msgspec.structs.replace(world.settings, plan_limits=limits)


async def test_the_limit_of_customers_is_exact_for_concurrent_requests(project, world):
    set_limits(world, "free: customers=4")
    path = "/customers"
    assert (await project.client.post(path, {"email": "a@example.com"})).status_code == 201
    import_body = {"customers": [{"email": f"{name}@example.com"} for name in "abcdef"]}
    responses = await asyncio.gather(
        *(project.client.post(path, {"email": f"more{n}@example.com"}) for n in range(6)),
        project.client.post("/customers/import", import_body),
    )
    imported = responses.pop().json()
    created_singly = sum(response.status_code == 201 for response in responses)
    assert {status_and_code(response) for response in responses if response.status_code != 201} <= {REFUSED}
    assert created_singly + imported["created"] == 3, "the first customer counts, too"
    assert imported["created"] + imported["skipped"] + imported["failed"] == 6
    assert {fault["code"] for fault in imported["faults"]} <= {"plan_limit_reached"}
    usage = (await billing(project))["usage"]
    assert usage["customers"] == 4


async def test_sign_up_at_the_limit_is_refused_and_reveals_no_accounts(project, stranger, world, run_due_work):
    auth = f"{project.client.base}/auth/sign-up"
    known = {"email": "ada@example.com", "password": "a password nobody guesses"}
    await project.client.post("/customers", {**known, "emailVerified": True})
    new = {**known, "email": "grace@example.com"}
    requested = await stranger.post(auth, new)
    assert requested.status_code == 201, "the limit is not reached yet"
    await run_due_work()
    mails = (await project.client.get("/inbox?q=grace@example.com")).json()["data"]
    text = re.search(r"\b\d{6}\b", (await project.developer.get(f"/inbox/{mails[0]['id']}")).json()["text"])
    set_limits(world, "free: customers=1")
    responses = [await stranger.post(auth, body) for body in (known, new)]
    assert [status_and_code(response) for response in responses] == [REFUSED, REFUSED]
    assert responses[0].json()["detail"] == "The free plan allows 1 customers; 1 are used. Choose a larger plan."
    late = {"challengeId": requested.json()["challengeId"], "code": text[0]}
    assert status_and_code(await stranger.post(f"{auth}/verify", late)) == REFUSED
    signed_in = await stranger.post(f"{project.client.base}/auth/sign-in", known)
    assert signed_in.status_code == 200, "existing customers can sign in"
    await project.developer.patch("", {"settings": {"signIn": {"verifyEmail": "LATER"}}})
    assert status_and_code(await stranger.post(auth, new)) == REFUSED
    set_limits(world, "free: customers=2")
    assert (await stranger.post(f"{auth}/verify", late)).status_code == 200


async def test_a_campaign_that_exceeds_the_plan_does_not_start(project, world, run_due_work, clock):
    from tests.messaging.campaigns.test_campaigns import create_campaign, get_campaign, request_action

    campaign, _ = await create_campaign(project, 4)
    set_limits(world, "free: emails=3")
    refused = await request_action(project, campaign, "send")
    assert status_and_code(refused) == REFUSED
    assert refused.json()["detail"] == "The free plan allows 3 emails; 0 are used. Choose a larger plan."
    assert (await get_campaign(project, campaign))["status"] == "DRAFT"
    later = (clock() + timedelta(minutes=5)).isoformat()
    await project.client.patch(f"/campaigns/{campaign['id']}", {"scheduledAt": later})
    assert (await request_action(project, campaign, "send")).status_code == 200, (
        "the limit is checked when the campaign starts"
    )
    clock.move(timedelta(minutes=5))
    await run_due_work()
    failed = await get_campaign(project, campaign)
    assert failed["status"] == "FAILED"
    assert (await billing(project))["usage"]["emails"] == 0
    again, _ = await create_campaign(project, 4)
    set_limits(world, "free: emails=4")
    assert (await request_action(project, again, "send")).status_code == 200
    await run_due_work()
    assert (await get_campaign(project, again))["status"] == "SENT"
    assert (await billing(project))["usage"]["emails"] == 4
    assert status_and_code(await project.client.post("/emails", MAIL)) == REFUSED


async def test_mail_of_automations_is_counted_and_stops_at_the_limit(project, world, run_due_work):
    content = {"name": "Welcome", "subject": "Hello", "html": "<p>Hello</p>"}
    template = (await project.client.post("/templates", content)).json()["id"]
    step = {"type": "SEND_EMAIL", "templateId": template, "fromEmail": "hello@example.org"}
    body = {"name": "Welcome", "trigger": {"type": "CONTACT_CREATED"}, "steps": [step]}
    automation = (await project.client.post("/automations", body)).json()["id"]
    started = await project.client.patch(f"/automations/{automation}/active", {"active": True})
    assert started.status_code == 200, started.text
    set_limits(world, "free: emails=2")
    for name in "abc":
        await project.client.post("/contacts", {"email": f"{name}@example.com"})
    await run_due_work()
    runs = (await project.client.get(f"/automations/{automation}/runs")).json()
    assert sorted(run["status"] for run in runs) == ["COMPLETED", "COMPLETED", "FAILED"]
    (failed,) = [run for run in runs if run["status"] == "FAILED"]
    assert failed["error"].startswith("The free plan allows 2 emails;")
    assert (await billing(project))["usage"]["emails"] == 2


def test_invalid_plan_limits_are_refused():
    assert parse_limits("free: projects=3 emails=10000; pro: emails=5") == {
        "free": PlanLimits(projects=3, emails=10_000),
        "pro": PlanLimits(emails=5),
    }
    assert parse_limits(None) == parse_limits("  ") == {}
    for text in ("gold: emails=1", "free: colour=1", "free: emails=-1", "free emails=1", "free: emails=many"):
        with pytest.raises(SettingInvalid):
            parse_limits(text)


MOMENTS = st.integers(1_577_836_800, 3_786_912_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))


@given(MOMENTS, st.sampled_from(["monthly", "yearly"]))
def test_billing_periods_never_skip_a_month(start, cycle):
    end = next_period(start, cycle)
    months = (end.year - start.year) * 12 + end.month - start.month
    assert months == (12 if cycle == "yearly" else 1)
    assert end.day == start.day or end.day < start.day <= 31
    later = Moment.of(start + timedelta(days=800))
    assert period_end(Moment.of(start), cycle, later) > later


PRICES = {"m": ("pro", "monthly"), "y": ("pro", "yearly"), "b": ("b2b", "monthly")}


@pytest.mark.parametrize(
    ("subscriptions", "state"),
    [
        ([], SubscriptionState()),
        ([("canceled", "m")], SubscriptionState(status="cancelled")),
        ([("active", "m"), ("canceled", "y")], SubscriptionState(plan="pro", billing_cycle="monthly", status="active")),
        (
            [("canceled", "y"), ("trialing", "m")],
            SubscriptionState(plan="pro", billing_cycle="monthly", status="active"),
        ),
        ([("past_due", "y")], SubscriptionState(plan="pro", billing_cycle="yearly", status="past_due")),
        ([("active", "b")], SubscriptionState(b2b_enhanced=True)),
        ([("canceled", "b")], SubscriptionState()),
        ([("incomplete", "m")], SubscriptionState()),
        ([("active", "unknown"), ("a new state", "m")], SubscriptionState()),
    ],
)
def test_subscriptions_are_combined_into_a_state(subscriptions, state):
    stripe_subscriptions = [
        StripeSubscription(status=status, prices=(price,), current_period_end=None) for status, price in subscriptions
    ]
    assert subscription_state_of(stripe_subscriptions, PRICES) == state
