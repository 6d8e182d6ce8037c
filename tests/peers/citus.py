"""A Citus on loopback: a coordinator and two workers, if PostgreSQL 15 and Citus are installed on this machine."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from postern.cli.placement import placement
from postern.kernel.database.distribution import Distribution
from postern.kernel.database.embedded import (
    account_for,
    as_account,
    reachable_temporary_folder,
    running_servers,
)
from postern.kernel.database.migrations import migrate
from tests.peers.ports import reserved_port
from tests.peers.postgres_server import connect

PROGRAMS = Path("/usr/lib/postgresql/15/bin")
INSTALL = "build Citus 13 (github.com/citusdata/citus) for PostgreSQL 15 of Debian, and install it"
HAS_CITUS = (PROGRAMS.parent / "lib" / "citus.so").exists()
needs_citus = [
    pytest.mark.needs_tool("citus", INSTALL),
    pytest.mark.skipif(not HAS_CITUS, reason=f"Citus is not installed: {INSTALL}"),
]
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_preload_libraries": "citus",
    "citus.node_conninfo": "sslmode=prefer",
    "citus.enable_statistics_collection": "off",
    # One for each table, its indexes and its shards, because a migration may change all of them.
    "max_locks_per_transaction": "512",
    "max_connections": "200",
    "wal_level": "logical",
    "shared_buffers": "64MB",
    # A killed server comes back with all that was committed. Only a machine that crashes would lose it.
    "fsync": "off",
    "full_page_writes": "off",
}
SHARDS = 4
PLUGINS = "output_plugin_libraries"
"""A setting of the minor versions since August 2026. Citus needs it to copy shards while rows are written."""


@dataclass
class Node:
    """One of the servers."""

    folder: Path
    port: int
    settings: dict[str, str]
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def url(self) -> str:
        """The URL of the database in the form of DATABASE_URL."""
        return f"postgresql://operator@127.0.0.1:{self.port}/postern"

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        options = [part for name, value in self.settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder.parent / f"{self.folder.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                [PROGRAMS / "postgres", "-D", self.folder, "-p", str(self.port), *options],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **as_account(account_for(self.folder / "none")),
            )
        connect(f"postgresql://operator@127.0.0.1:{self.port}/postgres").close()

    def kill(self) -> None:
        """End the server and all its processes at once, and wait until they have ended.

        Each of its processes leads a group of its own. A server does not start while one of the last start still has
        the shared memory, which they notice only when they next wait for something.
        """
        assert self.process is not None
        while running := running_servers(self.folder):
            for pid in sorted(running):  # The first one first: it would start others in place of those that ended.
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
        self.process.wait()

    def stop(self) -> None:
        """End the server, if it runs."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()


@dataclass
class Citus:
    """A running coordinator and its workers."""

    coordinator: Node
    workers: list[Node]

    @property
    def url(self) -> str:
        """The URL of the database on the coordinator."""
        return self.coordinator.url


@contextmanager
def citus(workers: int = 2) -> Iterator[Citus]:
    """Run a Citus with an empty database for the block."""
    folder = Path(tempfile.mkdtemp(prefix="citus-", dir=reachable_temporary_folder()))
    account = account_for(folder / "none")
    if account is not None:
        shutil.chown(folder, account.user, account.group)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        ports = [stack.enter_context(reserved_port()).getsockname()[1] for _ in range(workers + 1)]
        described = subprocess.run([PROGRAMS / "postgres", "--describe-config"], capture_output=True, check=True)
        plugins = {PLUGINS: "pgoutput, citus"} if PLUGINS.encode() in described.stdout else {}
        nodes = [Node(folder / f"node{number}", port, SETTINGS | plugins) for number, port in enumerate(ports)]
        subprocess.run(
            [
                PROGRAMS / "initdb",
                "-D",
                nodes[0].folder,
                "-U",
                "operator",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C.UTF-8",
                "-N",
            ],
            cwd=folder,
            check=True,
            capture_output=True,
            **as_account(account),
        )
        for node in nodes[1:]:
            subprocess.run(["cp", "-a", nodes[0].folder, node.folder], check=True)
        for node in nodes:
            stack.callback(node.stop)
            node.start()
            with connect(f"postgresql://operator@127.0.0.1:{node.port}/postgres") as connection:
                connection.execute("create database postern")
                connection.execute(f"alter database postern set citus.shard_count = {SHARDS}".encode())
            with psycopg.connect(node.url, autocommit=True) as connection:
                connection.execute("create extension citus")
        with psycopg.connect(nodes[0].url, autocommit=True) as connection:
            connection.execute("select citus_set_coordinator_host('127.0.0.1', %s)", [nodes[0].port])
            for node in nodes[1:]:
                connection.execute("select citus_add_node('127.0.0.1', %s)", [node.port])
        yield Citus(nodes[0], nodes[1:])


@contextmanager
def distributed() -> Iterator[Citus]:
    """Run a Citus with a migrated and distributed database for the block."""
    with citus() as cluster:
        migrate(cluster.url)
        with psycopg.connect(cluster.url, autocommit=True) as connection:
            for step in Distribution(connection, placement()).steps():
                step.run()
        yield cluster
