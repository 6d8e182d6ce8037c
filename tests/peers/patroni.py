"""Two PostgreSQL servers of which Patroni makes one the primary and the other its standby, with etcd and HAProxy.

The programs are Debian's packages. Their settings are those of deploy/patroni, with the addresses of the test.
"""

import base64
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx
import psycopg
import pytest
import yaml

from postern.kernel.database.embedded import (
    UnprivilegedAccount,
    account_for,
    as_account,
    reachable_temporary_folder,
    running_servers,
)
from tests.peers.ports import reserved_port

Value = TypeVar("Value")
DEPLOY = Path(__file__).parents[2] / "deploy/patroni"
BINARIES = Path("/usr/lib/postgresql/15/bin")
INSTALL = "apt-get install --no-install-recommends postgresql-15 etcd-server patroni python3-etcd haproxy"
# HAProxy is not on the path of every account.
PROGRAMS = {name: shutil.which(name) or shutil.which(name, path="/usr/sbin") for name in ("etcd", "patroni", "haproxy")}
needs_patroni = pytest.mark.skipif(
    None in PROGRAMS.values() or not (BINARIES / "postgres").exists(),
    reason=f"Patroni, etcd, HAProxy or PostgreSQL 15 is not installed: {INSTALL}",
)
START_SECONDS = 120
"""How long a server may take to start, or to be promoted; long, because the machine may be slow."""
ANSWER_SECONDS = 2
"""How long Patroni may take to answer, before it counts as away."""
QUICK: Final = {"ttl": 60, "loop_wait": 1, "retry_timeout": 10}
"""Patroni's settings for tests, which need not wait: they take the lock from a primary that they have killed."""
PASSWORD = "the password of a test's database"


