"""The container image and compose.yaml: built, started and stopped as a user would."""

import json
import re
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from tests.peers.compose import Compose, ComposeInvalid, read_compose
from tests.peers.containers import IMAGE, LIMITS, ROOT, Containers, containers_with_image, needs_containers

HARDENED = (
    "--read-only",
    "--read-only-tmpfs=false",
    "--tmpfs=/tmp:mode=1777",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
)
MESSAGE = {"to": ["ada@example.com"], "from": "a@acme.example", "subject": "Hello", "html": "<p>Hello</p>"}
SECRETS = {"POSTGRES_PASSWORD": "p" * 24, "POSTERN_SECRET": "s" * 64}


@pytest.fixture
def containers() -> Iterator[Containers]:
    with containers_with_image() as containers:
        yield containers


class TestImage:
    """One container with the embedded database, a read-only root file system, no capabilities and little memory."""

    pytestmark = needs_containers

    def test_one_container_serves_sends_and_stops(self, containers):
        options = ("--network=podman", "--memory=1g", *HARDENED)
        name = containers.start("one", IMAGE, *options)
        url = containers.wait_until_ready(name)
        assert containers.podman("healthcheck", "run", name).returncode == 0
        account = json.loads(containers.execute(name, "postern", "bootstrap", "--json").stdout)
        assert send(url, account).json()["status"] == "DELIVERED"

        # Nobody is root, process 1 is tini, and nothing but the data folder and /tmp is writable.
        users = containers.execute(name, "sh", "-c", "cat /proc/[0-9]*/status | grep ^Uid: | cut -f 2-5 | sort -u")
        assert users.stdout == "10001\t10001\t10001\t10001\n"
        assert containers.execute(name, "cat", "/proc/1/comm").stdout == "tini\n"
        assert containers.execute(name, "touch", "/opt/postern/x", check=False).returncode == 1
        # The database takes an eighth of the container's memory, not of the machine's.
        commands = "for file in /proc/[0-9]*/cmdline; do tr '\\0' '\\n' <$file; done"
        assert "--shared_buffers=128MB\n" in containers.execute(name, "sh", "-c", commands).stdout

        # A request that runs when the container is stopped gets its response.
        with running_request(url, account) as finish, ThreadPoolExecutor(1) as thread:
            stopped = thread.submit(containers.stop, name)
            wait_until(lambda: "Finishing running requests and work" in containers.logs(name))
            assert finish().startswith(b"HTTP/1.1 201")
            assert stopped.result() == 0
        # The data is in the volume: the same container starts again with it.
        containers.podman("start", name)
        url = containers.wait_until_ready(name)
        log = httpx.get(f"{url}/projects/{account['projectId']}/emails/logs?status=&q=ada", headers=key(account))
        assert len(log.json()["data"]) == 2

        # An invalid setting ends the container with one sentence.
        invalid = containers.podman("run", "--rm", *LIMITS, "--env=POSTERN_PORT=eighty", IMAGE, check=False)
        assert invalid.returncode == 78
        assert invalid.stderr.strip().splitlines()[-1].startswith("postern: POSTERN_PORT='eighty'")
        # The image has no build tools.
        programs = containers.execute(name, "ls", "/opt/postern/bin").stdout.split()
        assert "postern" in programs
        assert not {"pip", "pip3"} & set(programs)


