"""`postern distribute` and the service on a real Citus of three servers."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, get_args, get_type_hints

import httpx
import psycopg
import pytest
from psycopg.errors import InternalError_

from postern.cli import EXIT_CANNOT_RUN
from postern.cli.placement import placement, unfinished_distribution
from postern.kernel.database.distribution import Distribution
from postern.kernel.database.migrations import migrate, migrations_folder
from postern.kernel.database.statements import STATEMENTS, Statement, _error_of_server
from tests.commands import run_command
from tests.messaging.domains.test_domains import publish
from tests.peers.citus import Citus, citus, needs_citus
from tests.peers.smtp_sink import Sink
from tests.peers.whole_server import START_SECONDS, WholeServer, own_database
from tests.test_house import with_numbers

pytestmark = needs_citus
WAIT_SECONDS = 120
PROJECT = uuid.UUID("01900000-0000-7000-8000-000000000001")


CONTACTS = 500
ADD_PROJECT = """
    with account as (
        insert into accounts (id, name, created_at, updated_at) values (gen_random_uuid(), 'Reader', now(), now())
        returning id
    )
    insert into projects (id, account_id, name, created_at, updated_at)
    select gen_random_uuid(), id, 'Reader', now(), now() from account
"""
ADD_CONTACTS = """
    insert into contacts (project_id, id, email, email_key, created_at, updated_at)
    select projects.id, gen_random_uuid(), address, address, now(), now() from projects
    cross join (select 'reader-' || number || '@example.com' as address from generate_series(1, %s) as number) as added
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Citus]:
    """A Citus with a database that was restored from the backup of a single server. `postern distribute` has been
    interrupted on it."""
    folder = tmp_path_factory.mktemp("single")
    with citus() as cluster, own_database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(ADD_PROJECT)
            connection.execute(ADD_CONTACTS, [CONTACTS])
        postern(url, folder, "backup", str(folder / "backup"))
        postern(cluster.url, folder, "restore", str(folder / "backup"))
        with psycopg.connect(cluster.url, autocommit=True) as connection:
            interrupted = Distribution(connection, placement())
            for step in islice(interrupted.steps(), 30):
                step.run()
        yield cluster


