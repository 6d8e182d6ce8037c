"""`postern upgrade` says what an upgrade would do, and executes migrations while processes go on."""

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from postern.app import HOOKS
from postern.cli import processes
from postern.cli.upgrade import UpgradeCheck, check_upgrade, describe
from postern.kernel.config import Settings
from postern.kernel.database import long_migrations
from postern.kernel.database.migrations import long_migrations_of, migrate, migrations_folder
from postern.world import open_world
from tests.peers.whole_server import empty_database, own_database
from tests.test_boot import command

LONG = "-- long migration: rows of smtp_processes (id)"
FIVE_HUNDRED = "insert into smtp_processes select gen_random_uuid(), now(), '{}' from generate_series(1, 500)"


@pytest.fixture
def url() -> Iterator[str]:
    with own_database() as url:
        yield url


@pytest.fixture
def pending(tmp_path: Path) -> Callable[..., Path]:
    """Makes a folder with the migrations of this release and further ones."""

    def make(**texts: str) -> Path:
        folder = tmp_path / "migrations"
        shutil.copytree(migrations_folder(), folder, dirs_exist_ok=True)
        for name, text in texts.items():
            (folder / f"{name.removeprefix('m')}.sql").write_text(text)
        return folder

    return make


def check(url: str, folder: Path | None = None) -> UpgradeCheck:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("analyze projects, domains")
        connection.execute("set default_transaction_read_only = on")
        return check_upgrade(connection, Settings(data=Path("/nowhere"), database_url=url), folder=folder)


def test_the_command_checks_upgrades_and_has_nothing_left_to_do(tmp_path: Path) -> None:
    """On a database with the schema before this release's last migration."""
    last = max(migrations_folder().glob("*.sql"))
    folder = tmp_path / "earlier"
    shutil.copytree(migrations_folder(), folder, ignore=shutil.ignore_patterns(last.name))
    with empty_database() as url:
        empty = command(tmp_path, "upgrade", "--check", DATABASE_URL=url)
        assert (empty.returncode, "the database is empty" in empty.stdout) == (0, True), empty
        migrate(url, folder=folder)
        checked = command(tmp_path, "upgrade", "--check", "--json", DATABASE_URL=url)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        [migration] = json.loads(checked.stdout)["database"]["pending"]
        assert migration["name"] == last.stem
        upgraded = command(tmp_path, "upgrade", DATABASE_URL=url)
        assert (upgraded.returncode, f"applied {last.stem}" in upgraded.stdout) == (0, True), upgraded
        again = command(tmp_path, "upgrade", "--check", DATABASE_URL=url)
        assert (again.returncode, "Nothing: the schema is that of this release." in again.stdout) == (0, True), again
    assert command(tmp_path, "upgrade", "--json", DATABASE_URL=url).returncode == 2
    assert command(tmp_path, "upgrade", "--check").returncode == 78, "there is no database"


def test_an_upgrade_with_a_problem_changes_nothing(url: str, tmp_path: Path) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("update schema_migrations set checksum = 'another' where number = 101")
    upgraded = command(tmp_path, "upgrade", DATABASE_URL=url)
    assert (upgraded.returncode, "0101_session_organization has changed" in upgraded.stdout) == (1, True), upgraded


def test_nothing_has_to_be_stopped_if_nothing_runs(url: str, pending: Callable[..., Path]) -> None:
    """Who has stopped all processes, as the check said, can upgrade."""
    folder = pending(m9001_drop="alter table projects drop column name;")
    text = describe(check(url, folder))
    assert "the previous release reads and writes the column" in text
    assert "Problems" not in text
    assert "The processes that run now" not in text
    assert "Start the processes of this release." in text
    with psycopg.connect(url, application_name="postern api 0.1.0"):
        assert "The processes that run now may NOT go on" in describe(check(url, folder))


def test_statements_are_described_with_their_locks_and_sizes(url: str, pending: Callable[..., Path]) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(FIVE_HUNDRED)
        connection.execute("analyze smtp_processes")
    folder = pending(
        m9001_add="alter table projects add column note text;",
        m9002_index="-- blocks: it has few rows.\ncreate index smtp_seen on smtp_processes (seen_at);",
        m9003_fill=f"{LONG}\nupdate smtp_processes set seen_at = now() where {{rows}}",
        m9004_check="-- needs 9003\n-- holds: none is null.\n"
        "alter table smtp_processes add check (seen_at is not null) not valid;",
    )
    checked = check(url, folder)
    assert (checked.problems, checked.database.can_go_on) == ([], True)
    text = describe(checked)
    assert "adds the column projects.note; locks projects for reads and writes for a moment" in text
    assert "creates the index smtp_seen on smtp_processes; 500 rows," in text
    assert "locks smtp_processes for writes meanwhile" in text
    assert "9003_fill (long: executed while all processes serve)" in text
    assert "waits for the long migration 9003" in text
    with psycopg.connect(url, application_name="postern api 0.1.0"):
        running = check(url, folder)
    assert "The processes that run now may go on during the upgrade." in describe(running)
    assert [step.split("`")[1] for step in checked.next_steps[:3]] == [
        "postern backup before-upgrade.dump",
        "postern migrate",
        "postern upgrade",
    ]
    assert "wait for its /readyz" in running.next_steps[-1]
    assert checked.database.needed_bytes > 0


