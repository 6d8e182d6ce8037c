"""A PostgreSQL server with a hot standby, which streaming replication keeps equal to it."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg

from postern.kernel.database.embedded import (
    account_for,
    as_account,
    reachable_programs,
    reachable_temporary_folder,
    stop_process,
)
from tests.peers.postgres_server import connect, postgres_server, running_postgres


@dataclass
class Standby:
    """A running standby."""

    url: str
    primary_url: str
    process: subprocess.Popen[bytes]

    def pause(self) -> None:
        """Let it fall behind: it receives changes, and does not replay them."""
        self._run("select pg_wal_replay_pause()")

    def resume(self) -> None:
        """Replay again."""
        self._run("select pg_wal_replay_resume()")

    def _run(self, command: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(command.encode())

    def stop(self) -> None:
        """End the server."""
        stop_process(self.process)


@contextmanager
def postgres_with_standby() -> Iterator[Standby]:
    """Run a server with an empty database, and its standby, for the block."""
    with postgres_server("18") as primary_url:
        folder = Path(tempfile.mkdtemp(prefix="standby-", dir=reachable_temporary_folder()))
        cluster = folder / "cluster"
        account = account_for(folder / "none")
        if account is not None:
            shutil.chown(folder, account.user, account.group)
        binaries = reachable_programs(account)
        try:
            subprocess.run(
                [binaries / "pg_basebackup", "-D", cluster, "-d", primary_url, "-R", "-X", "stream", "-c", "fast"],
                cwd=folder,
                check=True,
                capture_output=True,
                **as_account(account),
            )
            url = f"postgresql://operator@/mail?host={quote(str(folder), safe='')}"
            # The socket is not in the cluster, which has a copy of the lock file of the primary's socket.
            with running_postgres(binaries, cluster, folder, account) as server:
                connect(url).close()
                yield Standby(url, primary_url, server)
        finally:
            shutil.rmtree(folder)
