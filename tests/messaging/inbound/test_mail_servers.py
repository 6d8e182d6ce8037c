"""Mail servers of other projects receive direct mail, pass it on unchanged, and report what they could not deliver."""

import asyncio
import os
import shutil
import time
from contextlib import contextmanager

import dkim
import msgspec
import pytest

from postern.kernel.outbound.ssrf import read_networks
from tests.messaging.emails.conftest import internet
from tests.messaging.emails.test_direct import attempts_of, send, sender
from tests.messaging.inbound.test_receiving import DOMAIN, entry, port
from tests.peers.mail_servers import exim, is_runnable, opensmtpd, postfix
from tests.peers.smtp_sink import Sink, certificate

__all__ = ["internet", "port", "sender"]

WAIT_SECONDS = 60
INSTALL = "apt-get install postfix; .ci/run unpacks exim4-daemon-light and opensmtpd"


def needs_server(name: str, is_here: bool):
    """A parameter whose test is skipped without the server."""
    is_usable = is_here and os.geteuid() == 0
    marks = [
        pytest.mark.needs_tool(name, INSTALL),
        pytest.mark.skipif(not is_usable, reason=f"{name} needs root and: {INSTALL}"),
    ]
    return pytest.param(name, marks=marks, id=name)


SERVERS = [
    needs_server("postfix", shutil.which("postfix") is not None),
    needs_server("exim", is_runnable("exim4")),
    needs_server("opensmtpd", is_runnable("smtpd")),
]

EXIM = """
primary_hostname = mx.exim.test
tls_advertise_hosts = *
tls_certificate = /mnt/mx.pem
tls_privatekey = /mnt/mx.key
acl_smtp_rcpt = accept
begin routers
bounces:
  driver = manualroute
  domains = {domain}
  route_list = * 127.0.0.1
  transport = reports
  self = send
gone:
  driver = redirect
  local_parts = gone
  allow_fail
  data = :fail: Unknown user
full:
  driver = accept
  local_parts = full
  transport = full
next:
  driver = manualroute
  route_list = * 127.0.0.1
  transport = next
  self = send
begin transports
reports:
  driver = smtp
  port = {reports}
  allow_localhost
next:
  driver = smtp
  port = {next}
  allow_localhost
full:
  driver = appendfile
  file = /mnt/full.mbox
  user = Debian-exim
  quota = 200
begin retry
* quota
* * F,1h,1s
"""
OPENSMTPD = """
pki mx.opensmtpd.test cert "/mnt/mx.pem"
pki mx.opensmtpd.test key "/mnt/mx.key"
listen on {address} port {port} tls pki mx.opensmtpd.test
action "reports" relay host smtp://127.0.0.1:{reports}
action "next" relay host smtp://127.0.0.1:{next}
match from any for domain "{domain}" action "reports"
match from any for domain "opensmtpd.test" action "next"
"""


@pytest.fixture
def settings(settings, internet):
    return msgspec.structs.replace(
        settings,
        outbound_allow=tuple(read_networks("127.0.0.0/8, ::1/128")),
        transport="direct",
        direct_port=internet.port,
        return_path_domain=DOMAIN,
        inbound_port=25,
    )


@pytest.fixture
async def next_hop():
    """The server that gets the accepted mail."""
    async with Sink() as sink:
        yield sink


@contextmanager
def running(name, address, smtp_port, reports, next_port):
    """A mail server that passes mail on to `next_port`, and its reports to `reports`."""
    certificate_file, key_file = certificate(f"mx.{name}.test")
    places = {
        "address": address,
        "port": smtp_port,
        "reports": reports,
        "next": next_port,
        "domain": DOMAIN,
    }
    files = {"mx.pem": certificate_file.read_text(), "mx.key": key_file.read_text()}
    if name == "exim":
        server = exim(address, smtp_port, EXIM.format(**places), files)
    elif name == "opensmtpd":
        server = opensmtpd(address, smtp_port, OPENSMTPD.format(**places), files)
    else:
        boxes = certificate_file.parent / "boxes"
        boxes.mkdir(exist_ok=True)
        shutil.chown(boxes, "nobody")
        boxes.parent.chmod(0o755)
        (boxes / "full").write_bytes(b"\n" * 60_000)
        shutil.chown(boxes / "full", "nobody")
        routes = {
            "full@postfix.test": "virtual:",
            "gone@postfix.test": "virtual:",
            "postfix.test": f"smtp:[127.0.0.1]:{next_port}",
            DOMAIN: f"smtp:[127.0.0.1]:{reports}",
        }
        settings = {
            "myhostname": "mx.postfix.test",
            "smtpd_tls_security_level": "may",
            "smtpd_tls_cert_file": certificate_file,
            "smtpd_tls_key_file": key_file,
            "smtputf8_enable": "yes",
            "virtual_mailbox_domains": "postfix.test",
            "virtual_mailbox_base": boxes,
            "virtual_mailbox_maps": "inline:{full@postfix.test=full}",
            "virtual_uid_maps": "static:65534",
            "virtual_gid_maps": "static:65534",
            "virtual_mailbox_limit": 60_010,
            "message_size_limit": 60_000,
            "smtpd_reject_unlisted_recipient": "no",
            "transport_maps": "inline:{" + ", ".join(f"{{{key} = {value}}}" for key, value in routes.items()) + "}",
        }
        server = postfix(address, smtp_port, settings)
    with server as folder:
        yield folder


