"""Contents of settled e-mails are moved to a folder or an object store, read from there, and deleted there."""

import asyncio
import base64
import email
import random
import re
import shutil
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import httpx
import msgspec
import pytest

from postern.cli.checks import check_settings
from postern.cli.doctor_contents import diagnose
from postern.kernel import object_store
from postern.kernel.config import SettingInvalid
from postern.kernel.database.statements import Jsonb
from postern.kernel.due import drain
from postern.kernel.object_store import ObjectStore, StoreFailed
from postern.messaging.content_store import operations, work
from postern.messaging.content_store.operations import CHECKED_AFTER, MARKER, Contents, object_name
from postern.messaging.content_store.work import (
    CONTENTS,
    GROUP_OCTETS,
    MOVED_OCTETS,
    WRITES_END_AFTER,
    find_contents,
)
from postern.messaging.emails import content_store
from postern.messaging.emails.contents import MOVED_EMAILS
from postern.messaging.emails.operations import send_project_mail
from postern.messaging.emails.retention import delete_expired, delete_expired_log
from postern.platform.accounts.deletion import LATE_ROWS_DELAY
from tests.conftest import PASSWORD
from tests.messaging.emails.test_archive import SCOPE
from tests.messaging.emails.test_relay import sender, sink
from tests.workers import in_another_process

__all__ = ["sender", "sink"]

FILE = random.Random(1).randbytes(100_000)
"""Octets that no compression makes smaller."""
ATTACHMENT = {"filename": "order é.bin", "content": base64.b64encode(FILE).decode()}
MAIL = {
    "to": ["ada@example.org"],
    "from": "Acme <hello@example.com>",
    "subject": "Hello {{name}} 🙂",
    "html": "<p>Dear {{name}}, <a href='https://acme.example/a'>look</a></p>",
    "variables": {"name": "Zoë"},
    "headers": {"X-Order": "7"},
    "replyTo": ["help@example.com"],
    "attachments": [ATTACHMENT],
}
BUCKET, REGION = "postern-contents", "us-east-1"


@pytest.fixture
def settings(settings, tmp_path):
    return msgspec.structs.replace(settings, content_store=str(tmp_path / "contents"))


@pytest.fixture(autouse=True)
async def no_state(world):
    """The tests of a process share a database, and each has a store of its own."""
    async with world.db.connection() as connection:
        await connection.execute("delete from content_state")


@pytest.fixture
def move(world, clock, run_due_work, monkeypatch):
    """A function that has all contents moved that may be."""
    # Developers' tokens would expire in the hour that it is.
    monkeypatch.setattr(work, "SCANNED_AFTER", timedelta(minutes=1))

    async def run():
        clock.move(timedelta(minutes=2))
        # The ids of e-mails have the time of the system. The next ones would be in a span that this looks through.
        await rows(world, "update content_state set scanned_until = null returning 1")
        await find_contents(world)
        await run_due_work()

    return run


async def send(project, **changes):
    sent = await project.client.post("/emails", {**MAIL, **changes})
    assert sent.status_code == 201, sent.text
    return sent.json()


async def message(project, send_id):
    response = await project.client.get(f"/emails/logs/{send_id}/message")
    assert response.status_code == 200, response.text
    return response.content


async def rows(world, query, *parameters):
    async with world.db.connection() as connection:
        return await (await connection.execute(query, parameters)).fetchall()


async def stored_octets(world, send_id):
    """The octets of the content in the database, and of its object."""
    query = "select pg_column_size(body), object_octets from send_bodies where send_id = %s"
    return (await rows(world, query, UUID(send_id)))[0]


async def states(world, project):
    query = "select id::text, state from content_objects where project_id = %s"
    return dict(await rows(world, query, UUID(project.id)))


def files(folder):
    """The files of a store except its marker."""
    return [file for file in Path(folder).rglob("*") if file.is_file() and file.name != MARKER]


def attachment_of(raw):
    (part,) = [part for part in email.message_from_bytes(raw).walk() if part.get_filename()]
    return part.get_payload(decode=True)


@pytest.fixture
def folder(settings):
    return Path(settings.content_store)


