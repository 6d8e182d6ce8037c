"""Starting, killing and restarting a complete server in its own data folder."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from postern.kernel.database import embedded
from tests.peers.ports import nobodys_port

ROOT = Path(__file__).parent.parent
WAIT_SECONDS = 120


@dataclass
class Started:
    """A running `postern serve`."""

    process: subprocess.Popen[str]
    folder: Path
    output: Path

    @property
    def running(self) -> dict[str, Any]:
        return json.loads((self.folder / "running.json").read_text())

    @property
    def url(self) -> str:
        return self.running["base_url"]

    def printed(self) -> str:
        return self.output.read_text()

    def children(self) -> list[int]:
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(each) for task in tasks for each in task.read_text().split()]

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


def eventually(happened: Any, server: Started) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not happened():
        assert server.process.poll() is None, server.printed()
        assert time.monotonic() < deadline, server.printed()
        time.sleep(0.02)


def arguments(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return []


def environment(folder: Path, **more: str) -> dict[str, str]:
    ours = ("POSTERN_", "DATABASE_URL", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "POSTERN_DATA": str(folder), "POSTERN_PORT": "0", **more}


def command(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "postern", *words],
        env=environment(folder, **more),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT_SECONDS,
    )


def start(folder: Path, *words: str, **more: str) -> Started:
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
    return Started(process, folder, output)


@pytest.fixture(scope="module")
def base_folder() -> Iterator[Path]:
    """A folder for what the tests here leave on disk."""
    base_folder = Path(tempfile.mkdtemp(prefix="boot-", dir=embedded.reachable_temporary_folder()))
    base_folder.chmod(0o755)
    yield base_folder
    shutil.rmtree(base_folder)


@pytest.fixture(scope="module")
def first(base_folder: Path) -> Iterator[Started]:
    """The first start on a fresh folder; it keeps running for the tests that only look."""
    server = start(base_folder / "first")
    server.wait_until_ready()
    yield server
    server.stop()


@pytest.fixture
def port() -> Iterator[str]:
    """A port that nobody else takes before a server listens there, or between two of them."""
    with nobodys_port() as held:
        yield str(held.getsockname()[1])


@pytest.fixture(scope="module")
def port_of_victims() -> Iterator[str]:
    with nobodys_port() as held:
        yield str(held.getsockname()[1])


@pytest.fixture(scope="module")
def victims() -> Iterator[list[Started]]:
    """The servers that tests here kill, one after the other on one folder and one port."""
    victims: list[Started] = []
    yield victims
    for each in victims[-1:]:
        each.stop()


@pytest.fixture
def server(victims: list[Started], base_folder: Path, port_of_victims: str) -> Started:
    """A server that the test may kill; one that survived its test serves the next."""
    if not victims or victims[-1].process.poll() is not None:
        victims.append(start(base_folder / "killed", POSTERN_PORT=port_of_victims, POSTERN_DRAIN=str(WAIT_SECONDS)))
        victims[-1].wait_until_ready()
    return victims[-1]


def test_the_first_start_prints_url_project_key_and_account(first: Started) -> None:
    said = first.printed()
    shell = dict(re.findall(r"^    export (\w+)=(\S+)$", said, re.MULTILINE))
    login = dict(re.findall(r"^    (email|password) +(\S+)$", said, re.MULTILINE))
    assert shell["POSTERN_URL"] == first.url
    signed_in = httpx.post(f"{first.url}/auth/sign-in", json=login, timeout=WAIT_SECONDS)
    assert signed_in.status_code == 200, signed_in.text
    project = httpx.get(
        f"{first.url}/projects/{shell['POSTERN_PROJECT']}",
        headers={"Authorization": f"Bearer {shell['POSTERN_KEY']}"},
        timeout=WAIT_SECONDS,
    )
    assert project.json()["id"] == shell["POSTERN_PROJECT"] == signed_in.json()["projects"][0]["id"]


def test_the_printed_inbox_link_works_once(first: Started) -> None:
    said = command(first.folder, "bootstrap").stdout
    link = httpx.URL(next(line.strip() for line in said.splitlines() if "/inbox/enter?token=" in line))
    assert str(link) in said
    assert str(link).startswith(first.url)
    assert f"{first.url}/inbox/enter?token=" in first.printed()
    with httpx.Client(base_url=first.url, follow_redirects=True, timeout=WAIT_SECONDS) as browser:
        assert browser.get(link).status_code == 200
        opened = browser.post("/inbox/enter", data={"token": link.params["token"]})
        assert opened.status_code == 200
        assert "Inbox of My project" in browser.get("/inbox").text
    with httpx.Client(base_url=first.url, follow_redirects=True, timeout=WAIT_SECONDS) as thief:
        assert thief.post("/inbox/enter", data={"token": link.params["token"]}).status_code != 200


@pytest.mark.skipif(shutil.which("curl") is None, reason="There is no curl here.")
def test_the_printed_curl_command_sends_a_message(first: Started) -> None:
    line = first.printed().partition("Send a message:\n\n")[2].partition("\n\n")[0]
    sent = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=True, timeout=WAIT_SECONDS)
    answer = json.loads(sent.stdout)
    assert answer["status"] in ("SENT", "QUEUED", "DELIVERED"), answer


GUIDE = (ROOT / "docs/guide/quickstart.md").read_text()
CURLS = [block for block in re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL) if block.startswith("curl")]


@pytest.mark.skipif(shutil.which("curl") is None, reason="There is no curl here.")
def test_the_commands_of_the_quickstart_work(first: Started) -> None:
    made = json.loads(command(first.folder, "bootstrap", "--json").stdout)
    names = {"POSTERN_URL": "baseUrl", "POSTERN_PROJECT": "projectId", "POSTERN_KEY": "secretKey"}
    shell = {**environment(first.folder), **{name: made[field] for name, field in names.items()}}
    sent, logs, ready = (
        json.loads(subprocess.run(["/bin/sh", "-c", each], env=shell, capture_output=True, check=True).stdout)
        for each in CURLS
    )
    assert sent["status"] in ("SENT", "QUEUED", "DELIVERED")
    assert [each["subject"] for each in logs["data"]] == ["Welcome, Ada"]
    assert ready["status"] == "ready"


def test_a_head_request_leaves_the_connection_usable(first: Started) -> None:
    url = httpx.URL(first.url)
    connection = http.client.HTTPConnection(url.host, url.port or 80, timeout=WAIT_SECONDS)
    for path in ("/t/o/x", "/healthz", "/openapi.json", "/nowhere", "/inbox"):
        said = {}
        for method in ("HEAD", "GET"):
            connection.request(method, path)
            answer = connection.getresponse()
            body = answer.read()
            said[method] = (answer.status, answer.headers["content-type"], answer.headers["content-length"])
            assert bool(body) == (method == "GET"), path
        assert said["HEAD"] == said["GET"], path
    connection.close()
    assert "after response started" not in first.printed()


def test_a_second_start_on_the_data_folder_is_rejected(first: Started) -> None:
    second = start(first.folder)
    assert second.process.wait(WAIT_SECONDS) == 78
    assert f"(process {first.process.pid}) runs on the data folder {first.folder}" in second.printed()
    assert "POSTERN_DATA" in second.printed()
    assert first.ready()


def test_a_port_in_use_gives_a_clear_message(first: Started, base_folder: Path) -> None:
    port = first.url.rpartition(":")[2]
    second = start(base_folder / "other", POSTERN_PORT=port)
    assert second.process.wait(WAIT_SECONDS) == 78
    assert f"Cannot listen on 127.0.0.1:{port}" in second.printed()
    assert "Traceback" not in second.printed()


def test_running_json_and_master_key_are_readable_by_their_owner_only(first: Started) -> None:
    assert ((first.folder / "running.json").stat().st_mode & 0o777) == 0o600
    assert ((first.folder / "master.key").stat().st_mode & 0o777) == 0o600


def assert_bootstrapped(made: dict[str, str], base_url: str) -> None:
    assert set(made) == {
        "baseUrl",
        "projectId",
        "secretKey",
        "developerEmail",
        "developerPassword",
        "developerToken",
    }
    assert made["baseUrl"] == base_url
    for token in (made["secretKey"], made["developerToken"]):
        seen = httpx.get(
            f"{base_url}/projects/{made['projectId']}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=WAIT_SECONDS,
        )
        assert seen.status_code == 200, seen.text


def test_the_first_start_prints_transport_and_base_url(first: Started) -> None:
    """The lines that a started server prints name the transport and the base URL.

    Defects: N3
    """
    assert f"Postern is ready at {first.url} (Ctrl-C stops it).\nMail is not sent but captured" in first.printed()
    assert f"links in it lead to the base URL {first.url}" in first.printed()


def test_bootstrap_does_not_mention_ctrl_c(first: Started) -> None:
    """`bootstrap` starts no server that Ctrl-C could stop.

    Defects: N11
    """
    said = command(first.folder, "bootstrap").stdout
    assert f"Created an account on the server at {first.url}." in said
    assert "Ctrl-C" not in said
    assert "is ready" not in said


def test_bootstrap_works_with_a_running_server(first: Started) -> None:
    one, other = (json.loads(command(first.folder, "bootstrap", "--json").stdout) for _ in range(2))
    assert_bootstrapped(one, first.url)
    assert_bootstrapped(other, first.url)
    assert one["projectId"] != other["projectId"]


def test_bootstrap_and_migrate_work_without_a_server(base_folder: Path) -> None:
    folder = base_folder / "alone"
    server = start(folder)
    try:
        server.wait_until_ready()
    finally:
        server.stop()
    assert command(folder, "migrate").stdout == "The schema is up to date.\n"
    made = json.loads(command(folder, "bootstrap", "--json").stdout)
    server = start(folder)
    try:
        server.wait_until_ready()
        assert_bootstrapped({**made, "baseUrl": server.url}, server.url)
        assert "POSTERN_KEY" not in server.printed(), "Only the first start makes an account."
    finally:
        server.stop()


@pytest.mark.parametrize("part", ["api", "worker", "-D"])
def test_a_killed_child_process_is_restarted(server: Started, part: str) -> None:
    before = server.child(part)
    os.kill(before, signal.SIGKILL)
    eventually(lambda: any(part in arguments(pid) for pid in server.children() if pid != before), server)
    eventually(server.ready, server)
    assert json.loads(command(server.folder, "bootstrap", "--json").stdout)["baseUrl"] == server.url


def test_sigterm_stops_all_processes(server: Started) -> None:
    children = server.children()
    assert len(children) == 3
    assert server.stop(signal.SIGTERM) == 0
    assert not [pid for pid in children if arguments(pid)]
    assert not (server.folder / "running.json").exists()


def test_ctrl_c_finishes_running_requests_first(server: Started) -> None:
    body = b'{"email": "nobody@example.com", "password": "wrong"}'
    head = (
        "POST /auth/sign-in HTTP/1.1\r\nHost: postern\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n"
    )
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) as connection:
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 100"), "The request is in hand now."
        server.process.send_signal(signal.SIGINT)
        eventually(lambda: "Finishing running requests and jobs" in server.printed(), server)
        assert refuses_connections(port, server), "Nobody new is let in."
        connection.sendall(body)
        assert connection.recv(100).startswith(b"HTTP/1.1 401")
    assert server.process.wait(WAIT_SECONDS) == 0


def refuses_connections(port: int, server: Started) -> bool:
    def refused() -> bool:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return True
        return False

    eventually(refused, server)
    return True


def test_a_killed_server_starts_again(server: Started, port_of_victims: str) -> None:
    children = server.children()
    made = json.loads(command(server.folder, "bootstrap", "--json").stdout)
    server.process.kill()
    server.process.wait()
    again = start(server.folder, POSTERN_PORT=port_of_victims)
    try:
        again.wait_until_ready()
        assert_bootstrapped(made, again.url)
        deadline = time.monotonic() + WAIT_SECONDS
        while any(arguments(pid) for pid in children) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(arguments(pid) for pid in children), "What the killed server had started has ended."
    finally:
        again.stop()


BAD = {
    "relay": ({"POSTERN_TRANSPORT": "relay", "POSTERN_RELAY": "mail.example.com:25"}, "POSTERN_RELAY"),
    "dns": ({"POSTERN_DNS": "resolver.example.com"}, "POSTERN_DNS"),
    "plan limits": ({"POSTERN_PLAN_LIMITS": "free: everything"}, "POSTERN_PLAN_LIMITS"),
    "secret": ({"POSTERN_SECRET": "short"}, "POSTERN_SECRET"),
    "base url": (
        {"POSTERN_TRANSPORT": "relay", "POSTERN_RELAY": "smtp://me:pw@smtp.example.net"},
        "POSTERN_BASE_URL=https://mail.example.com",
    ),
    "host": ({"POSTERN_HOST": "a..b"}, "POSTERN_HOST"),
}


@pytest.mark.parametrize(("settings", "named"), BAD.values(), ids=BAD)
def test_an_invalid_setting_gives_one_sentence(base_folder: Path, settings: dict[str, str], named: str) -> None:
    """`postern serve` prints one sentence, ends with exit status 78, and creates no database.

    Defects: N3, N4
    """
    folder = base_folder / f"bad-{uuid4().hex}"
    server = start(folder, **settings)
    assert server.process.wait(WAIT_SECONDS) == 78
    said = server.printed()
    assert (said.count("\n"), said.startswith("postern: "), named in said) == (1, True, True), said
    assert not (folder / "postgres").exists()


def test_an_invalid_master_key_file_is_rejected(base_folder: Path) -> None:
    """A damaged master key file also gives one sentence.

    Defects: N4
    """
    for number, text in enumerate(("nonsense!", "", "AAAA")):
        folder = base_folder / f"damaged-{number}"
        folder.mkdir()
        (folder / "master.key").write_text(text)
        server = start(folder)
        assert server.process.wait(WAIT_SECONDS) == 78
        assert (server.printed().count("\n"), "master" in server.printed()) == (1, True), server.printed()


def test_a_different_master_key_is_rejected(base_folder: Path) -> None:
    folder = base_folder / "keyed"
    server = start(folder)
    try:
        server.wait_until_ready()
    finally:
        server.stop()
    server = start(folder, POSTERN_SECRET="another secret than the one in the folder")
    assert server.process.wait(WAIT_SECONDS) == 78
    said = server.printed()
    assert (said.count("\n"), "another master key" in said, "Traceback" in said) == (1, True, False), said


def test_without_a_database_each_command_says_what_to_do(base_folder: Path) -> None:
    nothing = command(base_folder / "nothing", "worker")
    assert nothing.returncode == 78
    assert "Set DATABASE_URL" in nothing.stderr
    away = command(
        base_folder / "nothing", "api", DATABASE_URL="postgresql://127.0.0.1:1/none", POSTERN_DATABASE_WAIT="0"
    )
    assert away.returncode == 78
    assert "Traceback" not in away.stderr


@pytest.fixture
def empty_database() -> Iterator[str]:
    """A database of an operator's own, without a schema."""
    server, name = os.environ["POSTERN_TEST_SERVER"], f"boot_{uuid4().hex}"
    with psycopg.connect(server.replace("%7Bdatabase%7D", "postgres"), autocommit=True) as connection:
        connection.execute(f'create database "{name}"')
        yield server.replace("%7Bdatabase%7D", name)
        connection.execute(f'drop database "{name}" with (force)')


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
    own = {"DATABASE_URL": empty_database, "POSTERN_PORT": port, "POSTERN_SECRET": secret}
    early = command(folder, "api", **own)
    assert early.returncode == 78
    assert "Run `postern migrate`" in early.stderr
    assert "applied 0100_baseline" in command(folder, "migrate", **own).stdout
    parts = [
        subprocess.Popen([sys.executable, "-m", "postern", part], env=environment(folder, **own), cwd=ROOT)
        for part in ("api", "worker", "worker")
    ]
    try:
        made = json.loads(command(folder, "bootstrap", "--json", **own).stdout)
        deadline = time.monotonic() + WAIT_SECONDS
        while not is_ready(made["baseUrl"]) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert_bootstrapped(made, f"http://127.0.0.1:{port}")
    finally:
        for part in parts:
            part.terminate()
        codes = [part.wait(WAIT_SECONDS) for part in parts]
    assert codes == [0, 0, 0]


def test_serve_uses_an_external_database(base_folder: Path, empty_database: str) -> None:
    server = start(base_folder / "own", "--api-processes", "2", "--workers", "2", DATABASE_URL=empty_database)
    try:
        server.wait_until_ready()
        assert len(server.children()) == 4, "No database of ours beside two and two."
        assert not (server.folder / "postgres").exists()
        assert_bootstrapped(json.loads(command(server.folder, "bootstrap", "--json").stdout), server.url)
    finally:
        assert server.stop() == 0
