"""Mail servers of other projects on loopback: Postfix, Exim and OpenSMTPD, each with its own files and processes.

Postfix must be installed. The other two cannot be installed beside it, so `.ci/run` unpacks their packages into
tests/peers/debian_packages; they run in a copy of the file system that ends with them.
"""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

PACKAGES = Path(__file__).with_name("debian_packages")
"""The unpacked packages."""
START_SECONDS = 120
"""How long a server may take to start; long, because the machine may be slow."""

POSTFIX_SERVICES = """
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
pickup unix n - n 60 1 pickup
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
discard unix - - n - - discard
error unix - - n - - error
smtp unix - - n - - smtp
virtual unix - n n - - virtual
proxymap unix - - n - - proxymap
tlsmgr unix - - n 1000? 1 tlsmgr
postlog unix-dgram n - n - 1 postlogd
"""
IN_A_COPY = """
set -e
mount -t tmpfs tmpfs "$1/system"
cd "$1/system"
mkdir upper work root
cp -a "$2/." upper/
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
mount --rbind /dev root/dev
mount -t proc proc root/proc
mount --bind "$1/files" root/mnt
shift 2
chroot root sh -ec "$@"
exit
"""
"""Mounts a copy of the file system with the packages, and the files of the server as /mnt, and runs a command in it.

The shell stays the first process of its process namespace: unlike a server that changes its user, it ends with
`unshare --kill-child`, and so do all processes that it has started."""


def is_runnable(program: str) -> bool:
    """Whether a program of the packages and all its libraries are on this machine."""
    path = PACKAGES / "usr/sbin" / program
    if not path.exists():
        return False
    libraries = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
    return libraries.returncode == 0 and "not found" not in libraries.stdout


def wait_until_open(address: str, port: int, process: subprocess.Popen[bytes] | None = None) -> None:
    """Wait until a server listens. Raises OSError after START_SECONDS, and AssertionError if the process has ended."""
    ends = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection((address, port), timeout=5).close()
        except OSError:
            assert process is None or process.poll() is None, "The server has ended."
            if time.monotonic() > ends:
                raise
            time.sleep(0.05)
        else:
            return


@contextmanager
def postfix(address: str, port: int, settings: Mapping[str, object]) -> Iterator[Path]:
    """A Postfix with these settings in main.cf; yields its folder, whose file `log` is the log. Needs root."""
    folder = Path(tempfile.mkdtemp(prefix="postfix-"))
    folder.chmod(0o755)
    for name in ("queue", "data"):
        (folder / name).mkdir()
    shutil.chown(folder / "data", "postfix")
    settings = {
        "compatibility_level": "3.6",
        "queue_directory": folder / "queue",
        "data_directory": folder / "data",
        "mynetworks": "127.0.0.0/8",
        "mydestination": "",
        "inet_interfaces": "127.0.0.1",
        "maillog_file_prefixes": folder,
        "maillog_file": folder / "log",
        "default_process_limit": 200,
        "smtpd_client_connection_count_limit": 0,
        **settings,
    }
    (folder / "main.cf").write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))
    (folder / "master.cf").write_text(f"{address}:{port} inet n - n - - smtpd{POSTFIX_SERVICES}")
    subprocess.run(["postfix", "-c", folder, "start"], check=True, capture_output=True)
    try:
        wait_until_open(address, port)
        yield folder
    finally:
        subprocess.run(["postfix", "-c", folder, "stop"], check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def exim(address: str, port: int, configuration: str, files: Mapping[str, str]) -> Iterator[Path]:
    """An Exim that listens there, with this configuration, and these files in /mnt; yields the folder of /mnt."""
    head = f"local_interfaces = {address}\ndaemon_smtp_ports = {port}\nlog_file_path = /mnt/%slog\n"
    start = """
    echo "Debian-exim:x:9001:9001::/var/spool/exim4:/bin/false" >> /etc/passwd
    echo "Debian-exim:x:9001:" >> /etc/group
    mkdir -p /etc/exim4 && cp /mnt/exim.conf /etc/exim4/exim4.conf
    mkdir -p /var/spool/exim4
    touch /mnt/mainlog /mnt/rejectlog /mnt/paniclog
    chown Debian-exim:Debian-exim /var/spool/exim4 /mnt/*
    exec /usr/sbin/exim4 -bdf -q2s
    """
    with _in_a_copy(address, port, start, {"exim.conf": head + configuration, **files}) as folder:
        yield folder


@contextmanager
def opensmtpd(address: str, port: int, configuration: str, files: Mapping[str, str]) -> Iterator[Path]:
    """An OpenSMTPD with this configuration, which has to listen there; otherwise as `exim`."""
    start = """
    for user in opensmtpd:9002 opensmtpq:9003; do
        echo "${user%:*}:x:${user#*:}:${user#*:}::/var/lib/opensmtpd/empty:/bin/false" >> /etc/passwd
        echo "${user%:*}:x:${user#*:}:" >> /etc/group
    done
    chmod 600 /mnt/*.key
    mkdir -p /var/lib/opensmtpd/empty /var/spool/smtpd && chmod 711 /var/spool/smtpd
    exec /usr/sbin/smtpd -d -f /mnt/smtpd.conf > /mnt/log 2>&1
    """
    with _in_a_copy(address, port, start, {"smtpd.conf": configuration, **files}) as folder:
        yield folder


@contextmanager
def _in_a_copy(address: str, port: int, command: str, files: Mapping[str, str]) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="mail-server-"))
    folder.chmod(0o755)
    for name in ("system", "files"):
        (folder / name).mkdir()
    (folder / "files").chmod(0o777)
    for name, content in files.items():
        (folder / "files" / name).write_text(content)
    isolated = ["unshare", "--mount", "--pid", "--fork", "--kill-child=SIGKILL", "sh", "-c", IN_A_COPY, "sh"]
    words: Sequence[str | Path] = [*isolated, folder, PACKAGES, command]
    try:
        with subprocess.Popen(words) as process:
            try:
                wait_until_open(address, port, process)
                yield folder / "files"
            finally:
                process.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
