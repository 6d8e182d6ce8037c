"""Opens, clicks and unsubscribes over HTTP."""

import asyncio
import re
from datetime import timedelta
from html import unescape
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest

from postern.kernel.values import Moment
from postern.messaging.audiences import contacts
from postern.messaging.tracking.model import HitRequest, RecentClick
from postern.messaging.tracking.operations import UNSUBSCRIBE_BODY_LIMIT
from postern.messaging.tracking.recording import record_hits
from postern.messaging.tracking.rules import classify
from tests.workers import in_another_process

BROWSER = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}
MAIL = {
    "to": ["ada@example.com"],
    "from": "Acme <hello@acme.example>",
    "subject": "Hello",
    "html": '<body><a href="https://acme.example/a?x=1&amp;y=é">one</a> <a href="https://acme.example/b">two</a>'
    '<a href="mailto:x@acme.example">write</a></body>',
}


async def send_and_read(project, **fields):
    """Send a message; returns the id of the send and the captured message."""
    send = (await project.client.post("/emails", {**MAIL, **fields})).json()
    captured = (await project.client.get("/inbox")).json()["data"][0]
    assert captured["sendId"] == send["id"]
    message = (await project.client.get(f"/inbox/{captured['id']}")).json()
    return send["id"], message


def tracked_links(message) -> list[str]:
    """Path and query of each tracked link of a message."""
    hrefs = [unescape(href) for href in re.findall(r'href="([^"]+)"', message["html"])]
    return [urlsplit(href)._replace(scheme="", netloc="").geturl() for href in hrefs if "/t/c/" in href]


async def entry(project, send_id):
    return (await project.client.get(f"/emails/logs/{send_id}")).json()


async def test_a_click_redirects_and_is_recorded(project, stranger, clock):
    send_id, message = await send_and_read(project)
    clock.move(timedelta(minutes=1))
    response = await stranger.get(tracked_links(message)[0], headers=BROWSER)
    assert response.status_code == 302
    assert response.headers["location"] == "https://acme.example/a?x=1&y=%C3%A9"
    log = await entry(project, send_id)
    assert log["clickedAt"]
    assert log["openedAt"] is None
    assert [event["type"] for event in log["webhookEvents"]] == ["Send", "Delivery", "Click"]
    (hit,) = (await project.client.get(f"/emails/logs/{send_id}/hits")).json()
    assert (hit["verdict"], hit["url"]) == ("human", "https://acme.example/a?x=1&y=é")
    assert "mailto:x@acme.example" in message["html"]


async def test_the_pixel_counts_once_and_is_always_returned(project, stranger, clock):
    send_id, message = await send_and_read(project)
    assert f"/t/o/{send_id}" in message["html"]
    clock.move(timedelta(minutes=1))
    assert (await stranger.request("HEAD", f"/t/o/{send_id}", headers=BROWSER)).status_code == 200
    assert (await entry(project, send_id))["openedAt"] is None
    first = await stranger.get(f"/t/o/{send_id}", headers=BROWSER)
    assert (len(first.content), first.headers["content-type"]) == (43, "image/gif")
    assert "no-store" in first.headers["cache-control"]
    opened = (await entry(project, send_id))["openedAt"]
    clock.move(timedelta(minutes=1))
    await stranger.get(f"/t/o/{send_id}", headers=BROWSER)
    assert (await entry(project, send_id))["openedAt"] == opened
    for unknown in (str(uuid4()), "x", "%00"):
        assert (await stranger.get(f"/t/o/{unknown}")).content == first.content


