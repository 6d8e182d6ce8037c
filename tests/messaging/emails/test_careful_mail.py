"""Details of attachments, list headers, TEST keys, names and permissions."""

import base64
import email
from uuid import UUID, uuid4

import pytest

from postern.protocols.mail.smtp import ehlo_name
from tests.protocols.mail.test_html_tokens import own_tokens

MAIL = {"to": ["ada@example.com"], "from": "Acme <hello@acme.example>", "subject": "Hello", "html": "<p>x</p>"}


async def send_captured(project, **fields):
    """Send a message; returns the captured message and the body of the response."""
    response = await project.client.post("/emails", {**MAIL, **fields})
    assert response.status_code == 201, response.text
    (message,) = [
        message
        for message in (await project.client.get("/inbox")).json()["data"]
        if message["sendId"] == response.json()["id"]
    ]
    return (await project.client.get(f"/inbox/{message['id']}")).json(), response.json()


async def test_an_attachment_can_have_line_breaks_and_no_content_type(project):
    """
    Regression test of M16 (tests/defects.md).
    """
    content = bytes(range(256)) * 4
    encoded = base64.encodebytes(content).decode().replace("\n", "\r\n")
    files = [
        {"filename": name, "content": encoded} for name in ("a.pdf", "B.PNG", "notes.txt", "odd.unknown", "x.tar.gz")
    ]
    other_names = ("Offer.xlsx", "letter.docx", "slides.pptx", "invite.ics", "logo.webp", "ada.vcf", "sheet.ods")
    files += [{"filename": name, "content": encoded} for name in other_names]
    message, _ = await send_captured(project, attachments=files)
    expected_types = ["application/pdf", "image/png", "text/plain", "application/octet-stream", "application/gzip"]
    office = "application/vnd.openxmlformats-officedocument"
    expected_types += [f"{office}.spreadsheetml.sheet", f"{office}.wordprocessingml.document"]
    expected_types += [f"{office}.presentationml.presentation", "text/calendar", "image/webp", "text/vcard"]
    expected_types += ["application/vnd.oasis.opendocument.spreadsheet"]
    assert [attachment["contentType"] for attachment in message["attachments"]] == expected_types
    downloaded = await project.client.get(f"/inbox/{message['id']}/attachments/0")
    assert downloaded.content == content
    invalid = [{"filename": "a", "content": "AA=A"}]
    refused = await project.client.post("/emails", {**MAIL, "attachments": invalid})
    assert refused.json()["errors"][0]["path"] == "/attachments/0/content"


async def test_list_headers_can_be_set_by_the_caller(project):
    """
    Regression test of M16 (tests/defects.md).
    """
    headers = {"List-Unsubscribe": "<https://acme.example/u/1>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    _, sent = await send_captured(project, headers=headers)
    eml = (await project.client.get(f"/emails/logs/{sent['id']}/message")).content
    message = email.message_from_bytes(eml)
    for name, value in headers.items():
        assert message.get_all(name) == [value]
    refused = await project.client.post("/emails", {**MAIL, "headers": headers, "unsubscribable": True})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/headers/List-Unsubscribe")


async def test_invalid_list_headers_are_refused(project):
    """
    Regression test of M16 (tests/defects.md).
    """
    field, one_click_field = "List-Unsubscribe", "List-Unsubscribe-Post"
    for headers, invalid_field in (
        ({field: "https://acme.example/u/1"}, field),
        ({field: "nonsense"}, field),
        ({field: "<javascript:1>"}, field),
        ({one_click_field: "List-Unsubscribe=One-Click"}, one_click_field),
        ({field: "<mailto:u@acme.example>", one_click_field: "List-Unsubscribe=One-Click"}, one_click_field),
        ({field: "<https://acme.example/u/1>", one_click_field: "yes"}, one_click_field),
    ):
        refused = await project.client.post("/emails", {**MAIL, "headers": headers})
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, f"/headers/{invalid_field}"), headers
    several_urls = {"list-unsubscribe": "<mailto:u@acme.example?subject=leave>, <https://acme.example/u/1?a=b,c>"}
    assert (await project.client.post("/emails", {**MAIL, "headers": several_urls})).status_code == 201


