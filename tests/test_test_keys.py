"""No request with a TEST key makes real mail leave, directly or by what it causes later."""

import asyncio
import json
from collections import Counter
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from postern.identity.organizations.rules import invitation_token
from tests.conftest import Client
from tests.messaging.automations.conftest import create_automation, email_step, read_runs, settings, template
from tests.messaging.campaigns.test_campaigns import create_campaign
from tests.messaging.domains.test_domains import publish
from tests.peers.smtp_sink import Behaviour, Sink

__all__ = ["create_automation", "email_step", "read_runs", "settings", "template"]
WAIT = {
    "type": "WAIT_FOR_EVENT",
    "event": "order.paid",
    "timeout": {"hours": 1},
    "then": [],
    "else": [{"type": "EXIT"}],
}


@pytest.fixture
async def sink():
    async with Sink() as sink:
        yield sink


@pytest.fixture
async def project(project, zone, sink):
    """A project with the verified domain example.org that sends through the sink."""
    domain = (await project.client.post("/domains", {"domain": "example.org"})).json()
    publish(zone, domain)
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
    settings = {"transport": "relay", "relays": relays, "signIn": {"mailFrom": "login@example.org"}}
    changed = await project.developer.patch("", {"settings": settings})
    assert changed.status_code == 200, changed.text
    return project


@pytest.fixture
async def test_client(project):
    return await project.key(environment="TEST")


async def captured(project):
    """The recipients in the inbox, sorted, when no message is being delivered in the background any more."""
    while (await project.client.get("/emails/logs?status=QUEUED")).json()["data"]:
        await asyncio.sleep(0.01)
    messages = (await project.client.get("/inbox?limit=100")).json()["data"]
    return sorted(recipient for message in messages for recipient in message["recipients"])


def refused(response):
    return response.status_code == 403 and response.json()["code"] == "live_key_required"


async def test_automations_that_a_test_key_starts_send_captured_mail(
    project, test_client, sink, email_step, create_automation, run_due_work
):
    audience = (await project.client.post("/audiences", {"name": "Buyers"})).json()["id"]
    rules = {"conditions": [{"field": "attributes.vip", "operator": "eq", "value": True}]}
    dynamic = (await project.client.post("/audiences", {"name": "Vips", "rules": rules})).json()["id"]
    add, update = {"type": "ADD_TO_AUDIENCE", "audienceId": audience}, {"type": "UPDATE_CONTACT"}
    await create_automation({"type": "EVENT", "event": "order.placed", "once": False}, email_step("Thanks"), add)
    await create_automation({"type": "CONTACT_CREATED"}, email_step("Hello"))
    await create_automation(
        {"type": "AUDIENCE_JOINED", "audienceId": audience},
        email_step("Joined"),
        {**update, "attributes": {"vip": True}},
    )
    await create_automation({"type": "AUDIENCE_JOINED", "audienceId": dynamic}, email_step("Vip"))
    event = {"name": "order.placed", "email": "ada@example.com"}
    assert (await test_client.post("/events", event)).status_code == 201
    contact = {"email": "bob@example.com", "attributes": {"vip": True}}
    assert (await test_client.post("/contacts", contact)).status_code == 201
    csv = b"email\ncsv@example.com\n"
    imported = await test_client.post("/contacts/import", content=csv, headers={"content-type": "text/csv"})
    assert imported.status_code in (200, 201, 202), imported.text
    await run_due_work()
    expected = {"ada@example.com": 4, "bob@example.com": 2, "csv@example.com": 1}
    assert Counter(await captured(project)) == expected
    assert sink.messages == []
    # What a LIVE key causes is delivered.
    assert (await project.client.post("/events", {**event, "email": "live@example.com"})).status_code == 201
    await run_due_work()
    assert [message.recipients for message in sink.messages] == [("live@example.com",)] * 4


