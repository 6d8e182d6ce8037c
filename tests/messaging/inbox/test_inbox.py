"""Captured messages over the API and on the inbox page."""

import base64
from datetime import timedelta

import httpx
import pytest

from postern.messaging.inbox.operations import IMAGES_LIMIT
from postern.platform.accounts.operations import make_inbox_link
from tests.conftest import PASSWORD

MAIL = {
    "to": ["ada@example.com"],
    "from": "Acme <hello@acme.example>",
    "subject": "Invoice <7>",
    "html": "<p>Hello <script>alert(1)</script></p>",
    "text": "Hello",
    "attachments": [
        {"filename": "näme.txt", "content": base64.b64encode(b"hello").decode(), "contentType": "text/plain"}
    ],
}


async def test_a_message_is_listed_and_parsed(project):
    sent = (await project.client.post("/emails", MAIL)).json()
    page = (await project.client.get("/inbox")).json()
    assert (page["total"], page["data"][0]["sendId"]) == (1, sent["id"])
    message = (await project.client.get(f"/inbox/{page['data'][0]['id']}")).json()
    assert message["text"].strip() == "Hello"
    assert "<script>" in message["html"]
    (attachment,) = message["attachments"]
    assert (attachment["filename"], attachment["size"]) == ("näme.txt", 5)
    downloaded = await project.client.get(f"/inbox/{message['id']}/attachments/0")
    assert downloaded.content == b"hello"
    for number in ("7", "-1", "x", "\u00b2"):
        assert (await project.client.get(f"/inbox/{message['id']}/attachments/{number}")).status_code == 404
    eml = await project.client.get(f"/inbox/{message['id']}/raw")
    assert eml.headers["content-type"].startswith("message/rfc822")
    assert (await project.client.get("/inbox?q=invoice")).json()["total"] == 1
    assert (await project.client.get("/inbox?q=100%")).json()["total"] == 0
    assert (await project.client.delete(f"/inbox/{message['id']}")).json() == {"deleted": True}
    assert (await project.client.get(f"/inbox/{message['id']}")).status_code == 404


@pytest.fixture
async def browser(app):
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1:8025", follow_redirects=True
    ) as browser:
        yield browser


async def test_the_page_needs_a_sign_in_and_shows_messages_in_a_sandbox(project, browser):
    await project.client.post("/emails", MAIL)
    sign_in_page = await browser.get("/inbox")
    assert "Sign in" in sign_in_page.text
    refused = await browser.post("/inbox/sign-in", data={"email": project.email, "password": "wrong password"})
    assert refused.status_code == 401
    list_page = await browser.post("/inbox/sign-in", data={"email": project.email, "password": PASSWORD})
    assert "Invoice &lt;7&gt;" in list_page.text
    assert "script-src 'self';" in list_page.headers["content-security-policy"], (
        "A script of this server reloads the list."
    )
    message_id = list_page.text.split(f'href="/inbox/{project.id}/')[1].split('"')[0]
    message_page = await browser.get(f"/inbox/{project.id}/{message_id}")
    assert 'sandbox="' in message_page.text
    assert "<script>alert" not in message_page.text
    frame = await browser.get(f"/inbox/{project.id}/{message_id}/html")
    assert frame.headers["content-security-policy"].startswith("sandbox")
    attachment = await browser.get(f"/inbox/{project.id}/{message_id}/attachments/0")
    assert attachment.headers["content-disposition"].startswith("attachment")
    assert (await browser.get(f"/inbox/{project.id}/{message_id}/raw")).status_code == 200
    for page_number in ("\u00b2", "-1", "x", "9" * 5_000, "0" * 5_000, "000001" + "9" * 20):
        assert "Invoice" in (await browser.get(f"/inbox/{project.id}", params={"page": page_number})).text
    await browser.post("/inbox/sign-out")
    assert (await browser.get(f"/inbox/{project.id}/{message_id}")).status_code == 401