@pytest.fixture
async def server(request, internet, port, next_hop):
    """The name of a running server, which gets the mail of the domain `<name>.test`."""
    name, address = request.param, internet.new_address()
    internet.zone.add(f"{name}.test", "MX", f"10 mx.{name}.test.")
    internet.zone.add(f"mx.{name}.test", "A", address)
    starting = running(name, address, internet.port, port, next_hop.port)
    folder = await asyncio.to_thread(starting.__enter__)
    try:
        yield name
    finally:
        for log in [*folder.glob("*log"), folder / "log"]:
            if log.is_file():
                print(log.read_text(errors="replace")[-5_000:])
        await asyncio.to_thread(starting.__exit__, None, None, None)


async def wait_for(condition):
    """Wait until an asynchronous condition holds, and return its value."""
    ends = time.monotonic() + WAIT_SECONDS
    while not (value := await condition()):
        assert time.monotonic() < ends
        await asyncio.sleep(0.1)
    return value


@pytest.mark.parametrize("server", SERVERS, indirect=True)
async def test_a_server_passes_mail_on_with_a_valid_signature(sender, server, zone, next_hop):
    log = await send(sender, f"ada@{server}.test", subject="Schöne Grüße", html="<p>Grüße</p>\n.\n..\n" + "ü" * 2_000)
    assert log["status"] == "DELIVERED"
    (attempt,) = await attempts_of(sender, log["id"])
    dialogue = "\n".join(attempt["dialogue"])
    # The OpenSMTPD of Debian 12 cannot use its key with OpenSSL 3, so its mail is sent without TLS after an error.
    assert ("TLS: [SSL" if server == "opensmtpd" else "TLS: TLSv1.3") in dialogue
    assert ("C: BDAT" in dialogue) == ("CHUNKING" in dialogue)
    assert ("CHUNKING" in dialogue) == (server != "opensmtpd")

    async def arrived():
        return next_hop.messages

    (message,) = await wait_for(arrived)
    assert message.message_id == log["messageId"]
    records = {name: "".join(value) for (name, kind), value in zone.records.items() if kind == "TXT"}

    def txt(name, timeout=5):
        return records[name.decode().rstrip(".").lower()].replace('" "', "").strip('"').encode()

    assert message.raw.count(b"DKIM-Signature:") == 2
    for index in (0, 1):
        assert dkim.DKIM(message.raw).verify(index, dnsfunc=txt)


@pytest.mark.parametrize("server", SERVERS, indirect=True)
async def test_an_internationalized_address(sender, server, next_hop):
    log = await send(sender, f"jörg@{server}.test")
    if server == "opensmtpd":
        assert (log["status"], "5.6.7" in log["reason"]) == ("BOUNCED", True)
        return
    assert log["status"] == "DELIVERED"

    async def arrived():
        return next_hop.messages

    (message,) = await wait_for(arrived)
    assert message.recipients == (f"jörg@{server}.test",)


CASES = {
    # Recipient, whether it is suppressed, and a part of the reason.
    "refused by the next server": ("permfail", True, "No such user here"),
    "blocked by the next server": ("blocked", False, "zen.spamhaus.org"),
    "unknown user": ("gone", True, "nknown user"),
    "mailbox full": ("full", False, ""),
}
REPORTS = [
    pytest.param(*server.values, *case, id=f"{server.id}, {name}", marks=server.marks)
    for server in SERVERS
    for name, case in CASES.items()
    if server.id != "opensmtpd" or "next server" in name  # It has no mailboxes here.
]


@pytest.mark.parametrize(("server", "local_part", "is_suppressed", "reason"), REPORTS, indirect=["server"])
async def test_a_late_bounce_is_heard(sender, server, local_part, is_suppressed, reason):
    address = f"{local_part}@{server}.test"
    log = await send(sender, address)
    assert log["deliveredAt"]

    async def bounced():
        current = await entry(sender, log["id"])
        return current if current["status"] == "BOUNCED" else None

    bounce = await wait_for(bounced)
    assert reason in bounce["reason"]
    assert ((await sender.client.get(f"/suppressions/{address}")).status_code == 200) == is_suppressed
    (report,) = (await sender.client.get(f"/emails/logs/{log['id']}/reports")).json()
    assert report["source"] == "dsn"