async def test_a_content_is_moved_and_read_as_before(sender, world, move, folder):
    sent = await send(sender)
    before = await message(sender, sent["id"])
    log = (await sender.client.get(f"/emails/logs/{sent['id']}")).json()
    assert log["status"] == "SENT"
    assert attachment_of(before) == FILE
    await move()
    octets, object_octets = await stored_octets(world, sent["id"])
    assert octets < 500
    (file,) = files(folder)
    assert file == folder / object_name("emails", UUID(sender.id), UUID(sent["id"]))
    assert file.stat().st_size == object_octets < 105_000
    assert file.stat().st_mode & 0o777 == 0o600
    assert {parent.stat().st_mode & 0o777 for parent in (file.parent, file.parent.parent, folder)} == {0o700}
    assert await message(sender, sent["id"]) == before
    assert (await sender.client.get(f"/emails/logs/{sent['id']}")).json() == log
    assert await states(world, sender) == {sent["id"]: "STORED"}


async def test_objects_are_encrypted_for_their_send(sender, world, move, folder):
    first, second = await send(sender), await send(sender)
    await move()
    names = [folder / object_name("emails", UUID(sender.id), UUID(sent["id"])) for sent in (first, second)]
    for name in names:
        content = name.read_bytes()
        assert b"Dear" not in content
        assert FILE[:64] not in content
        assert ATTACHMENT["content"].encode()[:64] not in content
    # Whoever can write to the store cannot show one content in the place of another.
    names[0].write_bytes(names[1].read_bytes())
    response = await sender.client.get(f"/emails/logs/{first['id']}/message")
    assert response.status_code == 404


async def test_attachments_are_downloaded_octet_for_octet(sender, move, stranger):
    sent = await send(sender)
    await move()
    path = f"/compat/resend/emails/{sent['id']}/attachments"
    (file,) = (await sender.client.get(path)).json()["data"]
    downloaded = await stranger.get(httpx.URL(file["download_url"]).path)
    assert downloaded.content == FILE


async def test_a_content_can_be_previewed(sender, move, stranger):
    sent = await send(sender)
    await move()
    preview = await sender.developer.post(f"/emails/logs/{sent['id']}/preview", {"images": False})
    assert preview.status_code == 200, preview.text
    assert "Dear Zoë" in (await stranger.get(preview.json()["path"])).text


async def test_small_contents_and_those_of_waiting_emails_stay(sender, world, clock, move, folder):
    small = await send(sender, attachments=[{**ATTACHMENT, "content": base64.b64encode(FILE[:10_000]).decode()}])
    scheduled_at = (clock() + timedelta(days=2)).isoformat()
    scheduled = await send(sender, scheduledAt=scheduled_at)
    await move()
    assert files(folder) == []
    assert (await stored_octets(world, small["id"]))[0] < MOVED_OCTETS
    assert await states(world, sender) == {scheduled["id"]: "WAITING"}
    clock.move(timedelta(days=2))
    await move()
    clock.move(CHECKED_AFTER)
    await move()
    assert await states(world, sender) == {scheduled["id"]: "STORED"}


async def test_a_moved_email_can_be_retried(sender, sink, world, clock, move, run_due_work, folder):
    await sender.developer.patch("", {"settings": {"onAmbiguous": "hold"}})
    sink.behaviour.drop_after_dot = 1.0
    sent = await send(sender)
    assert sent["status"] == "FAILED"
    await move()
    sink.behaviour.drop_after_dot = 0.0
    (file,) = files(folder)
    content = file.read_bytes()
    file.unlink()
    file.mkdir()
    away = await sender.client.post(f"/emails/{sent['id']}/retry")
    assert (away.status_code, away.json()["code"]) == (503, "content_store_unavailable")
    assert (await sender.client.get(f"/emails/logs/{sent['id']}")).json()["status"] == "FAILED"
    refused = await (await sender.key(environment="TEST")).post(f"/emails/{sent['id']}/retry")
    assert (refused.status_code, refused.json()["code"]) == (403, "live_key_required"), "without asking the store"
    file.rmdir()
    gone = await sender.client.post(f"/emails/{sent['id']}/retry")
    assert (gone.status_code, gone.json()["code"]) == (409, "not_retriable")
    file.write_bytes(content)
    assert (await sender.client.post(f"/emails/{sent['id']}/retry")).status_code == 200
    assert (await stored_octets(world, sent["id"]))[1] is None
    await run_due_work()
    assert (await sender.client.get(f"/emails/logs/{sent['id']}")).json()["status"] == "SENT"
    assert attachment_of(sink.messages[-1].raw) == FILE
    # It is moved again once it is settled.
    clock.move(CHECKED_AFTER)
    await run_due_work()
    assert (await stored_octets(world, sent["id"]))[1] is not None
    assert attachment_of(await message(sender, sent["id"])) == FILE


