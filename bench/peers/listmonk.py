"""listmonk (a newsletter manager in Go) with a PostgreSQL of its own, sending the same newsletter as a campaign."""

import csv
import io
import json
import os
import re
import secrets
import signal
import subprocess
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg

from bench.emails import free_port
from bench.peers.running import (
    Failed,
    Measurement,
    PeerMissing,
    counting_sink,
    find_program,
    last_lines,
    listens,
    measure_at,
    run_as_peer,
    scratch,
    seconds_of,
    started,
)

INSTALL: Final = "build it from github.com/knadh/listmonk, with its files in the binary, and set LISTMONK to its path"
CONCURRENCY, BATCH, CONNECTIONS = 20, 5_000, 10
"""The settings with the least processor time of 24 that were compared on such a machine."""
DATABASE: Final = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_buffers": "512MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
}


def programs_with_pgcrypto() -> Path:
    """The folder of a PostgreSQL that has pgcrypto, which listmonk needs. Raises PeerMissing."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in [Path(os.environ["PG_BIN"])] if "PG_BIN" in os.environ else folders:
        extensions = [folder.parent / "share/extension", folder.parent / "share/postgresql/extension"]
        extensions.append(Path("/usr/share/postgresql") / folder.parent.name / "extension")
        if any((extension / "pgcrypto.control").exists() for extension in extensions):
            return folder
    raise PeerMissing("there is no PostgreSQL with pgcrypto: install the package postgresql, or set PG_BIN")


@contextmanager
def postgresql(folder: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A durable PostgreSQL with a database `listmonk`; yields its port and process."""
    programs, port = programs_with_pgcrypto(), free_port()
    run_as_peer(
        [programs / "initdb", "-D", folder / "data", "-U", "listmonk", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
        folder,
    )
    options = [f"--{name}={value}" for name, value in {**DATABASE, "port": port}.items()]
    command = [programs / "postgres", "-D", folder / "data", *options]
    ready = [programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
    with started(
        command, folder, ready=lambda: subprocess.run(ready, check=False).returncode == 0, stop=signal.SIGINT
    ) as process:
        run_as_peer([programs / "createdb", "-h", "127.0.0.1", "-p", port, "-U", "listmonk", "listmonk"], folder)
        yield port, process


def as_campaign(html: str) -> str:
    """The newsletter with listmonk's placeholders; every link and the opening are tracked."""
    html = re.sub(r'(<a\b[^>]*\bhref="https?://[^"]*)"', r'\1@TrackLink"', html)
    for placeholder, replacement in {
        "[[name]]": "{{ .Subscriber.Name }}",
        "[[unsubscribe]]": "{{ UnsubscribeURL }}",
        "[[pixel]]": "{{ TrackView }}",
    }.items():
        html = html.replace(placeholder, replacement)
    return html


class Listmonk:
    """listmonk in a folder, with a database and the port of a sink."""

    def __init__(self, folder: Path, program: Path, database_port: int, sink_port: int) -> None:
        self.folder, self.program, self.sink_port, self.port = folder, program, sink_port, free_port()
        self.database = f"postgresql://listmonk@127.0.0.1:{database_port}/listmonk"
        self.token = ""
        (folder / "config.toml").write_text(
            f'[app]\naddress = "127.0.0.1:{self.port}"\n[db]\nhost = "127.0.0.1"\nport = {database_port}\n'
            'user = "listmonk"\npassword = "listmonk"\ndatabase = "listmonk"\nssl_mode = "disable"\n'
            'max_open = 25\nmax_idle = 25\nmax_lifetime = "300s"\n'
        )

    def install(self, recipients: int) -> None:
        """Create the tables, an account for the API, and a list with this number of subscribers."""
        account = {"USER": "bench", "PASSWORD": secrets.token_urlsafe(16), "API_USER": "bench-api"}
        printed = run_as_peer(
            [self.program, "--config", "config.toml", "--install", "--yes"],
            self.folder,
            **{f"LISTMONK_ADMIN_{name}": value for name, value in account.items()},
        )
        token = re.search(r'LISTMONK_ADMIN_API_TOKEN="([^"]+)"', printed)
        if not token:
            raise Failed(f"listmonk --install printed no API token: {printed[-200:]}")
        self.token = f"token bench-api:{token[1]}"
        rows = io.StringIO()
        csv.writer(rows).writerows(
            (uuid.uuid4(), f"user{n}@example.org", f"User {n}") for n in range(1, recipients + 1)
        )
        with psycopg.connect(self.database, autocommit=True) as connection:
            connection.execute(
                "insert into lists (uuid, name, type, optin) values (gen_random_uuid(), 'All', 'private', 'single')"
            )
            copy = "copy subscribers (uuid, email, name) from stdin (format csv)"
            with connection.cursor() as cursor, cursor.copy(copy) as stream:
                stream.write(rows.getvalue())
            connection.execute(
                "insert into subscriber_lists (subscriber_id, list_id, status) select s.id, l.id, 'confirmed' "
                "from subscribers s, lists l where l.name = 'All' and s.email like 'user%@example.org'"
            )
            for name, value in self._settings(recipients).items():
                connection.execute("update settings set value = %s where key = %s", [json.dumps(value), name])
            connection.execute("vacuum analyze")

    def _settings(self, recipients: int) -> dict[str, object]:
        server = {
            "enabled": True,
            "host": "127.0.0.1",
            "port": self.sink_port,
            "auth_protocol": "none",
            "username": "",
            "password": "",
            "hello_hostname": "localhost",
            "max_conns": CONNECTIONS,
            "idle_timeout": "15s",
            "wait_timeout": "5s",
            "max_msg_retries": 2,
            "msg_retry_delay": "10ms",
            "tls_type": "none",
            "tls_skip_verify": True,
            "email_headers": [],
            "from_addresses": [],
        }
        return {
            "app.root_url": f"http://127.0.0.1:{self.port}",
            "app.check_updates": False,
            "app.concurrency": CONCURRENCY,
            "app.batch_size": BATCH,
            # After this number of messages a worker pauses for a second. Twice its share: none does.
            "app.message_rate": max(100, 2 * recipients // CONCURRENCY),
            "app.message_sliding_window": False,
            "privacy.individual_tracking": True,
            "privacy.disable_tracking": False,
            "privacy.unsubscribe_header": True,
            "smtp": [server],
        }

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Send a request to its API; returns the field `data` of the response."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api{path}",
            json.dumps(body).encode() if body is not None else None,
            {"Content-Type": "application/json", "Authorization": self.token},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)["data"]

    def new_campaign(self, html: str) -> int:
        """Create a campaign to all subscribers; returns its number."""
        lists = [row["id"] for row in self.call("GET", "/lists?minimal=true")["results"] if row["name"] == "All"]
        template = {"name": "Bare", "type": "campaign", "body": '{{ template "content" . }}'}
        body = {
            "name": "The Harbour Letter",
            "subject": "Hello {{ .Subscriber.Name }}",
            "from_email": "Acme <news@acme.example>",
            "type": "regular",
            "content_type": "html",
            "messenger": "email",
            "body": as_campaign(html),
            "lists": lists,
            "template_id": self.call("POST", "/templates", template)["id"],
        }
        return self.call("POST", "/campaigns", body)["id"]

    def wait_until_finished(self, campaign: int, count: int) -> None:
        """Wait until listmonk says that it has sent all messages. Raises Failed if it does not."""
        ends = time.monotonic() + 60
        while (state := self.call("GET", f"/campaigns/{campaign}"))["status"] != "finished":
            if time.monotonic() > ends:
                raise Failed(f"the campaign stays {state['status']}: {last_lines(self.folder / 'listmonk.log')}")
            time.sleep(0.1)
        if state["sent"] != count:
            raise Failed(f"listmonk says that it sent {state['sent']:,} of {count:,} messages")


def campaign(count: int, html: str) -> Measurement:
    """Send a campaign with listmonk. Raises PeerMissing if it is not on this machine, and Failed."""
    program = find_program("LISTMONK", "listmonk", INSTALL)
    with scratch() as folder, counting_sink() as sink, postgresql(folder) as (database_port, database):
        copy = folder / "listmonk"
        copy.write_bytes(program.read_bytes())
        copy.chmod(0o755)
        listmonk = Listmonk(folder, copy, database_port, sink.port)
        listmonk.install(count)
        command = [copy, "--config", "config.toml"]
        with started(command, folder, ready=lambda: listens(listmonk.port)) as process:
            number = listmonk.new_campaign(html)
            return measure_at(
                sink,
                count,
                seconds_of(listmonk=process.pid, PostgreSQL=database.pid),
                lambda: listmonk.call("PUT", f"/campaigns/{number}/status", {"status": "running"}),
                lambda: listmonk.wait_until_finished(number, count),
            )
