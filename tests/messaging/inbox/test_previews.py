"""Previews of mails: HTML that others wrote, in a frame of the dashboard."""

import base64
import re
from datetime import timedelta
from uuid import uuid4

import msgspec
import pytest

from postern.kernel.values import to_json
from postern.messaging.inbox.previews import HTML_LIMIT, PREVIEW_RATE, SIGNATURE_PURPOSE, PreviewTicket
from tests.conftest import PASSWORD, Client
from tests.platform.accounts.members import AccountHelper

HTML = (
    "<!doctype html><html><head><title>Mail</title></head><body><p>Hello Ada</p>"
    "<img src='https://remote.example/logo.png'><a href='https://acme.example/'>Shop</a></body></html>"
)
MAIL = {"from": "Shop <shop@example.org>", "to": ["ada@example.com"], "subject": "News", "html": HTML}
OWN_SOURCES, ALL_SOURCES = "img-src data:;", "img-src data: https: http:;"


async def sent_mail(project, **fields) -> tuple[str, str]:
    """Send a mail, which is captured. Returns the paths of its previews: of the send and of the captured message."""
    sent = await project.client.post("/emails", {**MAIL, **fields})
    assert sent.status_code == 201, sent.text
    (message,) = (await project.client.get("/inbox")).json()["data"]
    return f"/emails/logs/{sent.json()['id']}/preview", f"/inbox/{message['id']}/preview"


async def open_preview(client: Client, path: str, **options):
    """Create a preview, and load it as a frame would: without a credential."""
    created = await client.post(path, options)
    assert created.status_code == 200, created.text
    return await Client(client.app).get(f"http://postern.test{created.json()['path']}")


