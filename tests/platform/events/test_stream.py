"""The stream of events: every event arrives, also one that is committed late, and a stream ends when it must."""

import asyncio
import json
from datetime import timedelta
from time import monotonic
from uuid import UUID, uuid4

import msgspec
import pytest
from psycopg import OperationalError

from postern.platform.events import feed, stream
from postern.platform.events import operations as events
from tests.event_data import MADE_BY_TEST
from tests.platform.accounts.members import AccountHelper
from tests.platform.events.open_stream import WAIT_SECONDS, OpenStream, open_stream, stream_scope
from tests.workers import in_another_process


@pytest.fixture(autouse=True)
def frequent_polls(monkeypatch):
    monkeypatch.setattr(feed, "POLL", timedelta(milliseconds=20))


@pytest.fixture
def frequent_heartbeats(monkeypatch):
    monkeypatch.setattr(stream, "HEARTBEAT", timedelta(milliseconds=100))


def make(project, world, name: str, number: int = 0, **fields):
    """An event that is not recorded yet; its id is that of now."""
    return events.make_event(
        UUID(project.id), name, uuid4(), world.clock(), actor_label=MADE_BY_TEST, number=number, **fields
    )


async def record(world, recorded) -> None:
    async with world.db.transaction() as tx:
        await events.record_all(tx, recorded)


async def send_mail(project, **fields) -> dict:
    mail = {"to": ["ada@example.com"], "from": "a@acme.example", "subject": "Hi", "text": "Hello", **fields}
    response = await project.client.post("/emails", mail)
    assert response.status_code == 201, response.text
    return response.json()


async def next_ids(opened: OpenStream, count: int) -> list[str]:
    return [event["id"] for event in await opened.events(count)]


async def test_an_event_arrives_as_in_the_list(project):
    async with open_stream(project.client) as opened:
        assert opened.status == 200
        assert opened.headers["content-type"].startswith("text/event-stream")
        assert opened.headers["cache-control"] == "no-store, no-transform"
        assert "content-encoding" not in opened.headers
        sent = await send_mail(project)
        streamed = await opened.events(2)
        assert {event["data"]["messageId"] for event in streamed} == {sent["messageId"]}
        assert streamed[0]["contact"] is None or streamed[0]["contact"]["email"] == "ada@example.com"
    listed = (await project.client.get("/events")).json()["data"]
    by_id = {event["id"]: event for event in listed}
    assert [by_id[event["id"]] for event in streamed] == streamed


async def test_the_stream_has_only_events_from_now_on_and_only_those_of_the_project(project, new_project, world):
    other = await new_project()
    await record(world, [make(project, world, "order.old")])
    async with open_stream(project.client) as opened:
        await record(world, [make(other, world, "order.foreign")])
        await record(world, [make(project, world, "order.placed")])
        assert (await opened.event())["type"] == "order.placed"


async def test_types_and_environment_are_filtered(project, world):
    test_key = await project.key(environment="TEST")
    async with (
        open_stream(project.client, type="order.placed,domain.*") as by_type,
        open_stream(project.client, environment="TEST") as of_test,
        open_stream(project.client, environment="live", type="order.*,order.placed") as refused,
    ):
        assert refused.status == 400
        assert json.loads(refused.text)["errors"][0]["path"] == "query/type"
        await record(world, [make(project, world, "order.shipped"), make(project, world, "order.placed")])
        await test_key.post("/events", {"name": "order.tested", "email": "ada@example.com", "data": {}})
        await record(world, [make(project, world, "domain.verified", domain="acme.example", id=str(uuid4()))])
        assert [event["type"] for event in await by_type.events(2)] == ["order.placed", "domain.verified"]
        first = await of_test.event()
        assert first["actorType"] == "TEST_KEY"


async def test_an_event_that_is_committed_late_arrives(project, world):
    """Also if a client connects again after it has received later events."""
    async with open_stream(project.client) as opened:
        late = make(project, world, "order.late")
        is_recorded, may_commit = asyncio.Event(), asyncio.Event()

        async def record_late() -> None:
            async with world.db.transaction() as tx:
                await events.record_all(tx, [late])
                is_recorded.set()
                await may_commit.wait()

        recording = in_another_process(record_late())
        await is_recorded.wait()
        on_time = [make(project, world, "order.placed", number) for number in range(3)]
        for event in on_time:
            await record(world, [event])
        assert await next_ids(opened, 3) == [str(event.id) for event in on_time]
        position = opened.last_id
        may_commit.set()
        await recording
        assert await next_ids(opened, 1) == [str(late.id)]
    async with open_stream(project.client, headers={"Last-Event-ID": position}) as resumed:
        assert set(await next_ids(resumed, 4)) == {str(event.id) for event in [late, *on_time]}
        following = make(project, world, "order.placed")
        await record(world, [following])
        assert await next_ids(resumed, 1) == [str(following.id)]


