"""deploy/nginx and deploy/caddy with the real programs in front of a real server, with TLS by a CA of the test."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from postern.messaging.emails.model import BATCH_BYTES
from tests.identity.customers.conftest import GOOD
from tests.packages.test_deploy import DEPLOY, needs
from tests.peers.ports import reserved_port
from tests.peers.whole_server import own_database
from tests.test_boot import command, eventually, start

HOST = "mail.example.com"
CLIENT = "127.0.0.2"
"""The address of the client. It is no trusted proxy, unlike 127.0.0.1."""
ADMIN_TOKEN = "t" * 32


@dataclass(frozen=True)
class Certificates:
    """The files of a CA and of a certificate for HOST."""

    authority: Path
    chain: Path
    key: Path


@pytest.fixture(scope="module")
def certificates(tmp_path_factory) -> Certificates:
    folder = tmp_path_factory.mktemp("tls")
    files = Certificates(folder / "ca.pem", folder / "chain.pem", folder / "key.pem")
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test CA")])
    now = datetime.now(UTC)

    def certificate(name: x509.Name, public_key: ec.EllipticCurvePublicKey, *, ca: bool) -> x509.Certificate:
        builder = x509.CertificateBuilder().subject_name(name).issuer_name(authority_name).public_key(public_key)
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(hours=1))
        builder = builder.not_valid_after(now + timedelta(days=1))
        builder = builder.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        if not ca:
            builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
        return builder.sign(authority_key, hashes.SHA256())

    authority = certificate(authority_name, authority_key.public_key(), ca=True)
    own = certificate(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)]), key.public_key(), ca=False)
    pem = serialization.Encoding.PEM
    files.authority.write_bytes(authority.public_bytes(pem))
    files.chain.write_bytes(own.public_bytes(pem))
    private = serialization.PrivateFormat.PKCS8
    files.key.write_bytes(key.private_bytes(pem, private, serialization.NoEncryption()))
    return files


@dataclass(frozen=True)
class Server:
    """A server behind the proxies."""

    port: int
    account: dict[str, str]


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server") / "data"
    with own_database() as url, reserved_port() as port:
        settings = {"DATABASE_URL": url, "POSTERN_BASE_URL": f"https://{HOST}", "POSTERN_ADMIN_TOKEN": ADMIN_TOKEN}
        number = port.getsockname()[1]
        started = start(folder, **settings, POSTERN_PORT=str(number))
        try:
            eventually(lambda: "Postern is ready" in started.printed(), started)
            yield Server(number, json.loads(command(folder, "bootstrap", "--json", **settings).stdout))
        finally:
            started.stop()


@dataclass
class Proxy:
    """A running proxy: its HTTPS port, and its HTTP port if its file has one."""

    port: int
    http_port: int
    certificates: Certificates

    def client(self) -> httpx.Client:
        """A client at CLIENT that trusts the CA and connects to HOST."""
        context = ssl.create_default_context(cafile=str(self.certificates.authority))
        transport = httpx.HTTPTransport(verify=context, local_address=CLIENT)

        def name_server(request: httpx.Request) -> None:
            request.extensions["sni_hostname"] = HOST

        return httpx.Client(
            transport=transport,
            base_url=f"https://127.0.0.1:{self.port}",
            headers={"Host": HOST},
            event_hooks={"request": [name_server]},
            timeout=60,
        )


@contextmanager
def nginx(folder: Path, certificates: Certificates, upstreams: list[int]) -> Iterator[Proxy]:
    text = (DEPLOY / "nginx/postern.conf").read_text()
    with free_ports(2) as (https, http):
        for old, new in {
            "listen 443 ssl": f"listen 127.0.0.1:{https} ssl",
            "listen 80;": f"listen 127.0.0.1:{http};",
            "/etc/ssl/postern/fullchain.pem": str(certificates.chain),
            "/etc/ssl/postern/privkey.pem": str(certificates.key),
        }.items():
            assert old in text, old
            text = text.replace(old, new)
        text = re.sub(r"\n +listen \[::\].*", "", text)
        line = "server 127.0.0.1:8025 "
        assert line in text
        [server_line] = [each for each in text.splitlines() if line in each]
        text = text.replace(server_line, "\n".join(server_line.replace(":8025", f":{port}") for port in upstreams))
        temporary = "\n".join(
            f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;" if os.geteuid() == 0 else ""
        configuration = folder / "nginx.conf"
        configuration.write_text(
            f"{user}\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{temporary}\n{text}\n}}\n"
        )
        arguments = ["nginx", "-p", str(folder), "-c", str(configuration), "-e", "stderr", "-g", "daemon off;"]
        with process(arguments, folder, https):
            yield Proxy(https, http, certificates)


@contextmanager
def caddy(folder: Path, certificates: Certificates, upstreams: list[int]) -> Iterator[Proxy]:
    site, rest = (DEPLOY / "caddy/Caddyfile").read_text().split("{$POSTERN_SITE:mail.example.com} {\n")
    with free_ports(2) as (https, http):
        # The certificate is the test's own, and the ports are free ones; the rest is the file.
        options = f"{{\nadmin off\nauto_https disable_certs\nhttps_port {https}\nhttp_port {http}\n}}\n"
        tls = f"tls {certificates.chain} {certificates.key}\nbind 127.0.0.1\n"
        configuration = folder / "Caddyfile"
        configuration.write_text(f"{options}{site}{{$POSTERN_SITE:mail.example.com}} {{\n{tls}{rest}")
        environment = {
            "POSTERN_API": " ".join(f"127.0.0.1:{port}" for port in upstreams),
            "XDG_DATA_HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder),
        }
        arguments = ["caddy", "run", "--adapter", "caddyfile", "--config", str(configuration)]
        with process(arguments, folder, https, **environment):
            yield Proxy(https, http, certificates)


@contextmanager
def free_ports(count: int) -> Iterator[list[int]]:
    """Free ports, which no other process takes until the block ends."""
    if count == 0:
        yield []
        return
    with reserved_port() as port, free_ports(count - 1) as others:
        yield [port.getsockname()[1], *others]


@contextmanager
def process(arguments: list[str], folder: Path, port: int, **environment: str) -> Iterator[None]:
    """Run a proxy until the block ends; yields when it accepts connections on `port`."""
    with (folder / "log").open("w+") as log:
        running = subprocess.Popen(arguments, cwd=folder, env={**os.environ, **environment}, stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 60
            while not accepts(port):
                assert running.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline, (folder / "log").read_text()
                time.sleep(0.02)
            yield
        finally:
            running.terminate()
            running.wait(60)


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


PROXIES: dict[str, Callable] = {"nginx": nginx, "caddy": caddy}
NAMES = [pytest.param(name, marks=needs(name, f"apt-get install {name}")) for name in PROXIES]


@pytest.fixture(scope="module", params=NAMES)
def proxy(request, server, certificates, tmp_path_factory) -> Iterator[Proxy]:
    """A proxy whose first API process does not answer; the second one is the server."""
    with (
        reserved_port() as dead,
        PROXIES[request.param](
            tmp_path_factory.mktemp(request.param), certificates, [dead.getsockname()[1], server.port]
        ) as proxy,
    ):
        yield proxy


def test_the_health_command_checks_the_api_on_its_port(server, tmp_path):
    for words in (["health"], ["health", "--ready"]):
        assert command(tmp_path, *words, POSTERN_PORT=str(server.port)).returncode == 0
    with reserved_port() as dead:
        unhealthy = command(tmp_path, "health", POSTERN_PORT=str(dead.getsockname()[1]))
    assert (unhealthy.returncode, "does not respond" in unhealthy.stdout) == (1, True)


def test_requests_reach_the_api_process_that_answers(proxy):
    with proxy.client() as client:
        for path in ("/healthz", "/readyz", "/docs", "/healthz", "/readyz"):
            assert client.get(path).status_code == 200
        assert client.get("/healthz").headers["strict-transport-security"]


def test_http_is_redirected_to_https(proxy):
    response = httpx.get(f"http://127.0.0.1:{proxy.http_port}/docs?a=1", headers={"Host": HOST})
    assert response.status_code in (301, 308)
    assert re.fullmatch(rf"https://{re.escape(HOST)}(:\d+)?/docs\?a=1", response.headers["location"])


def test_the_address_of_a_client_is_its_own_and_cannot_be_forged(proxy, server):
    address = f"a{proxy.port}@example.com"
    headers = {"Authorization": f"Bearer {server.account['secretKey']}"}
    project = f"/projects/{server.account['projectId']}"
    with proxy.client() as client:
        body = {"email": address, "password": GOOD, "emailVerified": True}
        assert client.post(f"{project}/customers", json=body, headers=headers).status_code == 201
        forged = {"X-Forwarded-For": "203.0.113.5", "X-Real-IP": "203.0.113.5", "Forwarded": "for=203.0.113.5"}
        sign_in = client.post(f"{project}/auth/sign-in", json={"email": address, "password": GOOD}, headers=forged)
        assert sign_in.status_code == 200, sign_in.text
        customers = client.get(f"{project}/customers?q={address}", headers=headers).json()["data"]
    assert [session["ipAddress"] for session in customers[0]["sessions"]] == [CLIENT]


def test_metrics_are_closed_to_forwarded_requests_without_the_token(proxy):
    with proxy.client() as client:
        assert client.get("/metrics").status_code in (401, 403)
        assert client.get("/metrics", headers={"Authorization": f"Bearer {ADMIN_TOKEN}"}).status_code == 200


def test_a_batch_of_50_megabytes_reaches_the_server(proxy, server):
    """The largest request body of the API, but for imports. The server reads it: its result names the bad e-mail."""
    headers = {"Authorization": f"Bearer {server.account['secretKey']}", "Content-Type": "application/json"}
    path = f"/projects/{server.account['projectId']}/emails/batch"
    mail = {"to": ["nobody"], "from": "a@acme.example", "subject": "Hello", "text": ""}
    start, end = json.dumps({"emails": [mail]})[:-4], '"}]}'
    with proxy.client() as client:
        largest = start + "x" * (BATCH_BYTES - len(start) - len(end)) + end
        assert len(largest) == BATCH_BYTES
        response = client.post(path, content=largest, headers=headers)
        assert (response.status_code, response.json()["data"][0]["status"]) == (201, "FAILED"), response.text[:500]


@pytest.mark.parametrize("name", NAMES)
def test_responses_are_not_buffered(name, certificates, tmp_path):
    """The first row of an export reaches the client before the last one is written."""
    received = threading.Event()

    class Export(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/csv")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            if self.path == "/export":
                self.wfile.write(b"6\r\nfirst\n\r\n")
                assert received.wait(30)
                self.wfile.write(b"5\r\nlast\n\r\n")
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: object) -> None:
            """Write no log."""

    upstream = HTTPServer(("127.0.0.1", 0), Export)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    try:
        with PROXIES[name](tmp_path, certificates, [upstream.server_port]) as proxy:
            context = ssl.create_default_context(cafile=str(certificates.authority))
            with socket.create_connection(("127.0.0.1", proxy.port), timeout=60) as plain:
                connection = context.wrap_socket(plain, server_hostname=HOST)
                connection.sendall(f"GET /export HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode())
                text = b""
                while b"first" not in text:
                    text += (part := connection.recv(4_096))
                    assert part, text
                received.set()
                while part := connection.recv(4_096):
                    text += part
                assert b"last" in text
    finally:
        received.set()
        upstream.shutdown()
        upstream.server_close()


@pytest.mark.parametrize("name", ["Caddyfile", "compose.Caddyfile"])
@pytest.mark.needs_tool("caddy", "apt-get install caddy")
@pytest.mark.skipif(shutil.which("caddy") is None, reason="caddy is missing: apt-get install caddy")
def test_caddy_accepts_the_file(name):
    command = ["caddy", "validate", "--adapter", "caddyfile", "--config", DEPLOY / "caddy" / name]
    validated = subprocess.run(command, capture_output=True, text=True, check=False)
    assert validated.returncode == 0, validated.stderr
    formatted = subprocess.run(["caddy", "fmt", command[-1]], capture_output=True, text=True, check=False)
    assert formatted.stdout == Path(command[-1]).read_text()