async def test_unsubscribing_in_a_test_message_does_not_affect_live_mail(project, stranger):
    """
    Regression test of M17 (tests/defects.md).
    """
    address = f"{uuid4().hex}@example.com"
    test_key = await project.key(environment="TEST")
    sent = (await test_key.post("/emails", {**MAIL, "to": [address], "unsubscribable": True})).json()
    log = (await project.client.get(f"/emails/logs/{sent['id']}")).json()
    live = (await project.client.post("/emails", {**MAIL, "to": [address]})).json()
    assert (log["test"], (await project.client.get(f"/emails/logs/{live['id']}")).json()["test"]) == (True, False)
    eml = (await project.client.get(f"/emails/logs/{sent['id']}/message")).content
    link = email.message_from_bytes(eml)["List-Unsubscribe"].strip("<>").partition("/t/u/")[2]
    page = await stranger.get(f"/t/u/{link}")
    assert "Acme (hello@acme.example)" in page.text
    assert f"{address[0]}…@example.com" in page.text
    assert address not in page.text
    assert (await stranger.post(f"/t/u/{link}")).status_code == 200
    assert (await project.client.get("/suppressions")).json()["total"] == 0


async def test_the_inbox_embeds_images_and_removes_the_pixel(project, world):
    """
    Regression test of M17 (tests/defects.md).
    """
    from postern.messaging.inbox.operations import shown_html

    image = {"filename": "l.png", "content": base64.b64encode(b"png").decode(), "contentId": "logo"}
    html = (
        '<body><img alt=x src="cid:logo"><img src=cid:logo><img src="cid:other"><a href="https://a.test/">x</a></body>'
    )
    message, sent = await send_captured(project, html=html, attachments=[image], trackOpens=True)
    eml = (await project.client.get(f"/inbox/{message['id']}/raw")).content
    assert f"/t/o/{sent['id']}" in message["html"]
    inbox_html = shown_html(eml, UUID(sent["id"]))
    assert "/t/o/" not in inbox_html
    sources = [token[2]["src"] for token in own_tokens(inbox_html) if token[:2] == ("start", "img")]
    data_url = "data:image/png;base64," + base64.b64encode(b"png").decode()
    assert sources == [data_url, data_url, "cid:other"]


async def test_blank_names_are_refused(project):
    """
    Regression test of M17 (tests/defects.md).
    """
    for body in ({"name": ""}, {"name": "   "}, {"accountName": " "}):
        response = await project.developer.patch("/account", body)
        assert response.status_code == 400, response.text
    for blank in ("", "  "):
        assert (await project.developer.patch("", {"name": blank})).status_code == 400
        assert (await project.developer.post("/api-keys", {"name": blank})).status_code == 400


async def test_an_api_key_cannot_have_permissions_that_only_developers_can_use(project):
    """
    Regression test of M17 (tests/defects.md).
    """
    for name in ("keys:write", "keys:read", "account:write", "billing:*"):
        response = await project.developer.post("/api-keys", {"name": "k", "permissions": ["emails:send", name]})
        assert response.status_code == 400, response.text
        assert (response.json()["errors"][0]["path"], response.json()["errors"][0]["code"]) == (
            "/permissions/1",
            "not_for_keys",
        )


async def test_a_change_without_effect_creates_no_template_version(project):
    """
    Regression test of M17 (tests/defects.md).
    """
    fields = {"name": "T", "subject": "S", "html": "<p>x</p>"}
    template = (await project.client.post("/templates", fields)).json()
    for body in ({}, {"subject": "S"}, {"name": "T", "html": "<p>x</p>"}):
        response = await project.client.patch(f"/templates/{template['id']}", body)
        assert (response.status_code, response.json()["updatedAt"]) == (200, template["updatedAt"])
    assert len((await project.client.get(f"/templates/{template['id']}/versions")).json()) == 1
    await project.client.patch(f"/templates/{template['id']}", {"subject": "S2"})
    assert len((await project.client.get(f"/templates/{template['id']}/versions")).json()) == 2


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("127.0.0.1", "[127.0.0.1]"),
        ("2001:db8::1", "[IPv6:2001:db8::1]"),
        ("mail.example.com", "mail.example.com"),
        ("localhost", "localhost"),
    ],
)
def test_ehlo_sends_an_ip_address_as_a_literal(host, name):
    """
    Regression test of M17 (tests/defects.md).
    """
    assert ehlo_name(host) == name