async def test_a_retry_while_a_worker_writes_the_object_keeps_the_content(
    sender, sink, world, clock, move, run_due_work, monkeypatch
):
    await sender.developer.patch("", {"settings": {"onAmbiguous": "hold"}})
    sink.behaviour.drop_after_dot = 1.0
    sent = await send(sender)
    write = Contents.write

    async def write_and_retry(self, *arguments):
        octets = await write(self, *arguments)
        assert (await sender.client.post(f"/emails/{sent['id']}/retry")).status_code == 200
        return octets

    monkeypatch.setattr(Contents, "write", write_and_retry)
    clock.move(timedelta(hours=2))
    await find_contents(world)
    await drain(world, [CONTENTS])
    assert (await stored_octets(world, sent["id"]))[1] is None
    sink.behaviour.drop_after_dot = 0.0
    await run_due_work()
    assert attachment_of(sink.messages[-1].raw) == FILE


async def write_object_and_be_killed(
    world, clock, monkeypatch, folder, store=content_store, statement="replace_contents"
):
    """A worker that is killed after it has written the object of a content, and before `statement` changes the row."""

    async def killed(*arguments, **values):
        raise asyncio.CancelledError

    clock.move(timedelta(hours=2))
    await find_contents(world)
    with monkeypatch.context() as patch, pytest.raises(asyncio.CancelledError):
        patch.setattr(store, statement, killed)
        await drain(world, [CONTENTS])
    assert len(files(folder)) == 1


async def test_a_process_killed_between_object_and_row_loses_nothing(sender, world, clock, move, monkeypatch, folder):
    sent = await send(sender)
    before = await message(sender, sent["id"])
    await write_object_and_be_killed(world, clock, monkeypatch, folder)
    assert (await stored_octets(world, sent["id"]))[1] is None
    assert await message(sender, sent["id"]) == before
    clock.move(CONTENTS.lease)
    await drain(world, [CONTENTS])
    assert len(files(folder)) == 1
    assert (await stored_octets(world, sent["id"]))[1] is not None
    assert await message(sender, sent["id"]) == before


async def test_an_object_without_row_is_deleted_with_its_content(sender, world, clock, monkeypatch, folder):
    """The process is killed after it has written the object, and the content is deleted before the next try."""
    await send(sender)
    await write_object_and_be_killed(world, clock, monkeypatch, folder)
    clock.move(timedelta(days=31))
    await delete_expired(world)
    clock.move(WRITES_END_AFTER)
    await drain(world, [CONTENTS])
    assert (files(folder), await states(world, sender)) == ([], {})


async def test_a_write_that_ends_after_the_deletion_leaves_no_object(sender, world, clock, monkeypatch, folder):
    await send(sender)
    write = Contents.write

    async def delete_and_write(self, *arguments):
        monkeypatch.setattr(Contents, "write", write)
        clock.move(timedelta(days=31))
        await in_another_process(delete_expired(world))
        clock.move(WRITES_END_AFTER)
        await in_another_process(drain(world, [CONTENTS]))
        assert await states(world, sender) == {}
        return await write(self, *arguments)

    monkeypatch.setattr(Contents, "write", delete_and_write)
    clock.move(timedelta(hours=2))
    await find_contents(world)
    await drain(world, [CONTENTS])
    assert files(folder) == []


async def test_the_trigger_knows_all_contents_that_are_moved(world):
    query = "select pg_get_triggerdef(oid) from pg_trigger where tgname like 'content_deleted%%'"
    definitions = [definition for (definition,) in await rows(world, query)]
    assert len({re.search(r" ON public\.(\D+?)(?:_\d+)? ", definition)[1] for definition in definitions}) == 2
    sizes = {int(re.search(r"pg_column_size\(old\.\w+\) >= (\d+)", definition)[1]) for definition in definitions}
    assert {size * 2 <= MOVED_OCTETS for size in sizes} == {True}


