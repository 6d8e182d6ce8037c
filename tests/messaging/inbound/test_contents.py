"""Received messages are moved to the store of contents, read from there, and deleted there."""

import base64
import random
from datetime import timedelta
from uuid import UUID, uuid4

import msgspec
import pytest

from postern.kernel.due import drain
from postern.messaging.content_store.operations import Contents, object_name
from postern.messaging.content_store.work import CONTENTS, WRITES_END_AFTER, find_contents
from postern.messaging.inbound import message_store
from postern.messaging.inbound.retention import delete_expired_inbound
from postern.platform.accounts.deletion import LATE_ROWS_DELAY
from tests.messaging.emails.test_contents import files, move, rows, write_object_and_be_killed
from tests.messaging.inbound.test_messages import RFC822, domain, listed, message, new_route, settings
from tests.workers import in_another_process

__all__ = ["domain", "move", "settings"]

FILE = random.Random(2).randbytes(100_000)
HEAD = 'MIME-Version: 1.0\r\nSubject: Scan\r\nContent-Type: multipart/mixed; boundary="m"'
ENCODED = base64.encodebytes(FILE).decode().replace("\n", "\r\n")
BODY = (
    "--m\r\nContent-Type: text/plain\r\n\r\nSee the scan.\r\n"
    "--m\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n"
    f'Content-Disposition: attachment; filename="scan.pdf"\r\n\r\n{ENCODED}--m--\r\n'
)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "contents"


@pytest.fixture(autouse=True)
async def store(world, folder):
    """A world with a store of its own, though the tests of a process share a database."""
    world.resources.pop(Contents, None)
    world.settings = msgspec.structs.replace(world.settings, content_store=str(folder))
    async with world.db.connection() as connection:
        await connection.execute("delete from content_state")


@pytest.fixture
async def receive(project, domain, clock):
    """A function that adds a message with an attachment of 100 kB; returns its id and its octets."""
    await new_route(project, f"support@{domain}")

    async def run(head=HEAD, body=BODY):
        raw = message(clock, head=head, body=body)
        path = f"/inbound?recipients=support@{domain}"
        response = await project.client.post(path, content=raw, headers=RFC822)
        assert response.status_code == 201, response.text
        return response.json()["id"], raw

    return run


async def stored(world, received_id):
    """The octets of a message in the database, and of its object."""
    query = "select length(message), object_octets from inbound_messages where id = %s"
    return (await rows(world, query, UUID(received_id)))[0]


async def states(world, project):
    query = "select id::text, kind, state from content_objects where project_id = %s"
    return {(received_id, kind): state for received_id, kind, state in await rows(world, query, UUID(project.id))}


async def read(project, received_id):
    """A message as it is shown, its octets, and those of its attachment."""
    path = f"/inbound/{received_id}"
    shown = await project.client.get(path)
    assert shown.status_code == 200, shown.text
    (attachment,) = shown.json()["attachments"]
    raw, file = [await project.client.get(f"{path}/{name}") for name in ("raw", f"attachments/{attachment['id']}")]
    assert (raw.status_code, file.status_code) == (200, 200)
    return shown.json(), raw.content, file.content


async def test_a_message_is_moved_and_read_as_before(project, world, receive, move, folder):
    received_id, raw = await receive()
    before, summaries = await read(project, received_id), await listed(project)
    assert before[1:] == (raw, FILE)
    await move()
    (file,) = files(folder)
    assert file == folder / object_name("received", UUID(project.id), UUID(received_id))
    assert await stored(world, received_id) == (0, file.stat().st_size)
    assert file.stat().st_size < 110_000
    assert b"See the scan" not in file.read_bytes()
    assert await read(project, received_id) == before
    assert await listed(project) == summaries
    assert await states(world, project) == {(received_id, "received"): "STORED"}


async def test_the_same_message_again_is_still_a_duplicate(project, world, receive, move, domain):
    received_id, raw = await receive()
    await move()
    path = f"/inbound?recipients=support@{domain}"
    again = await project.client.post(path, content=raw, headers=RFC822)
    assert again.json() == {"id": received_id, "duplicate": True}


async def test_small_messages_stay(project, world, receive, move, folder):
    received_id, raw = await receive("", "Hello\r\n")
    await move()
    assert await stored(world, received_id) == (len(raw), None)
    assert (files(folder), await states(world, project)) == ([], {})


async def test_emails_and_received_messages_are_moved_together(project, world, receive, move, folder):
    received_id, raw = await receive()
    mail = {
        "to": ["ada@example.org"],
        "from": "a@example.com",
        "subject": "Scan",
        "text": "See the scan.",
        "attachments": [{"filename": "scan.pdf", "content": base64.b64encode(FILE).decode()}],
    }
    sent = await (await project.key(environment="TEST")).post("/emails", mail)
    assert sent.status_code == 201, sent.text
    await move()
    assert await states(world, project) == {
        (received_id, "received"): "STORED",
        (sent.json()["id"], "emails"): "STORED",
    }
    assert (await read(project, received_id))[1] == raw
    assert (await project.client.get(f"/emails/logs/{sent.json()['id']}/message")).status_code == 200
    # Whoever can write to the store cannot show an e-mail in the place of a received message.
    received, email = [
        folder / object_name(kind, UUID(project.id), UUID(message_id))
        for kind, message_id in (("received", received_id), ("emails", sent.json()["id"]))
    ]
    received.write_bytes(email.read_bytes())
    gone = await project.client.get(f"/inbound/{received_id}")
    assert (gone.status_code, gone.json()["code"]) == (404, "message_gone")


