"""Mail to the addresses of routes: received by SMTP or through the API, listed, read and downloaded."""

import asyncio
import gzip
import smtplib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from email.utils import format_datetime
from uuid import uuid4

import msgspec
import psycopg
import pytest

from postern.kernel.config import Settings
from postern.kernel.outbound.ssrf import read_networks
from postern.messaging.inbound import storing
from postern.messaging.inbound.model import INBOUND_OCTETS
from postern.messaging.inbound.retention import delete_expired_inbound
from tests.messaging.domains.test_dmarc_reports import begin
from tests.messaging.domains.test_domains import publish
from tests.messaging.emails.test_relay import MAIL, sender, sink
from tests.messaging.emails.test_ses import with_ses
from tests.messaging.emails.unprocessed_reports import unprocessed
from tests.messaging.inbound.test_receiving import port
from tests.peers.http_receiver import http_receiver
from tests.protocols.mail.test_dmarc_report import mailed, row
from tests.protocols.mail.test_dmarc_report import report as dmarc_report

__all__ = ["port", "sender", "sink"]

MX = "mx.post.example"
RFC822 = {"content-type": "message/rfc822"}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return msgspec.structs.replace(
        settings,
        outbound_allow=tuple(read_networks("127.0.0.0/8, ::1/128")),
        return_path_domain="bounce.post.example",
        inbound_port=25,
        mx_host=MX,
    )


async def verified_domain(project, zone, name=None):
    """A verified domain of the project, whose name no other test has."""
    name = name or f"d{uuid4().hex[:10]}.example"
    created = await project.client.post("/domains", {"domain": name})
    assert created.status_code == 201, created.text
    publish(zone, created.json())
    assert (await project.client.post(f"/domains/{created.json()['id']}/verify")).json()["status"] == "VERIFIED"
    return name


async def new_route(project, address, **fields):
    response = await project.client.post("/inbound/routes", {"address": address, **fields})
    assert response.status_code == 201, response.text
    return response.json()


@pytest.fixture
async def domain(project, zone):
    return await verified_domain(project, zone)


async def deliver(port, recipients, content, sender="grace@sender.example", hello="mail.sender.example", threads=None):
    """Deliver a message by SMTP; returns the codes of the replies to the recipients and to the message.

    Several at once need `threads` of their own, because the server uses those of the event loop.
    """

    def run():
        with smtplib.SMTP("127.0.0.1", port, timeout=60) as client:
            client.ehlo(hello)
            client.mail(sender)
            codes = [client.rcpt(recipient)[0] for recipient in recipients]
            return codes, client.data(content)[0] if 250 in codes else None

    return await asyncio.get_running_loop().run_in_executor(threads, run)


def message(clock, *, head="", body="Hello\r\n", message_id=None, date=None):
    lines = [
        "From: =?utf-8?q?Gr=C3=A4ce?= Hopper <grace@sender.example>",
        "To: Support <support@acme.example>",
        f"Message-ID: {message_id or f'<{uuid4()}@sender.example>'}",
        f"Date: {date or format_datetime(clock())}",
        *head.splitlines(),
    ]
    if not any(line.lower().startswith("subject:") for line in lines):
        lines.append("Subject: =?utf-8?q?Caf=C3=A9?=")
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


async def listed(project, query=""):
    response = await project.client.get(f"/inbound{query}")
    assert response.status_code == 200, response.text
    return response.json()


async def only_message(project):
    (summary,) = await listed(project)
    response = await project.client.get(f"/inbound/{summary['id']}")
    assert response.status_code == 200, response.text
    return response.json()


MULTIPART_HEAD = 'MIME-Version: 1.0\r\nSubject: Re: Order\r\nContent-Type: multipart/mixed; boundary="m"'
MULTIPART_BODY = (
    "--m\r\n"
    'Content-Type: multipart/alternative; boundary="a"\r\n\r\n'
    "--a\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
    "It arrived broken =E2=98=B9\r\n\r\nOn Mon, 2 Feb 2026, Acme wrote:\r\n> Your order was sent.\r\n"
    "--a\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n"
    "<p>It arrived <b>broken</b> <script>alert(1)</script></p>\r\n"
    "--a--\r\n"
    "--m\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\nContent-ID: <photo@x>\r\n"
    "Content-Disposition: inline; filename*=utf-8''b%C3%BCcher.png\r\n\r\niVBORw0KGgo=\r\n"
    "--m\r\nContent-Type: application/pdf\r\n"
    'Content-Disposition: attachment; filename="../../etc/passwd"\r\n\r\n%PDF\r\n'
    "--m\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\nInner text\r\n"
    "--m--\r\n"
)


