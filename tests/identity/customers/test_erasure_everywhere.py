"""A customer with rows in every table that can have personal data is erased."""

import json
import re
from datetime import timedelta
from html import unescape
from urllib.parse import urlsplit
from uuid import uuid4

import msgspec
import pytest

from postern.kernel.outbound.ssrf import read_networks
from postern.platform.audit.operations import verify_chain
from tests.identity.customers.test_erasure import columns_with
from tests.peers.http_receiver import Reply, http_receiver

IP = "203.0.113.77"
"""The IP address of the erased customer, which no other client in this file uses."""


PERSONAL_DATA_COLUMNS = {
    *("audit_log.metadata", "captured_messages.message", "captured_messages.recipients", "captured_messages.subject"),
    *("contacts.attributes", "contacts.email", "contacts.email_key", "sign_in_attempts.ip_address"),
    *("customer_former_addresses.email", "customer_former_addresses.email_key", "sessions.ip_address"),
    *("sessions.user_agent", "customers.ban_reason", "customers.email", "customers.email_key"),
    *("customers.external_id", "customers.metadata", "customers.name", "customers.search", "events.data"),
    *("invitations.email", "invitations.email_key", "send_attempts.results", "send_bodies.body"),
    *("send_search.search_text", "sends.bcc_addresses", "sends.cc_addresses", "sends.recipient", "sends.subject"),
    *("sends.to_addresses", "suppressions.address", "tracking_hits.ip_address", "tracking_hits.url"),
    *(
        "terms_acceptances.ip_address",
        "terms_acceptances.user_agent",
        "tracking_hits.user_agent",
        "webhook_deliveries.response_body",
    ),
}
"""Columns that contain personal data before the erasure; otherwise, not finding any after it would prove nothing."""


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8, ::1/128")))


async def ok(request):
    """Await a request that must succeed. Returns the JSON of the response."""
    response = await request
    assert response.status_code < 300, response.text
    return response.json() if response.content else None


async def visit(stranger, message, agent):
    """Open a message and follow its tracked links with this user agent."""
    urls = [unescape(href) for href in re.findall(r'(?:href|src)="([^"]+)"', message["html"])]
    paths = [urlsplit(url)._replace(scheme="", netloc="").geturl() for url in urls if "/t/" in url]
    assert paths
    for path in paths:
        await stranger.get(path, headers={"user-agent": agent})