async def test_objects_are_deleted_after_the_retention_of_contents(sender, world, clock, move, folder):
    sent = await send(sender)
    await move()
    clock.move(timedelta(days=31))
    await delete_expired(world)
    response = await sender.client.get(f"/emails/logs/{sent['id']}/message")
    assert (response.status_code, response.json()["code"]) == (404, "message_gone")
    assert await states(world, sender) == {sent["id"]: "DELETED"}
    await drain(world, [CONTENTS])
    assert (files(folder), await states(world, sender)) == ([], {})


async def test_objects_are_deleted_with_the_log(sender, world, clock, move, folder):
    await sender.developer.patch("", {"settings": {"logRetentionDays": 90, "retentionDays": 100}})
    await send(sender)
    await move()
    clock.move(timedelta(days=91))
    await delete_expired_log(world)
    await drain(world, [CONTENTS])
    assert (files(folder), await states(world, sender)) == ([], {})


async def test_objects_of_an_erased_person_are_deleted(sender, world, move, clock, run_due_work, folder):
    address = f"ada-{uuid4().hex[:10]}@example.org"
    created = await sender.client.post("/customers", {"email": address, "emailVerified": True})
    await send(sender, to=[address])
    kept = await send(sender)
    await move()
    assert len(files(folder)) == 2
    assert (await sender.client.delete(f"/customers/{created.json()['id']}")).status_code == 200
    clock.move(timedelta(minutes=1))
    await run_due_work()
    assert [file.name for file in files(folder)] == [kept["id"]]
    assert await states(world, sender) == {kept["id"]: "STORED"}


@pytest.mark.parametrize("deletes", ["project", "account"])
async def test_objects_of_a_deleted_project_are_deleted(sender, world, move, clock, run_due_work, folder, deletes):
    for _ in range(2):
        await send(sender)
    await move()
    assert len(files(folder)) == 2
    if deletes == "project":
        assert (await sender.developer.delete("")).status_code == 200
    else:
        assert (await sender.developer.delete("/account", {"password": PASSWORD})).status_code == 200
    away = folder.rename(folder.with_name("away"))
    await run_due_work()
    clock.move(LATE_ROWS_DELAY)
    await run_due_work()
    assert await rows(world, "select from projects where id = %s", UUID(sender.id)) == []
    assert (await rows(world, "select from send_bodies where project_id = %s", UUID(sender.id))) == []
    assert set((await states(world, sender)).values()) == {"DELETED"}
    assert len(files(away)) == 2
    away.rename(folder)
    clock.move(CONTENTS.lease)
    await run_due_work()
    assert await states(world, sender) == {}
    assert [path.name for path in folder.rglob("*")] == [MARKER], "Not even folders tell which projects there were."


async def test_one_time_secrets_are_in_no_object(project, world, clock, move, folder):
    """The content with the secret is encrypted in the row until the e-mail is settled; what is moved has none."""
    secret = "K7QX-93MW"
    padding = base64.b64encode(FILE[:40_000]).decode()
    send_id = await send_project_mail(
        world,
        UUID(project.id),
        to="ada@example.org",
        from_="hello@acme.example",
        subject="Your code",
        html=f"<p>{secret}</p><!--{padding}-->",
        secrets=[secret],
        test=True,
    )
    await world.run_in_background.wait(60)
    assert await rows(world, "select sealed from send_bodies where send_id = %s", send_id) == [(None,)]
    await move()
    (file,) = files(folder)
    store: Contents = world.resources[Contents]
    document = await store.read(MOVED_EMAILS, UUID(project.id), send_id, file.stat().st_size)
    assert b"[removed]" in document
    assert secret.encode() not in document


async def test_a_content_with_secrets_waits_until_they_are_erased(project, world, clock, move, folder):
    sent = await send(project)
    await rows(world, "update send_bodies set sealed = 'x' where send_id = %s returning 1", UUID(sent["id"]))
    await move()
    assert (files(folder), await states(world, project)) == ([], {sent["id"]: "WAITING"})
    await delete_expired(world)
    clock.move(CHECKED_AFTER)
    await move()
    assert await states(world, project) == {sent["id"]: "STORED"}