async def test_a_transaction_that_is_open_for_long_delays_the_position(project, world, monkeypatch):
    """The position of a message lies before the events of open transactions, however old these are."""
    monkeypatch.setattr(feed, "COMMIT_DELAY", timedelta())
    async with open_stream(project.client) as opened:
        late = make(project, world, "order.late")
        is_recorded, may_commit = asyncio.Event(), asyncio.Event()

        async def record_late() -> None:
            async with world.db.transaction() as tx:
                await events.record_all(tx, [late])
                is_recorded.set()
                await may_commit.wait()

        recording = in_another_process(record_late())
        await is_recorded.wait()
        # Longer than several polls and buckets.
        await asyncio.sleep(1.5)
        await record(world, [make(project, world, "order.placed")])
        assert (await opened.event())["type"] == "order.placed"
        position = UUID(opened.last_id)
        assert position < late.id
        may_commit.set()
        await recording
        assert (await opened.event())["id"] == str(late.id)
        # Afterwards the position moves on.
        async with asyncio.timeout(30):
            while position < late.id:
                await record(world, [make(project, world, "order.placed")])
                assert await opened.event()
                position = UUID(opened.last_id)


async def test_a_stream_continues_after_an_event_id_over_many_pages(project, world, monkeypatch):
    monkeypatch.setattr(stream, "PAGE_EVENTS", 10)
    first = make(project, world, "order.placed")
    missed = [make(project, world, "order.placed", number) for number in range(45)]
    await record(world, [first, *missed])
    async with open_stream(project.client, after=str(first.id)) as opened:
        assert await next_ids(opened, 45) == [str(event.id) for event in missed]
        following = make(project, world, "order.placed")
        await record(world, [following])
        assert await next_ids(opened, 1) == [str(following.id)]


async def test_a_slow_client_gets_all_events(project, world, monkeypatch):
    """Its queue overflows, and the stream continues with the events in the database."""
    monkeypatch.setattr(feed, "QUEUE_EVENTS", 5)
    monkeypatch.setattr(feed, "PAGE_EVENTS", 20)
    monkeypatch.setattr(feed, "PAGES_PER_POLL", 3)
    async with open_stream(project.client) as opened:
        recorded = [[make(project, world, "order.placed", number) for number in range(40)] for _ in range(10)]
        for group in recorded:
            await record(world, group)
            await asyncio.sleep(0.05)
        expected = {str(event.id) for group in recorded for event in group}
        received: set[str] = set()
        while received != expected:
            received.add((await opened.event())["id"])


async def test_heartbeats_have_a_position_and_keep_the_stream_open(project, frequent_heartbeats):
    async with open_stream(project.client) as opened:
        begin = opened.last_id
        for _ in range(3):
            assert set(await opened.block()) == {"id"}
        assert opened.comments == ["heartbeat"] * 3
        assert opened.last_id >= begin


async def test_a_stream_ends_with_its_api_key(project, frequent_heartbeats):
    key = await project.key("events:read")
    async with open_stream(key) as opened, open_stream(project.client) as other:
        keys = (await project.developer.get("/api-keys")).json()
        key_id = next(entry["id"] for entry in keys if entry["name"] == "narrow")
        assert (await project.developer.delete(f"/api-keys/{key_id}")).status_code == 200
        assert await opened.event() is None
        await other.block()
        assert other.comments


async def test_a_stream_ends_with_the_session_of_a_developer(project, frequent_heartbeats):
    async with open_stream(project.developer) as opened:
        assert (await project.developer.post("/auth/sign-out")).status_code == 204
        assert await opened.event() is None


async def test_a_stream_ends_after_its_lifetime(project, monkeypatch):
    monkeypatch.setattr(stream, "LIFETIME", timedelta(milliseconds=50))
    async with open_stream(project.client) as opened:
        assert await opened.event() is None


async def test_a_stream_ends_when_the_process_shuts_down(project, world):
    async with open_stream(project.client) as opened:
        world.stopping.set()
        began = monotonic()
        assert await opened.event() is None
        assert monotonic() - began < 5


async def test_open_streams_are_limited(project, monkeypatch):
    monkeypatch.setattr(feed, "STREAMS_PER_CREDENTIAL", 2)
    monkeypatch.setattr(feed, "STREAMS_PER_PROJECT", 3)
    async with open_stream(project.client), open_stream(project.client), open_stream(project.developer):
        for client in (project.client, project.developer):
            async with open_stream(client) as refused:
                assert (refused.status, json.loads(refused.text)["code"]) == (429, "too_many_streams")
                assert int(refused.headers["retry-after"]) > 0
    # A closed stream does not count any more.
    async with open_stream(project.client) as opened:
        assert opened.status == 200