async def test_erasure_covers_every_table_with_personal_data(auth, project, world, run_due_work, clock, stranger):
    unique = uuid4().hex[:10]
    address, old = f"ada-{unique}@example.com", f"former-{unique}@example.com"
    name, secret, external_id = f"Ada{unique}", f"favourite-{unique}", f"crm-{unique}"
    words = [address, old, name, secret, external_id, IP]
    customer_browser, client = auth.at(ip=IP, agent=f"Browser of {name}"), project.client
    stranger.http._transport.client = (IP, 40_000)
    async with http_receiver() as receiver:
        reply = Reply(body=f"Thank you {name} <{address}>, {secret}".encode())
        receiver.script("/hook", reply)
        receiver.script("/step", reply)
        event_types = ["customer.signed_in", "customer.banned", "contact.created", "contact.updated", "email.*"]
        await ok(client.post("/webhooks", {"url": receiver.url("/hook"), "events": event_types}))
        await ok(client.post("/webhooks", {"url": receiver.url("/all"), "events": ["*"]}))
        await auth.settings(contacts="CREATE", redirectUrls=["https://app.example.com/in"])

        # A customer who is also a contact, and whose address has changed.
        sign_up = await customer_browser.signed_up(old)
        customer = sign_up["customer"]["id"]
        ada = customer_browser.as_(sign_up["accessToken"])
        await ok(ada.client.patch("/me", {"name": name}))
        challenge = await ok(ada.post("/email/change", {"email": address}))
        await ok(ada.post("/verify-email", {"challengeId": challenge["challengeId"], "code": await auth.code(address)}))
        await ok(client.patch(f"/customers/{customer}/metadata", {"metadata": {secret: secret}}))
        await ok(client.post("/customers/link", {"customerId": customer, "externalUserId": external_id}))
        await ok(client.patch(f"/customers/{customer}/roles", {"roles": ["MEMBER"]}))
        await auth.settings(termsUrl="https://acme.example/terms", termsVersion="2026", requireTerms=True)
        asked = await ok(customer_browser.sign_in(address))
        accepted = {"termsToken": asked["termsToken"], "acceptedTerms": "2026"}
        await ok(customer_browser.post("/terms/accept", accepted))
        await customer_browser.sign_in(address, "wrong password")
        await ok(ada.post("/mfa/totp/enroll"))
        await customer_browser.post("/sign-in/link", {"email": address, "redirectUrl": "https://app.example.com/in"})

        # Contacts, audiences, an import with invalid lines, an automation with each kind of delivery, a campaign.
        lines = ["email,name", f"{address},{name}", f"{old},{name}", f"{name} <{address}>,x", f"not of {name},{secret}"]
        csv = "\n".join(lines)
        await ok(client.request("POST", "/contacts/import", content=csv, headers={"content-type": "text/csv"}))
        await run_due_work()
        html = '<p>Dear {{ name }}</p><a href="https://acme.example/{{ name }}?of={{ note }}">look</a>'
        template = await ok(client.post("/templates", {"name": "T", "html": html, "subject": "Hi {{ name }}"}))
        domain = await ok(client.post("/domains", {"domain": f"{uuid4().hex[:8]}.example"}))
        sender = f"news@{domain['domain']}"
        audience = await ok(client.post("/audiences", {"name": "All"}))
        steps = [
            {"type": "SEND_EMAIL", "templateId": template["id"], "fromEmail": sender},
            {"type": "WEBHOOK", "url": receiver.url("/step")},
            {"type": "WAIT_FOR_EVENT", "event": "email.complained"},
        ]
        trigger = {"type": "AUDIENCE_JOINED", "audienceId": audience["id"]}
        await ok(client.post("/automations", {"name": "A", "trigger": trigger, "steps": steps, "active": True}))
        recipients = [{"email": address, "attributes": {"name": name, "note": secret}}, {"email": old}]
        await ok(client.post(f"/audiences/{audience['id']}/contacts/bulk-email", {"contacts": recipients}))
        await run_due_work()
        campaign = {"name": "C", "subject": "Hello {{ name }}", "fromEmail": sender, "fromName": "News"}
        ids = {"templateId": template["id"], "domainId": domain["id"], "audienceId": audience["id"]}
        custom_event = {
            "name": "order.placed",
            "email": address,
            "data": {"by": name, "of": secret},
            "idempotencyKey": external_id,
        }
        await ok(client.post("/events", custom_event))
        created = await ok(client.post("/campaigns", {**campaign, **ids}))
        await ok(client.post(f"/campaigns/{created['id']}/send"))
        await run_due_work()

        former_contact = (await ok(client.get(f"/contacts?q={old}")))["data"][0]["id"]
        await ok(client.delete(f"/contacts/{former_contact}"))

        # Mails: with copies, scheduled, of the test environment, and suppressed. All captured mails are opened.
        mail = {"to": [address], "from": sender, "subject": f"Hello {name}", "html": html.replace("{{ name }}", name)}
        await ok(
            client.post(
                "/emails", {**mail, "cc": [old], "bcc": [address]}, headers={"idempotency-key": f"to-{address}"}
            )
        )
        await ok(client.post("/emails", {**mail, "to": ["friend@example.com"], "cc": [f"{name} <{address}>"]}))
        later = {**mail, "scheduledAt": (clock() + timedelta(days=1)).isoformat()}
        await ok(client.post("/emails", later))
        test_key = await project.key(environment="TEST")
        await ok(test_key.post("/emails", mail))
        await run_due_work()
        for captured in (await ok(client.get("/inbox?limit=100")))["data"]:
            message = await ok(client.get(f"/inbox/{captured['id']}"))
            if name in json.dumps(message) and "/t/" in message["html"]:
                await visit(stranger, message, f"Browser of {name}")
        await ok(client.post("/suppressions", {"address": address}))
        await ok(client.post("/emails", mail))

        # Organizations: a membership in one, and invitations to another one for both addresses.
        acme = await ok(client.post("/b2b/organizations", {"name": "Acme"}))
        other = await ok(client.post("/b2b/organizations", {"name": "Other"}))
        await ok(client.post(f"/b2b/organizations/{acme['id']}/members", {"customerId": customer}))
        for email in (address, old):
            await ok(client.post(f"/b2b/organizations/{other['id']}/invitations", {"email": email}))
        await run_due_work()
        await ok(client.post(f"/customers/{customer}/ban", {"reason": f"{name} was rude"}))
        await run_due_work()

        before = await columns_with(world, words)
        assert sorted(PERSONAL_DATA_COLUMNS - before) == []
        await ok(client.delete(f"/customers/{customer}"))
        await run_due_work()
        after = await columns_with(world, words)
    assert after == set()
    assert (await verify_chain(world.db, project.id)).intact