@dataclass
class Node:
    """One of the two machines: Patroni, and the PostgreSQL server that it starts."""

    name: str
    folder: Path
    port: int
    """The port of PostgreSQL."""
    api_port: int
    """The port of Patroni."""
    process: subprocess.Popen[bytes] | None = None

    @property
    def cluster(self) -> Path:
        """The folder of PostgreSQL's data."""
        return self.folder / "data"

    @property
    def log(self) -> str:
        """What Patroni and PostgreSQL have logged."""
        return (self.folder / "log").read_text()

    def has_role(self, role: str) -> bool:
        """Whether Patroni answers that the server is `primary`, `replica` or `sync` (a synchronous standby)."""
        with suppress(httpx.HTTPError):
            return httpx.get(f"http://127.0.0.1:{self.api_port}/{role}", timeout=ANSWER_SECONDS).status_code == 200
        return False

    def kill(self) -> None:
        """End Patroni and all processes of PostgreSQL at once (`kill -9`)."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
        while remaining := running_servers(self.cluster):
            for pid in remaining:
                with suppress(ProcessLookupError):  # The process has just ended.
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)


@dataclass
class PatroniCluster:
    """The running programs. The URLs are those of an empty database, in the form of DATABASE_URL."""

    folder: Path
    account: UnprivilegedAccount | None
    nodes: list[Node]
    settings: Mapping[str, Any]
    """Settings of `bootstrap.dcs` instead of those in deploy/patroni."""
    is_durable: bool
    """Whether the servers write to the disk before they confirm, which they need only if the machine may fail."""
    ports: Mapping[str, int]
    """The ports of etcd (`etcd`, `etcd_peer`) and HAProxy (`primary`, `standby`)."""
    _others: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])

    @property
    def url(self) -> str:
        """Through HAProxy: whichever server is the primary."""
        return self._url(f"127.0.0.1:{self.ports['primary']}")

    @property
    def replica_url(self) -> str:
        """Through HAProxy: whichever server is a standby."""
        return self._url(f"127.0.0.1:{self.ports['standby']}")

    @property
    def hosts_url(self) -> str:
        """Both servers, without HAProxy: a client looks for the one that it can write to."""
        return self._url(",".join(f"127.0.0.1:{node.port}" for node in self.nodes))

    def _url(self, hosts: str) -> str:
        return f"postgresql://postern:secret@{hosts}/postern"

    def start(self) -> None:
        """Start all programs, create an empty database, and wait until it has a synchronous standby."""
        self._start_etcd()
        self._start_haproxy()
        for node in self.nodes:
            self.start_node(node)
        self.wait_for_primary()
        with self._administer() as connection:
            connection.execute("create role postern login password 'secret'")
            connection.execute("create database postern owner postern template template0 encoding 'UTF8'")
        self.wait_for_standby()
        self.wait_for_proxy()

    def _administer(self) -> psycopg.Connection:
        """A connection of the superuser to the primary."""
        url = f"postgresql://postgres@127.0.0.1:{self.wait_for_primary().port}/postgres"
        return psycopg.connect(url, password=PASSWORD, autocommit=True)

    def start_node(self, node: Node) -> None:
        """Start Patroni on a machine, which starts PostgreSQL. Does not wait for that."""
        file = node.folder / "patroni.yml"
        file.write_text(yaml.safe_dump(self._configuration(node)))
        with (node.folder / "log").open("ab") as log:
            node.process = subprocess.Popen(
                [str(PROGRAMS["patroni"]), file],
                cwd=node.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **as_account(self.account),
            )

    def wait_for_primary(self) -> Node:
        """Wait until a server has the lock, and return it."""
        return self._wait_for_role("primary")

    def wait_for_standby(self) -> Node:
        """Wait until a server is a standby that has everything that the primary confirms, so that it can be promoted.
        Returns it.

        Patroni may promote a standby a little before the primary waits for it: PostgreSQL's checkpointer turns that on,
        which first ends what it is writing. It has done so when another checkpoint is complete.
        """
        standby = self._wait_for_role("sync")
        with self._administer() as connection:
            connection.execute("checkpoint")
        return standby

    def _wait_for_role(self, role: str) -> Node:
        return wait_until(lambda: next((node for node in self.nodes if node.has_role(role)), None), self._logs)

    def wait_for_proxy(self) -> None:
        """Wait until HAProxy connects to the primary and to the standby."""

        def is_there() -> bool:
            for url, is_standby in ((self.url, False), (self.replica_url, True)):
                with suppress(psycopg.OperationalError), psycopg.connect(url, connect_timeout=5) as connection:
                    if connection.execute("select pg_is_in_recovery()").fetchone() == (is_standby,):
                        continue
                return False
            return True

        wait_until(is_there, self._logs)

    def expire_lock(self) -> None:
        """Delete the lock of a killed primary, as etcd does after `ttl` seconds. Its standby is promoted then."""
        key = base64.b64encode(b"/service/postern/leader").decode()
        url = f"http://127.0.0.1:{self.ports['etcd']}/v3/kv/deleterange"
        assert httpx.post(url, json={"key": key}, timeout=START_SECONDS).is_success

    def stop(self) -> None:
        """End all processes."""
        for node in self.nodes:
            node.kill()
        for process in self._others:
            process.kill()
            process.wait()

    def _start_etcd(self) -> None:
        url, peer_url = (f"http://127.0.0.1:{self.ports[name]}" for name in ("etcd", "etcd_peer"))
        self._start(
            "etcd",
            f"--data-dir={self.folder / 'etcd-data'}",
            f"--listen-client-urls={url}",
            f"--advertise-client-urls={url}",
            f"--listen-peer-urls={peer_url}",
            f"--initial-advertise-peer-urls={peer_url}",
            f"--initial-cluster=default={peer_url}",
            "--log-level=error",
        )

        def answers() -> bool:
            with suppress(httpx.HTTPError):
                return httpx.get(f"{url}/health", timeout=5).is_success
            return False

        wait_until(answers, self._logs)

    def _start_haproxy(self) -> None:
        configuration = (DEPLOY / "haproxy.cfg").read_text()
        for name, port in (("primary", 5000), ("standby", 5001)):
            configuration = replaced(configuration, f"bind :{port}", f"bind 127.0.0.1:{self.ports[name]}")
        for node in self.nodes:
            configuration = replaced(
                configuration,
                f"{node.name}.internal:5432 check port 8008",
                f"127.0.0.1:{node.port} check port {node.api_port}",
            )
        file = self.folder / "haproxy.cfg"
        file.write_text(configuration)
        self._start("haproxy", "-db", "-f", str(file))

    def _start(self, program: str, *arguments: str) -> None:
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [str(PROGRAMS[program]), *arguments],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **as_account(self.account),
            )
        self._others.append(process)

    def _configuration(self, node: Node) -> dict[str, Any]:
        """The settings of deploy/patroni/patroni.yml for a machine of the test."""
        settings = yaml.safe_load((DEPLOY / "patroni.yml").read_text())
        settings["name"] = node.name
        settings["restapi"] = dict.fromkeys(("listen", "connect_address"), f"127.0.0.1:{node.api_port}")
        settings["etcd3"]["hosts"] = [f"127.0.0.1:{self.ports['etcd']}"]
        settings["bootstrap"]["dcs"].update(self.settings)
        postgresql = settings["postgresql"]
        postgresql |= dict.fromkeys(("listen", "connect_address"), f"127.0.0.1:{node.port}")
        postgresql |= {"bin_dir": str(BINARIES), "data_dir": str(node.cluster), "pgpass": str(node.folder / "pgpass")}
        postgresql["parameters"] |= {"unix_socket_directories": str(node.folder)}
        if not self.is_durable:
            postgresql["parameters"] |= {"fsync": "off"}
            settings["bootstrap"]["initdb"].append("no-sync")
            postgresql["basebackup"].append("no-sync")
        for user in postgresql["authentication"].values():
            user["password"] = PASSWORD
        return settings

    def _logs(self) -> str:
        return "\n".join([(self.folder / "log").read_text(), *(node.log for node in self.nodes)])[-20_000:]


def replaced(text: str, old: str, new: str) -> str:
    """The text with `old` replaced, which it must contain."""
    assert old in text, old
    return text.replace(old, new)


def wait_until(get: Callable[[], Value | None], describe: Callable[[], str]) -> Value:
    """Call `get` until it returns something true, and return that. Raises AssertionError after START_SECONDS."""
    ends = time.monotonic() + START_SECONDS
    while not (value := get()):
        assert time.monotonic() < ends, describe()
        time.sleep(0.05)
    return value


@contextmanager
def patroni_cluster(settings: Mapping[str, Any] = QUICK, *, is_durable: bool = False) -> Iterator[PatroniCluster]:
    """Run the programs for the block, with an empty database."""
    folder = Path(tempfile.mkdtemp(prefix="patroni-", dir=reachable_temporary_folder()))
    account = account_for(folder / "none")
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)

        def port() -> int:
            return stack.enter_context(reserved_port()).getsockname()[1]

        nodes = [Node(name, folder / name, port(), port()) for name in ("db1", "db2")]
        for created in (folder, *(node.folder for node in nodes)):
            created.mkdir(exist_ok=True)
            if account is not None:
                shutil.chown(created, account.user, account.group)
        ports = {name: port() for name in ("etcd", "etcd_peer", "primary", "standby")}
        cluster = PatroniCluster(folder, account, nodes, settings, is_durable, ports)
        stack.callback(cluster.stop)
        cluster.start()
        yield cluster
