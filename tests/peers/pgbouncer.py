"""PgBouncer, a connection pooler, in transaction mode in front of a test's PostgreSQL server."""

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from postern.kernel.database.embedded import account_for, as_account, reachable_temporary_folder

INSTALL = "apt-get install pgbouncer"
# PgBouncer and other servers are not on the path of every account.
PGBOUNCER = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")
needs_pgbouncer = pytest.mark.skipif(PGBOUNCER is None, reason=f"PgBouncer is not installed: {INSTALL}")
START_SECONDS = 30


@dataclass
class PgBouncer:
    """A PgBouncer process. It listens on a Unix socket in its folder."""

    folder: Path
    server: str
    """The URL of the database that it is in front of."""
    size: int
    """Connections to the server. More clients wait for each other's transactions."""
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def url(self) -> str:
        """The URL for clients, in the form of DATABASE_POOLER_URL."""
        parts = conninfo_to_dict(self.server)
        return f"postgresql://{parts['user']}@/{parts['dbname']}?host={quote(str(self.folder), safe='')}&port=6432"

    def start(self) -> None:
        """Start the process, and wait until it answers."""
        assert PGBOUNCER, INSTALL
        parts = conninfo_to_dict(self.server)
        options = {
            "listen_addr": "",
            "listen_port": 6432,
            "unix_socket_dir": self.folder,
            "auth_type": "any",
            "pool_mode": "transaction",
            "default_pool_size": self.size,
            "max_client_conn": 500,
            "logfile": self.folder / "log",
        }
        settings = "\n".join(f"{name} = {value}" for name, value in options.items())
        database = f"{parts['dbname']} = host={parts['host']} dbname={parts['dbname']} user={parts['user']}"
        file = self.folder / "pgbouncer.ini"
        file.write_text(f"[databases]\n{database}\n[pgbouncer]\n{settings}\n")
        self._process = subprocess.Popen(
            [PGBOUNCER, "--quiet", file],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **as_account(account_for(self.folder / "none")),
        )
        ends = time.monotonic() + START_SECONDS
        while True:
            try:
                return psycopg.connect(self.url).close()
            except psycopg.OperationalError:
                if time.monotonic() > ends or self._process.poll() is not None:
                    raise AssertionError((self.folder / "log").read_text()) from None
                time.sleep(0.02)

    def kill(self) -> None:
        """End the process at once, with all its connections."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None


@contextmanager
def pgbouncer(server: str, *, size: int = 4) -> Iterator[PgBouncer]:
    """Run PgBouncer for the block, with `size` connections to the database at the URL `server`."""
    folder = Path(tempfile.mkdtemp(prefix="pgbouncer-", dir=reachable_temporary_folder()))
    account = account_for(folder / "none")
    if account is not None:
        shutil.chown(folder, account.user, account.group)
    pooler = PgBouncer(folder, server, size)
    try:
        pooler.start()
        yield pooler
    finally:
        pooler.kill()
        shutil.rmtree(folder)
