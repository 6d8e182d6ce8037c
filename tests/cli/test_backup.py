"""A database is written to a file while its server runs, and another one begins where it was."""

import json
import shutil
from pathlib import Path

import httpx

from tests.test_boot import WAIT_SECONDS, Started, assert_bootstrapped, command, first, place, start

__all__ = ["first", "place"]


def test_what_was_backed_up_is_there_after_a_restore(first: Started, place: Path) -> None:
    made = json.loads(command(first.folder, "bootstrap", "--json").stdout)
    project = f"/projects/{made['projectId']}"
    bearer = {"Authorization": f"Bearer {made['secretKey']}"}
    contacts = f"{first.url}{project}/contacts"
    contact = httpx.post(contacts, json={"email": "ada@example.com"}, headers=bearer, timeout=WAIT_SECONDS)
    assert contact.status_code == 201, contact.text
    file = place / "postern.dump"
    written = command(first.folder, "backup", str(file))
    assert written.returncode == 0, written.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    again = command(first.folder, "backup", str(file))
    assert (again.returncode, "is there already" in again.stderr) == (78, True)
    taken = command(first.folder, "restore", str(file))
    assert (taken.returncode, "not empty" in taken.stderr) == (78, True)
    folder = place / "restored"
    folder.mkdir()
    shutil.copy(first.folder / "master.key", folder / "master.key")
    restored = command(folder, "restore", str(file))
    assert restored.returncode == 0, restored.stderr
    server = start(folder)
    try:
        server.wait_until_ready()
        assert_bootstrapped({**made, "baseUrl": server.url}, server.url)
        found = httpx.get(
            f"{server.url}{project}/contacts/{contact.json()['id']}", headers=bearer, timeout=WAIT_SECONDS
        )
        assert found.json() == contact.json()
        assert "POSTERN_KEY" not in server.printed(), "It is not a first start."
    finally:
        server.stop()


def test_what_is_no_backup_is_refused(place: Path) -> None:
    nothing = place / "nothing.dump"
    missing = command(place / "empty", "restore", str(nothing))
    assert (missing.returncode, "There is no file" in missing.stderr) == (78, True)
    nothing.write_text("this is not a dump")
    wrong = command(place / "empty", "restore", str(nothing))
    assert wrong.returncode == 78
    assert "pg_restore failed" in wrong.stderr
    assert "Traceback" not in wrong.stderr
