"""`postern listen` prints every event once, in order, and forwards it like a webhook."""

import asyncio
import os
import subprocess
import sys
from uuid import uuid4

import httpx
import pytest
import standardwebhooks
import svix

from postern.cli import CannotRun
from postern.cli import listen as listening
from postern.cli.listen import follow_events, forward
from postern.security.signatures import new_webhook_secret
from tests.peers.whole_server import whole_server

REQUESTS_BEFORE = 20
"""Number of requests after which the first poll for new events has certainly started."""


@pytest.fixture
def queries():
    """The query strings of the requests that the server received."""
    return []


@pytest.fixture
async def server(app, project, queries):
    """A client of the server, which records the query strings of its requests in `queries`."""

    async def record_query(request):
        queries.append(str(request.url.query))

    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(
        transport=transport,
        base_url="http://postern.test",
        headers={"authorization": f"Bearer {project.secret_key}"},
        event_hooks={"request": [record_query]},
    ) as client:
        yield client


async def start_following(stream, queries):
    """Start to wait for the next event of a stream, and return when the stream has read the existing events."""
    first = asyncio.ensure_future(anext(stream))
    async with asyncio.timeout(60):
        while len(queries) < REQUESTS_BEFORE:
            await asyncio.sleep(0.01)
    assert not first.done(), "earlier events are not yielded"
    return first


async def test_events_are_printed_once_and_forwarded_signed(
    server, queries, project, record_events, receiver, monkeypatch
):
    monkeypatch.setattr(listening, "POLL_INTERVAL", listening.POLL_INTERVAL / 100)
    secret, yielded = new_webhook_secret(), []
    before = await record_events("email.sent", 3)
    stream = follow_events(server, project.id, ["email.*", "custom.*"])
    first = await start_following(stream, queries)
    after = (
        await record_events("email.sent", 2)
        + await record_events("customer.signed_in")
        + await record_events("order.placed")
    )
    async with httpx.AsyncClient(timeout=60) as client:
        async with asyncio.timeout(60):
            for pending in (first, anext(stream), anext(stream)):
                event = await pending
                yielded.append(event["id"])
                result = await forward(client, receiver.url("/hook"), event, secret)
                assert result.startswith("  → 200 in ")
        assert "ConnectError" in await forward(client, "http://127.0.0.1:9/", event, secret)
    await stream.aclose()
    assert yielded == [after[0], after[1], after[3]]
    assert not set(yielded) & set(before)
    for event_id, request in zip(yielded, receiver.requests, strict=True):
        assert request.headers["webhook-id"] == event_id
        assert standardwebhooks.Webhook(secret).verify(request.body, dict(request.headers))["timestamp"]


async def test_a_busy_project_is_followed_page_by_page(server, queries, project, record_events, monkeypatch):
    monkeypatch.setattr(listening, "POLL_INTERVAL", listening.POLL_INTERVAL / 100)
    monkeypatch.setattr(listening, "PAGE_SIZE", 4)
    await record_events("email.sent", 9)
    stream = follow_events(server, project.id, ["email.sent"])
    first = await start_following(stream, queries)
    ids = [await record_events("email.sent", 9), await record_events("email.sent", 8)]
    async with asyncio.timeout(60):
        yielded = [(await first)["id"]] + [(await anext(stream))["id"] for _ in range(16)]
    await stream.aclose()
    assert yielded == ids[0] + ids[1]


async def test_listening_continues_after_an_outage_of_the_server(app, queries, project, record_events, monkeypatch):
    monkeypatch.setattr(listening, "POLL_INTERVAL", listening.POLL_INTERVAL / 100)
    app_transport = httpx.ASGITransport(app=app)
    outage: list[str] = []
    failed_requests: list[str] = []

    async def respond(request):
        queries.append(str(request.url.query))
        if outage:
            failed_requests.append(outage[0])
            if outage[0] == "gone":
                raise httpx.ConnectError("gone")
            return httpx.Response(503, json={"detail": "The database is unavailable."})
        response = await app_transport.handle_async_request(request)
        return httpx.Response(response.status_code, headers=response.headers, content=await response.aread())

    headers = {"authorization": f"Bearer {project.secret_key}"}
    async with httpx.AsyncClient(
        transport=httpx.MockTransport(respond), base_url="http://postern.test", headers=headers
    ) as server:
        stream = follow_events(server, project.id, ["*"])
        event = await start_following(stream, queries)
        outage.append("gone")
        async with asyncio.timeout(60):
            while failed_requests.count("gone") < 3:
                await asyncio.sleep(0.01)
            # Only now: a request from before the outage could still find events, and then nothing would poll.
            ids = await record_events("email.sent", 2)
            outage[0] = "503"
            while failed_requests.count("503") < 3:
                await asyncio.sleep(0.01)
            outage.clear()
            assert [(await event)["id"], (await anext(stream))["id"]] == ids
        await stream.aclose()


async def test_an_unknown_project_is_an_error(server):
    with pytest.raises(CannotRun, match="no such project"):
        await anext(follow_events(server, str(uuid4()), ["*"]))


async def test_events_after_an_id_are_oldest_first(project, record_events):
    ids = await record_events("email.sent", 5)
    following_events = (await project.client.get(f"/events?after={ids[1]}")).json()
    assert [event["id"] for event in following_events["data"]] == ids[2:]
    assert (await project.client.get("/events?after=nonsense")).status_code == 400


async def test_the_command_forwards_events_of_a_running_server(receiver, tmp_path):
    """The server runs in another thread, the command as a process; two libraries accept the signature."""
    with whole_server(tmp_path) as server:
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as api:
            credentials = await server.account()
            project, key = credentials.project_id, credentials.secret_key
            api.headers["authorization"] = f"Bearer {credentials.developer_token}"
            environment = {**os.environ, "POSTERN_PROJECT": project, "POSTERN_KEY": key, "POSTERN_URL": server.url}
            command = [sys.executable, "-m", "postern", "listen", "--forward", receiver.url("/hook")]
            process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=subprocess.PIPE)
            try:
                async with asyncio.timeout(90):
                    secret = (await process.stdout.readline()).decode().split()[-1]
                    while not receiver.requests:  # Events before its first poll are not forwarded.
                        body = {"name": "order.placed", "email": "ada@example.com"}
                        sent = await api.post(f"/projects/{project}/events", json=body)
                        assert sent.status_code == 201, sent.text
                        await asyncio.sleep(0.2)
                    printed = (await process.stdout.readline()).decode()
            finally:
                process.kill()
                await process.communicate()
    assert " → 200 in " in printed
    request = receiver.requests[0]
    assert request.json["type"] in printed
    for library in (standardwebhooks.Webhook, svix.Webhook):
        library(secret).verify(request.body, dict(request.headers))
