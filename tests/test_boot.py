"""Starting, killing and restarting a complete server in its own data folder."""

import http.client
import json
import os
import re
import shutil
import signal
import smtplib
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from postern.kernel.config import Settings
from tests.commands import run_command
from tests.peers.ports import reserved_port
from tests.peers.smtp_sink import certificate, client_context
from tests.peers.whole_server import empty_database

ROOT = Path(__file__).parent.parent
WAIT_SECONDS = 120


@dataclass
class StartedServer:
    """A running `postern serve`."""

    process: subprocess.Popen[str]
    folder: Path
    output: Path

    @property
    def running(self) -> dict[str, Any]:
        """The contents of running.json."""
        return json.loads((self.folder / "running.json").read_text())

    @property
    def url(self) -> str:
        return self.running["base_url"]

    def printed(self) -> str:
        """What it has written to stdout and stderr."""
        return self.output.read_text()

    def children(self) -> list[int]:
        """The process ids of its child processes."""
        return children_of(self.process.pid)

    def child(self, part: str) -> int:
        """The process id of the API (`api`), the worker (`worker`) or the database (`-D`)."""
        return next(pid for pid in self.children() if part in arguments(pid))

    def ready(self) -> bool:
        with suppress(OSError, ValueError):
            return is_ready(self.url)
        return False

    def wait_until_ready(self) -> None:
        eventually(self.ready, self)
        eventually(lambda: "Postern is ready at" in self.printed(), self)

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(sign)
        return self.process.wait(WAIT_SECONDS)


def is_ready(url: str) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"{url}/readyz", timeout=20).status_code == 200
    return False


def eventually(condition: Any, server: StartedServer) -> None:
    """Wait until `condition()` is true. Raises AssertionError after WAIT_SECONDS, or if the server ends."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert server.process.poll() is None, server.printed()
        assert time.monotonic() < deadline, server.printed()
        time.sleep(0.02)


def children_of(pid: int) -> list[int]:
    """The process ids of the child processes of a process."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def arguments(pid: int) -> list[str]:
    """The command line of a process; empty if it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return []


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Environment variables for a server in `folder` on a free port, without those of this process for Postern."""
    removed = ("POSTERN_", "DATABASE_", "PYTHONDONTWRITEBYTECODE")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(removed)}
    return {**inherited, "POSTERN_DATA": str(folder), "POSTERN_PORT": "0", **more}


