"""The listeners that use the certificates: HTTPS with its limits, the redirection to it, and SMTP."""

import asyncio
import shutil
import ssl
import subprocess
from contextlib import suppress
from datetime import timedelta

import msgspec
import pytest

from postern.cli.mail_servers import MailServers
from postern.kernel.http import https_listener
from postern.messaging.certificates import reloading
from postern.messaging.certificates.work import plan_certificates
from tests.conftest import Client
from tests.messaging.certificates.conftest import HOST
from tests.messaging.certificates.test_issuing import handshake, issue
from tests.peers.pebble import needs_pebble
from tests.peers.ports import listening_socket

pytestmark = needs_pebble
UNTRUSTING = ssl._create_unverified_context()


async def read_all(reader):
    """What arrives until the server closes the connection."""
    with suppress(OSError):
        async with asyncio.timeout(60):
            return await reader.read()
    return b""


async def test_clients_that_do_not_shake_hands_are_disconnected(server, monkeypatch):
    monkeypatch.setattr(https_listener, "HANDSHAKE_SECONDS", 0.3)
    silent, _ = await asyncio.open_connection("127.0.0.1", server.https_port)
    partial, writer = await asyncio.open_connection("127.0.0.1", server.https_port)
    writer.write(b"\x16\x03\x01\x02\x00\x01")
    plain, writer = await asyncio.open_connection("127.0.0.1", server.https_port)
    writer.write(b"GET / HTTP/1.1\r\nHost: post.example\r\n\r\n")
    for reader in (silent, partial, plain):
        assert b"HTTP" not in await read_all(reader)
    await handshake(server.https_port, HOST, UNTRUSTING)


async def test_handshakes_of_one_address_are_limited(server, monkeypatch):
    monkeypatch.setattr(https_listener, "HANDSHAKES_PER_ADDRESS", 3)
    waiting = [await asyncio.open_connection("127.0.0.1", server.https_port) for _ in range(3)]
    refused, _ = await asyncio.open_connection("127.0.0.1", server.https_port)
    assert await read_all(refused) == b""
    for _, writer in waiting:
        writer.close()
        await writer.wait_closed()
    for _ in range(600):
        with suppress(OSError):
            await handshake(server.https_port, HOST, UNTRUSTING)
            return
        await asyncio.sleep(0.1)
    raise AssertionError("The ended handshakes are still counted.")


async def test_openssl_gets_the_chain_of_the_name(world, pebble, server, tmp_path, run_due_work):
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    await issue(world, run_due_work)
    await server.served.reload()
    root = tmp_path / "root.pem"
    root.write_text(await asyncio.to_thread(pebble.root))
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{server.https_port}", "-servername", HOST]
    command += ["-CAfile", str(root), "-verify_return_error", "-verify_hostname", HOST, "-showcerts"]
    shown = await asyncio.to_thread(
        subprocess.run, command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    assert "Verify return code: 0 (ok)" in shown.stdout, shown.stdout + shown.stderr
    assert shown.stdout.count("BEGIN CERTIFICATE") == 2


async def test_requests_without_tls_are_redirected_or_refused(app, world):
    http = Client(app, ip="192.0.2.1").http
    for url, target in (
        (f"http://{HOST}:8025/guide?x=1", f"https://{HOST}/guide?x=1"),
        ("http://links.shop.example/t/c/1%2F2?u=a", "https://links.shop.example/t/c/1%2F2?u=a"),
    ):
        response = await http.get(url)
        assert (response.status_code, response.headers["location"]) == (308, target)
    for method, host in (("POST", HOST), ("GET", "a_b"), ("DELETE", HOST)):
        response = await http.request(method, "/projects", headers={"host": host})
        assert response.status_code == 403
        assert response.json()["code"] == "https_required"
    for url in ("http://a/healthz", f"https://{HOST}/healthz"):
        assert (await http.get(url)).status_code == 200
    assert (await Client(app).http.get("/guide")).status_code == 200


async def test_smtp_uses_a_new_certificate_without_a_restart(world, pebble, server, run_due_work, monkeypatch):
    monkeypatch.setattr(reloading, "RELOAD_SECONDS", 0.1)
    world.settings = msgspec.structs.replace(
        world.settings, submissions_port=465, inbound_port=25, mx_host=f"mx.{HOST}"
    )
    sockets = {name: listening_socket() for name in ("submissions", "inbound")}
    ports = {name: listener.getsockname()[1] for name, listener in sockets.items()}
    stopping = asyncio.Event()
    running = asyncio.create_task(MailServers(world).run(sockets, stopping, timedelta(seconds=5)))
    try:
        trusted = await asyncio.to_thread(pebble.client_context)
        assert b"220" in await greeting(ports["submissions"], UNTRUSTING)
        with pytest.raises(ssl.SSLCertVerificationError):
            await greeting(ports["submissions"], trusted)
        await plan_certificates(world)
        await run_due_work()
        for _ in range(600):
            with suppress(ssl.SSLCertVerificationError):
                assert b"220" in await greeting(ports["submissions"], trusted)
                break
            await asyncio.sleep(0.1)
        else:
            raise AssertionError("The new certificate is not used.")
        assert b"STARTTLS" in await capabilities(ports["inbound"])
    finally:
        stopping.set()
        await running


async def greeting(port, context):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=HOST)
    try:
        return await reader.readline()
    finally:
        writer.close()


async def capabilities(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"EHLO client.example\r\nQUIT\r\n")
    return await reader.read()