async def test_a_test_key_does_not_continue_runs_of_live_keys(
    project, test_client, sink, email_step, create_automation, read_runs, run_due_work, clock
):
    automation = await create_automation({"type": "EVENT", "event": "order.placed"}, WAIT, email_step("Paid"))
    for client, email in ((project.client, "live@example.com"), (test_client, "test@example.com")):
        assert (await client.post("/events", {"name": "order.placed", "email": email})).status_code == 201
    # Recorded before the runs begin to wait, then while they wait.
    for _ in range(2):
        for email in ("live@example.com", "test@example.com"):
            assert (await test_client.post("/events", {"name": "order.paid", "email": email})).status_code == 201
        await run_due_work()
    live, test = await read_runs(automation)
    assert (live["status"], test["status"]) == ("WAITING", "COMPLETED")
    clock.move(timedelta(hours=2))
    await run_due_work()
    live, _ = await read_runs(automation)
    assert (live["status"], live["steps"][0]["outcome"]) == ("EXITED", "TIMED_OUT")
    assert (sink.messages, await captured(project)) == ([], ["test@example.com"])


async def test_a_test_key_does_not_start_what_live_keys_share(
    project, test_client, sink, email_step, create_automation, read_runs, run_due_work, clock, world
):
    automation = await create_automation({"type": "EVENT", "event": "order.placed"}, email_step("Thanks"))
    path = f"/automations/{automation}"
    event = {"name": "order.placed", "email": "live@example.com"}
    assert (await project.client.post("/events", event)).status_code == 201
    async with world.db.connection() as connection:
        fail = "update automation_runs set status = 'FAILED', due_at = null where project_id = %s"
        await connection.execute(fail, [project.id])
    (run,) = await read_runs(automation)
    assert refused(await test_client.post(f"{path}/runs/{run['id']}/retry"))
    body = {"name": "A", "trigger": {"type": "CONTACT_CREATED"}, "steps": [email_step()]}
    assert refused(await test_client.post("/automations", {**body, "active": True}))
    assert (await test_client.post("/automations", body)).status_code == 201
    assert refused(await test_client.patch(path, {"steps": [email_step("Changed")]}))
    assert (await test_client.patch(f"{path}/active", {"active": False})).status_code == 200
    assert refused(await test_client.patch(f"{path}/active", {"active": True}))
    assert refused(await test_client.post(f"{path}/runs/retry"))
    (project_domain,) = [domain["id"] for domain in (await project.client.get("/domains")).json()]
    campaign, _ = await create_campaign(
        project, 1, fromEmail="news@example.org", domainId=project_domain, scheduledAt=str(clock() + timedelta(days=1))
    )
    campaign_path = f"/campaigns/{campaign['id']}"
    sent = await project.client.post(f"{campaign_path}/send")
    assert sent.status_code == 200, sent.text
    assert refused(await test_client.patch(campaign_path, {"scheduledAt": str(clock() + timedelta(minutes=1))}))
    assert (await test_client.post(f"{campaign_path}/test", {"to": "seed@example.com"})).status_code == 200
    assert (await test_client.post(f"{campaign_path}/cancel")).status_code == 200
    campaign, _ = await create_campaign(project, 1, fromEmail="news@example.org", domainId=project_domain)
    campaign_path = f"/campaigns/{campaign['id']}"
    assert (await project.client.post(f"{campaign_path}/send")).status_code == 200
    assert (await test_client.post(f"{campaign_path}/pause")).status_code == 200
    assert refused(await test_client.post(f"{campaign_path}/resume"))
    assert refused(await test_client.post("/senders", {"email": "ada@gmail.example"}))
    assert refused(await test_client.post(f"/senders/{uuid4()}/resend")) is True
    sink.behaviour = Behaviour(replies={"DOT": b"550 5.7.1 Refused"})
    email = {"from": "hello@example.org", "to": ["ada@example.com"], "subject": "Hi", "text": "Hi"}
    failed = (await project.client.post("/emails", email)).json()["id"]
    later = {**email, "scheduledAt": str(clock() + timedelta(days=1))}
    scheduled = (await project.client.post("/emails", later)).json()["id"]
    assert refused(await test_client.post(f"/emails/{failed}/retry"))
    assert refused(await test_client.patch(f"/emails/{scheduled}", {"scheduledAt": str(clock())}))
    assert (await test_client.post(f"/emails/{scheduled}/cancel")).status_code == 200
    await run_due_work()
    assert (sink.messages, await captured(project)) == ([], ["seed@example.com"])