async def test_a_message_is_received_read_and_downloaded(project, domain, port, clock):
    route = await new_route(project, f"support@{domain}")
    raw = message(
        clock, head=MULTIPART_HEAD + "\r\nCc: Bob <bob@x.example>\r\nReply-To: r@sender.example", body=MULTIPART_BODY
    )
    assert await deliver(port, [f"Support+42@{domain}"], raw) == ([250], 250)
    stored = await only_message(project)
    assert stored["from"] == {"name": "Gräce Hopper", "email": "grace@sender.example"}
    assert stored["to"] == [{"name": "Support", "email": "support@acme.example"}]
    assert stored["cc"] == [{"name": "Bob", "email": "bob@x.example"}]
    assert stored["replyTo"] == [{"name": "", "email": "r@sender.example"}]
    assert (stored["subject"], stored["source"], stored["emailId"]) == ("Re: Order", "smtp", None)
    assert stored["recipients"] == [{"address": f"Support+42@{domain}", "routeId": route["id"], "tag": "42"}]
    assert stored["headers"][0]["name"] == "From"
    assert stored["headers"][0]["value"] == "Gräce Hopper <grace@sender.example>"
    assert stored["text"].startswith("It arrived broken ☹\n")
    assert "<script>" in stored["html"]
    assert stored["replyText"] == "It arrived broken ☹"
    assert stored["notices"] == []
    assert [
        (part["id"], part["filename"], part["contentType"], part["contentId"], part["inline"])
        for part in stored["attachments"]
    ] == [
        ("1", "bücher.png", "image/png", "photo@x", True),
        ("2", "../../etc/passwd", "application/pdf", None, False),
        ("3", "message-3.eml", "message/rfc822", None, False),
    ]
    assert (stored["size"], stored["attachmentCount"]) == (len(raw), 3)
    assert stored["envelope"]["sender"] == "grace@sender.example"
    assert (stored["envelope"]["clientIp"], stored["envelope"]["clientName"]) == ("127.0.0.1", "mail.sender.example")
    path = f"/inbound/{stored['id']}"
    downloaded = await project.client.get(f"{path}/raw")
    assert (downloaded.content, downloaded.headers["content-type"]) == (raw, "message/rfc822")
    assert downloaded.headers["content-disposition"].startswith("attachment;")
    image = await project.client.get(f"{path}/attachments/1")
    assert (image.content, image.headers["content-type"]) == (b"\x89PNG\r\n\x1a\n", "application/octet-stream")
    assert image.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert (await project.client.get(f"{path}/attachments/2")).headers["content-disposition"] == (
        "attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd"
    )
    for number in ("0", "4", "01", "x", "9" * 30):
        assert (await project.client.get(f"{path}/attachments/{number}")).status_code == 404
    (summary,) = await listed(project)
    assert {name: stored[name] for name in summary} == summary


async def test_addresses_have_precedence_over_their_domain(project, domain, port, clock):
    exact = await new_route(project, f"support@{domain}")
    tagged = await new_route(project, f"support+vip@{domain}")
    whole = await new_route(project, f"*@{domain}")
    for address, route in (
        (f"SUPPORT@{domain.upper()}", exact),
        (f"support+1@{domain}", exact),
        (f'"support"@{domain}', exact),
        (f"support+vip@{domain}", tagged),
        (f"anything@{domain}", whole),
    ):
        assert await deliver(port, [address], message(clock)) == ([250], 250), address
        assert (await listed(project))[0]["recipients"][0]["routeId"] == route["id"], address
    changed = await project.client.patch(f"/inbound/routes/{exact['id']}", {"active": False})
    assert (changed.status_code, changed.json()["active"]) == (200, False)
    codes, _ = await deliver(port, [f"support@{domain}", f"anything@{domain}"], message(clock))
    assert codes == [550, 250], "a route that is not active refuses, although there is one for the domain"


async def test_unknown_recipients_are_refused(project, domain, port, clock, zone):
    await new_route(project, f"support@{domain}")
    for address in (f"sales@{domain}", f"support@sub.{domain}", "support@other.example", f"support@x{domain}"):
        assert await deliver(port, [address], message(clock)) == ([550], None), address
    assert await listed(project) == []


async def test_an_internationalized_domain_is_the_same_in_all_forms(project, port, clock, zone):
    name = f"b\u00fccher-{uuid4().hex[:8]}.example"
    await verified_domain(project, zone, name)
    await new_route(project, f"*@{name}")
    ascii_name = name.encode("idna").decode()
    for number, (form, parameters) in enumerate(
        (
            (ascii_name, b""),
            (ascii_name.upper(), b""),
            (f"{ascii_name}.", b""),
            (name, b" SMTPUTF8"),
            (name.upper(), b" SMTPUTF8"),
        )
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"EHLO x\r\nMAIL FROM:<g@sender.example>%b\r\n" % parameters)
        writer.write(f"RCPT TO:<a@{form}>\r\nDATA\r\n".encode() + message(clock) + b".\r\nQUIT\r\n")
        replies = (await reader.read()).decode()
        writer.close()
        assert "\r\n250 2.0.0" in replies, replies
        assert len(await listed(project)) == number + 1


async def test_a_domain_below_a_verified_one_can_receive(project, domain, port, clock):
    route = await new_route(project, f"*@reply.{domain}")
    assert await deliver(port, [f"x@reply.{domain}"], message(clock)) == ([250], 250)
    assert (await listed(project))[0]["recipients"][0]["routeId"] == route["id"]


async def test_routes_need_a_verified_domain_of_the_project(project, domain, new_project, zone):
    other = await new_project()
    for tenant, address in (
        (other, f"support@{domain}"),
        (project, "support@nobody.example"),
        (project, "support@example"),
    ):
        response = await tenant.client.post("/inbound/routes", {"address": address})
        assert response.status_code in (400, 422), response.text
    pending = await project.client.post("/domains", {"domain": f"p{uuid4().hex[:8]}.example"})
    refused = await project.client.post("/inbound/routes", {"address": f"a@{pending.json()['domain']}"})
    assert (refused.status_code, refused.json()["code"]) == (422, "inbound_domain_not_verified")


