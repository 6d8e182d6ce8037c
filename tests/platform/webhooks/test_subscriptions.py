"""Subscriptions over HTTP."""

import base64

import pytest

from postern.platform.webhooks.model import WEBHOOKS_PER_PROJECT

URL = "https://hooks.example.com/postern"


async def test_a_subscription_is_created_changed_and_deleted(project, world):
    created = await project.client.post("/webhooks", {"url": URL, "events": ["email.*", "send.delivered", "email.*"]})
    assert created.status_code == 201
    subscription = created.json()
    assert len(base64.b64decode(subscription["secret"].removeprefix("whsec_"))) == 32
    assert (subscription["url"], subscription["events"], subscription["active"]) == (
        URL,
        ["email.*", "send.delivered"],
        True,
    )
    assert subscription["appId"] == project.id
    (listed,) = (await project.client.get("/webhooks")).json()
    assert listed == {name: value for name, value in subscription.items() if name != "secret"}
    changed = await project.client.patch(f"/webhooks/{subscription['id']}", {"active": False, "events": ["*"]})
    assert (changed.json()["active"], changed.json()["events"], changed.json()["url"]) == (False, ["*"], URL)
    deleted = await project.client.delete(f"/webhooks/{subscription['id']}")
    assert deleted.json() == changed.json()
    assert (await project.client.get("/webhooks")).json() == []
    query = "select action from audit_log where chain_id = %s and target_id = %s order by seq"
    async with world.db.connection() as connection:
        actions = await (await connection.execute(query, (project.id, subscription["id"]))).fetchall()
    assert [action for (action,) in actions] == ["webhook.created", "webhook.updated", "webhook.deleted"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"url": "ftp://example.com/", "events": ["*"]}, "/url"),
        ({"url": "http://127.0.0.2.3/", "events": ["*"]}, "/url"),
        ({"url": "http://10.0.0.1/", "events": ["*"]}, "/url"),
        ({"url": "http://[::ffff:169.254.169.254]/latest/meta-data", "events": ["*"]}, "/url"),
        ({"url": "http://user:pw@example.com/", "events": ["*"]}, "/url"),
        ({"url": URL, "events": ["email.deliverd"]}, "/events/0"),
        ({"url": URL, "events": ["*", "order.placed"]}, "/events/1"),
        ({"url": URL, "events": ["custom.two words"]}, "/events/0"),
        ({"url": URL, "events": []}, "/events"),
        ({"url": URL}, "/events"),
        ({"events": ["*"]}, "/url"),
        ({"url": URL, "events": ["*"], "secret": "x"}, "/secret"),
        ({"url": 7, "events": ["*"]}, "/url"),
    ],
)
async def test_invalid_subscriptions_are_refused_with_the_field(project, body, path):
    refused = await project.client.post("/webhooks", body)
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["path"] == path
    if path.startswith("/events/"):
        assert "email.delivered" in refused.json()["detail"], "the detail lists the names"


async def test_changes_are_checked_like_creations(project):
    created = (await project.client.post("/webhooks", {"url": URL, "events": ["*"]})).json()
    for body in ({"url": "http://10.0.0.1/"}, {"events": ["nonsense"]}, {"active": "yes"}, {"id": "x"}):
        assert (await project.client.patch(f"/webhooks/{created['id']}", body)).status_code == 400
    late = await project.client.patch(f"/webhooks/{created['id']}", {"active": False}, headers={"if-match": '"0"'})
    assert late.status_code == 412
    assert (await project.client.get(f"/webhooks/{created['id']}")).json()["active"] is True


async def test_a_subscription_of_another_project_is_not_found(project, new_project):
    other_project = await new_project()
    created = (await other_project.client.post("/webhooks", {"url": URL, "events": ["*"]})).json()
    for method, path, body in (
        ("GET", "", None),
        ("PATCH", "", {"active": False}),
        ("DELETE", "", None),
        ("POST", "/rotate-secret", None),
        ("POST", "/test", None),
        ("GET", "/deliveries", None),
        ("POST", "/deliveries/replay", {}),
        ("POST", f"/deliveries/{created['id']}/replay", None),
        ("GET", f"/deliveries/{created['id']}", None),
    ):
        refused = await project.client.request(method, f"/webhooks/{created['id']}{path}", json=body)
        assert refused.status_code == 404, (method, path)
    assert (await other_project.client.get(f"/webhooks/{created['id']}")).json()["active"] is True


async def test_the_number_of_subscriptions_is_limited(project):
    for _ in range(WEBHOOKS_PER_PROJECT):
        await project.client.post("/webhooks", {"url": URL, "events": ["*"]})
    refused = await project.client.post("/webhooks", {"url": URL, "events": ["*"]})
    assert (refused.status_code, refused.json()["code"]) == (422, "too_many_webhooks")