async def test_while_the_store_is_away_the_log_is_readable_and_moves_wait(sender, world, clock, move, stranger, folder):
    moved = await send(sender)
    await move()
    before = await message(sender, moved["id"])
    waiting = await send(sender)
    away = folder.rename(folder.with_name("away"))
    folder.mkdir()  # As if the disk was not mounted.
    for _ in range(2):
        log = await sender.client.get(f"/emails/logs/{moved['id']}")
        assert (log.status_code, log.json()["engine"]) == (200, "minijinja")
        for path in (f"/emails/logs/{moved['id']}/message", f"/compat/resend/emails/{moved['id']}/attachments"):
            response = await sender.client.get(path)
            assert (response.status_code, response.headers["retry-after"]) == (503, "5"), path
        response = await sender.client.get(f"/emails/logs/{moved['id']}/message")
        assert response.json()["code"] == "content_store_unavailable"
        preview = await sender.developer.post(f"/emails/logs/{moved['id']}/preview", {"images": False})
        assert preview.status_code == 503
        await move()
        assert await states(world, sender) == {moved["id"]: "STORED", waiting["id"]: "WAITING"}
        assert files(folder) == []
        if folder.is_dir():
            folder.rmdir()
            folder.write_text("a file where the folder should be")
    folder.unlink()
    away.rename(folder)
    clock.move(CONTENTS.lease)
    await drain(world, [CONTENTS])
    assert await states(world, sender) == {moved["id"]: "STORED", waiting["id"]: "STORED"}
    assert await message(sender, moved["id"]) == before


async def test_a_store_that_does_not_respond_is_not_waited_for(sender, move, monkeypatch):
    sent = await send(sender)
    await move()

    async def never(*arguments, **values):
        await asyncio.Event().wait()

    monkeypatch.setattr(ObjectStore, "get", never)
    monkeypatch.setattr(operations, "READ_TIMEOUT", timedelta(milliseconds=10))
    response = await sender.client.get(f"/emails/logs/{sent['id']}/message")
    assert (response.status_code, response.json()["code"]) == (503, "content_store_unavailable")


async def test_an_object_that_was_changed_is_not_shown(sender, move, folder):
    sent = await send(sender)
    await move()
    (file,) = files(folder)
    for octets, status in ((10, 404), (2 * file.stat().st_size, 503)):
        with file.open("ab") as opened:
            opened.write(bytes(octets))
        response = await sender.client.get(f"/emails/logs/{sent['id']}/message")
        assert response.status_code == status


async def test_the_store_is_not_that_of_the_archive(settings):
    with pytest.raises(SettingInvalid, match="POSTERN_ARCHIVE"):
        check_settings(msgspec.structs.replace(settings, archive=settings.content_store))


async def test_without_the_setting_nothing_is_moved_and_moved_contents_wait(sender, world, clock, move, folder):
    sent, later = await send(sender), None
    await move()
    (place,) = {world.settings.content_store}
    del world.resources[Contents]
    world.settings = msgspec.structs.replace(world.settings, content_store=None)
    later = await send(sender)
    await move()
    assert await states(world, sender) == {sent["id"]: "STORED"}
    response = await sender.client.get(f"/emails/logs/{sent['id']}/message")
    assert (response.status_code, response.json()["code"]) == (503, "content_store_unavailable")
    assert attachment_of(await message(sender, later["id"])) == FILE
    clock.move(timedelta(days=31))
    await delete_expired(world)
    await drain(world, [CONTENTS])
    assert await states(world, sender) == {sent["id"]: "DELETED"}
    assert len(files(folder)) == 1
    del world.resources[Contents]
    world.settings = msgspec.structs.replace(world.settings, content_store=place)
    clock.move(CHECKED_AFTER)
    await drain(world, [CONTENTS])
    assert (files(folder), await states(world, sender)) == ([], {})


async def test_another_project_cannot_read_a_moved_content(sender, new_project, move):
    sent = await send(sender)
    await move()
    other = await new_project()
    for path in (f"/emails/logs/{sent['id']}/message", f"/compat/resend/emails/{sent['id']}/attachments"):
        assert (await other.client.get(path)).status_code == 404
    assert (await other.client.post(f"/emails/{sent['id']}/retry")).status_code == 404


