"""`postern listen`: every event once, in order, forwarded as a webhook would be."""

import asyncio
from uuid import uuid4

import httpx
import pytest
import standardwebhooks

from postern.cli import CannotRun
from postern.cli import listen as listening
from postern.cli.listen import follow, send_on
from postern.kernel.signatures import new_webhook_secret


@pytest.fixture
async def server(app, project):
    headers = {"authorization": f"Bearer {project.secret_key}"}
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://postern.test", headers=headers) as client:
        yield client


async def test_events_are_shown_once_and_forwarded_signed(server, project, happen, receiver, monkeypatch):
    monkeypatch.setattr(listening, "LOOK_EVERY", listening.LOOK_EVERY / 100)
    secret, seen = new_webhook_secret(), []
    before = await happen("email.sent", 3)
    stream = follow(server, project.id, ["email.*", "custom.*"])
    first = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0.1)
    assert not first.done(), "what happened before is not told"
    after = await happen("email.sent", 2) + await happen("customer.signed_in") + await happen("order.placed")
    async with httpx.AsyncClient() as there:
        async with asyncio.timeout(10):
            for pending in (first, anext(stream), anext(stream)):
                event = await pending
                seen.append(event["id"])
                said = await send_on(there, receiver.url("/hook"), event, secret)
                assert said.startswith("  → 200 in ")
        assert "ConnectError" in await send_on(there, "http://127.0.0.1:9/", event, secret)
    await stream.aclose()
    assert seen == [after[0], after[1], after[3]]
    assert not set(seen) & set(before)
    for event_id, request in zip(seen, receiver.requests, strict=True):
        assert request.headers["webhook-id"] == event_id
        assert standardwebhooks.Webhook(secret).verify(request.body, dict(request.headers))["timestamp"]


async def test_a_wrong_project_is_said(server):
    with pytest.raises(CannotRun, match="no such project"):
        await anext(follow(server, str(uuid4()), ["*"]))


async def test_events_after_one_come_oldest_first(project, happen):
    ids = await happen("email.sent", 5)
    since = (await project.client.get(f"/events?after={ids[1]}")).json()
    assert [event["id"] for event in since["data"]] == ids[2:]
    assert (await project.client.get("/events?after=nonsense")).status_code == 400
