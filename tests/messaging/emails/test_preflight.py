"""Checking a message before it is sent, over HTTP, with a DNS zone and web pages on loopback."""

import base64

import msgspec
import pytest

from tests.messaging.campaigns.test_campaigns import create_campaign
from tests.messaging.domains.test_domains import add_domain, add_verified_domain, publish
from tests.peers.http_receiver import Reply, http_receiver

HTML = (
    '<body><div style="display:none">Your order is on its way.</div><p>Dear Ada, your order has left our house.</p>'
    '<p><a href="https://shop.example.com/orders">See your orders</a></p>'
    '<p><a href="https://shop.example.com/settings" data-postern-unsubscribe>Unsubscribe</a></p></body>'
)
EMAIL = {"to": ["ada@example.net"], "from": "Shop <hello@example.com>", "subject": "Your order", "html": HTML}


@pytest.fixture
async def domain(project, zone):
    """A verified domain whose records have no mistakes."""
    domain = await add_verified_domain(project, zone)
    zone.set("_dmarc.example.com", "TXT", "v=DMARC1; p=reject; rua=mailto:d@example.com")
    return domain


async def preflight(project, status=200, **fields):
    email = {name: value for name, value in {**EMAIL, **fields}.items() if value is not None}
    response = await project.client.post("/emails/preflight", email)
    assert response.status_code == status, response.text
    return response.json()


def codes(result):
    return sorted(finding["code"] for finding in result["findings"])


def finding_of(result, code):
    return next(finding for finding in result["findings"] if finding["code"] == code)


async def test_a_message_without_faults_has_no_findings_and_is_not_sent(project, domain):
    result = await preflight(project, marketing=False)
    assert (result["ok"], result["findings"], result["linksOpened"]) == (True, [], 0)
    assert result["messageOctets"] > result["htmlOctets"] > len(HTML), "the size is that with tracked links"
    assert (await project.client.get("/emails/logs")).json()["data"] == []
    assert (await project.client.get("/inbox")).json()["data"] == []


async def test_marketing_mail_needs_one_click_unsubscribing(project, domain):
    assert codes(await preflight(project)) == ["unsubscribe_advised"]
    result = await preflight(project, marketing=True)
    assert (result["ok"], codes(result)) == (False, ["unsubscribe_missing"])
    # The base URL of the test server is http, so there is no one-click unsubscribing.
    assert codes(await preflight(project, marketing=True, unsubscribable=True)) == ["unsubscribe_not_https"]
    headers = {"List-Unsubscribe": "<https://example.com/1>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    assert codes(await preflight(project, marketing=True, headers=headers)) == []


async def test_the_most_severe_findings_come_first(project, domain):
    html = HTML.replace("</body>", '<a href="http://example.com/">x</a><a href="https://192.0.2.1/">x</a></body>')
    result = await preflight(project, html=html)
    severities = [finding["severity"] for finding in result["findings"]]
    assert severities == ["ERROR", "WARNING", "ADVICE"]
    assert "192.0.2.1" in finding_of(result, "link_ip_address")["snippets"][0]


async def test_errors_in_templates_are_findings(project, domain):
    result = await preflight(project, subject="{{ a", marketing=False)
    (finding,) = result["findings"]
    assert (finding["severity"], finding["path"], result["ok"]) == ("ERROR", "/subject", False)
    assert result["messageOctets"] is None
    template = {"name": "T", "subject": "Hi {{ name|upper }}", "html": HTML}
    template_id = (await project.client.post("/templates", template)).json()["id"]
    result = await preflight(project, subject=None, html=None, templateId=template_id, marketing=False)
    assert result["findings"] == [], result
    result = await preflight(project, html="{% for a in range(100000) %}{{ a }}{% endfor %}" * 3, marketing=False)
    assert [finding["severity"] for finding in result["findings"]] == ["ERROR"]
    result = await preflight(project, subject=None, html=None, templateId=project.id)
    assert codes(result) == ["template_missing"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"to": ["nonsense"]}, ["address_invalid"]),
        ({"from": "nonsense"}, ["address_invalid"]),
        ({"html": " "}, ["required"]),
        ({"attachments": [{"filename": "a.txt", "content": "*"}]}, ["invalid"]),
        ({"headers": {"List-Unsubscribe": "nonsense"}}, ["header_invalid"]),
    ],
)
async def test_what_would_make_sending_fail_is_a_finding(project, domain, fields, expected):
    result = await preflight(project, **fields)
    assert (codes(result), result["ok"]) == (expected, False)


