"""An upgrade from the previous release: in place, then with processes of both releases on one database.

The previous release is the newest release tag before this commit, or PREVIOUS while there is none. Its code runs from
an archive of that commit with the packages of this environment, the new code from the installed wheel.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from postern.kernel.database.embedded import reachable_temporary_folder
from tests.identity.customers.conftest import GOOD
from tests.installed import wait_until_ready
from tests.packages.conftest import ROOT, needs_uv
from tests.peers.ports import reserved_port
from tests.test_boot import environment

PREVIOUS = "6d3938de384fa4da069eafbc8909eecd78a521ec"
"""The commit that stands for the previous release as long as no release has been made."""
MAILS = 25
WAIT_SECONDS = 120


def git(*words: str) -> bytes | None:
    """The output of a git command, or None if it fails."""
    completed = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=False)
    return completed.stdout if completed.returncode == 0 else None


def source_tree(folder: Path, without_release: str) -> Path:
    """Unpack the previous release into `folder`: the newest release tag before this commit, or the commit
    `without_release` while there is none. Skips the test if the history does not contain it."""
    tag = git("describe", "--tags", "--abbrev=0", "--match=v*", "HEAD^")
    commit = tag.decode().strip() if tag else without_release
    archive = git("archive", "--format=tar", commit, "postern", "migrations", "docs/guide", "pyproject.toml")
    if archive is None:
        pytest.skip(f"the commit {commit} is not here: git fetch --unshallow --tags")
    folder.mkdir(exist_ok=True)
    subprocess.run(["tar", "--extract", f"--directory={folder}"], input=archive, check=True)
    return folder


@pytest.fixture(scope="module")
def previous(tmp_path_factory) -> Path:
    """The source tree of the previous release."""
    return source_tree(tmp_path_factory.mktemp("previous"), PREVIOUS)


@dataclass
class Release:
    """Runs the commands of a release on one database or data folder."""

    command: list[str | Path]
    code: Path
    """The current folder of the commands; `python -m` prefers the code in it."""
    settings: dict[str, str]
    folder: Path

    def run(self, *words: str) -> str:
        """Run `postern WORDS` to its end and return its output."""
        completed = subprocess.run(
            [*self.command, *words],
            cwd=self.code,
            env=environment(self.folder, **self.settings),
            capture_output=True,
            text=True,
            check=False,
        )
        assert completed.returncode == 0, completed.stderr
        return completed.stdout

    @contextmanager
    def running(self, *words: str, port: int = 0) -> Iterator[subprocess.Popen[bytes]]:
        """Run `postern WORDS` until the block ends, and then assert that it has finished its work on SIGTERM."""
        with (self.folder.parent / f"{words[0]}-{time.monotonic_ns()}.log").open("w+") as log:
            process = subprocess.Popen(
                [*self.command, *words],
                cwd=self.code,
                env=environment(self.folder, **self.settings, POSTERN_PORT=str(port)),
                stdout=log,
                stderr=log,
            )
            try:
                yield process
            except BaseException:
                log.seek(0)
                sys.stderr.write(log.read())
                raise
            finally:
                process.terminate()
                code = process.wait(WAIT_SECONDS)
            assert code == 0


@dataclass
class Api:
    """A client of one API process with the key of one project."""

    url: str
    project: str
    key: str

    def post(self, path: str, body: Any) -> Any:
        return self._checked(httpx.post(self._url(path), json=body, headers=self._headers, timeout=60))

    def get(self, path: str) -> Any:
        return self._checked(httpx.get(self._url(path), headers=self._headers, timeout=60))

    def send(self, subject: str) -> list[str]:
        """Send MAILS e-mails in a batch, which leaves their delivery to the workers; returns their ids."""
        mails = [
            {"to": [f"{number}@example.com"], "from": "a@acme.example", "subject": subject, "html": "<p>Hello</p>"}
            for number in range(MAILS)
        ]
        return [item["id"] for item in self.post("/emails/batch", {"emails": mails})["data"]]

    def wait_until_delivered(self, ids: list[str]) -> None:
        deadline = time.monotonic() + WAIT_SECONDS
        while states := {state for each in ids if (state := self.get(f"/emails/logs/{each}")["status"]) != "DELIVERED"}:
            assert time.monotonic() < deadline, states
            time.sleep(0.2)

    def _url(self, path: str) -> str:
        return f"{self.url}/projects/{self.project}{path}"

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    @staticmethod
    def _checked(response: httpx.Response) -> Any:
        assert response.is_success, response.text
        return response.json()


@pytest.fixture
def ports() -> Iterator[list[int]]:
    with ExitStack() as stack:
        yield [stack.enter_context(reserved_port()).getsockname()[1] for _ in range(2)]


@needs_uv
def test_an_upgrade_keeps_data_and_sends_waiting_mail_once(previous, installed_postern, ports, tmp_path_factory):
    """`postern serve` of the previous release, stopped while mail waits, then `postern serve` of this one. On the
    upgraded database, processes of both releases work side by side, as on several machines that are upgraded in turn.
    """
    base = Path(tmp_path_factory.mktemp("upgrade"))
    if reachable_temporary_folder():  # The database's account must be able to enter it.
        for folder in (base, base.parent):
            folder.chmod(0o755)
    data, secret = base / "data", {"POSTERN_SECRET": "s" * 40}
    from_archive: list[str | Path] = [sys.executable, "-m", "postern"]
    old, current = Release(from_archive, previous, secret, data), Release([installed_postern], base, secret, data)
    first, second = (f"http://127.0.0.1:{port}" for port in ports)
    with old.running("serve", port=ports[0]) as server:
        wait_until_ready(first, server)
        created = json.loads(old.run("bootstrap", "--json"))
        api = Api(first, created["projectId"], created["secretKey"])
        api.post("/contacts", {"email": "ada@example.com", "attributes": {"plan": "pro"}})
        customer = {"email": "ada@example.com", "password": GOOD, "emailVerified": True}
        api.post("/customers", customer)
        mails = api.send("Before the upgrade")
    with current.running("serve", port=ports[0]) as server:
        wait_until_ready(first, server)
        api.wait_until_delivered(mails)
        assert api.post("/auth/sign-in", {"email": customer["email"], "password": GOOD})["accessToken"]
        [contact] = api.get("/contacts?q=ada")["data"]
        assert (contact["email"], contact["attributes"]) == ("ada@example.com", {"plan": "pro"})

        database = json.loads((data / "running.json").read_text())["database_url"]
        elsewhere = Release(from_archive, previous, {**secret, "DATABASE_URL": database}, base / "elsewhere")
        with elsewhere.running("worker"), elsewhere.running("api", port=ports[1]) as old_api:
            wait_until_alive(second, old_api)
            mails += api.send("From this release")
            mails += Api(second, created["projectId"], created["secretKey"]).send("From the previous release")
            api.wait_until_delivered(mails)
        log = api.get("/emails/logs?status=DELIVERED&q=&limit=100")["data"]
        assert sorted(message["id"] for message in log) == sorted(mails)
        with psycopg.connect(database) as connection:
            # Captured mail is what a relay would have received.
            assert connection.execute("select count(*) from sends where attempt > 1").fetchone() == (0,)


def wait_until_alive(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait for `/healthz`; an API process without a worker is not ready."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, "the process ended"
        try:
            if httpx.get(f"{url}/healthz").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("the process does not respond")