async def test_a_preview_shows_the_html_in_a_sandbox(project, clock):
    for path in await sent_mail(project):
        created = (await project.developer.post(path, {})).json()
        assert set(created) == {"path", "expiresAt"}
        assert re.fullmatch(r"/dashboard/preview/[\w-]+\.[\w-]{27}", created["path"])
        response = await Client(project.client.app).get(f"http://postern.test{created['path']}")
        assert (response.status_code, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert "<p>Hello Ada</p>" in response.text
        assert '<head><base target="_blank"><title>' in response.text
        assert response.headers["content-security-policy"] == (
            f"sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; {OWN_SOURCES} "
            "style-src 'unsafe-inline'; font-src data:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
        )
        expected = {
            "cache-control": "no-store",
            "cross-origin-resource-policy": "same-origin",
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
            "x-dns-prefetch-control": "off",
            "x-frame-options": "SAMEORIGIN",
        }
        assert {name: response.headers[name] for name in expected} == expected


async def test_images_of_other_servers_are_loaded_only_on_request(project):
    for path in await sent_mail(project):
        for options, sources in (({}, OWN_SOURCES), ({"images": False}, OWN_SOURCES), ({"images": True}, ALL_SOURCES)):
            response = await open_preview(project.developer, path, **options)
            assert sources in response.headers["content-security-policy"]


async def test_a_preview_has_attached_images_and_no_tracking_pixel(project):
    image = {"filename": "l.png", "content": base64.b64encode(b"png").decode(), "contentId": "logo"}
    paths = await sent_mail(project, html="<body><img src='cid:logo'></body>", attachments=[image], trackOpens=True)
    for path in paths:
        page = (await open_preview(project.developer, path)).text
        assert "data:image/png;base64," in page
        assert "/t/o/" not in page


async def test_a_mail_without_html_is_shown_as_text(project):
    paths = await sent_mail(project, html=None, text="a < b & <script>alert(1)</script>")
    for path in paths:
        page = (await open_preview(project.developer, path)).text
        assert "a &lt; b &amp; &lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert "<script" not in page


async def test_a_preview_expires(project, clock):
    path, _ = await sent_mail(project)
    created = (await project.developer.post(path, {})).json()
    visitor = Client(project.client.app)
    clock.move(timedelta(minutes=5) - timedelta(seconds=1))
    assert (await visitor.get(f"http://postern.test{created['path']}")).status_code == 200
    clock.move(timedelta(seconds=1))
    expired = await visitor.get(f"http://postern.test{created['path']}")
    assert (expired.status_code, "has expired" in expired.text) == (404, True)
    assert expired.headers["content-security-policy"].startswith("sandbox"), "the dashboard can show it in its frame"


async def test_a_preview_ends_with_the_session(project, stranger):
    path, _ = await sent_mail(project)
    signed_in = await stranger.post("/auth/sign-in", {"email": project.email, "password": PASSWORD})
    other = Client(project.client.app, signed_in.json()["accessToken"], project.developer.base)
    created = (await other.post(path, {})).json()["path"]
    assert (await stranger.get(f"http://postern.test{created}")).status_code == 200
    assert (await other.post("/auth/sign-out")).status_code == 204
    assert (await stranger.get(f"http://postern.test{created}")).status_code == 404


async def test_forged_and_altered_tickets_are_refused(project, world, stranger, new_project):
    path, _ = await sent_mail(project)
    created = (await project.developer.post(path, {})).json()["path"].rpartition("/")[2]
    text, signature = created.split(".")
    content = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    ticket = msgspec.json.decode(content, type=PreviewTicket)
    assert world.secrets.sign(SIGNATURE_PURPOSE, content) == signature
    other = await new_project()
    for changes in (
        {"images": True},
        {"show_secrets": True},
        {"kind": "CAPTURED"},
        {"project_id": other.id},
        {"id": str(uuid4())},
        {"developer_id": str(uuid4())},
        {"session_id": str(uuid4())},
        {"expires_at": ticket.expires_at + timedelta(days=1)},
    ):
        altered = to_json(msgspec.structs.replace(ticket, **changes))
        forged = f"{base64.urlsafe_b64encode(altered).rstrip(b'=').decode()}.{signature}"
        assert (await stranger.get(f"http://postern.test/dashboard/preview/{forged}")).status_code == 404, changes
    other_purpose = world.secrets.sign("tracking", content)
    for nonsense in (
        "x",
        "..x",
        f"{text}.",
        f".{signature}",
        f"{text}.{other_purpose}",
        "%00",
        "ä.ö",
        "A" * 5_000,
        text,
    ):
        assert (await stranger.get(f"http://postern.test/dashboard/preview/{nonsense}")).status_code == 404, nonsense
    for nothing, status in (("/dashboard/preview", 405), ("/dashboard/preview/a/b", 404)):
        assert (await stranger.get(f"http://postern.test{nothing}")).status_code == status


async def test_only_who_may_read_the_message_gets_a_preview(project, new_project, stranger, run_due_work, world):
    paths = await sent_mail(project)
    other = await new_project()
    account = AccountHelper(project, stranger, run_due_work, world)
    _, viewer = await account.member(role="VIEWER")
    for path in paths:
        for client, status in ((project.client, 403), (stranger, 401), (other.developer, 404), (viewer, 200)):
            assert (await client.post(f"/projects/{project.id}{path}", {})).status_code == status
        missing = re.sub(r"[0-9a-f-]{36}", str(uuid4()), path)
        assert (await project.developer.post(missing, {})).json()["code"] in ("email_missing", "captured_missing")
        foreign = f"/projects/{other.id}{path}"
        assert (await other.developer.post(foreign, {})).status_code == 404
    malformed = await project.developer.post(paths[0], {"images": "yes"})
    assert (malformed.status_code, malformed.json()["errors"][0]["path"]) == (400, "/images")
    unknown = await project.developer.post(paths[0], {"image": True})
    assert (unknown.status_code, unknown.json()["errors"][0]["path"]) == (400, "/image")


async def test_previews_of_one_session_are_limited(project, stranger, monkeypatch):
    path, _ = await sent_mail(project)
    created = (await project.developer.post(path, {})).json()["path"]
    monkeypatch.setattr(
        "postern.messaging.inbox.previews.PREVIEW_RATE",
        type(PREVIEW_RATE)(PREVIEW_RATE.name, 2, PREVIEW_RATE.window),
    )
    statuses = [(await stranger.get(f"http://postern.test{created}")).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]


OWN_FORM = {"origin": "http://127.0.0.1:8025", "sec-fetch-site": "same-origin"}
SHOW = "http://postern.test/dashboard/preview"


async def test_a_form_of_the_dashboard_shows_html_that_is_not_saved(stranger):
    for images, sources in (({}, OWN_SOURCES), ({"images": "0"}, OWN_SOURCES), ({"images": "1"}, ALL_SOURCES)):
        response = await stranger.request("POST", SHOW, data={"html": HTML, **images}, headers=OWN_FORM)
        assert (response.status_code, response.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert "<p>Hello Ada</p>" in response.text
        assert '<head><base target="_blank">' in response.text
        policy = response.headers["content-security-policy"]
        assert policy.startswith("sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none';")
        assert sources in policy


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ],
)
async def test_forms_of_other_sites_show_nothing(stranger, headers):
    """Otherwise, any site could show its own text at the address of this server."""
    response = await stranger.request("POST", SHOW, data={"html": HTML}, headers=headers)
    assert (response.status_code, "Hello Ada" in response.text) == (403, False)


async def test_html_to_show_is_limited(stranger):
    body = b"html=" + b"x" * HTML_LIMIT
    headers = {**OWN_FORM, "content-type": "application/x-www-form-urlencoded"}
    response = await stranger.request("POST", SHOW, content=body, headers=headers)
    assert response.status_code == 413
    fields = {f"f{number}": "x" for number in range(21)}
    assert (await stranger.request("POST", SHOW, data=fields, headers=OWN_FORM)).status_code == 400
    wrong_type = await stranger.request("POST", SHOW, json={"html": HTML}, headers=OWN_FORM)
    assert wrong_type.status_code == 400