async def test_a_request_that_is_no_email_is_refused(project):
    assert (await preflight(project, status=400, unknown=1))["code"] == "invalid"
    assert (await preflight(project, status=400, to=[]))["code"] == "invalid"


async def test_a_domain_without_records_fails_authentication(project, zone):
    result = await preflight(project, marketing=False)
    assert codes(result) == ["dkim_not_aligned", "dmarc_missing", "domain_not_verified"]
    zone.set("_dmarc.example.com", "TXT", "v=DMARC1; p=quarantine; rua=mailto:d@example.com")
    result = await preflight(project, marketing=False)
    assert codes(result) == ["dkim_not_aligned", "dmarc_fails", "domain_not_verified"]
    assert "`quarantine`" in finding_of(result, "dmarc_fails")["message"]
    domain = await add_domain(project)
    publish(zone, domain, "SPF")
    result = await preflight(project, marketing=False)
    assert codes(result) == ["dkim_missing", "dkim_not_aligned", "domain_not_verified"]


async def test_the_records_are_looked_up_now(project, zone, domain):
    dkim = next(record for record in domain["records"] if record["purpose"] == "DKIM")
    zone.set(dkim["name"], "TXT", dkim["value"][:100])
    zone.add("example.com", "TXT", "v=spf1 -all")
    result = await preflight(project, marketing=False)
    assert codes(result) == ["dkim_not_aligned", "dkim_truncated", "dmarc_fails", "spf_several"]
    zone.servfail()
    assert set(codes(await preflight(project, marketing=False))) == {"dns_unavailable"}


async def test_another_domain_of_the_envelope_sender_does_not_count_for_spf(project, zone, domain, world):
    world.settings = msgspec.structs.replace(world.settings, return_path_domain="bounces.mail.test")
    assert codes(await preflight(project, marketing=False)) == ["spf_not_aligned"]
    zone.set("example.com", "TXT", "v=spf1 -all")
    assert codes(await preflight(project, marketing=False)) == ["spf_not_aligned"], "SPF of this domain is not used"


async def test_addresses_attachments_and_size(project, domain):
    result = await preflight(project, marketing=False, replyTo="shop@example.org")
    assert codes(result) == ["reply_to_other_domain"]
    assert codes(await preflight(project, marketing=False, replyTo="a@news.example.com")) == []
    content = base64.b64encode(b"x" * 8_000_000).decode()
    attachments = [{"filename": "setup.exe", "content": "TVo="}, {"filename": "a.txt", "content": content}]
    result = await preflight(project, marketing=False, attachments=attachments)
    assert codes(result) == ["attachment_blocked", "message_large"]
    assert finding_of(result, "attachment_blocked")["path"] == "/attachments/0"
    result = await preflight(project, marketing=False, html=HTML.replace("Dear", "Dear" + "x" * 103_000))
    assert codes(result) == ["html_clipped"]


async def test_texts_of_links_that_show_another_domain(project, domain):
    html = HTML.replace("See your orders", "https://www.paypal.com/orders")
    assert codes(await preflight(project, marketing=False, html=html)) == ["link_text_differs"]
    html = HTML.replace("See your orders", "shop.example.com/orders")
    assert codes(await preflight(project, marketing=False, html=html)) == ["link_text_tracked"]
    assert codes(await preflight(project, marketing=False, html=html, trackClicks=False)) == []


async def test_unreadable_characters_in_links_and_texts_are_no_error(project, domain):
    html = HTML.replace("</body>", '<a href="https://a.com/&#xD800;&#0;">&#xD800;.com</a><img src="&#xDFFF;"></body>')
    result = await preflight(project, marketing=False, html=html, subject="a\u202eb")
    assert codes(result) == ["image_broken", "image_without_alt", "image_without_size"]