async def test_while_the_store_is_away_messages_are_listed_and_others_read(project, world, receive, move, folder):
    received_id, _ = await receive()
    await move()
    later_id, later = await receive()
    folder.rename(folder.with_name("away"))
    for path in ("", "/raw", "/attachments/2"):
        response = await project.client.get(f"/inbound/{received_id}{path}")
        assert (response.status_code, response.json()["code"]) == (503, "content_store_unavailable")
        assert int(response.headers["retry-after"]) > 0
    assert [summary["id"] for summary in await listed(project)] == [later_id, received_id]
    assert (await project.client.get(f"/inbound/{later_id}/raw")).content == later
    await move()
    assert (await stored(world, later_id)) == (len(later), None)
    assert (await project.client.get(f"/inbound/{later_id}/raw")).content == later


async def test_a_message_that_the_store_lost_is_gone(project, receive, move, folder):
    received_id, _ = await receive()
    await move()
    (file,) = files(folder)
    file.unlink()
    response = await project.client.get(f"/inbound/{received_id}/raw")
    assert (response.status_code, response.json()["code"]) == (404, "message_gone")
    assert (await project.client.delete(f"/inbound/{received_id}")).status_code == 200


async def test_objects_are_deleted_with_their_message(project, world, clock, receive, move, folder):
    first, second = [(await receive())[0] for _ in range(2)]
    await move()
    assert len(files(folder)) == 2
    assert (await project.client.delete(f"/inbound/{first}")).status_code == 200
    await drain(world, [CONTENTS])
    assert [file.name for file in files(folder)] == [second]
    clock.move(timedelta(days=31))
    await delete_expired_inbound(world)
    await drain(world, [CONTENTS])
    assert (files(folder), await states(world, project)) == ([], {})


async def test_objects_of_a_deleted_project_are_deleted(project, world, clock, receive, move, run_due_work, folder):
    await receive()
    await move()
    assert (await project.developer.delete("")).status_code == 200
    await run_due_work()
    clock.move(LATE_ROWS_DELAY)
    await run_due_work()
    assert (files(folder), await states(world, project)) == ([], {})


async def test_a_process_killed_between_object_and_row_loses_nothing(
    project, world, clock, receive, monkeypatch, folder
):
    received_id, _ = await receive()
    before = await read(project, received_id)

    await write_object_and_be_killed(world, clock, monkeypatch, folder, message_store, "replace_messages")
    assert (await stored(world, received_id))[1] is None
    clock.move(CONTENTS.lease)
    await drain(world, [CONTENTS])
    assert (await stored(world, received_id))[0] == 0
    assert await read(project, received_id) == before


async def test_a_message_deleted_while_its_object_is_written_leaves_none(
    project, world, clock, receive, monkeypatch, folder
):
    received_id, _ = await receive()
    write = Contents.write

    async def delete_and_write(self, *arguments):
        monkeypatch.setattr(Contents, "write", write)
        assert (await project.client.delete(f"/inbound/{received_id}")).status_code == 200
        clock.move(WRITES_END_AFTER)
        await in_another_process(drain(world, [CONTENTS]))
        assert await states(world, project) == {}
        return await write(self, *arguments)

    monkeypatch.setattr(Contents, "write", delete_and_write)
    clock.move(timedelta(hours=2))
    await find_contents(world)
    await drain(world, [CONTENTS])
    assert files(folder) == []


async def test_another_project_cannot_read_a_moved_message(project, new_project, receive, move):
    received_id, _ = await receive()
    await move()
    other = await new_project()
    for path in ("", "/raw", "/attachments/2"):
        assert (await other.client.get(f"/inbound/{received_id}{path}")).status_code == 404


async def test_kinds_of_later_releases_are_left_to_their_workers(project, world, clock, receive, move):
    received_id, _ = await receive()
    later_id = str(uuid4())
    insert = (
        "insert into content_objects (project_id, id, kind, state, due_at) values (%s, %s, 'later', %s, %s) returning 1"
    )
    await rows(world, insert, UUID(project.id), UUID(later_id), "WAITING", clock())
    await move()
    assert await states(world, project) == {(received_id, "received"): "STORED", (later_id, "later"): "WAITING"}
    assert await rows(world, "delete from content_objects where id = %s returning attempt", UUID(later_id)) == [(0,)]


async def test_exports_do_not_say_where_a_message_is(project, receive, move):
    received_id, raw = await receive()
    await move()
    document = (await project.developer.get("/account/export")).json()
    (exported,) = [other for other in document["projects"] if other["id"] == project.id]
    (row,) = exported["inboundMessages"]
    assert (row["id"], row["size"]) == (received_id, len(raw))
    assert "objectOctets" not in row
