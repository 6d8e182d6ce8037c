"""Expired log entries, opens, clicks and events are written to the archive before they are deleted."""

import asyncio
from datetime import timedelta

import duckdb
import httpx
import msgspec
import pytest

from postern.messaging.emails import retention
from postern.messaging.emails.model import ARCHIVED_SENDS
from postern.messaging.emails.retention import delete_expired_log
from postern.messaging.tracking.model import ARCHIVED_HITS
from postern.messaging.tracking.retention import delete_expired_hits
from postern.platform.events.model import ARCHIVED_EVENTS
from postern.platform.events.retention import delete_expired_events
from postern.platform.projects.archive import Archive, ArchivedTable
from tests.workers import in_another_process

MAIL = {
    "to": ["ada@example.com"],
    "from": "Acme <hello@acme.example>",
    "subject": 'Your "order" é 🙂',
    "html": "<p>Hello</p>",
    "tags": ["welcome"],
}
RETENTION = {"logRetentionDays": 90, "eventRetentionDays": 90, "archiveExpired": True}
BUCKET, REGION = "postern-archive", "us-east-1"
SCOPE = f"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/{REGION}/s3/aws4_request"
"""By this, moto finds service and region; it checks no signatures."""


@pytest.fixture
def settings(settings, tmp_path):
    return msgspec.structs.replace(settings, archive=str(tmp_path / "archive"))


@pytest.fixture
async def archiving(project):
    changed = await project.developer.patch("", {"settings": RETENTION})
    assert changed.status_code == 200, changed.text
    assert changed.json()["settings"]["archiveExpired"] is True
    return project