async def test_links_are_only_opened_on_request(project, domain, zone):
    zone.set("shop.example.com", "A", "127.0.0.1")
    async with http_receiver() as receiver:
        port = receiver.url("/").rpartition(":")[2].split("/")[0]
        base = f"http://shop.example.com:{port}"
        for path, status in {"/gone": 404, "/broken": 500, "/private": 403, "/moved": 302}.items():
            receiver.script(path, Reply(status=status))
        links = "".join(f'<a href="{base}{path}">x</a>' for path in ("/ok", "/gone", "/broken", "/private", "/moved"))
        links += f'<a href="{base}/unsubscribe">x</a><a href="{base}/leave">Unsubscribe</a>'
        links += f'<a href="{base}/ok">again</a><a href="http://gone.example.com/">x</a>'
        html = HTML.replace("</body>", f"{links}</body>").replace("https://shop.example.com/orders", f"{base}/orders")
        result = await preflight(project, marketing=False, html=html)
        assert (codes(result), receiver.requests) == (["link_not_https"], [])
        result = await preflight(project, marketing=False, html=html, checkLinks=True)
        assert codes(result) == ["link_broken", "link_not_https", "link_refused"]
        assert finding_of(result, "link_broken")["count"] == 3
        assert finding_of(result, "link_refused")["snippets"] == [f"HTTP 403: {base}/private"]
        paths = sorted(request.target for request in receiver.requests)
        assert paths == ["/broken", "/gone", "/moved", "/ok", "/orders", "/private"], "each once, no unsubscribe link"
        assert result["linksOpened"] == 7


async def test_few_links_are_opened_and_addresses_of_the_server_are_not(project, domain, zone):
    zone.set("shop.example.com", "A", "10.0.0.1")
    links = "".join(f'<a href="https://shop.example.com/{number}">x</a>' for number in range(30))
    html = HTML.replace("</body>", f"{links}</body>")
    result = await preflight(project, marketing=False, html=html, checkLinks=True)
    assert codes(result) == ["link_broken", "link_unchecked"]
    assert (finding_of(result, "link_broken")["count"], finding_of(result, "link_unchecked")["count"]) == (20, 11)


async def test_a_key_needs_the_permission_to_send(project, new_project, domain):
    reader = await project.key("emails:read")
    assert (await reader.post("/emails/preflight", EMAIL)).status_code == 403
    sender = await project.key("emails:send")
    assert (await sender.post("/emails/preflight", EMAIL)).status_code == 200
    other = await new_project()
    assert (await other.client.post(f"/projects/{project.id}/emails/preflight", EMAIL)).status_code == 404


async def test_a_campaign_is_marketing_mail(project, domain):
    template = {"name": "T", "subject": "Hi {{ name }}", "html": HTML.replace("Dear Ada", "Dear {{ name }}")}
    template_id = (await project.client.post("/templates", template)).json()["id"]
    campaign, _ = await create_campaign(project, 1, templateId=template_id, fromEmail="hello@example.com", fromName="S")
    path = f"/campaigns/{campaign['id']}/preflight"
    response = await project.client.post(path, {})
    assert response.status_code == 200, response.text
    assert codes(response.json()) == ["unsubscribe_not_https"]
    await project.client.post("/contacts", {"email": "eve@example.net", "attributes": {"name": "<b>"}})
    assert codes((await project.client.post(path, {"email": "eve@example.net"})).json()) == ["unsubscribe_not_https"]
    response = await project.client.post(path, {"email": "nonsense"})
    assert (response.status_code, response.json()["errors"][0]["path"]) == (400, "/email")
    assert (await project.client.post(path, {"variantId": project.id})).status_code == 404
    empty = (await project.client.post("/campaigns", {"name": "Empty"})).json()
    response = await project.client.post(f"/campaigns/{empty['id']}/preflight", {})
    assert response.json()["code"] == "campaign_incomplete"