@pytest.fixture(scope="module")
def finished(cluster: Citus, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The distribution is finished, also if the test of its interruption ran in another process."""
    postern(cluster.url, tmp_path_factory.mktemp("finished"), "distribute")


def postern(url: str, folder: Path, *words: str) -> str:
    done = run_command(*words, environment=os.environ | {"DATABASE_URL": url, "POSTERN_DATA": str(folder)})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_interrupted_distribution_goes_on(cluster, tmp_path):
    assert "add the foreign key sends" in postern(cluster.url, tmp_path, "distribute", "--dry-run")
    assert "steps are left" in postern(cluster.url, tmp_path, "distribute", "status")
    environment = os.environ | {"DATABASE_URL": cluster.url, "POSTERN_DATA": str(tmp_path)}
    for command in ("worker", "serve"):
        refused = run_command(command, environment=environment)
        assert refused.returncode != 0
        assert "is not finished" in refused.stderr
        assert "Run `postern distribute`." in refused.stderr
    assert "is not finished" in postern(cluster.url, tmp_path, "migrate")
    assert "Everything is distributed. Start" in postern(cluster.url, tmp_path, "distribute")
    assert postern(cluster.url, tmp_path, "distribute") == "Everything is distributed.\n"
    status = postern(cluster.url, tmp_path, "distribute", "status")
    assert status.endswith("Everything is distributed.\n")
    assert re.search(r"^The largest server has \d\.\d\d times the average\.$", status, re.MULTILINE)
    assert re.search(r"^Shards \d, on 127\.0\.0\.1:\d+: [\d.]+ MB$", status, re.MULTILINE)
    assert re.search(r"^contacts: distributed, [\d.]+ MB$", status, re.MULTILINE)
    assert [f"127.0.0.1:{node.port}: 0 shards" in status for node in (cluster.coordinator, *cluster.workers)] == [
        True, False, False,
    ]  # fmt: skip
    with psycopg.connect(cluster.url) as connection:
        constraints = "select count(*) from pg_constraint where contype = 'f' and not convalidated"
        assert connection.execute(constraints).fetchone() == (0,)
        # Rows that are copied into shards are not counted again.
        counted = "select sum(count) from contact_rollups where measure = 'total'"
        assert connection.execute(counted).fetchone() == (CONTACTS,)


NEW_TABLE = """
    create table notes (project_id uuid not null, id uuid not null, contact_id uuid, primary key (project_id, id));
    select place_table('notes', 'project_id');
    alter table notes add foreign key (project_id, contact_id) references contacts on delete cascade;
    create function count_notes() returns trigger language plpgsql as $$
    begin
        update notes set id = id where (project_id, id) = (new.project_id, new.id);
        return null;
    end $$;
    create trigger notes_counted after insert on notes for each row execute function count_notes();
"""


def test_a_migration_adds_a_table(cluster, tmp_path):
    folder = tmp_path / "migrations"
    shutil.copytree(migrations_folder(), folder)
    (folder / "9990_notes.sql").write_text(NEW_TABLE)
    migrate(cluster.url, folder=folder)
    left = postern(cluster.url, tmp_path, "distribute", "--dry-run")
    assert left == "let count_notes write to shards\n"
    postern(cluster.url, tmp_path, "distribute")
    assert postern(cluster.url, tmp_path, "distribute") == "Everything is distributed.\n"
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute("insert into notes (project_id, id) values (%s, %s)", [PROJECT, PROJECT])
        assert connection.execute("select count(*) from notes").fetchone() == (1,)
        connection.execute("drop table notes")
        connection.execute("drop function count_notes()")
        connection.execute("delete from schema_migrations where number = 9990")


def test_later_migrations_are_applied_to_a_distributed_database(tmp_path):
    """0256 adds a trigger to a table that is distributed already."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrations_folder(), folder)
    later = sorted(file for file in folder.glob("*.sql") if file.name >= "0256")
    for file in later:
        file.unlink()
    with citus() as cluster:
        migrate(cluster.url, folder=folder)
        with psycopg.connect(cluster.url, autocommit=True) as connection:
            for step in Distribution(connection, placement()).steps():
                step.run()
        assert migrate(cluster.url) == [file.stem for file in later]
        postern(cluster.url, tmp_path, "distribute")
        assert postern(cluster.url, tmp_path, "distribute") == "Everything is distributed.\n"


VALUES = {
    "uuid": str(PROJECT), "text": "x", "int2": "1", "int4": "1", "int8": "1", "float8": "1", "numeric": "1",
    "bool": "t", "timestamptz": "2026-01-01T00:00:00Z", "date": "2026-01-01", "interval": "1 day", "bytea": "\\x00",
    "jsonb": "{}",
}  # fmt: skip
ROWS = f'[{{"project_id": "{PROJECT}", "id": "{PROJECT}"}}]'


def value(name: str, type_name: str, text: str) -> bytes:
    """A value for a parameter of a statement; lists have one item, and rows one row."""
    if type_name in ("_jsonb", "_bytea"):
        return b'{"[]"}' if type_name == "_jsonb" else b'{"\\\\x00"}'
    if type_name.startswith("_"):
        return f"{{{VALUES[type_name[1:]]}}}".encode()
    return (ROWS if f"jsonb_to_recordset(%({name})s" in text else VALUES[type_name]).encode()


def nullable(statement: Statement) -> set[str]:
    """The parameters of a statement that may be null."""
    module, _, name = statement.name.rpartition(".")
    hints = get_type_hints(getattr(import_module(module), name))
    return {parameter for parameter, hint in hints.items() if type(None) in get_args(hint)}


def refusal(
    connection: psycopg.Connection, types: dict[int, str], statement: Statement, *, with_nulls: bool
) -> str | None:
    """The error of a statement that is executed with bound parameters, unless its values cause it. With nulls,
    PostgreSQL leaves out tables that a condition needs, and Citus may not recognise what remains."""
    server = connection.pgconn
    connection.execute("begin")
    try:
        # A composed part is a condition or a value.
        for part in ("true", "null"):
            text = re.sub(r"{\w+}", part, with_numbers(statement.distributed_text)).encode()
            prepared = server.prepare(b"checked", text)
            if prepared.status == psycopg.pq.ExecStatus.COMMAND_OK:
                break
            connection.execute("rollback")
            connection.execute("begin")
        else:
            return prepared.error_message.decode()
        described = server.describe_prepared(b"checked")
        names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement.distributed_text)))
        values = [
            None
            if with_nulls and name in nullable(statement)
            else value(name, types[described.param_type(index)], statement.text)
            for index, name in enumerate(names)
        ]
        result = server.exec_prepared(b"checked", values)
        state = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE) or b""
        error = psycopg.errors.InternalError_(result.error_message.decode())
        is_of_row = state.startswith((b"22", b"23")) or "violates" in str(error)
        return None if not state or is_of_row else str(error)
    finally:
        connection.execute("rollback")
        connection.execute("deallocate all")