def read(folder, table: ArchivedTable):
    """The rows of the files of a table, without those that are in two files."""
    with duckdb.connect(":memory:") as connection:
        pattern = folder / table.name / "*" / "*" / "*.parquet"
        query = f"select distinct on (id) * exclude (month) from read_parquet('{pattern}', hive_partitioning = true)"
        cursor = connection.execute(query)
        names = [name for name, *_ in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


async def remaining(project):
    return [entry["id"] for entry in (await project.client.get("/emails/logs?limit=50")).json()["data"]]


async def test_expired_records_are_in_the_archive(archiving, new_project, world, clock, stranger, tmp_path):
    other = await new_project()
    await other.developer.patch("", {"settings": {**RETENTION, "archiveExpired": False}})
    sent = [(await archiving.client.post("/emails", MAIL)).json()["id"] for _ in range(3)]
    await other.client.post("/emails", MAIL)
    clock.move(timedelta(minutes=1))
    agent = "Mozilla/5.0 (X11; Linux) Firefox/140"
    await stranger.get(f"/t/o/{sent[0]}", headers={"user-agent": agent})
    log = (await archiving.client.get(f"/emails/logs/{sent[0]}")).json()
    events = (await archiving.client.get("/events?limit=100")).json()["data"]
    clock.move(timedelta(days=91))
    for delete in (delete_expired_log, delete_expired_hits, delete_expired_events):
        await delete(world)
    assert await remaining(archiving) == await remaining(other) == []
    folder = tmp_path / "archive"
    rows = {str(row["id"]): row for row in read(folder, ARCHIVED_SENDS)}
    assert rows.keys() == set(sent)
    row = rows[sent[0]]
    assert (row["subject"], row["tags"], row["status"]) == (MAIL["subject"], ["welcome"], log["status"])
    assert row["delivered_at"].isoformat()[:19] == log["deliveredAt"][:19]
    (attempt,) = msgspec.json.decode(row["attempts"])
    assert (attempt["outcome"], attempt["finished_at"][:10]) == ("ACCEPTED", log["createdAt"][:10])
    (hit,) = read(folder, ARCHIVED_HITS)
    assert (str(hit["send_id"]), hit["kind"], hit["user_agent"]) == (sent[0], "OPEN", agent)
    assert {str(row["id"]) for row in read(folder, ARCHIVED_EVENTS)} >= {event["id"] for event in events}
    assert {str(row["project"]) for row in rows.values()} == {archiving.id}
    for file in folder.glob("*/*/*/*"):
        assert (file.suffix, file.stat().st_mode & 0o777) == (".parquet", 0o600)


async def test_each_record_is_in_the_folder_of_its_month(archiving, world, clock, tmp_path):
    """Queries that name a month read only its folder."""
    sent = []
    for _ in range(2):
        sent.append((await archiving.client.post("/emails", MAIL)).json())
        clock.move(timedelta(days=32))
    clock.move(timedelta(days=91))
    await delete_expired_log(world)
    with duckdb.connect(":memory:") as connection:
        pattern = tmp_path / "archive" / "emails" / "*" / "*" / "*.parquet"
        rows = connection.execute(
            f"select month, strftime(created_at, '%Y-%m') from read_parquet('{pattern}', hive_partitioning = true) "
            f"where project = '{archiving.id}'"
        ).fetchall()
    assert len(rows) == len({month for month, _ in rows}) == 2
    assert all(str(month) == created for month, created in rows)


async def test_the_columns_are_those_of_the_files(archiving, world, clock, monkeypatch):
    """A column that a statement leaves out would be null in all files."""
    await archiving.client.post("/emails", MAIL)
    written = {}
    write = Archive.write

    async def observe(self, table, project_id, rows):
        if rows:
            written[table.name] = set(msgspec.json.decode(rows[0].document))
        await write(self, table, project_id, rows)

    monkeypatch.setattr(Archive, "write", observe)
    clock.move(timedelta(days=91))
    await delete_expired_log(world)
    await delete_expired_events(world)
    for table in (ARCHIVED_SENDS, ARCHIVED_EVENTS):
        assert written[table.name] == set(table.columns)


async def test_nothing_is_deleted_while_the_archive_fails(archiving, new_project, world, clock, tmp_path):
    other = await new_project()
    await other.developer.patch("", {"settings": {"logRetentionDays": 90}})
    sent = (await archiving.client.post("/emails", MAIL)).json()["id"]
    await other.client.post("/emails", MAIL)
    clock.move(timedelta(days=91))
    (tmp_path / "archive").write_text("a file where the folder should be")
    for delete in (delete_expired_log, delete_expired_hits, delete_expired_events):
        await delete(world)
    assert (await remaining(archiving), await remaining(other)) == ([sent], [])
    (tmp_path / "archive").unlink()
    await delete_expired_log(world)
    assert await remaining(archiving) == []
    assert [str(row["id"]) for row in read(tmp_path / "archive", ARCHIVED_SENDS)] == [sent]


async def test_a_process_killed_after_writing_loses_nothing(archiving, world, clock, monkeypatch, tmp_path):
    sent = {(await archiving.client.post("/emails", MAIL)).json()["id"] for _ in range(5)}
    clock.move(timedelta(days=91))
    monkeypatch.setattr(retention, "BATCH", 2)
    delete_sends = retention.store.delete_sends

    async def killed(*arguments, **values):
        raise asyncio.CancelledError

    monkeypatch.setattr(retention.store, "delete_sends", killed)
    with pytest.raises(asyncio.CancelledError):
        await delete_expired_log(world)
    assert set(await remaining(archiving)) == sent
    monkeypatch.setattr(retention.store, "delete_sends", delete_sends)
    await asyncio.gather(*(in_another_process(delete_expired_log(world)) for _ in range(2)))
    assert await remaining(archiving) == []
    assert {str(row["id"]) for row in read(tmp_path / "archive", ARCHIVED_SENDS)} == sent
    assert list((tmp_path / "archive").glob("**/*.unfinished")) == []


async def test_without_an_archive_nothing_is_deleted(archiving, world, clock):
    sent = (await archiving.client.post("/emails", MAIL)).json()["id"]
    clock.move(timedelta(days=91))
    world.settings = msgspec.structs.replace(world.settings, archive=None)
    await delete_expired_log(world)
    assert await remaining(archiving) == [sent]


async def test_without_an_archive_the_setting_is_refused(project, world):
    world.settings = msgspec.structs.replace(world.settings, archive=None)
    refused = await project.developer.patch("", {"settings": {"archiveExpired": True}})
    assert refused.status_code == 400
    (error,) = refused.json()["errors"]
    assert (error["path"], error["code"]) == ("/settings/archiveExpired", "not_offered")
    assert (await project.developer.patch("", {"settings": {"archiveExpired": False}})).status_code == 200


class TestS3:
    """An object store: moto."""

    @pytest.fixture
    def settings(self, settings, moto, monkeypatch):
        monkeypatch.setenv("AWS_REGION", REGION)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        moto.reset()
        return msgspec.structs.replace(settings, archive=f"s3://{BUCKET}/of/mail", archive_endpoint=moto.url)

    async def test_files_are_objects_of_a_bucket(self, archiving, world, clock, moto, tmp_path):
        sent = (await archiving.client.post("/emails", MAIL)).json()["id"]
        clock.move(timedelta(days=91))
        await delete_expired_log(world)
        assert await remaining(archiving) == [sent], "There is no bucket yet."
        headers = {"Authorization": f"{SCOPE}, SignedHeaders=host, Signature=none"}
        async with httpx.AsyncClient(base_url=moto.url, headers=headers, trust_env=False) as s3:
            assert (await s3.put(f"/{BUCKET}")).status_code == 200
            await delete_expired_log(world)
            assert await remaining(archiving) == []
            prefix = f"of/mail/emails/project={archiving.id}/month="
            listed = (await s3.get(f"/{BUCKET}", params={"prefix": prefix})).text
            key = listed.partition("<Key>")[2].partition("</Key>")[0]
            assert key.startswith(prefix)
            file = tmp_path / "archive" / key.removeprefix("of/mail/")
            file.parent.mkdir(parents=True)
            file.write_bytes((await s3.get(f"/{BUCKET}/{key}")).content)
        assert [str(row["id"]) for row in read(tmp_path / "archive", ARCHIVED_SENDS)] == [sent]