async def test_exports_have_the_moved_contents(sender, move, folder):
    sent, small = await send(sender), await send(sender, attachments=[])
    await move()

    async def exported():
        document = (await sender.developer.get("/account/export")).json()
        (project,) = [project for project in document["projects"] if project["id"] == sender.id]
        assert "contentObjects" not in project
        return {row["sendId"]: row for row in project["sendBodies"]}

    bodies = await exported()
    assert bodies[sent["id"]]["body"]["attachments"][0]["content"] == ATTACHMENT["content"]
    assert bodies[small["id"]]["body"]["html"] == MAIL["html"]
    assert not any("contentMissing" in row for row in bodies.values())
    (file,) = files(folder)
    file.unlink()
    assert (await exported())[sent["id"]]["contentMissing"] is True


async def test_one_unreadable_object_leaves_the_others_in_the_export(sender, move, folder):
    emails = [await send(sender) for _ in range(12)]
    await move()
    unreadable = folder / object_name("emails", UUID(sender.id), UUID(emails[0]["id"]))
    unreadable.write_bytes(unreadable.read_bytes() * 3)
    document = (await sender.developer.get("/account/export")).json()
    (project,) = [project for project in document["projects"] if project["id"] == sender.id]
    missing = {row["sendId"] for row in project["sendBodies"] if row.get("contentMissing")}
    assert missing == {emails[0]["id"]}
    assert not any("objectOctets" in row for row in project["sendBodies"])


async def test_an_object_that_fails_keeps_no_others_waiting(sender, world, clock, move, folder, monkeypatch):
    emails = [await send(sender) for _ in range(12)]
    write, fails = Contents.write, True

    async def write_others(self, moved, project_id, send_id, document):
        if fails and str(send_id) == emails[0]["id"]:
            raise StoreFailed("There is no room for it.")
        return await write(self, moved, project_id, send_id, document)

    monkeypatch.setattr(Contents, "write", write_others)
    await move()
    assert sorted((await states(world, sender)).values()) == ["STORED"] * 11 + ["WAITING"]
    fails = False
    clock.move(CHECKED_AFTER)
    await drain(world, [CONTENTS])
    assert set((await states(world, sender)).values()) == {"STORED"}


async def test_contents_are_found_after_the_clock_of_a_worker_was_ahead(sender, world, clock, run_due_work, folder):
    clock.move(timedelta(days=1))
    await find_contents(world)
    clock.move(-timedelta(days=1))
    await send(sender)
    clock.move(timedelta(hours=2))
    await find_contents(world)
    await run_due_work()
    assert set((await states(world, sender)).values()) == {"STORED"}


