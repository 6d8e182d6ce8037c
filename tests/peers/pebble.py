"""Pebble, the ACME server of Let's Encrypt for tests, as a process on loopback.

    with pebble_server(zone.nameserver, http_port) as authority:
        ... POSTERN_ACME_DIRECTORY = authority.directory, POSTERN_ACME_CA_FILE = authority.ca_file
        authority.client_context()     # trusts what it has issued

It validates at once, at the addresses that the DNS server has for a name. By default it refuses no valid nonce.
"""

import json
import os
import shutil
import signal
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.peers.certificates import CertificateAuthority
from tests.peers.ports import reserved_port

VERSION = "v2.10.1"
INSTALL = f"GOBIN=$PWD/.tools/pebble go install github.com/letsencrypt/pebble/v2/cmd/pebble@{VERSION}"
TOOLS = Path(__file__).parents[2] / ".tools" / "pebble"
PROGRAM = shutil.which("pebble", path=f"{TOOLS}{os.pathsep}{os.environ.get('PATH', '')}")
DAYS = 90
WAIT_SECONDS = 60

needs_pebble = [
    pytest.mark.needs_tool("pebble", INSTALL),
    pytest.mark.skipif(PROGRAM is None, reason=f"pebble is not installed: {INSTALL}"),
]


class Pebble:
    """A running authority. `stop` and `start` end and begin it; it forgets everything that it has issued."""

    def __init__(self, folder: Path, command: list[str], environment: dict[str, str], port: int, admin: int) -> None:
        self.ca_file = folder / "ca.pem"
        self.directory = f"https://127.0.0.1:{port}/dir"
        self._admin = f"https://127.0.0.1:{admin}"
        self._command, self._environment = command, environment
        self._log = folder / "pebble.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process and wait until it answers."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, env={**os.environ, **self._environment}, stdout=log, stderr=log
            )
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                httpx.get(self.directory, verify=self._tls(), trust_env=False).raise_for_status()
                return
            except httpx.HTTPError:
                assert self._process.poll() is None, self.log()
                assert time.monotonic() < deadline, self.log()
                time.sleep(0.05)

    def stop(self) -> None:
        """End the process: nobody listens any more."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(WAIT_SECONDS)
            self._process = None

    def log(self) -> str:
        """What it has printed."""
        return self._log.read_text()

    def client_context(self) -> ssl.SSLContext:
        """The TLS context of a client that trusts the certificates that it has issued."""
        return ssl.create_default_context(cadata=self.root())

    def root(self) -> str:
        """The root certificate of what it has issued, in PEM."""
        return httpx.get(f"{self._admin}/roots/0", verify=self._tls(), trust_env=False).raise_for_status().text

    def status_of(self, serial: int) -> str:
        """`Valid` or `Revoked`."""
        url = f"{self._admin}/cert-status-by-serial/{serial:x}"
        return httpx.get(url, verify=self._tls(), trust_env=False).raise_for_status().json()["Status"]

    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.ca_file))


@contextmanager
def pebble_server(
    nameserver: tuple[str, int],
    http_port: int,
    folder: Path,
    *,
    external_accounts: Mapping[str, str] | None = None,
    rejected_nonces: int = 0,
    order_retry_seconds: int = 1,
) -> Iterator[Pebble]:
    """Run Pebble. `rejected_nonces` is the percentage of valid nonces that it refuses, `external_accounts` the keys of
    the accounts that it requires."""
    assert PROGRAM is not None
    authority = CertificateAuthority("Authority of Pebble's own certificate")
    context_file = folder / "server.pem"
    key, certificate = authority.key_pair("127.0.0.1", "localhost")
    context_file.write_bytes(certificate.public_bytes(Encoding.PEM))
    key_file = folder / "server.key"
    key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()))
    (folder / "ca.pem").write_bytes(authority.certificate.public_bytes(serialization.Encoding.PEM))
    with ExitStack() as stack:
        port, admin = (stack.enter_context(reserved_port()).getsockname()[1] for _ in range(2))
        config = {
            "listenAddress": f"127.0.0.1:{port}",
            "managementListenAddress": f"127.0.0.1:{admin}",
            "certificate": str(context_file),
            "privateKey": str(key_file),
            "httpPort": http_port,
            "tlsPort": 1,
            "externalAccountBindingRequired": external_accounts is not None,
            "externalAccountMACKeys": dict(external_accounts or {}),
            "domainBlocklist": ["blocked.example"],
            "retryAfter": {"authz": 1, "order": order_retry_seconds},
            "profiles": {"default": {"description": "", "validityPeriod": DAYS * 86_400}},
        }
        file = folder / "pebble.json"
        file.write_text(json.dumps({"pebble": config}))
        command = [PROGRAM, "-config", str(file), "-dnsserver", f"{nameserver[0]}:{nameserver[1]}", "-strict"]
        environment = {"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": str(rejected_nonces)}
        pebble = Pebble(folder, command, environment, port, admin)
        try:
            pebble.start()
            yield pebble
        finally:
            pebble.stop()