def command(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `postern WORDS` with these environment variables in addition."""
    return run_command(*words, environment=environment(folder, **more))


def start(folder: Path, *words: str, **more: str) -> StartedServer:
    """Start `postern serve WORDS` with these environment variables in addition."""
    output = folder.with_suffix(f".{time.monotonic_ns()}.log")
    with output.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "postern", "serve", *words],
            env=environment(folder, **more),
            cwd=ROOT,
            stdout=file,
            stderr=file,
            text=True,
        )
    return StartedServer(process, folder, output)


@contextmanager
def first_server(base_folder: Path) -> Iterator[StartedServer]:
    """A server on a new data folder, with SMTP ports."""
    crt, key = map(str, certificate("localhost"))
    ports = {"POSTERN_SUBMISSION_PORT": "0", "POSTERN_SUBMISSIONS_PORT": "0"}
    server = start(base_folder / "first", POSTERN_TLS_CERTIFICATE=crt, POSTERN_TLS_KEY=key, **ports)
    server.wait_until_ready()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def port() -> Iterator[str]:
    """A port that no other process takes before, between and after the servers that listen on it."""
    with reserved_port() as port_socket:
        yield str(port_socket.getsockname()[1])


@pytest.fixture(scope="module")
def shared_port() -> Iterator[str]:
    with reserved_port() as port_socket:
        yield str(port_socket.getsockname()[1])


@pytest.fixture(scope="module")
def stopped(base_folder: Path) -> Path:
    """The data folder of a server that was started once and stopped. Tests start a server on it and stop that one, or
    start one on a copy: the first start on a folder takes twice the processor time of a later one."""
    folder = base_folder / "stopped"
    server = start(folder)
    try:
        server.wait_until_ready()
    finally:
        assert server.stop() == 0
    return folder


def copy_of(stopped: Path, name: str) -> Path:
    """A copy of the data folder, with the owners of its files."""
    folder = stopped.with_name(name)
    subprocess.run(["cp", "--archive", stopped, folder], check=True)
    return folder


@pytest.fixture(scope="module")
def killed_servers() -> Iterator[list[StartedServer]]:
    """The servers that tests kill. Each is started on the same folder and port after the previous one has ended."""
    killed_servers: list[StartedServer] = []
    yield killed_servers
    for server in killed_servers[-1:]:
        server.stop()


@pytest.fixture
def server(killed_servers: list[StartedServer], stopped: Path, shared_port: str) -> StartedServer:
    """A server that the test may kill. If it is still running, the next test gets the same one."""
    if not killed_servers or killed_servers[-1].process.poll() is not None:
        folder = killed_servers[0].folder if killed_servers else copy_of(stopped, "killed")
        killed_servers.append(start(folder, POSTERN_PORT=shared_port, POSTERN_DRAIN=str(WAIT_SECONDS)))
        killed_servers[-1].wait_until_ready()
    return killed_servers[-1]


def test_the_first_start_prints_url_project_key_and_account(first: StartedServer) -> None:
    printed = first.printed()
    loaded = Path(f"/proc/{first.process.pid}/maps").read_text()
    assert "argon2" not in loaded, "the API process creates the account, and this one does not load the application"
    shell = dict(re.findall(r"^    export (\w+)=(\S+)$", printed, re.MULTILINE))
    login = dict(re.findall(r"^    (email|password) +(\S+)$", printed, re.MULTILINE))
    assert shell["POSTERN_URL"] == first.url
    signed_in = httpx.post(f"{first.url}/auth/sign-in", json=login, timeout=WAIT_SECONDS)
    assert signed_in.status_code == 200, signed_in.text
    project = httpx.get(
        f"{first.url}/projects/{shell['POSTERN_PROJECT']}",
        headers={"Authorization": f"Bearer {shell['POSTERN_KEY']}"},
        timeout=WAIT_SECONDS,
    )
    assert project.json()["id"] == shell["POSTERN_PROJECT"] == signed_in.json()["projects"][0]["id"]


def test_the_printed_inbox_link_works_once(first: StartedServer) -> None:
    printed = command(first.folder, "bootstrap").stdout
    link = httpx.URL(next(line.strip() for line in printed.splitlines() if "/inbox/enter?token=" in line))
    assert str(link) in printed
    assert str(link).startswith(first.url)
    assert f"{first.url}/inbox/enter?token=" in first.printed()
    with httpx.Client(base_url=first.url, follow_redirects=True, timeout=WAIT_SECONDS) as browser:
        assert browser.get(link).status_code == 200
        opened = browser.post("/inbox/enter", data={"token": link.params["token"]})
        assert opened.status_code == 200
        assert "Inbox of My project" in browser.get("/inbox").text
    with httpx.Client(base_url=first.url, follow_redirects=True, timeout=WAIT_SECONDS) as second_browser:
        assert second_browser.post("/inbox/enter", data={"token": link.params["token"]}).status_code != 200


def test_the_printed_link_to_the_dashboard_works_once(first: StartedServer) -> None:
    """The first start prints it to the terminal; the token is in the fragment, so it is in no log."""
    link = httpx.URL(next(line.strip() for line in first.printed().splitlines() if "/dashboard/welcome#" in line))
    assert str(link).startswith(first.url)
    headers = {"sec-fetch-site": "same-origin", "x-postern-dashboard": "1"}
    with httpx.Client(base_url=first.url, headers=headers, timeout=WAIT_SECONDS) as browser:
        signed_in = browser.post("/dashboard/api/welcome", json={"token": link.fragment})
        assert signed_in.status_code == 200, signed_in.text
        email = dict(re.findall(r"^    (email|password) +(\S+)$", first.printed(), re.MULTILINE))["email"]
        assert browser.get("/dashboard/api/account").json()["email"] == email
        assert browser.post("/dashboard/api/welcome", json={"token": link.fragment}).status_code == 400


@pytest.mark.skipif(shutil.which("curl") is None, reason="There is no curl here.")
def test_the_printed_curl_command_sends_a_message(first: StartedServer) -> None:
    line = first.printed().partition("Send a message:\n\n")[2].partition("\n\n")[0]
    sent = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=True, timeout=WAIT_SECONDS)
    result = json.loads(sent.stdout)
    assert result["status"] in ("SENT", "QUEUED", "DELIVERED"), result


def test_mail_is_submitted_at_the_printed_ports(first: StartedServer) -> None:
    """Also after the SMTP server was killed: it is started again on the same sockets."""
    printed = first.printed()
    places = re.search(
        r"^Programs can send by SMTP at \S+:(\d+) \(STARTTLS\) and \S+:(\d+) \(TLS\)", printed, re.MULTILINE
    )
    starttls_port, tls_port = int(places[1]), int(places[2])
    key = dict(re.findall(r"^    export (\w+)=(\S+)$", printed, re.MULTILINE))["POSTERN_KEY"]
    content = "From: hello@acme.example\nTo: ada@example.com\nSubject: By SMTP\n\nHello\n"
    for _ in range(2):
        with smtplib.SMTP("localhost", starttls_port, timeout=WAIT_SECONDS) as client:
            client.starttls(context=client_context())
            client.login("apikey", key)
            assert client.sendmail("a@acme.example", ["ada@example.com"], content) == {}
        with smtplib.SMTP_SSL("localhost", tls_port, timeout=WAIT_SECONDS, context=client_context()) as client:
            client.login("apikey", key)
            assert client.sendmail("a@acme.example", ["ada@example.com"], content) == {}
        before = first.child("smtp")
        os.kill(before, signal.SIGKILL)
        eventually(lambda before=before: any("smtp" in arguments(p) for p in first.children() if p != before), first)


GUIDE = (ROOT / "docs/guide/quickstart.md").read_text()
CURLS = [block for block in re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL) if block.startswith("curl")]


@pytest.mark.skipif(shutil.which("curl") is None, reason="There is no curl here.")
def test_the_commands_of_the_quickstart_work(first: StartedServer) -> None:
    project = json.loads(command(first.folder, "bootstrap", "--json").stdout)
    names = {"POSTERN_URL": "baseUrl", "POSTERN_PROJECT": "projectId", "POSTERN_KEY": "secretKey"}
    shell = {**environment(first.folder), **{name: project[field] for name, field in names.items()}}
    sent, logs, ready = (
        json.loads(subprocess.run(["/bin/sh", "-c", block], env=shell, capture_output=True, check=True).stdout)
        for block in CURLS
    )
    assert sent["status"] in ("SENT", "QUEUED", "DELIVERED")
    assert [email["subject"] for email in logs["data"]] == ["Welcome, Ada"]
    assert ready["status"] == "ready"


def test_a_head_request_leaves_the_connection_usable(first: StartedServer) -> None:
    url = httpx.URL(first.url)
    connection = http.client.HTTPConnection(url.host, url.port or 80, timeout=WAIT_SECONDS)
    for path in ("/t/o/x", "/healthz", "/openapi.json", "/nowhere", "/inbox"):
        headers = {}
        for method in ("HEAD", "GET"):
            connection.request(method, path)
            response = connection.getresponse()
            body = response.read()
            headers[method] = (response.status, response.headers["content-type"], response.headers["content-length"])
            assert bool(body) == (method == "GET"), path
        assert headers["HEAD"] == headers["GET"], path
    connection.close()
    assert "after response started" not in first.printed()


def test_a_second_start_on_the_data_folder_is_rejected(first: StartedServer) -> None:
    second = start(first.folder)
    assert second.process.wait(WAIT_SECONDS) == 78
    assert f"(process {first.process.pid}) runs on the data folder {first.folder}" in second.printed()
    assert "POSTERN_DATA" in second.printed()
    assert first.ready()


def test_a_port_in_use_gives_a_clear_message(first: StartedServer, base_folder: Path) -> None:
    port = first.url.rpartition(":")[2]
    second = start(base_folder / "other", POSTERN_PORT=port)
    assert second.process.wait(WAIT_SECONDS) == 78
    assert f"Cannot listen on 127.0.0.1:{port}" in second.printed()
    assert "Traceback" not in second.printed()


def test_running_json_and_master_key_are_readable_by_their_owner_only(first: StartedServer) -> None:
    assert ((first.folder / "running.json").stat().st_mode & 0o777) == 0o600
    assert ((first.folder / "master.key").stat().st_mode & 0o777) == 0o600


def assert_bootstrapped(bootstrap: dict[str, str], base_url: str) -> None:
    """Check the output of `bootstrap --json`: its fields, and that its credentials can read the project."""
    assert set(bootstrap) == {
        "baseUrl",
        "projectId",
        "secretKey",
        "developerEmail",
        "developerPassword",
        "developerToken",
    }
    assert bootstrap["baseUrl"] == base_url
    for token in (bootstrap["secretKey"], bootstrap["developerToken"]):
        response = httpx.get(
            f"{base_url}/projects/{bootstrap['projectId']}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=WAIT_SECONDS,
        )
        assert response.status_code == 200, response.text


def test_the_first_start_prints_transport_and_base_url(first: StartedServer) -> None:
    """The lines that a started server prints name the transport and the base URL.

    Regression test of N3 (tests/defects.md).
    """
    assert f"Postern is ready at {first.url} (Ctrl-C stops it).\nMail is not sent but captured" in first.printed()
    assert f"links in it lead to the base URL {first.url}" in first.printed()


def test_bootstrap_does_not_mention_ctrl_c(first: StartedServer) -> None:
    """`bootstrap` starts no server that Ctrl-C could stop.

    Regression test of N11 (tests/defects.md).
    """
    printed = command(first.folder, "bootstrap").stdout
    assert f"Created an account on the server at {first.url}." in printed
    assert "Ctrl-C" not in printed
    assert "is ready" not in printed


def test_bootstrap_works_with_a_running_server(first: StartedServer) -> None:
    first_project, second_project = (json.loads(command(first.folder, "bootstrap", "--json").stdout) for _ in range(2))
    assert_bootstrapped(first_project, first.url)
    assert_bootstrapped(second_project, first.url)
    assert first_project["projectId"] != second_project["projectId"]


def test_bootstrap_and_migrate_work_without_a_server(stopped: Path) -> None:
    """A later start prints no credentials, but the commands for regaining access, which exist.

    Regression test of N7 (tests/defects.md).
    """
    folder = stopped
    assert command(folder, "migrate").stdout == "The schema is up to date.\n"
    bootstrap = json.loads(command(folder, "bootstrap", "--json").stdout)
    server = start(folder)
    try:
        server.wait_until_ready()
        assert "libpq" not in Path(f"/proc/{server.process.pid}/maps").read_text(), "its child uses the database driver"
        assert_bootstrapped({**bootstrap, "baseUrl": server.url}, server.url)
        assert "POSTERN_KEY" not in server.printed(), "only the first start creates an account"
        eventually(lambda: "No password or key?" in server.printed(), server)
        subcommands = re.findall(r"`postern ([^`]+)`", server.printed())
        assert {"sign-in-link", "keys create", "developers reset-password"} <= set(subcommands)
        for subcommand in subcommands:
            assert command(folder, *subcommand.split(), "--help").returncode == 0
    finally:
        server.stop()


def test_workers_have_a_lower_priority_than_api_processes(server: StartedServer) -> None:
    """Each has a session of its own. Linux may schedule sessions as groups, between which only theirs counts."""
    api, worker = server.child("api"), server.child("worker")
    eventually(lambda: all(render_processes(pid) for pid in (api, worker)), server)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    for pid in (api, *render_processes(api)):
        assert os.getpriority(os.PRIO_PROCESS, pid) == own
    for pid in (worker, *render_processes(worker)):
        assert os.getpriority(os.PRIO_PROCESS, pid) == max(own, 5)
        eventually(lambda pid=pid: group_niceness(pid) in (None, max(own, 5)), server)


def render_processes(parent: int) -> list[int]:
    """The render processes of an API process or a worker that have started."""
    # A process that has just been forked still has the command line of its parent.
    return [pid for pid in children_of(parent) if any("render_process" in argument for argument in arguments(pid))]


def group_niceness(pid: int) -> int | None:
    """The niceness of the group of a process; None if this Linux does not schedule sessions as groups."""
    autogroup = Path(f"/proc/{pid}/autogroup")
    return int(autogroup.read_text().split()[-1]) if autogroup.exists() else None


@pytest.mark.parametrize("part", ["api", "worker", "-D"])
def test_a_killed_child_process_is_restarted(server: StartedServer, part: str) -> None:
    before = server.child(part)
    os.kill(before, signal.SIGKILL)
    eventually(lambda: any(part in arguments(pid) for pid in server.children() if pid != before), server)
    eventually(server.ready, server)
    assert json.loads(command(server.folder, "bootstrap", "--json").stdout)["baseUrl"] == server.url


def test_sigterm_stops_all_processes(server: StartedServer) -> None:
    children = server.children()
    assert len(children) == 3
    assert server.stop(signal.SIGTERM) == 0
    assert not [pid for pid in children if arguments(pid)]
    assert not (server.folder / "running.json").exists()


def test_open_event_streams_end_at_sigterm(server: StartedServer) -> None:
    """They do not use up the time that running requests get to finish."""
    account = json.loads(command(server.folder, "bootstrap", "--json").stdout)
    headers = {"Authorization": f"Bearer {account['secretKey']}"}
    url = f"{server.url}/projects/{account['projectId']}"
    with httpx.stream("GET", f"{url}/events/stream", headers=headers, timeout=WAIT_SECONDS) as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("retry: ")
        event = {"name": "order.placed", "email": "ada@example.com", "data": {}}
        assert httpx.post(f"{url}/events", headers=headers, json=event).status_code == 201
        assert next(line for line in lines if line.startswith("event: ")) in (
            "event: contact.created",
            "event: order.placed",
        )
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert not [line for line in lines if line.startswith("event: email")]
    assert server.stop() == 0
    assert time.monotonic() - began < Settings().drain.total_seconds()


def test_ctrl_c_finishes_running_requests_first(server: StartedServer) -> None:
    body = b'{"email": "nobody@example.com", "password": "wrong"}'
    head = (
        "POST /auth/sign-in HTTP/1.1\r\nHost: postern\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
    )
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) as connection:
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100"), "the server is processing the request"
        server.process.send_signal(signal.SIGINT)
        eventually(lambda: "Finishing running requests and work" in server.printed(), server)
        assert refuses_connections(port, server), "new connections are refused"
        connection.sendall(body)
        assert connection.recv(100).startswith(b"HTTP/1.1 401")
    assert server.process.wait(WAIT_SECONDS) == 0


def refuses_connections(port: int, server: StartedServer) -> bool:
    """Wait until connections to the port are refused; always returns True."""

    def refused() -> bool:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return True
        return False

    eventually(refused, server)
    return True


def test_a_killed_server_starts_again(server: StartedServer, shared_port: str) -> None:
    children = server.children()
    bootstrap = json.loads(command(server.folder, "bootstrap", "--json").stdout)
    server.process.kill()
    server.process.wait()
    restarted = start(server.folder, POSTERN_PORT=shared_port)
    try:
        restarted.wait_until_ready()
        assert_bootstrapped(bootstrap, restarted.url)
        deadline = time.monotonic() + WAIT_SECONDS
        while any(arguments(pid) for pid in children) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(arguments(pid) for pid in children), "the child processes of the killed server have ended"
    finally:
        restarted.stop()


INVALID_SETTINGS = {
    "relay": ({"POSTERN_TRANSPORT": "relay", "POSTERN_RELAY": "mail.example.com:25"}, "POSTERN_RELAY"),
    "dns": ({"POSTERN_DNS": "resolver.example.com"}, "POSTERN_DNS"),
    "plan limits": ({"POSTERN_PLAN_LIMITS": "free: everything"}, "POSTERN_PLAN_LIMITS"),
    "secret": ({"POSTERN_SECRET": "short"}, "POSTERN_SECRET"),
    "base url": (
        {"POSTERN_TRANSPORT": "relay", "POSTERN_RELAY": "smtp://me:pw@smtp.example.net"},
        "POSTERN_BASE_URL=https://mail.example.com",
    ),
    "host": ({"POSTERN_HOST": "a..b"}, "POSTERN_HOST"),
    "smtp host": ({"POSTERN_SMTP_HOST": "a..b", "POSTERN_SUBMISSION_PORT": "0"}, "POSTERN_SMTP_HOST"),
    "certificate": ({"POSTERN_SUBMISSIONS_PORT": "0"}, "POSTERN_TLS_CERTIFICATE"),
    "https without terms": ({"POSTERN_HTTPS_PORT": "0"}, "POSTERN_ACME_TERMS_AGREED"),
    "https without name": ({"POSTERN_HTTPS_PORT": "0", "POSTERN_ACME_TERMS_AGREED": "yes"}, "POSTERN_BASE_URL"),
    "authority": (
        {"POSTERN_ACME_TERMS_AGREED": "yes", "POSTERN_ACME_DIRECTORY": "http://a.example/"},
        "POSTERN_ACME_DIRECTORY",
    ),
    "external account": ({"POSTERN_ACME_TERMS_AGREED": "yes", "POSTERN_ACME_EAB_KEY_ID": "1"}, "POSTERN_ACME_EAB_HMAC"),
    "authority's file": (
        {"POSTERN_ACME_TERMS_AGREED": "yes", "POSTERN_ACME_CA_FILE": "/nowhere.pem"},
        "POSTERN_ACME_CA_FILE",
    ),
}


@pytest.mark.parametrize(("settings", "setting_name"), INVALID_SETTINGS.values(), ids=INVALID_SETTINGS)
def test_an_invalid_setting_gives_one_sentence(base_folder: Path, settings: dict[str, str], setting_name: str) -> None:
    """`postern serve` prints one sentence, ends with exit status 78, and creates no database.

    Regression test of N3, N4 (tests/defects.md).
    """
    folder = base_folder / f"bad-{uuid4().hex}"
    refused = command(folder, "serve", **settings)
    assert (refused.returncode, refused.stdout) == (78, "")
    printed = refused.stderr
    assert (printed.count("\n"), printed.startswith("postern: "), setting_name in printed) == (1, True, True), printed
    assert not (folder / "postgres").exists()


def test_an_invalid_setting_stops_the_existing_database_again(stopped: Path) -> None:
    """The settings of a server that was started before are checked while its database starts."""
    server = start(stopped, POSTERN_PLAN_LIMITS="free: everything")
    assert server.process.wait(WAIT_SECONDS) == 78
    printed = server.printed()
    assert (printed.count("\n"), "POSTERN_PLAN_LIMITS" in printed) == (1, True), printed
    assert not (stopped / "postgres" / "postmaster.pid").exists()


def https_status(port: int, path: str) -> int:
    """The status of a request over TLS, whose certificate is not checked; 0 if nobody answers."""
    context = ssl._create_unverified_context()
    with (
        suppress(OSError, ValueError),
        socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) as connection,
        context.wrap_socket(connection, server_hostname="post.example") as secured,
    ):
        secured.sendall(f"GET {path} HTTP/1.1\r\nHost: post.example\r\nConnection: close\r\n\r\n".encode())
        return int(secured.recv(4_096).split()[1])
    return 0


def test_https_is_served_while_no_authority_can_be_reached(stopped: Path) -> None:
    """By each API process, also by one that was started again; the command line says what is missing."""
    settings = {
        "POSTERN_HTTPS_PORT": "0",
        "POSTERN_BASE_URL": "https://post.example",
        "POSTERN_ACME_TERMS_AGREED": "yes",
        "POSTERN_ACME_DIRECTORY": "https://127.0.0.1:1/directory",
        "POSTERN_DNS": "127.0.0.1:1",
    }
    server = start(copy_of(stopped, "https"), **settings)
    try:
        eventually(lambda: "Postern is ready at https://post.example" in server.printed(), server)
        match = re.search(r"HTTPS is served at 127.0.0.1:(\d+), with certificates from 127.0.0.1", server.printed())
        port = int(match[1])
        assert https_status(port, "/healthz") == 200
        os.kill(server.child("api"), signal.SIGKILL)
        eventually(lambda: https_status(port, "/healthz") == 200, server)

        def listed() -> str:
            return command(server.folder, "certificates", "list", **settings).stdout

        eventually(lambda: "post.example  FAILED  no certificate" in listed(), server)
        checked = command(server.folder, "doctor", "certificates", **settings)
        assert (checked.returncode, "problem  post.example" in checked.stdout) == (1, True), checked
        assert (
            "orders a new certificate"
            in command(server.folder, "certificates", "renew", "post.example", **settings).stdout
        )
        for words in (("renew", "x.example"), ("revoke", "post.example")):
            refused = command(server.folder, "certificates", *words, **settings)
            assert (refused.returncode, "There is no certificate for" in refused.stderr) == (78, True), refused
    finally:
        server.stop()


def test_an_invalid_master_key_file_is_rejected(base_folder: Path) -> None:
    """The error message for a damaged master key file is also one sentence.

    Regression test of N4 (tests/defects.md).
    """
    for number, text in enumerate(("nonsense!", "", "AAAA")):
        folder = base_folder / f"damaged-{number}"
        folder.mkdir()
        (folder / "master.key").write_text(text)
        refused = command(folder, "serve")
        assert (refused.returncode, refused.stdout) == (78, "")
        assert (refused.stderr.count("\n"), "master" in refused.stderr) == (1, True), refused.stderr


def test_a_different_master_key_is_rejected(stopped: Path) -> None:
    refused = command(stopped, "serve", POSTERN_SECRET="another secret than the one in the folder")
    assert (refused.returncode, refused.stdout) == (78, "")
    printed = refused.stderr
    assert (printed.count("\n"), "another master key" in printed, "Traceback" in printed) == (1, True, False), printed


def test_commands_without_a_database_have_a_clear_error_message(base_folder: Path) -> None:
    unset = command(base_folder / "nothing", "worker")
    assert unset.returncode == 78
    assert "Set DATABASE_URL" in unset.stderr


@pytest.mark.parametrize("name", ["serve", "api", "migrate"])
def test_a_database_that_cannot_be_reached_has_an_exit_status_of_its_own(
    base_folder: Path, port: str, name: str
) -> None:
    """75 and not 78: the systemd unit does not restart a service that ended with 78, so a database server that took
    longer to start than `POSTERN_DATABASE_WAIT` would have left Postern stopped."""
    unreachable = command(
        base_folder / "unreachable",
        name,
        DATABASE_URL="postgresql://127.0.0.1:1/none",
        POSTERN_DATABASE_WAIT="0",
        POSTERN_PORT=port,
    )
    assert unreachable.returncode == 75, unreachable.stderr
    assert ("Connection refused" in unreachable.stderr, "Traceback" in unreachable.stderr) == (True, False)


@pytest.fixture(name="empty_database")
def _empty_database() -> Iterator[str]:
    """The URL of an external database without a schema."""
    with empty_database() as url:
        yield url


def test_a_command_waits_for_a_database_that_is_not_available_yet(base_folder: Path) -> None:
    server, name = os.environ["POSTERN_TEST_SERVER"], f"boot_{uuid4().hex}"
    environ = environment(base_folder / "early", DATABASE_URL=server.replace("%7Bdatabase%7D", name))
    command = [sys.executable, "-m", "postern", "migrate"]
    with subprocess.Popen(command, env=environ, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as early:
        try:
            assert early.stderr
            assert early.stdout
            assert b"Using the database" in early.stderr.readline()
            assert b"Waiting for the database" in early.stderr.readline()
            with psycopg.connect(server.replace("%7Bdatabase%7D", "postgres"), autocommit=True) as connection:
                connection.execute(f'create database "{name}"')
                assert b"The schema is up to date." in early.stdout.read()
                assert early.wait(WAIT_SECONDS) == 0
                connection.execute(f'drop database "{name}" with (force)')
        finally:
            early.kill()


def test_api_worker_and_migrate_run_separately_on_an_external_database(
    base_folder: Path, port: str, empty_database: str
) -> None:
    folder = base_folder / "apart"
    secret = "a secret that these processes have in common"
    settings = {"DATABASE_URL": empty_database, "POSTERN_PORT": port, "POSTERN_SECRET": secret}
    early = command(folder, "api", **settings)
    assert early.returncode == 78
    assert "Run `postern migrate`" in early.stderr
    assert "applied 0100_baseline" in command(folder, "migrate", **settings).stdout
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = command(folder, "api", **settings | {"POSTERN_PORT": str(other.getsockname()[1])})
    assert (taken.returncode, "Cannot listen on 127.0.0.1:" in taken.stderr) == (78, True), taken.stderr
    assert "Set POSTERN_HOST and POSTERN_PORT" in taken.stderr
    parts = [
        subprocess.Popen([sys.executable, "-m", "postern", part], env=environment(folder, **settings), cwd=ROOT)
        for part in ("api", "worker", "worker")
    ]
    try:
        bootstrap = json.loads(command(folder, "bootstrap", "--json", **settings).stdout)
        deadline = time.monotonic() + WAIT_SECONDS
        while not is_ready(bootstrap["baseUrl"]) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert_bootstrapped(bootstrap, f"http://127.0.0.1:{port}")
        # A worker that is ended before it has loaded the application cannot end in order.
        with psycopg.connect(empty_database, autocommit=True) as connection:
            while connection.execute("select count(*) from workers").fetchone() != (2,):
                assert time.monotonic() < deadline
                time.sleep(0.02)
    finally:
        for part in parts:
            part.terminate()
        codes = [part.wait(WAIT_SECONDS) for part in parts]
    assert codes == [0, 0, 0]


def test_access_waits_for_a_database_that_restarts(base_folder: Path, empty_database: str) -> None:
    folder, name = base_folder / "away", empty_database.rpartition("/")[2].partition("?")[0]
    settings = {"DATABASE_URL": empty_database, "POSTERN_SECRET": "a secret that these processes have in common"}
    command(folder, "bootstrap", **settings)
    administration = os.environ["POSTERN_TEST_SERVER"].replace("%7Bdatabase%7D", "postgres")
    with psycopg.connect(administration, autocommit=True) as connection:
        connection.execute(f'alter database "{name}" rename to "{name}_away"')
        access = [sys.executable, "-m", "postern", "access"]
        pipe, environ = subprocess.PIPE, environment(folder, **settings)
        with subprocess.Popen(access, env=environ, cwd=ROOT, stdout=pipe, stderr=pipe) as process:
            try:
                assert process.stderr
                assert process.stdout
                assert any(line.startswith(b"Waiting for the database") for line in process.stderr)
                connection.execute(f'alter database "{name}_away" rename to "{name}"')
                assert b"/inbox/enter" in process.stdout.read()
                assert process.wait(WAIT_SECONDS) == 0
            finally:
                process.kill()


def test_serve_uses_an_external_database(base_folder: Path, empty_database: str) -> None:
    server = start(base_folder / "own", "--api-processes", "2", "--workers", "2", DATABASE_URL=empty_database)
    try:
        server.wait_until_ready()
        assert len(server.children()) == 4, "two API processes and two workers, and no embedded database"
        assert not (server.folder / "postgres").exists()
        assert_bootstrapped(json.loads(command(server.folder, "bootstrap", "--json").stdout), server.url)
    finally:
        assert server.stop() == 0
