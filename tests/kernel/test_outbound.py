"""The outbound HTTP client with SSRF protection, against a real server on loopback."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from postern.kernel.outbound.client import Outbound, OutboundFailed, OutboundRefused, OutboundResponse, default_tls
from postern.kernel.outbound.ssrf import read_networks
from tests.kernel.test_ssrf import SPECIAL
from tests.peers.dns_zone import dns_zone, patient
from tests.peers.http_receiver import Reply, http_receiver
from tests.peers.ports import reserved_port

LOOPBACK = read_networks("127.0.0.0/8, ::1/128")
SHORT_TIMEOUT = timedelta(milliseconds=300)
LONG_TIMEOUTS = {"total": timedelta(minutes=2), "connect": timedelta(minutes=2)}
"""For requests that must succeed, also on a busy machine."""


async def to_loopback(name):
    """A lookup that returns a loopback address for every name."""
    return ["127.0.0.1"]


@pytest.fixture
async def receiver():
    async with http_receiver() as receiver:
        yield receiver


@pytest.fixture
async def client():
    outbound = Outbound(to_loopback, allowed=LOOPBACK, **LONG_TIMEOUTS)
    yield outbound
    await outbound.close()


async def test_a_request_is_sent_unchanged(client, receiver):
    receiver.script("/hook", Reply(status=202, headers={"Retry-After": "7", "X-Secret": "s"}, body=b"thanks"))
    response = await client.post(
        f"http://hooks.example:{receiver.port}/hook?a=1", b"\x00body", headers={"webhook-id": "1"}
    )
    assert isinstance(response, OutboundResponse)
    assert (response.status, response.ok, response.body, response.complete) == (202, True, b"thanks", True)
    assert response.headers == {"retry-after": "7"}
    (request,) = receiver.requests
    assert (request.method, request.target, request.body) == ("POST", "/hook?a=1", b"\x00body")
    assert request.headers == {
        "host": f"hooks.example:{receiver.port}",
        "user-agent": "Postern/0.1",
        "accept": "*/*",
        "accept-encoding": "identity",
        "webhook-id": "1",
        "content-length": "5",
    }


async def test_header_values_cannot_inject_headers(client):
    for headers in ({"a": "b\r\nc: d"}, {"a b": "c"}, {"a:": "c"}, {"a": "ü"}):
        with pytest.raises(ValueError):
            await client.post("http://hooks.example/", b"", headers=headers)


@pytest.mark.parametrize("text", SPECIAL)
async def test_reserved_addresses_are_never_connected_to(text, monkeypatch):
    async def lookup(name):
        return ["8.8.8.8", text]

    async def connect(*_, **__):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", connect)
    outbound = Outbound(lookup)
    assert isinstance(await outbound.get("http://name.example/"), OutboundRefused)
    literal = f"[{text}]" if ip_address(text).version == 6 else text
    assert isinstance(await outbound.get(f"http://{literal}/"), OutboundRefused)


@pytest.mark.parametrize("host", ["localhost", "app.localhost", "LOCALHOST.", "127.0.0.1", "[::1]"])
async def test_loopback_is_rejected_unless_allowed(host, receiver):
    outbound = Outbound(to_loopback)
    refused = await outbound.get(f"http://{host}:{receiver.port}/")
    assert isinstance(refused, OutboundRefused)
    assert "public Internet" in refused.reason
    assert not receiver.connections


async def test_localhost_is_reachable_when_allowed(client, receiver):
    response = await client.get(f"http://localhost:{receiver.port}/")
    assert isinstance(response, OutboundResponse)


async def test_dns_rebinding_does_not_reach_private_addresses(receiver):
    """DNS rebinding: the first lookup returns a public address, the second that of the cloud metadata service."""
    lookups = [["127.0.0.1"], ["169.254.169.254"], ["127.0.0.1", "169.254.169.254"], ["127.0.0.1"]]

    async def lookup(name):
        return lookups.pop(0)

    outbound = Outbound(lookup, allowed=LOOPBACK, **LONG_TIMEOUTS)
    outcomes = [await outbound.get(f"http://rebind.example:{receiver.port}/") for _ in range(4)]
    await outbound.close()
    assert [type(outcome) for outcome in outcomes] == [
        OutboundResponse,
        OutboundRefused,
        OutboundRefused,
        OutboundResponse,
    ]
    assert outbound.opened == 1


async def test_every_address_in_a_dns_response_is_checked(receiver):
    async with dns_zone("hook.example. A 127.0.0.1\nbad.example. A 127.0.0.1\nbad.example. A 10.0.0.1") as zone:
        zone.servfail("broken.example")
        outbound = Outbound(patient(zone).addresses, allowed=LOOPBACK, **LONG_TIMEOUTS)
        assert isinstance(await outbound.get(f"http://hook.example:{receiver.port}/"), OutboundResponse)
        assert isinstance(await outbound.get(f"http://bad.example:{receiver.port}/"), OutboundRefused)
        for name in ("broken.example", "absent.example"):
            failed = await outbound.get(f"http://{name}/")
            assert isinstance(failed, OutboundFailed)
            assert failed.kind == "dns"
        await outbound.close()


async def test_redirects_are_not_followed(client, receiver):
    receiver.script("/", Reply(status=302, headers={"Location": "http://169.254.169.254/latest/meta-data/"}))
    response = await client.get(f"http://hooks.example:{receiver.port}/")
    assert isinstance(response, OutboundResponse)
    assert (response.status, response.ok) == (302, False)
    assert len(receiver.requests) == 1


async def test_proxy_environment_variables_are_ignored(client, receiver, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert isinstance(await client.get(f"http://hooks.example:{receiver.port}/"), OutboundResponse)


async def test_a_large_response_is_truncated(client, receiver):
    url = f"http://hooks.example:{receiver.port}/"
    receiver.script("/", Reply(body=b"x" * 10_000_000))
    response = await client.get(url)
    assert isinstance(response, OutboundResponse)
    assert (response.status, response.body, response.complete) == (200, b"x" * 4_096, False)
    receiver.script("/", Reply(body=b"y" * 5_000))
    response = await client.get(url)
    assert isinstance(response, OutboundResponse)
    assert (len(response.body), response.complete) == (4_096, False)
    response = await client.get(url, keep=5_000)
    assert isinstance(response, OutboundResponse)
    assert (len(response.body), response.complete) == (5_000, True)
    assert receiver.connections == 2, "the connection was not reused after a body slightly above the limit"


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\n" + b"X-Filler: " + b"x" * 70_000,
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 1_000,
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"220 mail.example.com ESMTP\r\n",
        b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03",
    ],
    ids="endless-head endless-hints upgrade two-lengths both-framings bad-chunk version smtp tls".split(),  # noqa: SIM905
)
async def test_a_malformed_response_fails(client, receiver, raw):
    receiver.script("/", Reply(raw=raw))
    failed = await client.get(f"http://hooks.example:{receiver.port}/")
    assert isinstance(failed, OutboundFailed)
    assert failed.kind == "protocol"


async def test_interim_responses_are_skipped(client, receiver):
    receiver.script("/", Reply(raw=b"HTTP/1.1 103 Early Hints\r\nRetry-After: 9\r\n\r\n" + Reply().wire()))
    response = await client.get(f"http://hooks.example:{receiver.port}/")
    assert isinstance(response, OutboundResponse)
    assert (response.status, response.headers, response.body) == (200, {}, b"ok")


async def test_an_unsolicited_response_is_not_used_for_the_next_request(client, receiver):
    receiver.script("/", Reply(raw=Reply(body=b"expected").wire() + Reply(status=500, body=b"unsolicited").wire()))
    url = f"http://hooks.example:{receiver.port}/"
    for _ in range(2):
        response = await client.get(url)
        assert isinstance(response, OutboundResponse)
        assert (response.status, response.body) == (200, b"expected")
    assert receiver.connections == 2


@pytest.mark.parametrize(
    "path",
    ["/?mode=silent", "/?drip=1", "/?delay=5", "/?size=100000&drip=10"],
    ids=["no-response", "slow-head", "late-response", "slow-body"],
)
async def test_requests_time_out(receiver, path):
    url = f"http://hooks.example:{receiver.port}"
    outbound = Outbound(to_loopback, allowed=LOOPBACK, **LONG_TIMEOUTS)
    assert isinstance(await outbound.get(f"{url}/"), OutboundResponse), "the connection was not opened"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outbound, "_total", SHORT_TIMEOUT.total_seconds())
        failed = await outbound.get(f"{url}{path}")
    assert isinstance(failed, OutboundFailed)
    assert failed.kind == "timeout"
    response = await outbound.get(f"{url}/")
    assert isinstance(response, OutboundResponse), "the timeout affected a later request"
    assert receiver.connections == 2
    await outbound.close()


async def test_a_name_server_that_does_not_respond_times_out():
    async def lookup(name):
        await asyncio.sleep(60)
        raise AssertionError

    failed = await Outbound(lookup, connect=SHORT_TIMEOUT).get("http://hooks.example/")
    assert isinstance(failed, OutboundFailed)
    assert failed.kind == "dns"


async def test_an_address_that_does_not_respond_times_out():
    listener = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    outbound = Outbound(to_loopback, allowed=LOOPBACK, connect=SHORT_TIMEOUT)
    failed = await outbound.get(f"https://hooks.example:{port}/")
    assert isinstance(failed, OutboundFailed)
    assert failed.kind == "connect", "the TLS handshake was not counted as connecting"
    listener.close()


async def test_a_closed_port_fails_to_connect(client):
    with reserved_port() as closed_socket:
        failed = await client.get(f"http://hooks.example:{closed_socket.getsockname()[1]}/")
    assert isinstance(failed, OutboundFailed)
    assert failed.kind == "connect"


@pytest.mark.parametrize("mode", ["hangup", "garbage"])
async def test_a_connection_closed_by_the_server_fails(client, receiver, mode):
    failed = await client.get(f"http://hooks.example:{receiver.port}/?mode={mode}")
    assert isinstance(failed, OutboundFailed)
    assert failed.kind == "protocol"


async def test_connections_are_reused_and_replaced_after_a_server_restart(client, receiver):
    url = f"http://hooks.example:{receiver.port}/"
    for _ in range(5):
        assert isinstance(await client.post(url, b"{}"), OutboundResponse)
    assert receiver.connections == client.opened == 1
    receiver.hang_up()
    assert isinstance(await client.post(url, b"{}"), OutboundResponse)
    assert (len(receiver.requests), client.opened) == (6, 2)


async def test_connections_are_not_shared_between_host_names(client, receiver):
    """Behind a proxy, the same address may be different servers for different host names."""
    for host in ("one.example", "two.example"):
        await client.get(f"http://{host}:{receiver.port}/")
    assert receiver.connections == 2


async def test_concurrent_requests_all_succeed(client, receiver):
    url = f"http://hooks.example:{receiver.port}/"
    outcomes = await asyncio.gather(*[client.post(url, str(n).encode()) for n in range(200)])
    assert all(isinstance(outcome, OutboundResponse) for outcome in outcomes)
    assert sorted(int(request.body) for request in receiver.requests) == list(range(200))


def create_certificate(name):
    """A self-signed certificate and its key, in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(serialization.Encoding.PEM), pem


