"""Containers without a daemon: images built by `buildah`, started by `podman`, on a Debian 12 made by `mmdebstrap`."""

import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from tests.peers.interfaces import interfaces_change
from tests.test_boot import is_ready

ROOT = Path(__file__).parents[2]
INSTALL = "apt-get install buildah podman runc netavark aardvark-dns iptables mmdebstrap"
PROGRAMS = ("buildah", "podman", "runc", "iptables", "mmdebstrap")
BASE = "localhost/debian:12"
IMAGE = "localhost/postern:test"
PACKAGES = "python3,python3-venv,ca-certificates,tini"
"""What the base has besides the minimum: what the Dockerfile asks of BASE, and tini, which it would download."""
WAIT_SECONDS = 120
LIMITS = ("--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096")
"""Limits that also a machine with low ones can give."""
SIOCSIFHWADDR, ARPHRD_ETHER = 0x8924, 1
"""To set the address of a network interface (netdevice(7))."""
CERTIFICATES = Path(os.environ.get("PIP_CERT") or "/etc/ssl/certs/ca-certificates.crt")

needs_containers = [
    pytest.mark.needs_tool("containers", INSTALL),
    pytest.mark.skipif(
        not all(shutil.which(program) for program in PROGRAMS) or os.geteuid() != 0,
        reason=f"containers need root and: {INSTALL}",
    ),
]


@dataclass
class Containers:
    """The images, containers and networks of one run, in a folder of their own."""

    folder: Path
    started: list[str] = field(default_factory=list)

    def podman(self, *words: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `podman WORDS`. Raises AssertionError with its output if it fails and `check` is set."""
        options = ["--cgroup-manager=cgroupfs", "--runtime=runc", "--network-backend=netavark", "--events-backend=none"]
        options.append(f"--network-config-dir={self.folder / 'networks'}")
        # Without systemd there is nobody to run health checks regularly, which podman reports as an error.
        return self._run("podman", *options, "--log-level=fatal", *words, check=check)

    def buildah(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run `buildah WORDS`. Raises AssertionError with its output if it fails."""
        return self._run("buildah", *words, check=True)

    def _run(self, program: str, *words: str | Path, check: bool) -> subprocess.CompletedProcess[str]:
        storage = [f"--root={self.folder / 'storage'}", f"--runroot={self.folder / 'run'}", "--storage-driver=overlay"]
        completed = subprocess.run(
            [program, *storage, *words], capture_output=True, text=True, check=False, timeout=600, cwd=ROOT
        )
        assert not check or completed.returncode == 0, f"{program} {words}\n{completed.stdout}{completed.stderr}"
        return completed

    def make_base(self) -> None:
        """Make the base image: a minimal Debian 12 with Python."""
        archive = self.folder / "base.tar"
        # The archive's size counts, not the time that deleting documentation saves.
        made = subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", "bookworm", archive],
            capture_output=True,
            text=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr
        self.podman("import", "--quiet", archive, BASE)
        archive.unlink()

    def build_image(self) -> None:
        """Build the Dockerfile on the base image. Mirrors and certificates of pip are those of this machine."""
        variables = {name: os.environ[name] for name in ("PIP_INDEX_URL", "PIP_CERT") if os.environ.get(name)}
        arguments = [f"--build-arg={name}={value}" for name, value in {**variables, "BASE": BASE}.items()]
        if CERTIFICATES.exists():
            arguments.append(f"--volume={CERTIFICATES}:{CERTIFICATES}:ro")
        options = ["--isolation=chroot", "--format=docker", "--network=host", "--layers=false", "--quiet"]
        self.buildah("build", *options, *arguments, f"--tag={IMAGE}", ".")

    def start(self, name: str, image: str, *options: str, command: tuple[str, ...] = ()) -> str:
        """Start a container in the background and return its name."""
        self.podman("run", "--detach", f"--name={name}", *LIMITS, *options, image, *command)
        self.started.append(name)
        return name

    def execute(self, name: str, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command in a container."""
        return self.podman("exec", name, *command, check=check)

    def logs(self, name: str) -> str:
        """What a container has written to standard output and standard error."""
        completed = self.podman("logs", name, check=False)
        return completed.stdout + completed.stderr

    def state(self, name: str) -> dict[str, object]:
        """`State` of `podman inspect`: Running, ExitCode, Pid …"""
        return json.loads(self.podman("inspect", name).stdout)[0]["State"]

    def address(self, name: str) -> str:
        """The address of a container in its last network, which this machine can reach."""
        networks = json.loads(self.podman("inspect", name).stdout)[0]["NetworkSettings"]["Networks"]
        return list(networks.values())[-1]["IPAddress"]

    def keep_bridge_address(self, network: str) -> None:
        """Keep the MAC address of the network's bridge.

        By default it is the lowest address of the bridge's ports. When the container of that port ends, it changes, and
        for half a minute the other containers send what is for this machine to the old one.
        """
        [details] = json.loads(self.podman("network", "inspect", network).stdout)
        name = details["network_interface"]
        address = bytes.fromhex(Path(f"/sys/class/net/{name}/address").read_text().strip().replace(":", ""))
        request = struct.pack("16sH14s", name.encode(), ARPHRD_ETHER, address)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, SIOCSIFHWADDR, request)

    def wait_until_ready(self, name: str) -> str:
        """Wait until the API in a container is ready, and return its URL."""
        url = f"http://{self.address(name)}:8025"
        deadline = time.monotonic() + WAIT_SECONDS
        while not is_ready(url):
            assert self.state(name)["Running"], self.logs(name)
            assert time.monotonic() < deadline, self.logs(name)
            time.sleep(0.2)
        return url

    def wait_until_healthy(self, name: str, *command: str) -> None:
        """Wait until a command in the container succeeds."""
        deadline = time.monotonic() + WAIT_SECONDS
        while self.execute(name, *command, check=False).returncode:
            assert self.state(name)["Running"], self.logs(name)
            assert time.monotonic() < deadline, self.logs(name)
            time.sleep(0.5)

    def stop(self, name: str, *, seconds: int = 40) -> int:
        """Send the image's stop signal, after `seconds` SIGKILL; returns the exit code."""
        self.podman("stop", f"--time={seconds}", name)
        return int(str(self.state(name)["ExitCode"]))

    def remove(self, *names: str) -> None:
        """Kill and remove containers with their unnamed volumes."""
        self.podman("rm", "--force", "--volumes", "--time=0", *names, check=False)


@cache
def _open(folder: Path) -> Containers:
    containers = Containers(folder)
    (folder / "networks").mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "built").exists():
            containers.make_base()
            containers.build_image()
            (folder / "built").touch()
    return containers


@contextmanager
def containers_with_image() -> Iterator[Containers]:
    """The images `BASE` and `IMAGE`, built once in a run; the containers started in the block are removed.

    With POSTERN_TEST_CONTAINERS, the images are kept in that folder and used again: delete it after a change.
    """
    run = Path(os.environ["POSTERN_TEST_RUN"]) / "containers"
    containers = _open(Path(os.environ.get("POSTERN_TEST_CONTAINERS") or run))
    with interfaces_change():
        try:
            yield containers
        finally:
            if containers.started:
                containers.remove(*containers.started)
                containers.started.clear()
