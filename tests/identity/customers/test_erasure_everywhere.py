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
from tests.identity.customers.test_erasure import places
from tests.peers.http_receiver import Reply, http_receiver

IP = "203.0.113.77"
"""Where the person is, and nobody else in this file."""


TOUCHED = {
    *("audit_log.metadata", "captured_messages.message", "captured_messages.recipients", "captured_messages.subject"),
    *("contacts.attributes", "contacts.email", "contacts.email_key", "sign_in_attempts.ip_address"),
    *("customer_former_addresses.email", "customer_former_addresses.email_key", "sessions.ip_address"),
    *("sessions.user_agent", "customers.ban_reason", "customers.email", "customers.email_key"),
    *("customers.external_id", "customers.metadata", "customers.name", "customers.search", "events.data"),
    *("invitations.email", "invitations.email_key", "send_attempts.results", "send_bodies.body"),
    *("send_search.search_text", "sends.bcc_addresses", "sends.cc_addresses", "sends.recipient", "sends.subject"),
    *("sends.to_addresses", "suppressions.address", "tracking_hits.ip_address", "tracking_hits.url"),
    *("tracking_hits.user_agent", "webhook_deliveries.response_body"),
}
"""Where this life leaves traces, so that the search after it proves something."""


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8, ::1/128")))


async def ok(answer):
    answer = await answer
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else None


async def visit(stranger, message, agent):
    """Open a message and follow its links, as the browser of somebody called like that."""
    found = [unescape(href) for href in re.findall(r'(?:href|src)="([^"]+)"', message["html"])]
    paths = [urlsplit(each)._replace(scheme="", netloc="").geturl() for each in found if "/t/" in each]
    assert paths
    for path in paths:
        await stranger.get(path, headers={"user-agent": agent})


async def test_erasure_covers_every_table_with_personal_data(auth, project, world, work_off, clock, stranger):
    unique = uuid4().hex[:10]
    address, old = f"ada-{unique}@example.com", f"former-{unique}@example.com"
    name, secret, given = f"Ada{unique}", f"favourite-{unique}", f"crm-{unique}"
    words = [address, old, name, secret, given, IP]
    here, client = auth.at(ip=IP, agent=f"Browser of {name}"), project.client
    stranger.http._transport.client = (IP, 40_000)
    async with http_receiver() as receiver:
        said = Reply(body=f"Thank you {name} <{address}>, {secret}".encode())
        receiver.script("/hook", said)
        receiver.script("/step", said)
        about = ["customer.signed_in", "customer.banned", "contact.created", "contact.updated", "email.*"]
        await ok(client.post("/webhooks", {"url": receiver.url("/hook"), "events": about}))
        await ok(client.post("/webhooks", {"url": receiver.url("/all"), "events": ["*"]}))
        await auth.settings(contacts="CREATE", redirectUrls=["https://app.example.com/in"])

        # A customer, with another address at first, who is a contact too.
        up = await here.signed_up(old)
        customer = up["customer"]["id"]
        ada = here.as_(up["accessToken"])
        await ok(ada.client.patch("/me", {"name": name}))
        asked = await ok(ada.post("/email/change", {"email": address}))
        await ok(ada.post("/verify-email", {"challengeId": asked["challengeId"], "code": await auth.code(address)}))
        await ok(client.patch(f"/customers/{customer}/metadata", {"metadata": {secret: secret}}))
        await ok(client.post("/customers/link", {"customerId": customer, "externalUserId": given}))
        await ok(client.patch(f"/customers/{customer}/roles", {"roles": ["MEMBER"]}))
        await here.sign_in(address)
        await here.sign_in(address, "wrong password")
        await ok(ada.post("/mfa/totp/enroll"))
        await here.post("/sign-in/link", {"email": address, "redirectUrl": "https://app.example.com/in"})

        # Contacts, audiences, an import with lines that fail, an automation with every way out, a campaign.
        lines = ["email,name", f"{address},{name}", f"{old},{name}", f"{name} <{address}>,x", f"not of {name},{secret}"]
        csv = "\n".join(lines)
        await ok(client.request("POST", "/contacts/import", content=csv, headers={"content-type": "text/csv"}))
        await work_off()
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
        people = [{"email": address, "attributes": {"name": name, "note": secret}}, {"email": old}]
        await ok(client.post(f"/audiences/{audience['id']}/contacts/bulk-email", {"contacts": people}))
        await work_off()
        campaign = {"name": "C", "subject": "Hello {{ name }}", "fromEmail": sender, "fromName": "News"}
        ids = {"templateId": template["id"], "domainId": domain["id"], "audienceId": audience["id"]}
        told = {"name": "order.placed", "email": address, "data": {"by": name, "of": secret}, "idempotencyKey": given}
        await ok(client.post("/events", told))
        made = await ok(client.post("/campaigns", {**campaign, **ids}))
        await ok(client.post(f"/campaigns/{made['id']}/send"))
        await work_off()

        former = (await ok(client.get(f"/contacts?q={old}")))["data"][0]["id"]
        await ok(client.delete(f"/contacts/{former}"))

        # Mails: one with copies, one that waits, one of the test environment, one that is suppressed; all looked at.
        mail = {"to": [address], "from": sender, "subject": f"Hello {name}", "html": html.replace("{{ name }}", name)}
        await ok(
            client.post(
                "/emails", {**mail, "cc": [old], "bcc": [address]}, headers={"idempotency-key": f"to-{address}"}
            )
        )
        await ok(client.post("/emails", {**mail, "to": ["friend@example.com"], "cc": [f"{name} <{address}>"]}))
        later = {**mail, "scheduledAt": (clock() + timedelta(days=1)).isoformat()}
        await ok(client.post("/emails", later))
        test = await project.key(environment="TEST")
        await ok(test.post("/emails", mail))
        await work_off()
        for each in (await ok(client.get("/inbox?limit=100")))["data"]:
            message = await ok(client.get(f"/inbox/{each['id']}"))
            if name in json.dumps(message) and "/t/" in message["html"]:
                await visit(stranger, message, f"Browser of {name}")
        await ok(client.post("/suppressions", {"address": address}))
        await ok(client.post("/emails", mail))

        # Organizations: a member, invited to another one by both addresses.
        acme = await ok(client.post("/b2b/organizations", {"name": "Acme"}))
        other = await ok(client.post("/b2b/organizations", {"name": "Other"}))
        await ok(client.post(f"/b2b/organizations/{acme['id']}/members", {"customerId": customer}))
        for email in (address, old):
            await ok(client.post(f"/b2b/organizations/{other['id']}/invitations", {"email": email}))
        await work_off()
        await ok(client.post(f"/customers/{customer}/ban", {"reason": f"{name} was rude"}))
        await work_off()

        before = await places(world, words)
        assert sorted(TOUCHED - before) == []
        await ok(client.delete(f"/customers/{customer}"))
        await work_off()
        left = await places(world, words)
    assert left == set()
    assert (await verify_chain(world.db, project.id)).intact