async def test_a_viewer_can_read_the_stream(project, world, stranger, run_due_work):
    _, viewer = await AccountHelper(project, stranger, run_due_work, world).member("VIEWER")
    async with open_stream(viewer) as opened:
        await record(world, [make(project, world, "order.placed")])
        assert (await opened.event())["type"] == "order.placed"


async def test_streams_do_not_hold_connections_of_the_database(project, world):
    """More streams than connections."""
    async with open_stream(project.client) as one:
        opened = [open_stream(project.client) for _ in range(9)]
        streams = [await context.__aenter__() for context in opened]
        await record(world, [make(project, world, "order.placed")])
        for stream in [one, *streams]:
            assert (await stream.event())["type"] == "order.placed"
        for context in opened:
            await context.__aexit__(None, None, None)
    assert len(streams) + 1 > world.db.size


async def test_a_credential_without_the_permission_and_foreign_projects_are_refused(project, new_project):
    narrow = await project.key("emails:read")
    assert (await narrow.get("/events/stream")).status_code == 403
    foreign = await (await new_project()).client.get(f"/projects/{project.id}/events/stream")
    assert (foreign.status_code, foreign.json()["code"]) == (404, "project_missing")


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ({"after": "yesterday"}, "query/after"),
        ({"environment": "STAGING"}, "query/environment"),
        ({"type": "email.read"}, "query/type"),
        ({"types": "email.sent"}, "query/types"),
    ],
)
async def test_invalid_parameters_are_refused_with_their_path(project, query, path):
    refused = await project.client.get("/events/stream", params=query)
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["path"] == path


async def test_an_invalid_last_event_id_is_refused(project):
    refused = await project.client.get("/events/stream", headers={"Last-Event-ID": "7"})
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["path"] == "header/Last-Event-ID"


async def test_head_has_no_body(project):
    response = await project.client.request("HEAD", "/events/stream")
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-type"].startswith("text/event-stream")


async def test_a_client_that_leaves_before_its_request_is_read_ends_the_stream(project):
    """uvicorn then gives no end of the request, only the end of the connection."""
    statuses = []
    has_started = asyncio.Event()

    async def receive():
        await has_started.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        if message["type"] == "http.response.start":
            statuses.append(message["status"])
            has_started.set()

    scope = stream_scope(project.client)
    await asyncio.wait_for(in_another_process(project.client.app(scope, receive, send)), WAIT_SECONDS)
    assert statuses == [200]


async def test_groups_of_types_filter_the_list(project, world):
    await record(
        world, [make(project, world, "order.placed"), make(project, world, "domain.created", domain="a.example")]
    )
    listed = (await project.client.get("/events?type=domain.*")).json()["data"]
    assert {event["type"] for event in listed} == {"domain.created"}
    refused = await project.client.get("/events?type=custom.*")
    assert refused.json()["errors"][0]["path"] == "query/type"


async def test_the_subject_filters_the_list(project, world):
    first, second = (make(project, world, "order.placed", number) for number in range(2))
    third = msgspec.structs.replace(make(project, world, "order.shipped"), subject_id=second.subject_id)
    await record(world, [first, second, third])
    path = f"/events?subjectId={second.subject_id}&limit=1"
    latest = (await project.client.get(path)).json()
    older = (await project.client.get(f"{path}&cursor={latest['nextCursor']}")).json()
    assert [event["id"] for event in latest["data"] + older["data"]] == [str(third.id), str(second.id)]
    assert older["nextCursor"] is None
    foreign = await project.client.get(f"/events?subjectId={first.subject_id}&cursor={latest['nextCursor']}")
    assert foreign.json()["code"] == "cursor_invalid"
    of_other_type = await project.client.get(f"{path}&type=email.*")
    assert of_other_type.json()["data"] == []
    refused = await project.client.get(f"{path}&after={first.id}")
    assert refused.json()["errors"][0]["path"] == "query/subjectId"


async def test_events_arrive_after_the_database_failed_while_they_were_read(project, monkeypatch):
    read, failures = feed.with_contacts, 0

    async def with_contacts(db, project_id, rows):
        nonlocal failures
        if rows and failures < 2:
            failures += 1
            raise OperationalError("The connection was lost.")
        return await read(db, project_id, rows)

    async with open_stream(project.client) as opened:
        monkeypatch.setattr(feed, "with_contacts", with_contacts)
        await send_mail(project)
        streamed = await opened.events(2)
    assert failures == 2
    listed = (await project.client.get("/events")).json()["data"]
    assert {event["id"] for event in streamed} <= {event["id"] for event in listed}