async def test_tls_sends_sni_and_verifies_the_host(tmp_path):
    cert, key = create_certificate("hooks.example")
    (tmp_path / "cert.pem").write_bytes(cert)
    (tmp_path / "key.pem").write_bytes(key)
    server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_tls.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server_names = []
    server_tls.sni_callback = lambda _socket, name, _context: server_names.append(name)
    client_tls = default_tls()
    client_tls.load_verify_locations(tmp_path / "cert.pem")
    async with http_receiver(tls=server_tls) as receiver:
        trusting_client = Outbound(to_loopback, allowed=LOOPBACK, tls=client_tls, **LONG_TIMEOUTS)
        for _ in range(2):
            assert isinstance(await trusting_client.get(f"https://hooks.example:{receiver.port}/"), OutboundResponse)
        assert (server_names, receiver.connections) == (["hooks.example"], 1)
        for outbound, host in (
            (trusting_client, "other.example"),
            (Outbound(to_loopback, allowed=LOOPBACK, **LONG_TIMEOUTS), "hooks.example"),
        ):
            failed = await outbound.get(f"https://{host}:{receiver.port}/")
            assert isinstance(failed, OutboundFailed)
            assert failed.kind == "tls"
        assert len(receiver.requests) == 2
        await trusting_client.close()