class TestCompose:
    """The services of compose.yaml."""

    pytestmark = [
        *needs_containers,
        pytest.mark.needs_tool("caddy", "apt-get install caddy"),
        pytest.mark.skipif(shutil.which("caddy") is None, reason="caddy is missing: apt-get install caddy"),
    ]

    @pytest.fixture
    def compose(self, containers, tmp_path) -> Iterator[Compose]:
        compose = Compose(containers, read_compose(ROOT / "compose.yaml", SECRETS), tmp_path)
        try:
            compose.up()
            yield compose
        finally:
            compose.down()

    def test_all_services_work_together(self, containers, compose):
        assert [len(compose.service(name)) for name in ("postgres", "api", "worker", "caddy")] == [1, 2, 2, 1]
        [caddy], [first, second] = compose.service("caddy"), compose.service("api")
        account = json.loads(containers.execute(first, "postern", "bootstrap", "--json").stdout)
        assert account["baseUrl"] == "http://localhost"
        url = f"http://{containers.address(caddy)}"
        ready = httpx.get(f"{url}/readyz").json()
        assert ready["status"] == "ready", ready
        # The proxy's address is trusted: /metrics is closed to callers that it forwards.
        assert httpx.get(f"{url}/metrics").status_code in (401, 403)
        message_id = send(url, account).json()["id"]
        # One API process and one worker end: the others answer and send.
        containers.podman("kill", first)
        containers.podman("kill", compose.service("worker")[0])
        try:
            responses = [send(url, account, f"after-{number}") for number in range(4)]
        except httpx.TimeoutException as error:
            raise AssertionError(what_they_do(containers, caddy, second)) from error
        assert [response.status_code for response in responses] == [201] * 4, containers.logs(caddy)
        log = httpx.get(f"{url}/projects/{account['projectId']}/emails/logs/{message_id}", headers=key(account))
        assert log.json()["status"] == "DELIVERED"
        assert containers.stop(second) == 0
        # The database has no way out of its network, and the file system of the processes is read-only.
        [postgres] = compose.service("postgres")
        assert "default" not in containers.execute(postgres, "cat", "/proc/net/route").stdout
        worker = compose.service("worker")[1]
        assert containers.execute(worker, "touch", "/x", check=False).returncode == 1
        assert containers.stop(worker) == 0


@pytest.mark.parametrize("name", SECRETS)
def test_compose_names_the_variable_that_is_missing(name):
    with pytest.raises(ComposeInvalid, match=f"{name}: set it, for example with openssl"):
        read_compose(ROOT / "compose.yaml", {each: value for each, value in SECRETS.items() if each != name})


def test_compose_does_not_publish_the_api_or_the_database():
    services = read_compose(ROOT / "compose.yaml", SECRETS)["services"]
    assert [name for name in services if "ports" in services[name]] == ["caddy"]
    assert services["postgres"]["networks"] == ["database"]


def test_the_build_context_contains_only_what_the_dockerfile_copies():
    """Everything is ignored but the sources of COPY: secrets and data of a working tree never get into an image."""
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert {source for sources in copied for source in sources.split()} == allowed
    assert (ROOT / ".dockerignore").read_text().split()[0] == "*"


@contextmanager
def running_request(url: str, account: dict[str, str]) -> Iterator[Callable[[], bytes]]:
    """A request for which the server waits. The yielded function completes it and returns the response."""
    body = json.dumps(MESSAGE).encode()
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        head = f"POST /projects/{account['projectId']}/emails HTTP/1.1\r\nHost: {address.netloc}\r\n"
        head += f"Authorization: {key(account)['Authorization']}\r\nContent-Type: application/json\r\n"
        head += f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode())
        # The server asks for the body, so the request runs.
        assert connection.recv(4_096).startswith(b"HTTP/1.1 100")

        def finish() -> bytes:
            connection.sendall(body)
            return b"".join(iter(lambda: connection.recv(65_536), b""))

        yield finish


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def send(url: str, account: dict[str, str], idempotency_key: str = "first") -> httpx.Response:
    path = f"{url}/projects/{account['projectId']}/emails"
    return httpx.post(path, json=MESSAGE, headers={**key(account), "Idempotency-Key": idempotency_key}, timeout=60)


ACTIVITY = """
import os, psycopg
for row in psycopg.connect(os.environ["DATABASE_URL"]).execute(
    "select client_addr, state, wait_event, pid, pg_blocking_pids(pid), now() - xact_start, left(query, 120)"
    " from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
):
    print(*row)
"""


def what_they_do(containers: Containers, caddy: str, api: str) -> str:
    """What the database's connections do and wait for, and what the two containers have written."""
    activity = containers.execute(api, "/opt/postern/bin/python", "-c", ACTIVITY, check=False)
    logs = (f"{name}:\n{containers.logs(name)[-3_000:]}" for name in (caddy, api))
    return "\n".join([activity.stdout + activity.stderr, *logs])


def key(account: dict[str, str]) -> dict[str, str]:
    return {"Authorization": f"Bearer {account['secretKey']}"}
