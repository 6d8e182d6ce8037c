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
    (file,) = message["attachments"]
    assert (file["filename"], file["size"]) == ("näme.txt", 5)
    got = await project.client.get(f"/inbox/{message['id']}/attachments/0")
    assert got.content == b"hello"
    for number in ("7", "-1", "x", "\u00b2"):
        assert (await project.client.get(f"/inbox/{message['id']}/attachments/{number}")).status_code == 404
    raw = await project.client.get(f"/inbox/{message['id']}/raw")
    assert raw.headers["content-type"].startswith("message/rfc822")
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
    auth = await browser.get("/inbox")
    assert "Sign in" in auth.text
    wrong = await browser.post("/inbox/sign-in", data={"email": project.email, "password": "wrong password"})
    assert wrong.status_code == 401
    inside = await browser.post("/inbox/sign-in", data={"email": project.email, "password": PASSWORD})
    assert "Invoice &lt;7&gt;" in inside.text
    assert "script-src 'self';" in inside.headers["content-security-policy"], "The list is live, by our own script."
    link = inside.text.split(f'href="/inbox/{project.id}/')[1].split('"')[0]
    shown = await browser.get(f"/inbox/{project.id}/{link}")
    assert 'sandbox="' in shown.text
    assert "<script>alert" not in shown.text
    frame = await browser.get(f"/inbox/{project.id}/{link}/html")
    assert frame.headers["content-security-policy"].startswith("sandbox")
    file = await browser.get(f"/inbox/{project.id}/{link}/attachments/0")
    assert file.headers["content-disposition"].startswith("attachment")
    assert (await browser.get(f"/inbox/{project.id}/{link}/raw")).status_code == 200
    for page in ("\u00b2", "-1", "x", "9" * 5_000, "0" * 5_000, "000001" + "9" * 20):
        assert "Invoice" in (await browser.get(f"/inbox/{project.id}", params={"page": page})).text
    await browser.post("/inbox/sign-out")
    assert (await browser.get(f"/inbox/{project.id}/{link}")).status_code == 401


async def test_repeated_images_are_limited(project, browser):
    image = base64.b64encode(b"x" * 1_500_000).decode()
    attachments = [{"filename": "x.png", "content": image, "contentType": "image/png", "contentId": "x"}]
    html = "<p>first</p>" + "<img src='cid:x'>" * 5_000 + '<img src="cid:x"><p>last</p>'
    sent = await project.client.post("/emails", {**MAIL, "html": html, "attachments": attachments})
    assert sent.status_code == 201, sent.text
    await browser.post("/inbox/sign-in", data={"email": project.email, "password": PASSWORD})
    (each,) = (await project.client.get("/inbox")).json()["data"]
    shown = await browser.get(f"/inbox/{project.id}/{each['id']}/html")
    assert shown.text.count("data:image/png;base64,") == IMAGES_LIMIT // len(image)
    assert len(shown.text) < IMAGES_LIMIT + len(html)
    assert "<p>first</p>" in shown.text
    assert shown.text.endswith('<img src="cid:x"><p>last</p>')


async def test_a_one_time_link_opens_the_inbox_once(project, browser, world, clock):
    from postern.platform.accounts import store

    developer = await store.developer_by_email(world.db, email=project.email)
    token = (await make_inbox_link(world, developer.id)).partition("token=")[2]
    assert "<form" in (await browser.get("/inbox/enter", params={"token": token})).text
    inside = await browser.post("/inbox/enter", data={"token": token})
    assert "Inbox of" in inside.text
    assert (await browser.post("/inbox/enter", data={"token": token})).status_code == 400
    late = (await make_inbox_link(world, developer.id)).partition("token=")[2]
    clock.move(timedelta(minutes=11))
    assert (await browser.post("/inbox/enter", data={"token": late})).status_code == 400


async def test_inboxes_of_other_accounts_are_not_found_and_foreign_forms_are_refused(project, new_project, browser):
    theirs = await new_project()
    await browser.post("/inbox/sign-in", data={"email": project.email, "password": PASSWORD})
    assert (await browser.get(f"/inbox/{theirs.id}")).status_code == 404
    forged = await browser.post("/inbox/sign-out", headers={"origin": "https://evil.example"})
    assert forged.status_code in (400, 403)


async def test_links_open_outside_the_frame_and_a_message_can_be_deleted(project, browser):
    """Links in a message open in a new tab; a message can be deleted on its page with the permission.

    Defects: N11
    """
    for html in ("<p>Hello</p>", "<!doctype html><html><head><title>x</title></head><body>Hello</body></html>"):
        await project.client.post("/emails", {**MAIL, "html": html})
    await browser.post("/inbox/sign-in", data={"email": project.email, "password": PASSWORD})
    listed = (await project.client.get("/inbox")).json()["data"]
    for each in listed:
        shown = await browser.get(f"/inbox/{project.id}/{each['id']}/html")
        assert '<base target="_blank">' in shown.text
        assert shown.text.lower().find("<!doctype") in (-1, 0)
        assert "allow-popups" in shown.headers["content-security-policy"]
        page = f"/inbox/{project.id}/{each['id']}"
        assert f'action="{page}/delete"' in (await browser.get(page)).text
        foreign = await browser.post(f"{page}/delete", headers={"origin": "https://evil.example"})
        assert foreign.status_code == 403
        assert (await browser.post(f"{page}/delete")).status_code == 200
        assert (await browser.get(page)).status_code == 404
    assert (await project.client.get("/inbox")).json()["total"] == 0


async def test_the_list_is_live_and_a_failed_sign_in_keeps_the_address(project, browser):
    """The list loads the script that refreshes it; after a wrong password the address stays in its field.

    Defects: N11
    """
    wrong = await browser.post("/inbox/sign-in", data={"email": 'a"b@example.com', "password": "wrong password"})
    assert 'value="a&quot;b@example.com"' in wrong.text or 'value="a&#34;b@example.com"' in wrong.text
    inside = await browser.post("/inbox/sign-in", data={"email": project.email, "password": PASSWORD})
    assert '<script src="/assets/inbox.js" defer></script>' in inside.text
    assert 'id="messages"' in inside.text
    assert "script-src 'self'" in inside.headers["content-security-policy"]
    script = await browser.get("/assets/inbox.js")
    assert (script.status_code, "javascript" in script.headers["content-type"]) == (200, True)