@pytest.mark.parametrize(
    "address", ["a b@x.example", "x.example", "@x.example", "Ada <a@x.example>", "*", "a*@x.example", "a@\0"]
)
async def test_invalid_addresses_of_routes(project, address):
    response = await project.client.post("/inbound/routes", {"address": address})
    assert response.status_code == 400, response.text


async def test_a_route_is_listed_changed_and_deleted(project, domain, zone):
    zone.add(domain, "MX", "10 other.example.")
    route = await new_route(project, f"Support@{domain}")
    assert (route["address"], route["name"], route["active"]) == (f"support@{domain}", f"support@{domain}", True)
    record = route["record"]
    assert (record["type"], record["name"], record["value"], record["status"]) == ("MX", domain, MX, "WRONG")
    assert record["found"] == ["other.example"]
    zone.set(domain, "MX", "10 other.example.", f"20 {MX}.")
    verified = await project.client.post(f"/inbound/routes/{route['id']}/verify")
    assert (verified.json()["record"]["status"], verified.json()["record"]["reason"]) == ("VERIFIED", None)
    zone.servfail(domain, "MX")
    unknown = await project.client.post(f"/inbound/routes/{route['id']}/verify")
    assert unknown.json()["record"]["status"] == "UNKNOWN"
    again = await project.client.post("/inbound/routes", {"address": f"SUPPORT@{domain}"})
    assert (again.status_code, again.json()["code"]) == (409, "inbound_route_exists")
    assert [route_entry["id"] for route_entry in (await project.client.get("/inbound/routes")).json()] == [route["id"]]
    renamed = await project.client.patch(f"/inbound/routes/{route['id']}", {"name": "Help desk"})
    assert renamed.json()["name"] == "Help desk"
    assert (await project.client.get(f"/inbound/routes/{route['id']}")).json()["name"] == "Help desk"
    assert (await project.client.delete(f"/inbound/routes/{route['id']}")).status_code == 200
    for method in ("get", "delete"):
        assert (await getattr(project.client, method)(f"/inbound/routes/{route['id']}")).status_code == 404
    assert (await project.client.patch(f"/inbound/routes/{route['id']}", {"name": "x"})).status_code == 404


async def test_other_projects_and_keys_without_permission_cannot_read(project, domain, port, clock, new_project):
    route = await new_route(project, f"support@{domain}")
    raw = message(clock, head=MULTIPART_HEAD, body=MULTIPART_BODY)
    await deliver(port, [f"support@{domain}"], raw)
    (summary,) = await listed(project)
    other, path = await new_project(), f"/inbound/{summary['id']}"
    assert await listed(other) == []
    for denied_path in (path, f"{path}/raw", f"{path}/attachments/1", f"/inbound/routes/{route['id']}"):
        assert (await other.client.get(denied_path)).status_code == 404, denied_path
    assert (await other.client.delete(path)).status_code == 404
    assert (await other.client.delete(f"/inbound/routes/{route['id']}")).status_code == 404
    without, reader = await project.key("emails:read", "inbox:read"), await project.key("inbound:read")
    assert (await without.get("/inbound")).status_code == 403
    assert (await reader.get(path)).status_code == 200
    assert (await reader.delete(path)).status_code == 403
    assert (await reader.post("/inbound/routes", {"address": f"a@{domain}"})).status_code == 403
    assert (await reader.post("/inbound", content=raw, headers=RFC822)).status_code == 403
    assert (await project.client.delete(path)).status_code == 200
    assert (await project.client.get(path)).status_code == 404


async def test_a_message_is_stored_once_for_each_project(project, domain, port, clock, new_project, zone):
    other = await new_project()
    others = await verified_domain(other, zone)
    shared = await verified_domain(other, zone, domain)
    assert shared == domain
    for tenant, address in ((project, f"a@{domain}"), (project, f"b@{domain}"), (other, f"c@{others}")):
        await new_route(tenant, address)
    raw = message(clock)
    assert await deliver(port, [f"a@{domain}", f"b@{domain}", f"c@{others}", f"a@{domain}"], raw) == ([250] * 4, 250)
    (first,), (second,) = await listed(project), await listed(other)
    assert [recipient["address"] for recipient in first["recipients"]] == [f"a@{domain}", f"b@{domain}"]
    assert [recipient["address"] for recipient in second["recipients"]] == [f"c@{others}"]
    await new_route(other, f"*@{domain}")
    assert await deliver(port, [f"a@{domain}"], message(clock)) == ([250], 250)
    assert (len(await listed(project)), len(await listed(other))) == (2, 2), "both projects have verified the domain"


async def test_the_same_message_again_is_not_stored_again(project, domain, port, clock):
    await new_route(project, f"*@{domain}")
    raw = message(clock)
    for _ in range(2):
        assert await deliver(port, [f"a@{domain}"], raw) == ([250], 250)
    assert len(await listed(project)) == 1
    assert len((await project.client.get("/events?type=inbound.received")).json()["data"]) == 1
    assert await deliver(port, [f"b@{domain}"], raw) == ([250], 250)
    assert await deliver(port, [f"a@{domain}"], raw + b"x\r\n") == ([250], 250)
    assert len(await listed(project)) == 3


