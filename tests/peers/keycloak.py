"""Keycloak as a process on loopback, with its database in a file.

with keycloak(folder) as server:
    realm = server.create_realm("acme", users=[…])
    realm.create_client({"clientId": "app", …})
    realm.issuer                                    # http://127.0.0.1:PORT/realms/acme
    realm.export()                                  # what `kc.sh export` writes
"""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.peers.ports import reserved_port

INSTALL = "script/setup keycloak (it needs Maven and Java 17: apt-get install maven openjdk-17-jre-headless)"
DISTRIBUTION = Path(os.environ.get("KEYCLOAK") or Path(__file__).parents[2] / ".tools" / "keycloak")
START_SECONDS = 420
"""Its first start compiles its configuration, on a machine that does other things."""
ADMIN, PASSWORD = "admin", "only for this test"
OPTIONS = {
    "db": "dev-file",
    # So that `kc.sh export` can read it while the server runs.
    "db-url": "jdbc:h2:file:{folder}/h2;NON_KEYWORDS=VALUE;AUTO_SERVER=TRUE",
    "http-host": "127.0.0.1",
    "health-enabled": "false",
    "hostname-strict": "false",
    "cache": "local",
    "log-level": "WARN",
}

needs_keycloak = [
    pytest.mark.needs_tool("keycloak", INSTALL),
    pytest.mark.skipif(
        not shutil.which("java") or not (DISTRIBUTION / "bin" / "kc.sh").is_file(),
        reason=f"Keycloak is not installed: {INSTALL}",
    ),
]


@dataclass
class Keycloak:
    """A running server. Each request asks for a token of the administrator anew, because one lives for a minute."""

    base: str
    home: Path
    """The folder of its programs."""
    environment: dict[str, str]

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send a request to the administration API (`/admin/realms…`). Raises AssertionError for an error status."""
        form = {"grant_type": "password", "client_id": "admin-cli", "username": ADMIN, "password": PASSWORD}
        with httpx.Client(base_url=self.base, timeout=60, trust_env=False) as client:
            answer = client.post("/realms/master/protocol/openid-connect/token", data=form)
            assert answer.status_code == 200, answer.text
            headers = {"authorization": f"Bearer {answer.json()['access_token']}", **options.pop("headers", {})}
            response = client.request(method, path, headers=headers, **options)
        assert response.is_success, (method, path, response.status_code, response.text)
        return response

    def create_realm(self, name: str, **fields: Any) -> "Realm":
        """Create a realm with these fields of a RealmRepresentation."""
        self.send("POST", "/admin/realms", json={"realm": name, "enabled": True, "sslRequired": "none", **fields})
        return Realm(self, name)


@dataclass
class Realm:
    """A realm of a server: its users and clients."""

    server: Keycloak
    name: str

    @property
    def issuer(self) -> str:
        return f"{self.server.base}/realms/{self.name}"

    @property
    def path(self) -> str:
        """The path of the realm in the administration API."""
        return f"/admin/realms/{self.name}"

    def create_client(self, fields: dict[str, Any]) -> str:
        """Create a client with these fields of a ClientRepresentation. Returns its id."""
        created = self.server.send("POST", f"{self.path}/clients", json=fields)
        return created.headers["location"].rpartition("/")[2]

    def client_of(self, metadata: str) -> dict[str, Any]:
        """What Keycloak makes of the metadata of a service provider: a ClientRepresentation."""
        path, headers = f"{self.path}/client-description-converter", {"content-type": "application/xml"}
        return self.server.send("POST", path, content=metadata, headers=headers).json()

    def export(self) -> dict[str, Any]:
        """What `kc.sh export` writes: a RealmRepresentation with users, credentials and organizations."""
        file = self.server.home.parent / f"{self.name}.json"
        # As the server has compiled its configuration; the export itself takes a minute.
        command = [self.server.home / "bin" / "kc.sh", "export", "--optimized", "--realm", self.name, "--file", file]
        command.append(f"--db-url={OPTIONS['db-url'].format(folder=self.server.home.parent)}")
        done = subprocess.run(command, env=self.server.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(file.read_text())

    def change_client(self, id: str, fields: dict[str, Any]) -> None:
        """Change fields of a client, and attributes of it."""
        client = self.server.send("GET", f"{self.path}/clients/{id}").json()
        attributes = {**client["attributes"], **fields.get("attributes", {})}
        self.server.send("PUT", f"{self.path}/clients/{id}", json={**client, **fields, "attributes": attributes})

    def end_sessions_of(self, username: str) -> None:
        """End all sessions of a user, as an administrator does."""
        (user,) = self.server.send("GET", f"{self.path}/users?exact=true&username={username}").json()
        self.server.send("POST", f"{self.path}/users/{user['id']}/logout")


@contextmanager
def keycloak(folder: Path) -> Iterator[Keycloak]:
    """Run a server with a copy of the distribution in this folder, because it writes beside its programs."""
    home = folder / "keycloak"
    shutil.copytree(DISTRIBUTION, home)
    with reserved_port() as reserved:
        port = reserved.getsockname()[1]
        command = [home / "bin" / "kc.sh", "start-dev", f"--http-port={port}"]
        command += [f"--{name}={value.format(folder=folder)}" for name, value in OPTIONS.items()]
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "KC_BOOTSTRAP_ADMIN_USERNAME": ADMIN,
            "KC_BOOTSTRAP_ADMIN_PASSWORD": PASSWORD,
            "JAVA_OPTS_KC_HEAP": "-Xms64m -Xmx512m",
            "JAVA_OPTS_APPEND": "-Dh2.bindAddress=127.0.0.1",
        }
        log_file = folder / "keycloak.log"
        with log_file.open("w") as log:
            process = subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )
        try:
            base = f"http://127.0.0.1:{port}"
            deadline = time.monotonic() + START_SECONDS
            while not _answers(base):
                assert process.poll() is None, log_file.read_text()
                assert time.monotonic() < deadline, log_file.read_text()
                time.sleep(0.2)
            yield Keycloak(base, home, environment)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _answers(base: str) -> bool:
    try:
        return httpx.get(f"{base}/realms/master", timeout=60, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False