@pytest.mark.parametrize(
    "forge",
    [
        lambda link: link.replace("acme.example", "evil.example"),
        lambda link: link[:-1] + ("A" if link[-1] != "A" else "B"),
        lambda link: re.sub(r"&s=.*", "", link),
        lambda link: re.sub(r"\?u=[^&]*&", "?", link),
        lambda link: re.sub(r"/t/c/[^?]*", f"/t/c/{uuid4()}", link),
        lambda link: link.replace("?u=https", "?u=javascript"),
        lambda link: re.sub(r"&s=(.*)", r"&s=%C3%A9", link),
    ],
)
async def test_a_forged_link_never_redirects(project, stranger, forge):
    send_id, message = await send_and_read(project)
    response = await stranger.get(forge(tracked_links(message)[0]), headers=BROWSER)
    assert response.status_code == 404
    assert "location" not in response.headers
    assert (await entry(project, send_id))["clickedAt"] is None


@pytest.mark.parametrize(
    ("target", "location"),
    [
        ("http://[bad", "http://[bad"),
        ("HTTPS://acme.example/", "HTTPS://acme.example/"),
        ("https://acme.example/{{v}}", "https://acme.example/a%0D%0ASet-Cookie:%20b=c"),
    ],
)
async def test_unusual_link_targets_are_preserved(project, stranger, target, location):
    html = f'<a href="{target}">odd</a>'
    _, message = await send_and_read(project, html=html, variables={"v": "a\r\nSet-Cookie: b=c"})
    response = await stranger.get(tracked_links(message)[0], headers=BROWSER)
    assert (response.status_code, response.headers["location"]) == (302, location)
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", b'{"s": "\xff"}'),
        ("application/json", b"[" * 8_000),
        ("application/json", b'["s"]'),
        ("multipart/form-data", b"s"),
        ("multipart/form-data; boundary=b", b'--b\r\nContent-Disposition: ;;name*0*="s\r\n\r\nx\r\n--b--'),
        ("multipart/form-data; boundary=\u00e9", b"--"),
        ("application/x-www-form-urlencoded", b"s=%ff&" * 1_000),
        ("text/plain", b"s=\xff"),
    ],
)
async def test_an_unparsable_body_does_not_unsubscribe(project, stranger, content_type, body):
    send_id, _ = await send_and_read(project, unsubscribable=True)
    headers = {"content-type": content_type.encode("latin-1")}
    response = await stranger.request("POST", f"/t/u/{send_id}", content=body, headers=headers)
    assert response.status_code == 404
    assert (await project.client.get("/suppressions")).json()["total"] == 0


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize("query", ["s=%00", f"s={'x' * 201}", f"s={'x' * 5_000}", "s=%FF", "s=%ED%A0%80", "s=", "x=1"])
@pytest.mark.parametrize("target", ["", "u=%00&", f"u=https://acme.example/{'x' * 5_000}&", "u=%FF&"])
async def test_every_invalid_link_gets_the_same_page(stranger, method, query, target):
    for kind in "cu":
        if (kind, method) == ("c", "POST"):
            continue
        response = await stranger.request(method, f"/t/{kind}/{uuid4()}?{target}{query}", headers=BROWSER)
        assert response.status_code == 404
        assert response.headers["content-type"].startswith("text/html")
        assert method == "HEAD" or "This link is not valid." in response.text


async def test_an_unsubscribe_signature_is_not_valid_for_clicks(project, stranger):
    send_id, message = await send_and_read(project, unsubscribable=True)
    header = next(header["value"] for header in message["headers"] if header["name"] == "List-Unsubscribe")
    signature = re.search(r"s=([^>]+)", header)[1]
    response = await stranger.get(f"/t/c/{send_id}", params={"u": "https://acme.example/", "s": signature})
    assert response.status_code == 404


