"""`postern backup` and `postern restore`, with a running server and with every supported PostgreSQL version."""

import json
import shutil
from pathlib import Path
from uuid import uuid4

import httpx
import psycopg
import pytest

from tests.peers.postgres_server import INSTALL, installed, postgres_server
from tests.peers.whole_server import empty_database
from tests.test_boot import WAIT_SECONDS, StartedServer, assert_bootstrapped, command, start


def test_a_restore_brings_back_the_backed_up_data(first: StartedServer, base_folder: Path) -> None:
    credentials = json.loads(command(first.folder, "bootstrap", "--json").stdout)
    project = f"/projects/{credentials['projectId']}"
    bearer = {"Authorization": f"Bearer {credentials['secretKey']}"}
    contacts = f"{first.url}{project}/contacts"
    contact = httpx.post(contacts, json={"email": "ada@example.com"}, headers=bearer, timeout=WAIT_SECONDS)
    assert contact.status_code == 201, contact.text
    file = base_folder / "postern.dump"
    written = command(first.folder, "backup", str(file))
    assert written.returncode == 0, written.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    again = command(first.folder, "backup", str(file))
    assert (again.returncode, "exists already" in again.stderr) == (78, True)
    not_empty = command(first.folder, "restore", str(file))
    assert (not_empty.returncode, "not empty" in not_empty.stderr) == (78, True)
    folder = base_folder / "restored"
    folder.mkdir()
    shutil.copy(first.folder / "master.key", folder / "master.key")
    restored = command(folder, "restore", str(file))
    assert restored.returncode == 0, restored.stderr
    server = start(folder)
    try:
        server.wait_until_ready()
        assert_bootstrapped({**credentials, "baseUrl": server.url}, server.url)
        response = httpx.get(
            f"{server.url}{project}/contacts/{contact.json()['id']}", headers=bearer, timeout=WAIT_SECONDS
        )
        assert response.json() == contact.json()
        assert "POSTERN_KEY" not in server.printed(), "Only the first start prints credentials."
    finally:
        server.stop()


def test_a_data_folder_moves_to_a_database_that_several_machines_use(first: StartedServer, base_folder: Path) -> None:
    """As docs/guide/growing.md says: with the content of master.key as POSTERN_SECRET."""
    file, folder, content = base_folder / "moved.dump", base_folder / "moved", (first.folder / "master.key").read_text()
    assert command(first.folder, "backup", str(file)).returncode == 0
    with empty_database() as url:
        assert command(folder, "restore", str(file), DATABASE_URL=url).returncode == 0
        without_prefix = command(folder, "bootstrap", DATABASE_URL=url, POSTERN_SECRET=content)
        assert (without_prefix.returncode, "write base64: before it" in without_prefix.stderr) == (78, True)
        moved = command(folder, "bootstrap", DATABASE_URL=url, POSTERN_SECRET=f"base64:{content}")
        assert (moved.returncode, "POSTERN_KEY" in moved.stdout) == (0, True), moved.stderr
        cut = command(folder, "bootstrap", DATABASE_URL=url, POSTERN_SECRET=f"base64:{content[:40]}")
        assert (cut.returncode, "POSTERN_SECRET" in cut.stderr, "Traceback" in cut.stderr) == (78, True, False)


def test_restoring_a_file_that_is_not_a_backup_is_refused(base_folder: Path) -> None:
    not_a_dump = base_folder / "nothing.dump"
    missing = command(base_folder / "empty", "restore", str(not_a_dump))
    assert (missing.returncode, "There is no file" in missing.stderr) == (78, True)
    not_a_dump.write_text("this is not a dump")
    wrong = command(base_folder / "empty", "restore", str(not_a_dump))
    assert wrong.returncode == 78
    assert "pg_restore failed" in wrong.stderr
    assert "Traceback" not in wrong.stderr


VERSIONS = [
    pytest.param(
        version,
        marks=[
            pytest.mark.needs_tool(f"PostgreSQL {version}", INSTALL[version]),
            pytest.mark.skipif(installed(version) is None, reason=f"not installed: {INSTALL[version]}"),
        ],
    )
    for version in INSTALL
]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_backup_is_restored_on_every_supported_postgresql_version(
    first: StartedServer, base_folder: Path, version: str
) -> None:
    """A backup of the embedded server can be restored, migrated and backed up on each major version.

    Regression test of N12 (tests/defects.md).
    """
    email, file, again = (
        f"ada-{uuid4().hex}@example.com",
        base_folder / f"{version}.dump",
        base_folder / f"{version}-again.dump",
    )
    credentials = json.loads(command(first.folder, "bootstrap", "--json").stdout)
    bearer = {"Authorization": f"Bearer {credentials['secretKey']}"}
    contacts = f"{first.url}/projects/{credentials['projectId']}/contacts"
    # Data that looks like the setting that is removed from the head of the script must be restored unchanged.
    contact = {"email": email, "attributes": {"note": "x\nSET transaction_timeout = 0;\n\\."}}
    assert httpx.post(contacts, json=contact, headers=bearer, timeout=WAIT_SECONDS).status_code == 201
    assert command(first.folder, "backup", str(file)).returncode == 0
    folder = base_folder / f"server-{version}"
    with postgres_server(version) as url:
        restored = command(folder, "restore", str(file), DATABASE_URL=url)
        assert restored.returncode == 0, restored.stderr
        assert "Using the database of DATABASE_URL, mail on" in restored.stderr
        with psycopg.connect(url) as connection:
            assert str(connection.info.server_version // 10_000) == version
            query = "select attributes ->> 'note' from contacts where email = %s"
            assert connection.execute(query, [email]).fetchone() == (contact["attributes"]["note"],)
        assert command(folder, "migrate", DATABASE_URL=url).stdout == "The schema is up to date.\n"
        verified = command(folder, "audit", "verify", DATABASE_URL=url)
        assert (verified.returncode, "intact" in verified.stdout) == (0, True), verified.stderr
        not_empty = command(folder, "restore", str(file), DATABASE_URL=url)
        assert (not_empty.returncode, "not empty" in not_empty.stderr) == (78, True)
        with psycopg.connect(url) as connection:
            # The processes that ran when the backup was made do not run here.
            assert connection.execute("select count(*) from workers").fetchone() == (0,)
        assert command(folder, "backup", str(again), DATABASE_URL=url).returncode == 0
    with postgres_server(version) as url:
        assert command(folder, "restore", str(again), DATABASE_URL=url).returncode == 0


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])
def test_a_truncated_backup_restores_nothing(first: StartedServer, base_folder: Path, version: str) -> None:
    """A restore is atomic on every version: a truncated backup leaves the database empty.

    Regression test of N12 (tests/defects.md).
    """
    file = base_folder / f"cut-{version}.dump"
    assert command(first.folder, "backup", str(file)).returncode == 0
    with file.open("r+b") as truncated:
        truncated.truncate(file.stat().st_size - 2_000)
    with postgres_server(version) as url:
        empty = command(base_folder, "backup", str(base_folder / "none.dump"), DATABASE_URL=url)
        assert (empty.returncode, "This database is empty" in empty.stderr) == (78, True)
        failed = command(base_folder, "restore", str(file), DATABASE_URL=url)
        assert failed.returncode == 78
        assert "pg_restore failed" in failed.stderr
        with psycopg.connect(url) as connection:
            assert connection.execute("select count(*) from pg_tables where schemaname = 'public'").fetchone() == (0,)