async def test_large_contents_are_moved_alone_even_if_they_compress_well(sender, world, move, folder, monkeypatch):
    emails = [await send(sender, attachments=[]) for _ in range(3)]
    large = "update send_bodies set body = body || %s where project_id = %s and send_id = any (%s) returning send_id"
    html = Jsonb({"html": "abcdefgh" * (GROUP_OCTETS // 8)})
    await rows(world, large, html, UUID(sender.id), [UUID(email["id"]) for email in emails])
    sizes, move_group = [], work._move_group

    async def record(world, store, moved, group):
        sizes.append(len(group))
        await move_group(world, store, moved, group)

    monkeypatch.setattr(work, "_move_group", record)
    await move()
    assert sizes == [1, 1, 1]
    assert set((await states(world, sender)).values()) == {"STORED"}


async def test_the_store_of_another_instance_is_refused(sender, world, move, folder):
    folder.mkdir()
    (folder / MARKER).write_bytes(b"of another")
    sent = await send(sender)
    await move()
    assert await states(world, sender) == {sent["id"]: "WAITING"}
    assert files(folder) == []


async def test_doctor_checks_the_store(sender, world, move, folder):
    async def diagnosed(*, new_store=False):
        return [(result.status, result.result) async for result in diagnose(world, new_store=new_store)]

    usable = ("ok", "objects can be written, read and deleted")
    ours = ("ok", "is the store of this server")
    assert await diagnosed() == [usable, ("ok", "has no contents yet")]
    assert list(folder.iterdir()) == []
    sent = await send(sender)
    await move()
    assert await diagnosed() == [usable, ours]
    away = folder.rename(folder.with_name("away"))
    folder.write_text("a file where the folder should be")
    assert [status for status, _ in await diagnosed()] == ["problem"]
    folder.unlink()
    empty = await diagnosed()
    assert [status for status, _ in empty] == ["ok", "problem"]
    assert "does not have the contents" in empty[1][1]
    assert await diagnosed(new_store=True) == [usable, ours]
    assert (await sender.client.get(f"/emails/logs/{sent['id']}/message")).status_code == 404
    shutil.rmtree(folder)
    away.rename(folder)
    assert attachment_of(await message(sender, sent["id"])) == FILE
    del world.resources[Contents]
    world.settings = msgspec.structs.replace(world.settings, content_store=None)
    assert [status for status, _ in await diagnosed()] == ["note"]


async def test_contents_of_before_the_setting_are_found_once(sender, world, clock, monkeypatch, folder):
    sent = [(await send(sender))["id"] for _ in range(3)]
    clock.move(timedelta(days=20))
    assert await find_contents(world) >= work.MAX_SPANS
    while await find_contents(world) >= work.MAX_SPANS:
        pass
    await drain(world, [CONTENTS])
    assert await states(world, sender) == dict.fromkeys(sent, "STORED")
    assert await find_contents(world) == 0


async def test_a_file_is_complete_or_not_there(tmp_path, monkeypatch):
    store = ObjectStore(str(tmp_path / "a folder"))
    await store.put("a/b", b"first")

    def fail(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(object_store.os, "fsync", fail)
        with pytest.raises(StoreFailed, match="No space left"):
            await store.put("a/b", b"second")
    assert await store.get("a/b", max_octets=10) == b"first"
    with pytest.raises(StoreFailed, match="more than 4"):
        await store.get("a/b", max_octets=4)
    await store.delete("a/b")
    assert await store.get("a/b", max_octets=10) is None
    assert files(tmp_path) == []
    await store.delete("a/b")
    store.close()


class TestS3:
    """An object store: moto."""

    @pytest.fixture
    def settings(self, settings, moto, monkeypatch):
        monkeypatch.setenv("AWS_REGION", REGION)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        moto.reset()
        return msgspec.structs.replace(
            settings, content_store=f"s3://{BUCKET}/of/mail", content_store_endpoint=moto.url
        )

    async def test_contents_are_objects_of_a_bucket(self, sender, world, clock, move, moto):
        sent = await send(sender)
        before = await message(sender, sent["id"])
        await move()
        assert await states(world, sender) == {sent["id"]: "WAITING"}, "There is no bucket yet."
        headers = {"Authorization": f"{SCOPE}, SignedHeaders=host, Signature=none"}
        async with httpx.AsyncClient(base_url=moto.url, headers=headers, trust_env=False) as s3:
            assert (await s3.put(f"/{BUCKET}")).status_code == 200
            clock.move(CONTENTS.lease)
            await drain(world, [CONTENTS])
            key = f"of/mail/{object_name('emails', UUID(sender.id), UUID(sent['id']))}"
            stored = await s3.get(f"/{BUCKET}/{key}")
            assert stored.status_code == 200
            assert len(stored.content) == (await stored_octets(world, sent["id"]))[1]
            assert await message(sender, sent["id"]) == before
            clock.move(timedelta(days=31))
            await delete_expired(world)
            await drain(world, [CONTENTS])
            assert (await s3.get(f"/{BUCKET}/{key}")).status_code == 404
            assert await states(world, sender) == {}

    async def test_a_bucket_that_is_gone_is_a_problem(self, sender, world, clock, move, moto):
        headers = {"Authorization": f"{SCOPE}, SignedHeaders=host, Signature=none"}
        async with httpx.AsyncClient(base_url=moto.url, headers=headers, trust_env=False) as s3:
            assert (await s3.put(f"/{BUCKET}")).status_code == 200
        sent = await send(sender)
        await move()
        assert await states(world, sender) == {sent["id"]: "STORED"}
        moto.reset()
        response = await sender.client.get(f"/emails/logs/{sent['id']}/message")
        assert (response.status_code, response.json()["code"]) == (503, "content_store_unavailable")
        clock.move(timedelta(days=31))
        await delete_expired(world)
        await drain(world, [CONTENTS])
        assert await states(world, sender) == {sent["id"]: "DELETED"}