@pytest.mark.parametrize(
    ("repeated", "start"),
    [
        (b"--b\r\n\r\n", b""),
        (b"; a*0=b", b"--b\r\nContent-Disposition: form-data"),
        (b"(", b"--b\r\nContent-Disposition: form-data; "),
        (b"--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n", b""),
    ],
    ids=["parts", "parameters", "comments", "nesting"],
)
async def test_unsubscribe_requests_are_limited_and_parsed_in_linear_time(stranger, repeated, start):
    """Python's `email` parser took 18 seconds for a body of 1 MB, and nested comments caused a 500."""
    headers = {"content-type": "multipart/form-data; boundary=b"}
    path = f"http://postern.test/t/u/{uuid4()}"
    small = start + repeated * ((UNSUBSCRIBE_BODY_LIMIT - len(start)) // len(repeated))
    assert (await stranger.post(path, content=small, headers=headers)).status_code == 404
    large = await stranger.post(path, content=start + repeated * (1_000_000 // len(repeated)), headers=headers)
    assert (large.status_code, large.json()["code"]) == (413, "body_too_large")


@pytest.mark.parametrize("encoding", ["form", "query", "json", "multipart"])
async def test_only_a_post_unsubscribes_and_it_is_idempotent(project, stranger, encoding):
    _, message = await send_and_read(project, unsubscribable=True)
    fields = {header["name"]: header["value"] for header in message["headers"]}
    assert fields["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    url = urlsplit(fields["List-Unsubscribe"].strip("<>"))
    path, signature = url.path, url.query.removeprefix("s=")
    page = await stranger.get(f"{path}?s={signature}")
    assert (page.status_code, "<form" in page.text) == (200, True)
    assert (await project.client.post("/emails", {**MAIL, "unsubscribable": True})).json()["status"] == "DELIVERED"
    for _ in range(2):
        if encoding == "form":
            unsubscribed = await stranger.request("POST", path, data={"s": signature, "List-Unsubscribe": "One-Click"})
        elif encoding == "query":
            unsubscribed = await stranger.request(
                "POST", f"{path}?s={signature}", data={"List-Unsubscribe": "One-Click"}
            )
        elif encoding == "json":
            unsubscribed = await stranger.post(path, {"s": signature})
        else:
            unsubscribed = await stranger.request("POST", path, files={"s": (None, signature)})
        assert unsubscribed.status_code == 200, unsubscribed.text
    later = await project.client.post("/emails", {**MAIL, "unsubscribable": True})
    assert later.json()["status"] == "SUPPRESSED"
    without_link = await project.client.post("/emails", MAIL)
    assert without_link.json()["status"] == "DELIVERED", "Only mail with an unsubscribe link is suppressed."
    assert (await stranger.post(path, {"s": "wrong"})).status_code == 404
    events = (await project.client.get("/events?type=email.unsubscribed")).json()["data"]
    assert len(events) == 1


DELIVERED = Moment.fromisoformat("2026-01-31T12:00:00+00:00")
LATER = DELIVERED + timedelta(minutes=5)


@pytest.mark.parametrize(
    ("kind", "agent", "occurred_at", "verdict", "reason"),
    [
        ("OPEN", BROWSER["user-agent"], LATER, "human", None),
        ("CLICK", BROWSER["user-agent"], LATER, "human", None),
        ("OPEN", "Mozilla/5.0", LATER, "machine", "apple_mail_privacy_protection"),
        ("CLICK", "Mozilla/5.0", LATER, "human", None),
        ("OPEN", "Mozilla/5.0 (Windows NT 5.1) via ggpht.com GoogleImageProxy", DELIVERED, "proxy", "image_proxy"),
        ("OPEN", "YahooMailProxy; https://help.yahoo.com", LATER, "proxy", "image_proxy"),
        ("CLICK", "", LATER, "machine", "no_user_agent"),
        ("CLICK", "Barracuda Sentinel (EE)", LATER, "machine", "user_agent"),
        ("CLICK", "curl/8.5.0", LATER, "machine", "user_agent"),
        ("CLICK", BROWSER["user-agent"], DELIVERED + timedelta(seconds=2), "machine", "too_soon"),
        ("OPEN", BROWSER["user-agent"], DELIVERED + timedelta(seconds=6), "human", None),
    ],
)
def test_classification_of_hits(kind, agent, occurred_at, verdict, reason):
    hit = HitRequest(
        send_id=uuid4(), kind=kind, url="https://a/", ip_address="", user_agent=agent, occurred_at=occurred_at
    )
    classification = classify(hit, DELIVERED, [])
    assert (classification.verdict, classification.reason) == (verdict, reason)


def test_clicks_on_all_links_at_once_are_by_a_machine():
    send_id = uuid4()
    hit = HitRequest(
        send_id=send_id, kind="CLICK", url="c", ip_address="", user_agent=BROWSER["user-agent"], occurred_at=LATER
    )
    recent_clicks = [RecentClick(send_id=send_id, url=url, occurred_at=LATER) for url in ("a", "b")]
    assert classify(hit, DELIVERED, recent_clicks).reason == "all_links_at_once"
    assert classify(hit, DELIVERED, recent_clicks[:1]).verdict == "human"
    old_clicks = [RecentClick(send_id=send_id, url=url, occurred_at=LATER - timedelta(seconds=9)) for url in ("a", "b")]
    assert classify(hit, DELIVERED, old_clicks).verdict == "human"


async def test_hits_by_machines_are_recorded_but_not_counted(project, stranger, world):
    send_id, message = await send_and_read(project)
    await stranger.get(
        tracked_links(message)[0], headers=BROWSER
    )  # So soon after delivery that it counts as by a machine.
    assert (await entry(project, send_id))["clickedAt"]
    async with world.db.connection() as connection:
        rows = await connection.execute(
            "select measure, sum(count)::int from send_counters where project_id = %s group by measure", [project.id]
        )
        counts = dict(await rows.fetchall())
    assert (counts.get("clicked", 0), counts["click_touched"]) == (0, 1), "`click_touched` includes machines."


async def test_hits_of_other_projects_are_not_found(project, new_project):
    other_project = await new_project()
    send_id, _ = await send_and_read(other_project)
    assert (await project.client.get(f"/emails/logs/{send_id}/hits")).status_code == 404


async def test_engagement_updates_audiences_and_unsubscribing_updates_the_contact(project, stranger, clock):
    contact = (await project.client.post("/contacts", {"email": "Ada@example.com"})).json()
    audience = (await project.client.post("/audiences", {"name": "Clickers"})).json()
    rules = {"match": "all", "conditions": [{"field": "lastClickedAt", "operator": "exists"}]}
    await project.client.patch(f"/audiences/{audience['id']}/rules", rules)
    send_id, message = await send_and_read(project, unsubscribable=True)
    assert (await entry(project, send_id))["contact"]["id"] == contact["id"]
    clock.move(timedelta(minutes=1))
    await stranger.get(tracked_links(message)[0], headers=BROWSER)
    members = (await project.client.get(f"/audiences/{audience['id']}/contacts")).json()
    assert [member["id"] for member in members["data"]] == [contact["id"]]
    header = next(header["value"] for header in message["headers"] if header["name"] == "List-Unsubscribe")
    url = urlsplit(header.strip("<>"))
    await stranger.request("POST", f"{url.path}?{url.query}")
    assert (await project.client.get(f"/contacts/{contact['id']}")).json()["unsubscribed"] is True


async def test_hits_and_changes_of_the_same_contacts_do_not_deadlock(project, world, clock, run_due_work):
    """One batch has an open of one contact and a click of another, and another transaction locks both contacts."""
    contact_ids, sends = [], []
    for name in ("ada", "bob"):
        contact = (await project.client.post("/contacts", {"email": f"{name}@example.com"})).json()
        contact_ids.append(UUID(contact["id"]))
        sends.append(UUID((await project.client.post("/emails", {**MAIL, "to": [contact["email"]]})).json()["id"]))
    async with world.db.connection() as connection:
        for contact_id, send_id in zip(contact_ids, sends, strict=True):
            query = "update sends set contact_id = %s where project_id = %s and id = %s"
            await connection.execute(query, [contact_id, UUID(project.id), send_id])
    clock.move(timedelta(minutes=1))
    hits = [
        HitRequest(
            send_id=send_id,
            kind=kind,
            url="https://x.example",
            ip_address="",
            user_agent="Firefox",
            occurred_at=clock(),
        )
        for kind, send_id in (("OPEN", sends[1]), ("CLICK", sends[0]))
    ]
    async with world.db.transaction() as tx:
        await contacts.lock_contacts(tx, UUID(project.id), contact_ids[:1])
        recording = in_another_process(record_hits(world, hits))
        await asyncio.wait([recording], timeout=0.3)
        assert not recording.done()
        assert await contacts.lock_contacts(tx, UUID(project.id), contact_ids[1:]) == contact_ids[1:]
    assert await recording == [True, True]
    stored_contacts = [(await project.client.get(f"/contacts/{contact_id}")).json() for contact_id in contact_ids]
    assert [(bool(contact["lastOpenedAt"]), bool(contact["lastClickedAt"])) for contact in stored_contacts] == [
        (False, True),
        (True, False),
    ]


async def test_of_simultaneous_opens_one_is_the_first(project, world, clock):
    send_id = UUID((await project.client.post("/emails", MAIL)).json()["id"])
    clock.move(timedelta(minutes=1))
    hit = HitRequest(
        send_id=send_id, kind="OPEN", url=None, ip_address="", user_agent="Firefox", occurred_at=Moment.of(clock())
    )
    await asyncio.gather(*(in_another_process(record_hits(world, [hit])) for _ in range(8)))
    opens = (await project.client.get("/events?type=email.opened")).json()["data"]
    assert sorted(event["data"]["first"] for event in opens) == [False] * 7 + [True]
    assert sorted(event["data"]["firstByPerson"] for event in opens) == [False] * 7 + [True]


async def test_links_that_are_too_long_are_not_tracked(project, stranger):
    """
    Regression test of M11 (tests/defects.md).
    """
    url_start = "https://acme.example/?q="
    longest, too_long = (url_start + "x" * (length - len(url_start)) for length in (4_096, 4_097))
    too_long_encoded = url_start + "é" * 2_000
    html = "".join(
        f'<a href="{target}">x</a>' for target in (longest, too_long, too_long_encoded, "{{ a }}", "{{ b }}", "{{ c }}")
    )
    _, message = await send_and_read(project, html=html, variables={"a": longest, "b": too_long, "c": too_long_encoded})
    hrefs = [unescape(href) for href in re.findall(r'href="([^"]+)"', message["html"])]
    assert hrefs[1:3] == hrefs[4:6] == [too_long, too_long_encoded]
    assert len(tracked_links(message)) == 2
    for link in tracked_links(message):
        response = await stranger.get(link, headers=BROWSER)
        assert (response.status_code, response.headers["location"]) == (302, longest)


async def test_a_link_can_be_excluded_from_tracking(project):
    """
    Regression test of M16 (tests/defects.md).
    """
    untracked_tags = [
        '<a href="https://a.test/" data-postern-no-track>',
        "<a DATA-POSTERN-NO-TRACK='' href='https://b.test/'>",
    ]
    untracked_tags += ['<a data-track=off href="https://c.test/">', '<a data-postern-no-track href="{{ url }}">']
    html = (
        "".join(f"{tag}x</a>" for tag in untracked_tags)
        + '<a href="https://d.test/" title="data-postern-no-track">y</a>'
    )
    _, message = await send_and_read(project, html=html, trackOpens=False, variables={"url": "https://e.test/"})
    expected = "".join(f"{tag}x</a>" for tag in untracked_tags).replace("{{ url }}", "https://e.test/")
    assert unescape(message["html"]).startswith(expected)
    assert len(tracked_links(message)) == 1


async def test_the_query_of_a_link_is_preserved(project, stranger):
    """
    Regression test of M3 (tests/defects.md).
    """
    target = "https://shop.example/?id=1&currency=EUR&section=2&copy=3"
    _, message = await send_and_read(
        project, html=f'<a href="{target}">x</a><a href=https://acme.example/reset?token=abc>y</a>'
    )
    for link, expected_target in zip(
        tracked_links(message), (target, "https://acme.example/reset?token=abc"), strict=True
    ):
        assert (await stranger.get(link, headers=BROWSER)).headers["location"] == expected_target