async def test_mail_to_customers_that_a_test_key_sets_off_is_captured(
    project, test_client, sink, email_step, create_automation, run_due_work, clock
):
    settings = {"signIn": {"mailFrom": "login@example.org", "contacts": "CREATE"}}
    assert (await project.developer.patch("", {"settings": settings})).status_code == 200
    await create_automation({"type": "CONTACT_CREATED"}, email_step("Hello"))
    publishable = await project.key(type="PUBLISHABLE", environment="TEST")
    organization = (await test_client.post("/b2b/organizations", {"name": "Acme"})).json()
    path = f"/b2b/organizations/{organization['id']}/invitations"
    invitation = (await test_client.post(path, {"email": "invited@example.com"})).json()
    customer = {"email": "ada@example.com", "password": "a password nobody has", "emailVerified": True}
    assert (await test_client.post("/customers", customer)).status_code == 201
    auth = f"/projects/{project.id}/auth"
    assert (await publishable.post(f"{auth}/sign-in/code", {"email": "ada@example.com"})).status_code == 200
    new = {"email": "new@example.com", "password": "a password nobody has"}
    assert (await publishable.post(f"{auth}/sign-up", new)).status_code == 201
    await run_due_work()
    # The mail of the automation and the code, the invitation, and the code of the sign-up.
    expected = {"ada@example.com": 2, "invited@example.com": 1, "new@example.com": 1}
    assert Counter(await captured(project)) == expected
    assert sink.messages == []
    # What a LIVE key causes is delivered: here the same invitation, mailed again.
    clock.move(timedelta(minutes=2))
    assert (await project.client.post(f"{path}/{invitation['id']}/resend")).status_code == 200
    await run_due_work()
    await captured(project)
    assert [message.recipients for message in sink.messages] == [("invited@example.com",)]


async def test_what_a_customer_does_in_a_test_session_sends_captured_mail(
    project, test_client, sink, email_step, run_due_work
):
    settings = {"signIn": {"mailFrom": "login@example.org", "contacts": "CREATE"}}
    assert (await project.developer.patch("", {"settings": settings})).status_code == 200
    trigger = {"type": "EVENT", "event": "customer.updated", "once": False}
    body = {"name": "Changed", "trigger": trigger, "steps": [email_step("Changed")], "maxRunsPerHour": 2}
    assert (await project.client.post("/automations", {**body, "active": True})).status_code == 201
    credentials = {"email": "ada@example.com", "password": "a password nobody has"}
    assert (await project.client.post("/customers", {**credentials, "emailVerified": True})).status_code == 201
    auth = f"/projects/{project.id}/auth"

    async def act(session, address):
        customer = Client(project.client.app, session["accessToken"], project.client.base)
        assert (await customer.post(f"{auth}/email/change", {"email": address})).status_code == 200
        assert (await customer.patch(f"{auth}/me", {"name": f"Ada {address}"})).status_code == 200
        await run_due_work()

    session = (await test_client.post(f"{auth}/sign-in", credentials)).json()
    await act(session, "test@example.com")
    assert await captured(project) == ["ada@example.com", "test@example.com"]
    # A refresh without a key continues the TEST session.
    anonymous = Client(project.client.app)
    refreshed = await anonymous.post(f"{auth}/token/refresh", {"refreshToken": session["refreshToken"]})
    await act(refreshed.json(), "later@example.com")
    assert len(await captured(project)) == 4
    assert sink.messages == []
    await act((await anonymous.post(f"{auth}/sign-in", credentials)).json(), "live@example.com")
    assert len(await captured(project)) == 4
    assert sorted(message.recipients for message in sink.messages) == [("ada@example.com",), ("live@example.com",)]