def test_a_constraint_that_running_processes_may_violate_is_a_problem(url: str, pending: Callable[..., Path]) -> None:
    folder = pending(m9001_check="alter table smtp_processes add check (seen_at is not null) not valid;")
    with psycopg.connect(url, application_name="postern api 0.1.0"):
        [problem] = check(url, folder).problems
    assert "may write rows that the constraint refuses" in problem


def test_long_waits_and_open_transactions_are_problems(
    url: str, pending: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = pending(m9001_index="create index smtp_seen on smtp_processes (seen_at);")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(FIVE_HUNDRED)
    assert check(url, folder).problems == []
    monkeypatch.setattr("postern.kernel.database.upgrade_check.NOTICEABLE_SECONDS", 0.0)
    monkeypatch.setattr("postern.kernel.database.upgrade_check.LONG_TRANSACTION_SECONDS", 0.0)
    with psycopg.connect(url, application_name="a report") as other:
        other.execute("select 1")
        waiting, transaction = check(url, folder).problems
    assert "Requests that write smtp_processes wait for about" in waiting
    assert "(a report) has been open for" in transaction


@pytest.mark.parametrize(
    ("running", "marker", "is_problem"),
    [
        ([], "", False),
        (["postern api 0.3.0"], "", True),
        (["postern api 0.3.0", "postern worker 0.3.1"], "-- contract 0.3.0: nothing uses it.\n", False),
        (["postern api 0.3.0", "postern worker 0.2.9"], "-- contract 0.3.0: nothing uses it.\n", True),
        (["postern api 0.3.0 - 10.0.0.1:5432"], "-- contract 0.3.0: nothing uses it.\n", False),
        (["psql"], "-- contract 0.3.0: nothing uses it.\n", False),
        ([""], "-- contract 0.3.0: nothing uses it.\n", True),
        (["shop"], "-- contract 0.3.0: nothing uses it.\n", True),
    ],
)
def test_a_contract_step_needs_processes_that_do_not_use_what_is_removed(
    url: str, pending: Callable[..., Path], running: list[str], marker: str, is_problem: bool
) -> None:
    folder = pending(m9001_drop=f"{marker}alter table projects drop column name;")
    with ExitStack() as stack:
        for name in running:
            stack.enter_context(psycopg.connect(url, application_name=name, autocommit=True))
        checked = check(url, folder)
    assert checked.database.can_go_on != is_problem
    assert bool(checked.problems) == is_problem
    assert any(step.startswith("Stop the processes") for step in checked.next_steps) == is_problem
    if is_problem:
        assert "9001_drop drops the column projects.name: stop all processes" in checked.problems[0]


def test_a_recent_backup_is_known(url: str, tmp_path: Path, pending: Callable[..., Path]) -> None:
    folder = pending(m9001_add="alter table projects add column note text;")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("insert into instance (key_check) values ('x')")
    assert "backup" in check(url, folder).next_steps[0]
    written = command(tmp_path, "backup", str(tmp_path / "postern.dump"), DATABASE_URL=url)
    assert written.returncode == 0, written.stderr
    checked = check(url, folder)
    assert checked.backed_up_at is not None
    assert abs(datetime.now(UTC) - checked.backed_up_at) < timedelta(minutes=5)
    assert "backup" not in checked.next_steps[0]


def test_a_full_disk_is_a_problem(url: str, tmp_path: Path, pending: Callable[..., Path]) -> None:
    folder = pending(m9001_add="alter table projects add column note text;")
    with psycopg.connect(url, autocommit=True) as connection:
        checked = check_upgrade(connection, Settings(data=tmp_path, free_space=10**9), folder=folder)
    assert checked.database.can_go_on
    assert "must remain (POSTERN_FREE_SPACE)" in " ".join(checked.problems)


async def test_a_worker_executes_long_migrations_and_its_release_is_known(
    url: str, tmp_path: Path, pending: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(FIVE_HUNDRED)
    folder = pending(m9003_fill=f"{LONG}\nupdate smtp_processes set counters = '{{\"a\": {{}}}}' where {{rows}}")
    monkeypatch.setattr(long_migrations, "BATCH_ROWS", 100)
    monkeypatch.setattr(processes, "long_migrations_of", lambda: long_migrations_of(folder))
    await asyncio.to_thread(migrate, url, folder=folder)
    [progress] = check(url, folder).database.unfinished
    assert (progress.rows_done, progress.rows_total) == (100, 500)
    async with open_world(Settings(data=tmp_path), url, HOOKS, process="worker") as world:
        task = asyncio.create_task(processes._execute_long_migrations(world))
        while (checked := await asyncio.to_thread(check, url, folder)).database.unfinished:
            assert not task.done()
            await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert [(other.process, other.release) for other in checked.database.processes] == [("worker", checked.release)]
    with psycopg.connect(url) as connection:
        assert connection.execute("select count(*) from smtp_processes where counters = '{}'").fetchone() == (0,)