async def test_repeated_images_are_limited(project, browser):
    image = base64.b64encode(b"x" * 1_500_000).decode()
    attachments = [{"filename": "x.png", "content": image, "contentType": "image/png", "contentId": "x"}]
    html = "<p>first</p>" + "<img src='cid:x'>" * 5_000 + '<img src="cid:x"><p>last</p>'
    sent = await project.client.post("/emails", {**MAIL, "html": html, "attachments": attachments})
    assert sent.status_code == 201, sent.text
    await browser.post("/inbox/sign-in", data={"email": project.email, "password": PASSWORD})
    (message,) = (await project.client.get("/inbox")).json()["data"]
    html_page = await browser.get(f"/inbox/{project.id}/{message['id']}/html")
    assert html_page.text.count("data:image/png;base64,") == IMAGES_LIMIT // len(image)
    assert len(html_page.text) < IMAGES_LIMIT + len(html)
    assert "<p>first</p>" in html_page.text
    assert html_page.text.endswith('<img src="cid:x"><p>last</p>')


async def test_a_one_time_link_opens_the_inbox_once(project, browser, world, clock):
    from postern.platform.accounts import store

    developer = await store.developer_by_email(world.db, email=project.email)
    token = (await make_inbox_link(world, developer.id)).partition("token=")[2]
    assert "<form" in (await browser.get("/inbox/enter", params={"token": token})).text
    list_page = await browser.post("/inbox/enter", data={"token": token})
    assert "Inbox of" in list_page.text
    assert (await browser.post("/inbox/enter", data={"token": token})).status_code == 400
    expired_token = (await make_inbox_link(world, developer.id)).partition("token=")[2]
    clock.move(timedelta(minutes=11))
    assert (await browser.post("/inbox/enter", data={"token": expired_token})).status_code == 400


async def test_inboxes_of_other_accounts_are_not_found_and_forms_of_other_sites_are_refused(
    project, new_project, browser
):
    other_project = await new_project()
    await browser.post("/inbox/sign-in", data={"email": project.email, "password": PASSWORD})
    assert (await browser.get(f"/inbox/{other_project.id}")).status_code == 404
    refused = await browser.post("/inbox/sign-out", headers={"origin": "https://evil.example"})
    assert refused.status_code in (400, 403)


async def test_links_open_outside_the_frame_and_a_message_can_be_deleted(project, browser):
    """Links in a message open in a new tab; a message can be deleted on its page with the permission.

    Regression test of N11 (tests/defects.md).
    """
    for html in ("<p>Hello</p>", "<!doctype html><html><head><title>x</title></head><body>Hello</body></html>"):
        await project.client.post("/emails", {**MAIL, "html": html})
    await browser.post("/inbox/sign-in", data={"email": project.email, "password": PASSWORD})
    messages = (await project.client.get("/inbox")).json()["data"]
    for message in messages:
        html_page = await browser.get(f"/inbox/{project.id}/{message['id']}/html")
        assert '<base target="_blank">' in html_page.text
        assert html_page.text.lower().find("<!doctype") in (-1, 0)
        assert "allow-popups" in html_page.headers["content-security-policy"]
        path = f"/inbox/{project.id}/{message['id']}"
        assert f'action="{path}/delete"' in (await browser.get(path)).text
        refused = await browser.post(f"{path}/delete", headers={"origin": "https://evil.example"})
        assert refused.status_code == 403
        assert (await browser.post(f"{path}/delete")).status_code == 200
        assert (await browser.get(path)).status_code == 404
    assert (await project.client.get("/inbox")).json()["total"] == 0


async def test_the_list_reloads_itself_and_a_failed_sign_in_keeps_the_address(project, browser):
    """The list has the script that reloads it; after a wrong password the form still has the address.

    Regression test of N11 (tests/defects.md).
    """
    refused = await browser.post("/inbox/sign-in", data={"email": 'a"b@example.com', "password": "wrong password"})
    assert 'value="a&quot;b@example.com"' in refused.text or 'value="a&#34;b@example.com"' in refused.text
    list_page = await browser.post("/inbox/sign-in", data={"email": project.email, "password": PASSWORD})
    assert '<script src="/assets/inbox.js" defer></script>' in list_page.text
    assert 'id="messages"' in list_page.text
    assert "script-src 'self'" in list_page.headers["content-security-policy"]
    script = await browser.get("/assets/inbox.js")
    assert (script.status_code, "javascript" in script.headers["content-type"]) == (200, True)