async def test_filters_and_cursors_of_the_list(project, domain, port, clock):
    route = await new_route(project, f"support@{domain}")
    await new_route(project, f"*@{domain}")
    start = clock()
    for number, address in enumerate([f"support@{domain}", f"a@{domain}", f"Support+x@{domain}"]):
        clock.move(timedelta(hours=1))
        head = f"Subject: {number}" + ("\r\nSender: x@y.example" if number else "")
        await deliver(port, [address], message(clock, head=head))

    async def subjects(query):
        return [entry["subject"] for entry in await listed(project, query)]

    assert await subjects("") == ["2", "1", "0"]
    assert await subjects(f"?routeId={route['id']}") == ["2", "0"]
    assert await subjects(f"?recipient=SUPPORT@{domain}") == ["0"]
    assert await subjects(f"?recipient=support%2Bx@{domain}") == ["2"]
    assert await subjects("?sender=Grace@sender.example") == ["2", "1", "0"]
    assert await subjects("?sender=x@y.example") == []
    assert await subjects(f"?routeId=nonsense&emailId={uuid4()}") == []
    since = (start + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert await subjects(f"?from={since}") == ["2", "1"]
    assert await subjects(f"?to={since}") == ["0"]
    for hostile in ("sender=%00", "recipient=%00", "routeId=%00", "emailId=%ff", "sender=%ed%a0%80"):
        assert (await project.client.get(f"/inbound?{hostile}")).status_code in (200, 400), hostile
    first = await project.client.get(f"/inbound?limit=1&routeId={route['id']}")
    assert [entry["subject"] for entry in first.json()] == ["2"]
    rest = await project.client.get(first.links["next"]["url"])
    assert [entry["subject"] for entry in rest.json()] == ["0"]


async def test_a_reply_is_linked_to_the_email(sender, sink, port, clock, zone, new_project):
    domain = await verified_domain(sender, zone)
    await new_route(sender, f"*@{domain}")
    sent = (await sender.client.post("/emails", {**MAIL, "cc": None, "bcc": None})).json()
    for head in (
        f"In-Reply-To: {sent['messageId']}",
        f"References: <first@x> {sent['messageId']}\r\n <latest@x>",
        f"In-Reply-To: <{sent['id'].upper()}@relay.example>",
    ):
        await deliver(port, [f"a@{domain}"], message(clock, head=head))
        assert (await listed(sender))[0]["emailId"] == sent["id"], head
    await deliver(port, [f"a@{domain}"], message(clock, head=f"In-Reply-To: <{uuid4()}@x>"))
    assert (await listed(sender))[0]["emailId"] is None
    assert len(await listed(sender, f"?emailId={sent['id']}")) == 3
    other = await new_project()
    await new_route(other, f"*@{await verified_domain(other, zone, domain)}")
    await deliver(port, [f"a@{domain}"], message(clock, head=f"In-Reply-To: {sent['messageId']}"))
    assert (await listed(other))[0]["emailId"] is None, "the e-mail is of another project"
    assert (await listed(sender))[0]["emailId"] == sent["id"]


async def test_the_event_reaches_a_webhook_with_the_texts(project, domain, port, clock, run_due_work):
    route = await new_route(project, f"support@{domain}")
    async with http_receiver() as receiver:
        created = await project.client.post("/webhooks", {"url": receiver.url("/hook"), "events": ["inbound.received"]})
        assert created.status_code == 201, created.text
        await deliver(port, [f"support+7@{domain}"], message(clock, head=MULTIPART_HEAD, body=MULTIPART_BODY))
        await deliver(port, [f"support@{domain}"], message(clock, body="é" * 6_000 + "\r\n"))
        await run_due_work()
        small, large = sorted((request.json["data"] for request in receiver.requests), key=lambda data: data["size"])
    (_, summary) = await listed(project)
    assert (small["id"], small["routeIds"], small["tag"]) == (summary["id"], [route["id"]], "7")
    assert (small["from"], small["fromName"], small["subject"]) == ("grace@sender.example", "Gräce Hopper", "Re: Order")
    assert (small["replyText"], small["attachmentCount"]) == ("It arrived broken ☹", 3)
    assert small["html"].startswith("<p>It arrived")
    assert small["recipients"] == [f"support+7@{domain}"]
    assert (large["text"], large["replyText"], large["subject"]) == (None, None, "Café")
    assert "truncated" not in large


async def test_messages_are_deleted_with_their_texts_in_events_after_their_time(project, domain, port, clock, world):
    await new_route(project, f"*@{domain}")
    await deliver(port, [f"a@{domain}"], message(clock, body="Private\r\n"))
    (summary,) = await listed(project)
    assert summary["expiresAt"][:10] == (clock() + timedelta(days=30)).strftime("%Y-%m-%d")
    for days in (0, 366):
        assert (await project.developer.patch("", {"settings": {"inboundRetentionDays": days}})).status_code == 400
    clock.move(timedelta(days=29))
    await delete_expired_inbound(world)
    assert len(await listed(project)) == 1
    clock.move(timedelta(days=-29))
    changed = await project.developer.patch("", {"settings": {"inboundRetentionDays": 7}})
    assert changed.json()["settings"]["inboundRetentionDays"] == 7
    assert (await listed(project))[0]["expiresAt"] < summary["expiresAt"]
    clock.move(timedelta(days=7, minutes=1))
    await delete_expired_inbound(world)
    assert await listed(project) == []
    for path in ("", "/raw", "/attachments/1"):
        assert (await project.client.get(f"/inbound/{summary['id']}{path}")).status_code == 404
    (event,) = (await project.client.get("/events?type=inbound.received")).json()["data"]
    assert "Private" not in str(event)


async def test_a_full_project_does_not_keep_another_from_receiving(
    project, domain, port, clock, new_project, zone, monkeypatch
):
    from postern.messaging.inbound import routing

    await new_route(project, f"*@{domain}")
    raw = message(clock)
    await deliver(port, [f"a@{domain}"], raw)
    other = await new_project()
    await verified_domain(other, zone, domain)
    await new_route(other, f"*@{domain}")
    monkeypatch.setattr(routing, "STORED_OCTETS_PER_PROJECT", len(raw))
    assert await deliver(port, [f"a@{domain}"], raw) == ([250], 250)
    assert (len(await listed(project)), len(await listed(other))) == (1, 1)


async def test_usage_is_counted_and_a_full_project_refuses_for_now(project, domain, port, clock, monkeypatch, world):
    from postern.messaging.inbound import routing

    await new_route(project, f"*@{domain}")
    raw = message(clock)
    await deliver(port, [f"a@{domain}"], raw)
    monkeypatch.setattr(routing, "STORED_OCTETS_PER_PROJECT", len(raw))
    assert await deliver(port, [f"a@{domain}"], raw) == ([452], None)
    refusal = await project.client.post(f"/inbound?recipients=a@{domain}", content=raw, headers=RFC822)
    assert (refusal.status_code, refusal.json()["code"]) == (422, "inbound_mailbox_full")
    (summary,) = await listed(project)
    await project.client.delete(f"/inbound/{summary['id']}")
    assert await deliver(port, [f"a@{domain}"], raw) == ([250], 250)


async def test_authentication_and_hints(project, domain, port, clock, zone):
    await new_route(project, f"*@{domain}")
    zone.load("""
        sender.example.        TXT "v=spf1 ip4:127.0.0.1 -all"
        _dmarc.sender.example. TXT "v=DMARC1; p=reject"
        evil.example.          TXT "v=spf1 -all"
    """)
    await deliver(port, [f"a@{domain}"], message(clock))
    good = await only_message(project)
    assert (good["spf"], good["dkim"], good["dmarc"], good["hints"]) == ("pass", "none", "pass", [])
    assert good["authentication"]["spfDomain"] == "sender.example"
    assert good["authentication"]["dmarc"]["policy"] == "reject"
    bad = (
        b'From: "service@bank.example" <x@sender.example>\r\nReply-To: <x@evil.example>\r\n'
        b"Content-Type: application/octet-stream; name=invoice.pdf.exe\r\n"
        b"Date: Mon, 1 Jan 2001 00:00:00 +0000\r\n\r\nMZ\r\n"
    )
    await deliver(port, [f"a@{domain}"], bad, "x@evil.example", hello="localhost")
    stored = (await listed(project))[0]
    assert (stored["spf"], stored["dkim"], stored["dmarc"]) == ("fail", "none", "fail")
    assert {hint["code"] for hint in stored["hints"]} == {
        "dmarc_fail",
        "spf_fail",
        "not_authenticated",
        "no_message_id",
        "date_far_off",
        "reply_to_other_domain",
        "name_has_other_address",
        "client_name_invalid",
        "program_attached",
    }
    assert all(hint["message"].endswith(".") for hint in stored["hints"])


async def test_a_message_is_received_although_the_dns_does_not_respond(project, domain, port, clock, zone):
    await new_route(project, f"*@{domain}")
    zone.servfail()
    signed = message(clock, head="DKIM-Signature: v=1; a=rsa-sha256; d=sender.example; s=a; h=from; bh=eA==; b=eA==")
    assert await deliver(port, [f"a@{domain}"], signed) == ([250], 250)
    (stored,) = await listed(project)
    assert (stored["spf"], stored["dkim"], stored["dmarc"]) == ("temperror", "temperror", "temperror")


async def test_hostile_envelopes_and_records_are_stored(project, domain, port, clock, zone):
    await new_route(project, f"*@{domain}")
    zone.add("sender.example", "TXT", r'"v=spf1 \000 \255 -all"')
    zone.add("_dmarc.sender.example", "TXT", r'"v=DMARC1; p=\000"')
    for hello, mail_from in (
        (b"\xff\xfe\x80", b"a@sender.example"),
        ("ä".encode(), '"\\\\ä"@sender.example'.encode()),
        (b"x" * 255, b"a" * 64 + b"@" + b"b" * 60 + b".example"),
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"EHLO %b\r\nMAIL FROM:<%b> SMTPUTF8\r\nRCPT TO:<a@%b>\r\n" % (hello, mail_from, domain.encode()))
        writer.write(b"DATA\r\n" + message(clock) + b".\r\nQUIT\r\n")
        replies = (await reader.read()).decode()
        writer.close()
        assert ("250 2.0.0" in replies) or hello.startswith(b"\xff"), replies
        assert "451" not in replies
    assert len(await listed(project)) >= 2
    assert (
        "spf="
        in (await project.client.get(f"/inbound/{(await listed(project))[0]['id']}")).json()["authenticationResults"]
    )


async def test_lookups_that_take_too_long_end(project, domain, port, clock, zone, monkeypatch):
    monkeypatch.setattr(storing, "AUTHENTICATION_TIMEOUT", timedelta(seconds=0.1))
    await new_route(project, f"*@{domain}")
    zone.silence("sender.example", "TXT")
    assert await deliver(port, [f"a@{domain}"], message(clock)) == ([250], 250)
    (stored,) = await listed(project)
    assert (stored["spf"], stored["dkim"], stored["dmarc"]) == ("temperror", "none", "temperror")


async def test_automatic_messages_are_marked_and_loops_refused(project, domain, port, clock):
    await new_route(project, f"*@{domain}")
    for head, mail_from, automatic in (
        ("", "grace@sender.example", False),
        ("Auto-Submitted: no", "grace@sender.example", False),
        ("Auto-Submitted: auto-replied (vacation)", "grace@sender.example", True),
        ("List-Id: <list.example>", "grace@sender.example", True),
        ("Precedence: bulk", "grace@sender.example", True),
        ("", "", True),
    ):
        await deliver(port, [f"a@{domain}"], message(clock, head=head), mail_from)
        assert (await listed(project))[0]["automatic"] is automatic, head
    hops = "\r\n".join(["Received: from a by b; Mon, 1 Jan 2026 00:00:00 +0000"] * 101)
    assert await deliver(port, [f"a@{domain}"], message(clock, head=hops)) == ([250], 554)
    assert len(await listed(project)) == 6


def nested(depth):
    return b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(depth))