@pytest.mark.parametrize("with_nulls", [False, True])
def test_citus_accepts_every_statement(cluster, finished, with_nulls):
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.prepare_threshold = None
        types = dict(connection.execute("select oid, typname from pg_type").fetchall())
        statements = [statement for statement in STATEMENTS if statement.text.split()[0] != "copy"]
        refused = {
            statement.name: refusal(connection, types, statement, with_nulls=with_nulls) for statement in statements
        }
    assert {name: error for name, error in refused.items() if error} == {}


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ('duplicate key value violates unique constraint "a_1"', psycopg.errors.UniqueViolation),
        ("failure on connection marked as essential: 127.0.0.1:5433", psycopg.OperationalError),
        ("could not find valid entry for shard 102105", psycopg.OperationalError),
        ("cannot do it", type(None)),
    ],
)
def test_errors_of_other_servers_are_told_apart(message, kind):
    class Error(InternalError_):
        diag: Any = type("Diagnostic", (), {"message_primary": message})

    assert isinstance(_error_of_server(Error()), kind)


@pytest.mark.usefixtures("finished")
async def test_the_service_works_on_it_and_survives_a_server(cluster, tmp_path):
    async with Sink() as sink:
        server = WholeServer(
            tmp_path,
            cluster.url,
            settings={"transport": "relay", "relay": f"smtp://127.0.0.1:{sink.port}?tls=none"},
        )
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        try:
            await asyncio.to_thread(server.wait)
            await run_main_flows(server, cluster, sink)
        finally:
            server.stop()
            await asyncio.to_thread(thread.join, START_SECONDS)
    assert server.failure is None
    checked = postern(cluster.url, tmp_path, "audit", "verify")
    assert "intact" in checked
    assert "NOT" not in checked
    with psycopg.connect(cluster.url) as connection:
        assert connection.execute(COUNTED).fetchone() == connection.execute(RECOUNTED).fetchone()


COUNTED = """
    select (select coalesce(sum(count), 0) from send_counters where measure = 'sent'),
           (select coalesce(sum(count), 0) from contact_rollups where measure = 'total'),
           (select coalesce(sum(emails), 0) from email_usage), (select coalesce(sum(number), 0) from customer_facets)
"""
RECOUNTED = """
    select (select count(*) from sends where sent_at is not null), (select count(*) from contacts),
           (select count(*) from sends where not test), (select count(*) from customers)
"""