async def test_the_acceptance_of_an_invitation_by_a_test_key_sends_captured_mail(
    project, test_client, sink, email_step, create_automation, run_due_work, world
):
    settings = {"signIn": {"mailFrom": "login@example.org", "contacts": "CREATE"}}
    assert (await project.developer.patch("", {"settings": settings})).status_code == 200
    await create_automation({"type": "EVENT", "event": "customer.signed_up"}, email_step("Welcome"))
    organization = (await test_client.post("/b2b/organizations", {"name": "Acme"})).json()
    page = Client(project.client.app)
    for client in (test_client, project.client):
        body = {"email": f"{'test' if client is test_client else 'live'}@example.com"}
        invited = await client.post(f"/b2b/organizations/{organization['id']}/invitations", body)
        await run_due_work()
        token = invitation_token(world.secrets, UUID(project.id), UUID(invited.json()["id"]), 1)
        path = f"/projects/{project.id}/auth/pages/invitation"
        accepted = await page.request("POST", path, data={"token": token})
        assert "You are now a member of Acme" in accepted.text
        await run_due_work()
    # Each gets the invitation and the mail of the automation.
    assert await captured(project) == ["test@example.com"] * 2
    assert [message.recipients for message in sink.messages] == [("live@example.com",)] * 2


async def test_runs_of_test_keys_and_live_keys_do_not_limit_each_other(
    project, test_client, sink, email_step, create_automation, read_runs, run_due_work
):
    once = await create_automation({"type": "EVENT", "event": "order.placed"}, email_step("Thanks"))
    trigger = {"type": "EVENT", "event": "order.placed", "once": False}
    waiting = await create_automation(trigger, WAIT)
    hourly = await create_automation(trigger, {"type": "EXIT"})
    event = {"name": "order.placed", "email": "ada@example.com"}
    for client in (test_client, project.client, test_client, project.client):
        assert (await client.post("/events", event)).status_code == 201
        await run_due_work()
    assert [run["status"] for run in await read_runs(once)] == ["COMPLETED"] * 2
    assert [run["status"] for run in await read_runs(waiting)] == ["WAITING"] * 2
    assert [run["status"] for run in await read_runs(hourly)] == ["EXITED"] * 2
    assert (await captured(project), len(sink.messages)) == (["ada@example.com"], 1)
    # An event of a LIVE key continues both.
    paid = {"name": "order.paid", "email": "ada@example.com"}
    assert (await project.client.post("/events", paid)).status_code == 201
    await run_due_work()
    assert [run["status"] for run in await read_runs(waiting)] == ["COMPLETED"] * 2


async def test_a_publishable_test_key_does_not_keep_notices_from_a_customer(project, test_client, sink, run_due_work):
    credentials = {"email": "ada@example.com", "password": "a password nobody has"}
    assert (await project.client.post("/customers", {**credentials, "emailVerified": True})).status_code == 201
    publishable = await project.key(type="PUBLISHABLE", environment="TEST")
    auth = f"/projects/{project.id}/auth"

    async def sign_in(agent, client):
        session = await client.post(f"{auth}/sign-in", credentials, headers={"user-agent": agent})
        assert session.status_code == 200, session.text
        await run_due_work()
        await captured(project)
        return session.json()["accessToken"]

    def delivered():
        assert {message.recipients for message in sink.messages} <= {("ada@example.com",)}
        return len(sink.messages)

    await sign_in("Firefox", Client(project.client.app))
    # What the application's own server tries out makes no device known.
    await sign_in("Attacker", test_client)
    assert delivered() == 0
    token = await sign_in("Attacker", publishable)
    assert delivered() == 1
    customer = Client(project.client.app, token, project.client.base)
    body = {"currentPassword": credentials["password"], "newPassword": "another password nobody has"}
    assert (await customer.post(f"{auth}/password/change", body)).status_code == 204
    await run_due_work()
    await captured(project)
    assert delivered() == 2