HOSTILE = {
    "parts": b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * 10_000,
    "depth": nested(1_000),
    "header": b"Subject: " + b"\r\n ".join([b"x" * 70] * 15_000) + b"\r\n\r\nx\r\n",
    "fields": b"X: y\r\n" * 50_000 + b"\r\nx\r\n",
    "nul": b"Subject: x\0y\r\nFrom: \0\r\nMessage-ID: <a\0@b>\r\n\r\n\0\0\r\n",
    "charset": b"Content-Type: text/plain; charset=utf-7\r\nSubject: =?nonsense?b?/////w==?=\r\n\r\n+ADw-\xff\xfe\r\n",
    "surrogates": b"Content-Type: text/plain; charset=utf-16\r\nSubject: =?utf-16?b?ANg=?=\r\n\r\n\x00\xd8\x00\xd8\r\n",
    "base64": b"Content-Transfer-Encoding: base64\r\nContent-Type: image/png\r\n\r\nA\r\n",
    "encoding": b"Content-Transfer-Encoding: x-uuencode\r\n\r\nbegin 644 x\r\n",
    "parts of a parameter": b"Content-Type: text/plain; a*=b; a*0=c\r\nContent-Disposition: attachment;"
    b" filename*=b; filename*1=c\r\n\r\nx\r\n",
    "parameters": b"Content-Type: text/plain" + b"; a=b" * 100_000 + b"\r\n\r\nx\r\n",
    "addresses": b"From: " + b"a@b.example,\r\n " * 20_000 + b"c@d.example\r\n\r\nx\r\n",
    "quotes": b"".join(b'%s: "' % name + b'\\"' * 16_000 + b" <a@b.example>\r\n" for name in (b"From", b"To"))
    + b"\r\nx\r\n",
    "attributions": b"From: a@b.example\r\n\r\n" + (b"On " + b"schrieb am " * 15 + b"\r\n") * 6_000,
    "short fields": b"a:\r\n" * 250_000 + b"\r\nx\r\n",
    "empty": b"\r\n",
    "no header": b"what is this\r\n",
    "date": b"Date: Fri, 99 Foo 99999999999999999999 99:99:99 +9999\r\nReferences: " + b"<" * 50_000 + b"\r\n\r\nx\r\n",
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_messages_are_stored_and_shown_as_far_as_they_can_be_read(project, domain, port, name):
    await new_route(project, f"*@{domain}")
    assert await deliver(port, [f"a@{domain}"], HOSTILE[name]) == ([250], 250)
    stored = await only_message(project)
    assert (await project.client.get(f"/inbound/{stored['id']}/raw")).content == HOSTILE[name]
    for attachment in stored["attachments"][:2]:
        path = f"/inbound/{stored['id']}/attachments/{attachment['id']}"
        assert len((await project.client.get(path)).content) == attachment["size"]
    if name in ("parts", "depth", "header", "fields", "encoding", "no header"):
        assert stored["notices"], name


async def test_raw_clients_and_sizes(project, domain, port, clock):
    await new_route(project, f"*@{domain}")
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"EHLO x\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<a@%b>\r\nDATA\r\n" % domain.encode())
    writer.write(b"Subject: dot\r\n\r\n..stuffed\r\n.\r\nQUIT\r\n")
    replies = (await reader.read()).decode()
    writer.close()
    assert "250 2.0.0" in replies, replies
    assert (await only_message(project))["text"] == ".stuffed\n"
    large = message(clock) + (b"x" * 998 + b"\r\n") * 11_000
    assert await deliver(port, [f"a@{domain}"], large) == ([250], 250)
    too_large = (b"x" * 998 + b"\r\n") * (INBOUND_OCTETS // 1_000 + 1)
    assert await deliver(port, [f"a@{domain}"], too_large) == ([250], 552)


async def test_nothing_is_acknowledged_before_the_commit(project, domain, port, clock, monkeypatch):
    await new_route(project, f"*@{domain}")
    record_all = storing.events.record_all

    async def fail_after(*args):
        await record_all(*args)
        raise psycopg.OperationalError("the connection to the server was lost")

    raw = message(clock)
    with monkeypatch.context() as patch:
        patch.setattr(storing.events, "record_all", fail_after)
        assert await deliver(port, [f"a@{domain}"], raw) == ([250], 451)
    assert await listed(project) == []
    assert await deliver(port, [f"a@{domain}"], raw) == ([250], 250)
    assert len(await listed(project)) == 1


async def test_messages_that_arrive_together_are_stored_together(
    project, domain, port, clock, new_project, zone, world, monkeypatch
):
    """Some are for two projects, some arrive twice at once, some cannot be stored: each has its own result."""
    other = await new_project()
    other_domain = await verified_domain(other, zone)
    await new_route(project, f"*@{domain}")
    await new_route(other, f"*@{other_domain}")
    batch_sizes, store, make_event = [], storing._store, storing._event

    async def record_size(world, messages):
        batch_sizes.append(len(messages))
        return await store(world, messages)

    def fail_for_some(row, *rest):
        if row.subject == "Unlucky":
            raise ValueError("This one cannot be stored.")
        return make_event(row, *rest)

    monkeypatch.setattr(storing, "_store", record_size)
    monkeypatch.setattr(storing, "_event", fail_for_some)
    both, once = [f"a+tag@{domain}", f"b@{other_domain}"], [f"c@{domain}"]
    lucky = [message(clock, head=f"Subject: {number}") for number in range(10)]
    unlucky = [message(clock, head="Subject: Unlucky") for _ in range(2)]
    with ThreadPoolExecutor(15) as threads:
        deliveries = [deliver(port, both, content, threads=threads) for content in lucky]
        deliveries += [deliver(port, once, lucky[0], threads=threads) for _ in range(3)]
        deliveries += [deliver(port, once, content, threads=threads) for content in unlucky]
        replies = await asyncio.gather(*deliveries)
    assert [code for _, code in replies] == [250] * 13 + [451] * 2
    assert max(batch_sizes) > 1 or world.db.is_distributed
    subjects = sorted(entry["subject"] for entry in await listed(project, "?limit=50"))
    assert subjects == sorted([*map(str, range(10)), "0"])
    assert sorted(entry["subject"] for entry in await listed(other, "?limit=50")) == sorted(map(str, range(10)))
    (whole,) = await listed(project, f"?recipient=c@{domain}")
    assert whole["recipients"][0]["tag"] is None
    (tagged,) = [entry for entry in await listed(project, "?limit=50") if entry["subject"] == "7"]
    assert [recipient["tag"] for recipient in tagged["recipients"]] == ["tag"]


async def test_a_message_is_handed_over_through_the_api(project, domain, clock):
    await new_route(project, f"support@{domain}")
    raw = message(clock).replace(b"\r\n", b"\n")
    query = (
        f"recipients=support@{domain},x@nowhere.example&sender=grace@sender.example&clientIp=192.0.2.1&clientName=a.b"
    )
    for duplicate in (False, True):
        response = await project.client.post(f"/inbound?{query}", content=raw, headers=RFC822)
        assert (response.status_code, response.json()["duplicate"]) == (201, duplicate), response.text
    stored = await only_message(project)
    assert (stored["id"], stored["source"]) == (response.json()["id"], "api")
    assert stored["envelope"] == {"sender": "grace@sender.example", "clientIp": "192.0.2.1", "clientName": "a.b"}
    header = message(clock, head=f"Delivered-To: Support@{domain}")
    assert (await project.client.post("/inbound", content=header, headers=RFC822)).status_code == 201
    assert (await listed(project))[0]["spf"] == "none"
    unauthenticated = await project.client.post("/inbound?recipients=sales@x.example", content=raw, headers=RFC822)
    assert (unauthenticated.status_code, unauthenticated.json()["code"]) == (422, "no_inbound_route")
    assert (await project.client.post("/inbound", content=b"", headers=RFC822)).status_code == 400
    wrong = await project.client.post(f"/inbound?recipients=support@{domain}&clientIp=x", content=raw, headers=RFC822)
    assert wrong.status_code == 400
    hops = b"Received: x\r\n" * 101 + message(clock)
    loop = await project.client.post(f"/inbound?recipients=support@{domain}", content=hops, headers=RFC822)
    assert (loop.status_code, loop.json()["code"]) == (422, "inbound_message_loops")


async def test_a_dmarc_report_to_a_route_is_added_to_its_domain(project, domain, port, clock, zone):
    zone.set("sender.example", "TXT", "v=spf1 ip4:127.0.0.1 -all")
    await new_route(project, f"dmarc@{domain}")
    (owner,) = [
        candidate for candidate in (await project.client.get("/domains")).json() if candidate["domain"] == domain
    ]
    report = gzip.compress(dmarc_report(row(header_from=domain), begin=begin(clock), domain=domain))

    async def receive_report(content, problem):
        name = f"google.com!{problem}!{begin(clock)}!{begin(clock) + 86_399}.xml.gz".encode()
        raw = mailed(content).replace(b"report.xml.gz", name).replace(b"google.com\n", b"sender.example\n")
        raw = raw.replace(b"\n", b"\r\n")
        assert await deliver(port, [f"dmarc@{domain}"], raw) == ([250], 250)

    await receive_report(report, "other.example")
    assert (await project.client.get(f"/domains/{owner['id']}/dmarc")).json()["totals"]["messages"] == 0
    for _ in range(2):
        await receive_report(report, domain)
    summary = (await project.client.get(f"/domains/{owner['id']}/dmarc")).json()
    assert summary["totals"]["messages"] == 12
    assert (await project.client.get("/inbound/reports")).json() == []
    before = await unprocessed(project.client)
    await receive_report(b"no report", f"news.{domain}")
    (kept,) = (await project.client.get("/inbound/reports")).json()
    assert kept["reason"].startswith(f"The DMARC report was not added to {domain}. ")
    assert await unprocessed(project.client) - before == {"dmarc": 1}
    assert (await project.client.get(f"/domains/{owner['id']}/dmarc")).json() == summary
    assert len(await listed(project)) == 4


async def test_the_messages_of_an_erased_customer_are_deleted(project, domain, port, clock):
    await new_route(project, f"*@{domain}")
    created = await project.client.post("/customers", {"email": "grace@sender.example"})
    assert created.status_code == 201, created.text
    await deliver(port, [f"a@{domain}"], message(clock, body="Private\r\n"))
    await deliver(port, [f"a@{domain}"], message(clock).replace(b"grace@", b"other@"))
    assert (await project.client.delete(f"/customers/{created.json()['id']}")).status_code == 200
    assert [entry["from"]["email"] for entry in await listed(project)] == ["other@sender.example"]
    events = (await project.client.get("/events?type=inbound.received")).json()["data"]
    assert "Private" not in str(events)


async def test_a_deleted_domain_receives_nothing(project, domain, port, clock):
    route = await new_route(project, f"*@{domain}")
    (owner,) = [row for row in (await project.client.get("/domains")).json() if row["domain"] == domain]
    assert (await project.client.delete(f"/domains/{owner['id']}")).status_code == 200
    assert await deliver(port, [f"a@{domain}"], message(clock)) == ([550], None)
    assert (await project.client.get(f"/inbound/routes/{route['id']}")).status_code == 404


async def test_routes_of_a_project_are_limited(project, domain, monkeypatch):
    from postern.messaging.inbound import routes

    monkeypatch.setattr(routes, "ROUTES_PER_PROJECT", 1)
    await new_route(project, f"a@{domain}")
    refused = await project.client.post("/inbound/routes", {"address": f"b@{domain}"})
    assert (refused.status_code, refused.json()["code"]) == (422, "too_many_inbound_routes")


async def use_ses(project, world, moto):
    """Let a project send by SES."""
    moto.reset()
    moto.verify("example.com")
    world.settings = with_ses(world.settings, moto.url)
    changed = await project.developer.patch("", {"settings": {"transport": "ses"}})
    assert changed.status_code == 200, changed.text


@pytest.mark.parametrize("host", ["eu-central-1.amazonses.com", "email.amazonses.com"])
async def test_a_reply_to_a_message_by_ses_is_linked_to_the_email(
    sender, moto, world, port, clock, zone, new_project, host
):
    """SES replaces the Message-ID, so a reply refers to the id that SES returned."""
    await use_ses(sender, world, moto)
    domain = await verified_domain(sender, zone)
    await new_route(sender, f"*@{domain}")
    first, second = [(await sender.client.post("/emails", {**MAIL, "cc": None, "bcc": None})).json() for _ in range(2)]
    assert (first["status"], second["status"]) == ("SENT", "SENT")
    first_id, second_id = (f"<{message.id}@{host}>" for message in moto.messages)
    for head, sent in (
        (f"In-Reply-To: {first_id}", first),
        (f"In-Reply-To: {first_id.upper()}", first),
        (f"References: {first_id}\r\n {second_id}\r\n <latest@x>", second),
        (f"References: {second['messageId']}\r\n {first_id}", first),
    ):
        await deliver(port, [f"a@{domain}"], message(clock, head=head))
        assert (await listed(sender))[0]["emailId"] == sent["id"], head
    for unknown in (first_id.replace("amazonses", "attacker"), f"<{uuid4()}-000000@{host}>"):
        await deliver(port, [f"a@{domain}"], message(clock, head=f"In-Reply-To: {unknown}"))
        assert (await listed(sender))[0]["emailId"] is None, unknown
    other = await new_project()
    await new_route(other, f"*@{await verified_domain(other, zone, domain)}")
    await deliver(port, [f"a@{domain}"], message(clock, head=f"In-Reply-To: {first_id}"))
    assert (await listed(other))[0]["emailId"] is None, "the e-mail is of another project"