async def run_main_flows(server: WholeServer, cluster: Citus, sink: Sink) -> None:
    """Send mail, sign a customer in, and kill a server meanwhile."""
    created = await server.account()
    project = f"{server.url}/projects/{created.project_id}"
    async with httpx.AsyncClient(
        base_url=project, headers={"Authorization": f"Bearer {created.secret_key}"}, timeout=WAIT_SECONDS
    ) as client:
        domain = (await client.post("/domains", json={"domain": "example.com"})).json()
        publish(server.zone, domain)
        assert (await client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
        mail = {"to": ["ada@example.com"], "from": "hello@example.com", "subject": "Hello", "text": "Hello"}
        again = {"Idempotency-Key": "one"}
        first = await client.post("/emails", json=mail, headers=again)
        assert (first.status_code, first.json()["status"]) == (201, "SENT"), first.text
        repeated = await client.post("/emails", json=mail, headers=again)
        assert repeated.json()["id"] == first.json()["id"]
        assert len(sink.messages) == 1
        for number in range(2):
            contact = await client.post("/contacts", json={"email": f"contact-{number}@example.com"})
            assert contact.status_code == 201, contact.text
        customer = {"email": "grace@example.com", "password": "correct horse battery staple"}
        added = await client.post("/customers", json=customer | {"emailVerified": True})
        assert added.status_code == 201, added.text
        signed_in = await client.post("/auth/sign-in", json=customer)
        assert signed_in.status_code == 200, signed_in.text

        worker = cluster.workers[0]
        await asyncio.to_thread(worker.kill)
        status = await asyncio.to_thread(postern, cluster.url, server.folder, "distribute", "status")
        assert re.search(rf"^127\.0\.0\.1:{worker.port}: \d+ shards, NOT reachable$", status, re.MULTILINE)
        answers = [(await client.post("/emails", json=mail)).status_code for _ in range(3)]
        assert set(answers) <= {201, 503}
        await asyncio.to_thread(worker.start)
        ends = asyncio.get_running_loop().time() + WAIT_SECONDS
        while (answer := await client.post("/emails", json=mail)).status_code != 201:
            assert asyncio.get_running_loop().time() < ends, answer.text
            await asyncio.sleep(0.2)
        assert answer.json()["status"] == "SENT"


@pytest.mark.usefixtures("finished")
def test_a_large_project_moves_to_a_server_of_its_own_while_it_is_used(cluster, tmp_path):
    environment = os.environ | {"DATABASE_URL": cluster.url, "POSTERN_DATA": str(tmp_path)}
    insert = """
        insert into contacts (project_id, id, email, email_key, created_at, updated_at)
        select %s, id, id || '@example.com', id || '@example.com', now(), now()
        from (select gen_random_uuid()) as new (id)
    """
    inserted, stopped = 0, threading.Event()
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        (project,) = connection.execute("select project_id from contacts order by 1 limit 1").fetchone()
        of_project = "select count(*) from contacts where project_id = %s"
        (before,) = connection.execute(of_project, [project]).fetchone()

        def write() -> None:
            nonlocal inserted
            with psycopg.connect(cluster.url, autocommit=True) as writer:
                while not stopped.is_set():
                    try:
                        writer.execute(insert, [project])
                    except InternalError_ as error:
                        if not isinstance(_error_of_server(error), psycopg.OperationalError):
                            raise  # Otherwise a request would get 503, and be repeated.
                    else:
                        inserted += 1

        distribution = Distribution(connection, placement())
        present = distribution.shards_of(project)
        assert not present.is_alone
        (target,) = {f"127.0.0.1:{worker.port}" for worker in cluster.workers} - {present.address}
        (beside,) = connection.execute(SHARDS_ON, [target]).fetchone()
        words = ["distribute", "isolate", str(project), target]
        with ThreadPoolExecutor(1) as threads:
            writing = threads.submit(write)
            try:
                # It is killed once. Citus finishes or undoes the step, and another run goes on.
                killed = subprocess.Popen([sys.executable, "-m", "postern", *words], env=environment)
                while not connection.execute(IS_DIVIDING).rowcount and not distribution.shards_of(project).is_alone:
                    assert killed.poll() is None, "it ended before it was killed"
                    time.sleep(0.05)
                killed.kill()
                killed.wait()
                while (moved := run_command(*words, environment=environment)).returncode:
                    assert "Another `postern distribute` is running" in moved.stderr
            finally:
                stopped.set()
            writing.result()
        ended = f"The project {project} has shards of its own, on {target}.\n"
        assert moved.stdout == ended
        shards = distribution.shards_of(project)
        assert (shards.is_alone, shards.address) == (True, target)
        # The shards of other projects that were copied with those of this one are back.
        (beside_then,) = connection.execute(SHARDS_ON, [target]).fetchone()
        assert beside_then == beside + 1
        assert inserted > 0
        assert connection.execute(of_project, [project]).fetchone() == (before + inserted,)
        # The triggers of the new shards count as those of the old ones.
        assert connection.execute(COUNTED).fetchone() == connection.execute(RECOUNTED).fetchone()
        connection.execute("delete from contacts where project_id = %s and email like '%%-%%-%%-%%'", [project])
        assert connection.execute(COUNTED).fetchone() == connection.execute(RECOUNTED).fetchone()
        other = uuid.uuid4()
        (account,) = connection.execute("select account_id from projects where id = %s", [project]).fetchone()
        added = "insert into projects (id, account_id, name, created_at, updated_at) values (%s, %s, 'B', now(), now())"
        connection.execute(added, [other, account])
        place_of_other = distribution.shards_of(other).address
        assert unfinished_distribution(connection) == ""
    assert postern(cluster.url, tmp_path, *words) == ended
    for refused, reason in (
        ((str(uuid.uuid4()), target), "There is no project"),
        ((str(project), "elsewhere:5432"), "Citus knows no active server elsewhere:5432"),
        ((str(other), place_of_other), "or use --block-writes"),
    ):
        done = run_command("distribute", "isolate", *refused, environment=environment)
        assert done.returncode == EXIT_CANNOT_RUN
        assert reason in done.stderr


IS_DIVIDING = (
    "select from pg_stat_activity where query like '%citus_split_shard_by_split_points%' and pid <> pg_backend_pid()"
)
SHARDS_ON = """
    select count(*) from citus_shards where table_name = 'contacts'::regclass and nodename || ':' || nodeport = %s
"""


@pytest.mark.usefixtures("finished")
def test_a_backup_is_restored_into_one_server(cluster, tmp_path):
    postern(cluster.url, tmp_path, "backup", str(tmp_path / "backup"))
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        connection.execute("create database restored")
        counted = connection.execute(COUNTED).fetchone()
    url = cluster.url.replace("/postern", "/restored")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create extension citus")
        environment = os.environ | {"DATABASE_URL": url, "POSTERN_DATA": str(tmp_path)}
        done = run_command("restore", str(tmp_path / "backup"), environment=environment)
        assert done.returncode == 0, done.stderr
        assert unfinished_distribution(connection) == ""
        assert connection.execute(COUNTED).fetchone() == counted
        # The functions of triggers, which `postern distribute` has changed, also work on a single server.
        connection.execute("delete from contacts where email like 'reader-1%'")
        assert connection.execute(COUNTED).fetchone() == connection.execute(RECOUNTED).fetchone() != counted