REQUESTS = {
    "/emails": {"from": "hello@example.org", "to": ["ada@example.com"], "subject": "Hi", "text": "Hi"},
    "/emails/batch": {
        "emails": [{"from": "hello@example.org", "to": ["ada@example.com"], "subject": "Hi", "text": "Hi"}]
    },
    "/compat/resend/emails": {"from": "hello@example.org", "to": "ada@example.com", "subject": "Hi", "text": "Hi"},
    "/compat/sendgrid/v3/mail/send": {
        "from": {"email": "hello@example.org"},
        "personalizations": [{"to": [{"email": "ada@example.com"}]}],
        "subject": "Hi",
        "content": [{"type": "text/plain", "value": "Hi"}],
    },
    "/compat/postmark/email": {"From": "hello@example.org", "To": "ada@example.com", "Subject": "Hi", "TextBody": "Hi"},
    "/events": {"name": "order.placed", "email": "ada@example.com"},
}


async def test_a_live_key_does_not_get_the_stored_response_of_a_test_key(project, test_client, sink, run_due_work):
    for client in (test_client, project.client):
        headers = {"Idempotency-Key": "order-42", "X-Postmark-Server-Token": client.token}
        for path, body in REQUESTS.items():
            first = await client.post(path, body, headers=headers)
            again = await client.post(path, body, headers=headers)
            assert first.status_code < 300, (path, first.text)
            assert json.loads(again.content or "0") == json.loads(first.content or "0"), path
        await run_due_work()
        delivered = len(REQUESTS) - 1 if client is project.client else 0
        assert (len(sink.messages), len(await captured(project))) == (delivered, len(REQUESTS) - 1)


async def test_events_are_marked_only_if_their_actor_is_not_the_test_key(project, test_client):
    async def events(type):
        log = (await project.client.get(f"/events?type={type}")).json()["data"]
        assert all("test" not in event for event in log), "the column is not part of the response"
        return [(event["actorType"], event["data"].get("test")) for event in log]

    credentials = {"email": "ada@example.com", "password": "a password nobody has"}
    customer = (await test_client.post("/customers", {**credentials, "emailVerified": True})).json()["id"]
    organization = (await test_client.post("/b2b/organizations", {"name": "Acme"})).json()["id"]
    member = {"customerId": customer, "roles": ["MEMBER"]}
    added = await test_client.post(f"/b2b/organizations/{organization}/members", member)
    assert added.status_code == 201, added.text
    auth = f"/projects/{project.id}/auth"
    session = (await test_client.post(f"{auth}/sign-in", credentials)).json()
    in_session = Client(project.client.app, session["accessToken"], project.client.base)
    assert (await in_session.delete(f"{auth}/organizations/{organization}")).status_code == 200
    assert await events("organization.created") == [("TEST_KEY", None)]
    assert await events("organization.member_added") == [("TEST_KEY", None)]
    assert await events("customer.signed_in") == [("CUSTOMER", True)]
    assert await events("organization.member_removed") == [("CUSTOMER", True)]


@pytest.mark.parametrize("environment", ["TEST", "LIVE"])
async def test_a_failed_mail_has_the_mark_of_the_key_that_caused_it(project, clock, run_due_work, environment):
    client = await project.key(environment=environment)
    assert (await client.post("/customers", {"email": "ada@example.com"})).status_code == 201
    code = await client.post(f"/projects/{project.id}/auth/sign-in/code", {"email": "ada@example.com"})
    assert code.status_code == 200, code.text
    clock.move(timedelta(minutes=11))
    await run_due_work()
    (event,) = (await project.client.get("/events?type=customer.mail_failed")).json()["data"]
    assert (event["actorType"], event["data"]["code"]) == ("SYSTEM", "expired")
    assert event["data"].get("test") is (True if environment == "TEST" else None)
