"""Direct delivery to mail servers on this machine: routes, several hosts and destinations, TLS, sources, and slow
servers."""

import asyncio
import hashlib
import time
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from postern.kernel.outbound.ssrf import permitted, read_networks
from postern.kernel.values import system_clock
from postern.messaging.emails.outcomes import dialogue_of
from postern.protocols.mail.dane import dane_error
from postern.protocols.mail.dns import TlsaRecord
from postern.protocols.mail.mta_sts import StsPolicy
from postern.protocols.mail.smtp import SmtpConnection, Timeouts
from postern.protocols.mail.transports import direct as direct_module
from postern.protocols.mail.transports.direct import DESTINATION_LIMITS, DirectTransport, Source, select_sources
from postern.protocols.mail.transports.mx import MailRoutes
from postern.protocols.mail.transports.transport import Accepted, Deferred, DeliveryHooks, Envelope, Rejected
from tests.peers.certificates import CertificateAuthority
from tests.peers.dns_zone import dns_zone, hasty, patient
from tests.peers.loopback_internet import loopback_internet
from tests.peers.smtp_sink import Behaviour, server_context

MESSAGE = b"Message-ID: <1@a.test>\r\nSubject: Hello\r\n\r\nHello\r\n.dot\r\n"
LOOPBACK = read_networks("127.0.0.0/8, ::1/128")
SHORT = timedelta(seconds=0.2)


def envelope(*recipients: str, **more) -> Envelope:
    return Envelope(mail_from="b@a.test", recipients=recipients or ("x@b.test",), message_id="<1@a.test>", **more)


class Lab:
    """A zone, mail servers, and transports that deliver to them."""

    def __init__(self, zone, internet, stack):
        self.zone, self.internet, self.stack = zone, internet, stack
        self.policies = {}

    def transport(self, *, resolver=None, allowed=LOOPBACK, own_names=(), own_addresses=(), **settings):
        async def find_policy(domain):
            return self.policies.get(domain)

        routes = MailRoutes(
            resolver or patient(self.zone),
            port=self.internet.port,
            check_addresses=lambda addresses: permitted(addresses, allowed),
            find_policy=find_policy,
            own_names=own_names,
            own_addresses=own_addresses,
            clock=time.monotonic,
        )
        transport = DirectTransport(routes.find, now=system_clock, port=self.internet.port, **settings)
        self.stack.push_async_callback(transport.aclose)
        return transport

    async def deliver(self, *recipients, **settings):
        return await self.transport(**settings).deliver(envelope(*recipients), MESSAGE)


@pytest.fixture
async def lab():
    async with AsyncExitStack() as stack:
        zone = await stack.enter_async_context(dns_zone())
        yield Lab(zone, await stack.enter_async_context(loopback_internet(zone)), stack)


def codes(outcome):
    """Class, reply code and enhanced code of each result."""
    return [(type(result).__name__, result.code, result.enhanced) for result in outcome.results]


# Routes ---------------------------------------------------


async def test_the_recipients_server_gets_the_message(lab):
    sink = await lab.internet.mail_server("b.test")
    outcome = await lab.deliver("x@B.test")
    assert codes(outcome) == [("Accepted", 250, "2.0.0")]
    assert outcome.results[0].delivered
    assert outcome.host == f"mx.b.test:{lab.internet.port}"
    assert sink.messages[0].raw == MESSAGE


async def test_servers_are_tried_by_preference(lab):
    first = await lab.internet.mail_server("b.test", host="mx1.b.test", preference=10)
    second = await lab.internet.mail_server("b.test", host="mx2.b.test", preference=20)
    transport = lab.transport()
    await transport.deliver(envelope(), MESSAGE)
    assert (len(first.messages), len(second.messages)) == (1, 0)
    await first.aclose()
    outcome = await transport.deliver(envelope(), MESSAGE)
    assert codes(outcome) == [("Accepted", 250, "2.0.0")]
    assert outcome.host.startswith("mx2.b.test:")


@pytest.mark.parametrize("greeting", [b"421 4.3.2 Closing", b"554 5.7.1 No service"])
async def test_a_server_that_refuses_connections_is_skipped(lab, greeting):
    await lab.internet.mail_server("b.test", Behaviour(replies={"GREETING": greeting}), host="mx1.b.test", preference=1)
    second = await lab.internet.mail_server("b.test", host="mx2.b.test", preference=2)
    assert codes(await lab.deliver()) == [("Accepted", 250, "2.0.0")]
    assert len(second.messages) == 1


async def test_servers_of_the_same_preference_share_the_load(lab):
    sinks = [await lab.internet.mail_server("b.test", host=f"mx{n}.b.test") for n in range(3)]
    for chance in (0.0, 0.5, 0.9):
        numbers = [chance, (chance + 0.4) % 1, (chance + 0.7) % 1, *[0.0] * 9]
        outcome = await lab.transport(chance=iter(numbers).__next__).deliver(envelope(), MESSAGE)
        assert codes(outcome) == [("Accepted", 250, "2.0.0")]
    assert [len(sink.messages) for sink in sinks] == [1, 1, 1]


async def test_without_mx_the_domain_itself_is_the_server(lab):
    address = lab.internet.new_address()
    sink = await lab.internet.server_at(address)
    lab.zone.add("b.test", "A", address)
    assert codes(await lab.deliver()) == [("Accepted", 250, "2.0.0")]
    assert len(sink.messages) == 1


async def test_an_alias_is_followed(lab):
    """RFC 5321 §5.1: the name that a CNAME record leads to is processed as the domain."""
    sink = await lab.internet.mail_server("real.test")
    lab.zone.add("alias.test", "CNAME", "real.test.")
    assert codes(await lab.deliver("x@alias.test")) == [("Accepted", 250, "2.0.0")]
    assert sink.messages[0].recipients == ("x@alias.test",)


async def test_a_server_with_ipv6_only(lab):
    sink = await lab.internet.mail_server("b.test", address="::1")
    assert codes(await lab.deliver()) == [("Accepted", 250, "2.0.0")]
    assert len(sink.messages) == 1


async def test_an_unreachable_address_is_followed_by_the_next_one(lab):
    sink = await lab.internet.mail_server("b.test")
    lab.zone.add("mx.b.test", "AAAA", "::1")  # Nothing listens there.
    assert codes(await lab.deliver()) == [("Accepted", 250, "2.0.0")]
    assert len(sink.messages) == 1


PERMANENT = {
    "no such domain": ([], ("Rejected", 550, "5.1.2")),
    "null mx": ([("b.test", "MX", "0 .")], ("Rejected", 556, "5.1.10")),
    "null mx beside an address": ([("b.test", "MX", "0 ."), ("b.test", "A", "127.0.1.1")], ("Rejected", 556, "5.1.10")),
    "no mx and no address": ([("b.test", "TXT", "hello")], ("Rejected", 550, "5.4.4")),
    "mx without address": ([("b.test", "MX", "10 gone.test.")], ("Rejected", 550, "5.4.4")),
    "mx that is an address": ([("b.test", "MX", "10 192.0.2.1.")], ("Rejected", 550, "5.4.4")),
    "mx with a slash": ([("b.test", "MX", "10 a/b.test."), ("a/b.test", "A", "127.0.1.1")], ("Rejected", 550, "5.4.4")),
    "mx with a control character": (
        [("b.test", "MX", r"10 a\027b.test."), (r"a\027b.test", "A", "127.0.1.1")],
        ("Rejected", 550, "5.4.4"),
    ),
    "private address": ([("b.test", "MX", "10 m.b.test."), ("m.b.test", "A", "10.0.0.1")], ("Rejected", 550, "5.4.4")),
    "metadata address": ([("b.test", "A", "169.254.169.254")], ("Rejected", 550, "5.4.4")),
    "own name": ([("b.test", "MX", "10 own.test."), ("own.test", "A", "127.0.1.1")], ("Rejected", 554, "5.4.6")),
    "own address": ([("b.test", "MX", "10 m.b.test."), ("m.b.test", "A", "127.0.0.9")], ("Rejected", 554, "5.4.6")),
}


@pytest.mark.parametrize(("records", "expected"), PERMANENT.values(), ids=PERMANENT)
async def test_a_domain_without_a_usable_server_is_rejected(lab, records, expected):
    for name, kind, value in records:
        lab.zone.add(name, kind, value)
    outcome = await lab.deliver(own_names=["own.test"], own_addresses=["127.0.0.9"])
    assert codes(outcome) == [expected]
    assert not outcome.no_server_contacted


async def test_a_loopback_address_needs_permission(lab):
    sink = await lab.internet.mail_server("b.test")
    outcome = await lab.deliver(allowed=[])
    assert codes(outcome) == [("Rejected", 550, "5.4.4")]
    assert "public Internet" in outcome.results[0].text
    assert sink.connections == 0


@pytest.mark.parametrize("kind", ["MX", "A"])
async def test_a_failed_lookup_is_temporary(lab, kind):
    await lab.internet.mail_server("b.test")
    lab.zone.servfail("b.test" if kind == "MX" else "mx.b.test")
    assert codes(await lab.deliver()) == [("Deferred", 451, "4.4.3")]
    lab.zone.heal()
    lab.zone.silence("b.test" if kind == "MX" else "mx.b.test")
    assert codes(await lab.deliver(resolver=hasty(lab.zone))) == [("Deferred", 451, "4.4.3")]


async def test_a_server_that_prefers_itself_ends_the_list(lab):
    """RFC 5321 §5.1: of the servers, those that are not preferred to this one are discarded."""
    sink = await lab.internet.mail_server("b.test", host="mx1.b.test", preference=10)
    lab.zone.add("b.test", "MX", "20 own.test.", "30 mx3.b.test.")
    lab.zone.add("own.test", "A", "127.0.0.9")
    await lab.internet.server_at("127.0.1.99")
    lab.zone.add("mx3.b.test", "A", "127.0.1.99")
    transport = lab.transport(own_names=["own.test"])
    assert codes(await transport.deliver(envelope(), MESSAGE)) == [("Accepted", 250, "2.0.0")]
    await sink.aclose()
    assert codes(await transport.deliver(envelope(), MESSAGE)) == [("Deferred", 0, "4.4.1")]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("x@[192.0.2.1]", ("Rejected", 550, "5.1.2")),
        ("x@[IPv6:2001:db8::1]", ("Rejected", 550, "5.1.2")),
        ("x@", ("Rejected", 553, "5.1.3")),
        ("x@b..test", ("Rejected", 550, "5.1.2")),
        ("x@" + "a" * 64 + ".test", ("Rejected", 550, "5.1.2")),
        ("x@\u00fc\ud800.test", ("Rejected", 553, "5.1.3")),
    ],
)
async def test_addresses_without_a_domain_are_rejected(lab, address, expected):
    assert codes(await lab.deliver(address)) == [expected]


async def test_the_number_of_tried_addresses_is_limited(lab, monkeypatch):
    monkeypatch.setattr(direct_module, "ADDRESSES_TRIED", 2)
    for number in range(4):
        lab.zone.add("b.test", "MX", f"{number} mx{number}.b.test.")
        lab.zone.add(f"mx{number}.b.test", "A", lab.internet.new_address())
    last = await lab.internet.mail_server("b.test", host="last.b.test", preference=50)
    assert codes(await lab.deliver()) == [("Deferred", 0, "4.4.1")]
    assert last.connections == 0


# Several destinations ---------------------------------------------------


async def test_each_recipient_has_one_result_and_each_destination_one_transaction(lab):
    one = await lab.internet.mail_server("one.test")
    two = await lab.internet.mail_server("two.test", Behaviour(replies={"RCPT": b"451 4.7.1 Greylisted"}))
    lab.zone.add("same.test", "MX", "10 mx.one.test.")
    recipients = ("a@one.test", "b@two.test", "c@same.test", "d@gone.test", "e@one.test")
    outcome = await lab.deliver(*recipients)
    assert tuple(result.recipient for result in outcome.results) == recipients
    assert [name for name, _, _ in codes(outcome)] == ["Accepted", "Deferred", "Accepted", "Rejected", "Accepted"]
    assert [message.recipients for message in one.messages] == [("a@one.test", "c@same.test", "e@one.test")]
    assert two.messages == []
    lines = dialogue_of(outcome)
    assert sum(line.startswith("C: MAIL") for line in lines) == 2


async def test_a_hook_that_fails_for_one_destination_does_not_lose_the_results_of_others(lab):
    one = await lab.internet.mail_server("one.test")
    two = await lab.internet.mail_server("two.test")
    calls = []

    async def admit():
        calls.append(None)
        if len(calls) == 2:
            raise LookupError("the content changed")

    outcome = await lab.transport().deliver(envelope("a@one.test", "b@two.test"), MESSAGE, DeliveryHooks(admit=admit))
    assert sorted(name for name, _, _ in codes(outcome)) == ["Accepted", "Deferred"]
    assert len(one.messages) + len(two.messages) == 1

    async def refuse():
        raise LookupError("the content changed")

    with pytest.raises(LookupError):
        await lab.transport().deliver(envelope("a@one.test", "b@two.test"), MESSAGE, DeliveryHooks(admit=refuse))


async def test_a_lost_reply_of_one_destination_is_ambiguous(lab):
    await lab.internet.mail_server("one.test", Behaviour(drop_after_dot=1.0))
    await lab.internet.mail_server("two.test")
    outcome = await lab.deliver("a@one.test", "b@two.test")
    assert outcome.ambiguous
    assert [type(result) for result in outcome.results] == [Deferred, Accepted]


async def test_a_stalled_destination_does_not_delay_others(lab):
    stalled = await lab.internet.mail_server("slow.test", Behaviour(stall_at="GREETING"))
    good = await lab.internet.mail_server("good.test")
    limits = msgspec.structs.replace(DESTINATION_LIMITS, longest_wait_seconds=0.1)
    transport = lab.transport(limits=limits)
    waiting = [asyncio.create_task(transport.deliver(envelope(f"{n}@slow.test"), MESSAGE)) for n in range(300)]
    for n in range(50):
        outcome = await transport.deliver(envelope(f"{n}@good.test"), MESSAGE)
        assert codes(outcome) == [("Accepted", 250, "2.0.0")]
    assert len(good.messages) == 50
    connecting = DESTINATION_LIMITS.initial_connections
    while sum(task.done() for task in waiting) < len(waiting) - connecting:
        await asyncio.sleep(0.01)
    assert stalled.connections == connecting
    assert all(task.result().no_server_contacted for task in waiting if task.done())
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)


async def test_an_unreachable_destination_counts_as_a_failed_attempt(lab):
    """Otherwise its mail would be tried for ever, because `no_server_contacted` is no attempt."""
    lab.zone.add("b.test", "MX", "10 mx.b.test.")
    lab.zone.add("mx.b.test", "A", lab.internet.new_address())
    transport = lab.transport()
    outcomes = [await transport.deliver(envelope(), MESSAGE) for _ in range(6)]
    assert {type(outcome.results[0]) for outcome in outcomes} == {Deferred}
    assert not any(outcome.no_server_contacted for outcome in outcomes)
    assert "several times in a row" in outcomes[-1].results[0].text


async def test_connections_are_reused_and_bounded(lab, monkeypatch):
    sinks = [await lab.internet.mail_server(f"d{n}.test") for n in range(4)]
    transport = lab.transport()
    for _ in range(5):
        for n in range(4):
            await transport.deliver(envelope(f"x@d{n}.test"), MESSAGE)
    assert [sink.connections for sink in sinks] == [1, 1, 1, 1]
    monkeypatch.setattr(direct_module, "MAX_CONNECTIONS", 2)
    for n in range(4):
        assert codes(await lab.transport().deliver(envelope(f"x@d{n}.test"), MESSAGE)) == [("Accepted", 250, "2.0.0")]
    limited = lab.transport()
    for _ in range(2):
        for n in range(4):
            outcome = await limited.deliver(envelope(f"x@d{n}.test"), MESSAGE)
            assert codes(outcome) == [("Accepted", 250, "2.0.0")]
    assert len(limited._connections) <= 2


async def test_without_a_connection_left_the_message_waits(lab, monkeypatch):
    monkeypatch.setattr(direct_module, "MAX_CONNECTIONS", 1)
    await lab.internet.mail_server("slow.test", Behaviour(stall_at="GREETING"))
    await lab.internet.mail_server("b.test")
    transport = lab.transport()
    first = asyncio.create_task(transport.deliver(envelope("x@slow.test"), MESSAGE))
    while not transport._dialing:
        await asyncio.sleep(0.01)
    outcome = await transport.deliver(envelope(), MESSAGE)
    assert outcome.no_server_contacted
    assert outcome.retry_after
    first.cancel()
    await asyncio.wait([first])


async def test_slow_servers_of_one_tenant_leave_connections_to_the_others(lab, monkeypatch):
    """Recipients are chosen by whoever fills a form, and their servers may take minutes for each reply."""
    monkeypatch.setattr(direct_module, "MAX_CONNECTIONS", 4)
    monkeypatch.setattr(direct_module, "RESERVED_CONNECTIONS", 2, raising=False)
    await lab.internet.mail_server("b.test")
    for n in range(6):
        await lab.internet.mail_server(f"slow{n}.test", Behaviour(stall_at="GREETING"))
    transport = lab.transport()
    slow = [asyncio.create_task(transport.deliver(envelope(f"x@slow{n}.test", tenant="a"), MESSAGE)) for n in range(6)]
    done: set[asyncio.Task] = set()
    async with asyncio.timeout(60):
        while len(done) < 4:  # All but the two that have the connections of this tenant.
            done, _ = await asyncio.wait(slow, timeout=0.1)
    assert codes(await transport.deliver(envelope(tenant="b"), MESSAGE)) == [("Accepted", 250, "2.0.0")]
    assert len(done) == 4
    assert all(task.result().no_server_contacted for task in done)
    for task in slow:
        task.cancel()
    await asyncio.wait(slow)


async def test_unused_destinations_are_dropped(lab, monkeypatch):
    monkeypatch.setattr(direct_module, "MAX_DESTINATIONS", 2)
    transport = lab.transport()
    sinks = [await lab.internet.mail_server(f"d{n}.test") for n in range(4)]
    for n in range(4):
        await transport.deliver(envelope(f"x@d{n}.test"), MESSAGE)
    assert len(transport._destinations) == 2
    await transport.aclose()
    assert [sink.commands[-1] for sink in sinks] == ["QUIT"] * 4


# TLS ---------------------------------------------------


def tls_lines(outcome):
    return [line for line in dialogue_of(outcome) if line.startswith("TLS: ")]


async def test_tls_is_used_without_checks_if_it_is_offered(lab):
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=server_context("other.test")))
    outcome = await lab.deliver()
    assert sink.messages[0].encrypted
    (line,) = tls_lines(outcome)
    assert line.startswith("TLS: TLSv1.")
    assert line.endswith("certificate not checked")


async def test_after_a_failed_handshake_the_message_is_sent_in_plain_text(lab):
    broken = server_context()
    broken.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256")  # The certificate has an elliptic curve key.
    broken.maximum_version = broken.minimum_version
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=broken))
    outcome = await lab.deliver()
    assert codes(outcome) == [("Accepted", 250, "2.0.0")]
    assert not sink.messages[0].encrypted
    assert sink.connections == 2
    assert len(tls_lines(outcome)) == 1


async def test_a_refused_starttls_does_not_end_the_connection(lab):
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=server_context(), replies={"STARTTLS": b"454 No"}))
    assert codes(await lab.deliver()) == [("Accepted", 250, "2.0.0")]
    assert sink.connections == 1


# Sources ---------------------------------------------------


def test_sources_are_chosen_by_tenant_and_lane():
    shared = Source(address="192.0.2.1", name="a.test")
    bulk = Source(address="192.0.2.2", name="b.test", lane="marketing")
    own = Source(address="192.0.2.3", name="c.test", tenant="1")
    sources = [shared, bulk, own]
    assert select_sources(sources, tenant=None, bulk=False) == (shared,)
    assert select_sources(sources, tenant="2", bulk=True) == (bulk,)
    assert select_sources(sources, tenant="1", bulk=True) == (own,)
    assert select_sources([bulk], tenant=None, bulk=False) == (bulk,)
    assert (
        select_sources([own], tenant="2", bulk=False) == (own,) or select_sources([own], tenant="2", bulk=False) == ()
    )


async def test_the_source_address_and_its_name_are_used(lab):
    sink = await lab.internet.mail_server("b.test")
    sources = [
        Source(address="127.0.2.1", name="mx1.own.test"),
        Source(address="127.0.2.2", name="bulk.own.test", lane="marketing"),
        Source(address="::1", name="six.own.test"),
    ]
    transport = lab.transport(sources=sources)
    await transport.deliver(envelope(), MESSAGE)
    await transport.deliver(envelope(bulk=True), MESSAGE)
    assert [line for line in sink.commands if line.startswith("EHLO")] == ["EHLO mx1.own.test", "EHLO bulk.own.test"]


async def test_a_server_without_an_address_of_the_sources_family_is_not_contacted(lab):
    sink = await lab.internet.mail_server("b.test", address="::1")
    outcome = await lab.deliver(sources=[Source(address="127.0.2.1", name="mx1.own.test")])
    assert codes(outcome) == [("Deferred", 0, "4.4.2")]
    assert sink.connections == 0


# Misbehaving servers ---------------------------------------------------


@pytest.mark.parametrize("chunking", [False, True])
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"replies": {"RCPT": b"450 4.7.1 Greylisted"}}, ("Deferred", 450, "4.7.1")),
        ({"replies": {"RCPT": b"550 5.1.1 No such user"}}, ("Rejected", 550, "5.1.1")),
        ({"replies": {"MAIL": b"421 4.3.2 Closing"}}, ("Deferred", 421, "4.3.2")),
        ({"replies": {"DOT": b"554 5.7.1 Spam"}}, ("Rejected", 554, "5.7.1")),
        ({"stall_at": "MAIL"}, ("Deferred", 0, "4.4.2")),
        ({"drop_at": "RCPT"}, ("Deferred", 0, "4.4.2")),
        ({"replies": {"EHLO": b"500 What?"}}, ("Accepted", 250, "2.0.0")),
    ],
)
async def test_servers_that_fail(lab, change, expected, chunking):
    timeouts = Timeouts(command=SHORT) if "stall_at" in change else Timeouts()
    sink = await lab.internet.mail_server("b.test", Behaviour(chunking=chunking, **change))
    transport = lab.transport(timeouts=timeouts)
    outcome = await transport.deliver(envelope(), MESSAGE)
    assert codes(outcome) == [expected]
    assert not outcome.ambiguous
    sink.behaviour.replies, sink.behaviour.stall_at, sink.behaviour.drop_at = {}, "", ""
    assert codes(await transport.deliver(envelope(), MESSAGE)) == [("Accepted", 250, "2.0.0")]


@pytest.mark.parametrize("chunking", [False, True])
async def test_a_connection_that_ends_after_the_message_is_ambiguous(lab, chunking):
    sink = await lab.internet.mail_server("b.test", Behaviour(chunking=chunking, drop_after_dot=1.0))
    outcome = await lab.deliver()
    assert outcome.ambiguous
    assert isinstance(outcome.results[0], Deferred)
    assert any(command.startswith("BDAT") for command in sink.commands) is chunking


@pytest.mark.parametrize("last_reply", [b"250 Ok", b"421 Closing"])
@pytest.mark.parametrize("is_noticed", [False, True])
async def test_a_connection_that_ends_after_the_recipients_were_accepted_delivers_nothing(
    lab, last_reply, is_noticed, monkeypatch
):
    """The replies to RCPT are positive, but the server closes the connection before it got the message.

    `is_noticed`: the client notices that before it would send the message.
    """
    receive = SmtpConnection._receive

    async def receive_and_wait(connection, count, reply_timeout):
        replies = await receive(connection, count, reply_timeout)
        while count == 3 and connection.usable:
            await asyncio.sleep(0.01)
        return replies

    if is_noticed:
        monkeypatch.setattr(SmtpConnection, "_receive", receive_and_wait)

    async def serve(reader, writer):
        writer.write(b"220 mx.b.test\r\n")
        await reader.readline()
        writer.write(b"250-mx.b.test\r\n250-PIPELINING\r\n250 CHUNKING\r\n")
        for _ in range(3):  # MAIL and two recipients.
            await reader.readline()
        writer.write(b"250 Ok\r\n250 Ok\r\n" + last_reply + b"\r\n")
        writer.close()

    address = lab.internet.new_address()
    lab.zone.add("b.test", "A", address)
    async with await asyncio.start_server(serve, address, lab.internet.port):
        outcome = await lab.deliver("a@b.test", "c@b.test")
    assert {type(result) for result in outcome.results} == {Deferred}


async def test_a_message_too_large_for_the_server_is_rejected(lab):
    await lab.internet.mail_server("b.test", Behaviour(size=20))
    outcome = await lab.deliver()
    assert isinstance(outcome.results[0], Rejected)
    assert outcome.results[0].enhanced == "5.3.4"


# MTA-STS ---------------------------------------------------


ENFORCED = StsPolicy(mode="enforce", max_age=86_400, mx=("*.b.test",))


@pytest.fixture(scope="module")
def authority():
    return CertificateAuthority()


@pytest.mark.parametrize(
    ("names", "days", "listed", "is_accepted"),
    [
        (["mx.b.test"], 30, "*.b.test", True),
        (["mx.b.test"], 30, "mx.b.test", True),
        (["mx.b.test"], 30, "mx.other.test", False),
        (["mx.other.test"], 30, "mx.b.test", False),
        (["mx.b.test"], -1, "mx.b.test", False),
    ],
)
async def test_an_enforced_policy_requires_a_listed_server_with_a_valid_certificate(
    lab, authority, names, days, listed, is_accepted
):
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=authority.server(*names, days=days)[0]))
    lab.policies["b.test"] = msgspec.structs.replace(ENFORCED, mx=(listed,))
    outcome = await lab.deliver(context=authority.client_context())
    assert codes(outcome) == [("Accepted", 250, "2.0.0") if is_accepted else ("Deferred", 0, "4.7.5")]
    assert len(sink.messages) == is_accepted
    if is_accepted:
        assert tls_lines(outcome)[0].endswith("certificate checked")


async def test_the_common_name_of_a_certificate_is_no_name_of_the_server(lab, authority):
    """RFC 8461 §4.2: the name must be a subject alternative name."""
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=authority.server("mx.b.test", has_san=False)[0]))
    lab.policies["b.test"] = ENFORCED
    assert codes(await lab.deliver(context=authority.client_context())) == [("Deferred", 0, "4.7.5")]
    assert sink.messages == []


async def test_the_name_of_the_server_is_in_sni(lab, authority):
    """RFC 8461 §7.1: with a policy, and without one."""
    names = []
    context, _ = authority.server("mx.b.test")
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    await lab.internet.mail_server("b.test", Behaviour(tls=context))
    for policy in (ENFORCED, None):
        lab.policies["b.test"] = policy
        assert codes(await lab.deliver(context=authority.client_context())) == [("Accepted", 250, "2.0.0")]
    assert names == ["mx.b.test"] * 2


async def test_a_server_without_the_required_tls_gets_quit(lab, authority):
    sink = await lab.internet.mail_server("b.test")
    lab.policies["b.test"] = ENFORCED
    assert codes(await lab.deliver(context=authority.client_context())) == [("Deferred", 0, "4.7.4")]
    assert sink.commands[-1] == "QUIT"


async def test_an_enforced_policy_never_allows_plain_text(lab, authority):
    sink = await lab.internet.mail_server("b.test")
    lab.policies["b.test"] = ENFORCED
    assert codes(await lab.deliver(context=authority.client_context())) == [("Deferred", 0, "4.7.4")]
    sink.behaviour.tls = server_context("mx.b.test")  # Not issued by the authority.
    assert codes(await lab.deliver(context=authority.client_context())) == [("Deferred", 0, "4.7.5")]
    assert sink.messages == []


@pytest.mark.parametrize("mode", ["testing", "none"])
async def test_a_policy_that_is_not_enforced_changes_nothing(lab, mode):
    sink = await lab.internet.mail_server("b.test")
    lab.policies["b.test"] = msgspec.structs.replace(ENFORCED, mode=mode, mx=("other.test",))
    assert codes(await lab.deliver()) == [("Accepted", 250, "2.0.0")]
    assert len(sink.messages) == 1


async def test_a_domain_with_a_policy_never_uses_the_connections_of_one_without(lab, authority):
    sink = await lab.internet.mail_server("b.test")
    lab.zone.add("plain.test", "MX", "10 mx.b.test.")
    lab.policies["b.test"] = ENFORCED
    transport = lab.transport(context=authority.client_context())
    assert codes(await transport.deliver(envelope("x@plain.test"), MESSAGE)) == [("Accepted", 250, "2.0.0")]
    assert codes(await transport.deliver(envelope("x@b.test"), MESSAGE)) == [("Deferred", 0, "4.7.4")]
    assert len(sink.messages) == 1


# DANE ---------------------------------------------------


def tlsa(certificate, usage, selector, matching_type):
    """A TLSA record that matches a certificate."""
    key = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    data = key if selector else certificate.public_bytes(Encoding.DER)
    digest = [bytes, lambda data: hashlib.sha256(data).digest(), lambda data: hashlib.sha512(data).digest()]
    return f"{usage} {selector} {matching_type} {digest[matching_type](data).hex()}"


def publish_tlsa(lab, *records):
    lab.zone.is_authenticated = True
    lab.zone.set(f"_{lab.internet.port}._tcp.mx.b.test", "TLSA", *records)


def validating(lab):
    return patient(lab.zone, dnssec=True)


@pytest.mark.parametrize("selector", [0, 1])
@pytest.mark.parametrize("matching_type", [0, 1, 2])
@pytest.mark.parametrize("usage", [2, 3])
async def test_a_certificate_that_matches_a_tlsa_record_is_accepted(lab, authority, usage, selector, matching_type):
    """DANE-EE accepts the server's certificate; DANE-TA one that the authority has issued for the server's name."""
    context, certificate = authority.server("mx.b.test" if usage == 2 else "any.test", days=30 if usage == 2 else -1)
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=context))
    trusted = authority.certificate if usage == 2 else certificate
    publish_tlsa(lab, tlsa(trusted, usage, selector, matching_type))
    outcome = await lab.deliver(resolver=validating(lab))
    assert codes(outcome) == [("Accepted", 250, "2.0.0")]
    assert sink.messages[0].encrypted
    assert tls_lines(outcome)[0].endswith("certificate checked")


@pytest.mark.parametrize("fault", ["other key", "other name", "expired", "other authority", "no starttls"])
async def test_a_server_that_matches_no_tlsa_record_gets_no_mail(lab, authority, fault):
    names = ["mx.other.test" if fault == "other name" else "mx.b.test"]
    context, _ = authority.server(*names, days=-1 if fault == "expired" else 30)
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=None if fault == "no starttls" else context))
    trusted = {"other key": authority.server("mx.b.test")[1], "other authority": CertificateAuthority().certificate}
    record = tlsa(trusted.get(fault, authority.certificate), 3 if fault == "other key" else 2, 1, 1)
    publish_tlsa(lab, record)
    outcome = await lab.deliver(resolver=validating(lab))
    assert codes(outcome) == [("Deferred", 0, "4.7.4" if fault == "no starttls" else "4.7.5")]
    assert sink.messages == []


@pytest.mark.parametrize(
    ("name", "is_accepted"),
    [("b.test", True), ("*.b.test", True), ("mx.b.test", True), ("a.b.test", False), ("*.test", True), ("test", False)],
)
async def test_for_dane_ta_the_name_is_that_of_the_server_or_of_the_domain(lab, authority, name, is_accepted):
    """RFC 7672 §3.2.2 and §3.2.3: `*.test` matches the domain b.test."""
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=authority.server(name)[0]))
    publish_tlsa(lab, tlsa(authority.certificate, 2, 0, 1))
    outcome = await lab.deliver(resolver=validating(lab))
    assert codes(outcome) == [("Accepted", 250, "2.0.0") if is_accepted else ("Deferred", 0, "4.7.5")]
    assert len(sink.messages) == is_accepted


async def test_for_dane_ta_the_domain_may_be_an_alias(lab, authority):
    """RFC 7672 §3.2.2: both names of the domain are names of its servers."""
    await lab.internet.mail_server("b.test", Behaviour(tls=authority.server("b.test")[0]))
    publish_tlsa(lab, tlsa(authority.certificate, 2, 0, 1))
    lab.zone.add("c.test", "CNAME", "b.test.")
    outcome = await lab.deliver("x@c.test", resolver=validating(lab))
    assert codes(outcome) == [("Accepted", 250, "2.0.0")]


async def test_the_strongest_digest_decides(lab, authority):
    """RFC 7671 §9."""
    context, certificate = authority.server("mx.b.test")
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=context))
    other = authority.server("mx.b.test")[1]
    publish_tlsa(lab, tlsa(certificate, 3, 1, 1), tlsa(other, 3, 1, 2))
    assert codes(await lab.deliver(resolver=validating(lab))) == [("Deferred", 0, "4.7.5")]
    publish_tlsa(lab, tlsa(other, 3, 1, 1), tlsa(certificate, 3, 1, 2), tlsa(other, 3, 0, 2))
    assert codes(await lab.deliver(resolver=validating(lab))) == [("Accepted", 250, "2.0.0")]
    assert len(sink.messages) == 1


async def test_a_connection_with_a_certificate_of_one_domain_is_not_used_for_another(lab, authority):
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=authority.server("b.test")[0]))
    publish_tlsa(lab, tlsa(authority.certificate, 2, 0, 1))
    lab.zone.add("c.test", "MX", "10 mx.b.test.")
    transport = lab.transport(resolver=validating(lab))
    assert codes(await transport.deliver(envelope("x@b.test"), MESSAGE)) == [("Accepted", 250, "2.0.0")]
    assert codes(await transport.deliver(envelope("x@c.test"), MESSAGE)) == [("Deferred", 0, "4.7.5")]
    assert len(sink.messages) == 1


@pytest.mark.parametrize("at", ["target", "alias", "both"])
async def test_the_records_of_an_alias_are_those_of_its_target_or_else_its_own(lab, authority, at):
    """RFC 7672 §2.2.3; the base domain is a name of the server, and the name in SNI."""
    context, _ = authority.server("mx.target.test" if at != "alias" else "alias.b.test")
    names = []
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    sink = await lab.internet.mail_server("target.test", Behaviour(tls=context))
    lab.zone.is_authenticated = True
    lab.zone.add("b.test", "MX", "10 alias.b.test.")
    lab.zone.add("alias.b.test", "CNAME", "mx.target.test.")
    record = tlsa(authority.certificate, 2, 0, 1)
    other = tlsa(CertificateAuthority().certificate, 2, 0, 1)
    if at != "alias":
        lab.zone.add(f"_{lab.internet.port}._tcp.mx.target.test", "TLSA", record)
    if at != "target":
        lab.zone.add(f"_{lab.internet.port}._tcp.alias.b.test", "TLSA", other if at == "both" else record)
    assert codes(await lab.deliver(resolver=validating(lab))) == [("Accepted", 250, "2.0.0")]
    assert names == ["alias.b.test" if at == "alias" else "mx.target.test"]
    assert sink.messages[0].encrypted


async def test_dane_takes_precedence_over_mta_sts(lab, authority):
    context, certificate = authority.server("any.test")
    await lab.internet.mail_server("b.test", Behaviour(tls=context))
    lab.policies["b.test"] = ENFORCED
    publish_tlsa(lab, tlsa(certificate, 3, 1, 1))
    assert codes(await lab.deliver(resolver=validating(lab))) == [("Accepted", 250, "2.0.0")]
    publish_tlsa(lab, tlsa(CertificateAuthority().certificate, 3, 1, 1))
    assert codes(await lab.deliver(resolver=validating(lab))) == [("Deferred", 0, "4.7.5")]


@pytest.mark.parametrize(
    "record", ["0 1 1 " + "00" * 32, "1 1 1 " + "00" * 32, "3 9 1 " + "00" * 32, "3 1 9 " + "00" * 32]
)
async def test_with_unusable_records_only_tls_without_authentication_is_required(lab, record):
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=server_context()))
    publish_tlsa(lab, record)
    assert codes(await lab.deliver(resolver=validating(lab))) == [("Accepted", 250, "2.0.0")]
    assert sink.messages[0].encrypted
    sink.behaviour.tls = None
    assert codes(await lab.deliver(resolver=validating(lab))) == [("Deferred", 0, "4.7.4")]


@pytest.mark.parametrize("unsigned", ["b.test", "mx.b.test", "_{port}._tcp.mx.b.test"])
async def test_records_that_are_not_authenticated_are_not_used(lab, unsigned):
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=server_context()))
    publish_tlsa(lab, "3 1 1 " + "00" * 32)
    lab.zone.unsigned.add(unsigned.format(port=lab.internet.port))
    assert codes(await lab.deliver(resolver=validating(lab))) == [("Accepted", 250, "2.0.0")]
    assert codes(await lab.deliver()) == [("Accepted", 250, "2.0.0")]
    assert len(sink.messages) == 2


async def test_a_failed_tlsa_lookup_of_a_signed_server_is_temporary(lab):
    """An attacker who suppresses the records must not get the mail in plain text (RFC 7672 §2.1.2)."""
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=server_context()))
    lab.zone.is_authenticated = True
    lab.zone.servfail(f"_{lab.internet.port}._tcp.mx.b.test")
    assert codes(await lab.deliver(resolver=validating(lab))) == [("Deferred", 451, "4.4.3")]
    assert sink.connections == 0


async def test_sessions_are_reported_with_a_labels_unless_the_message_declines_tls(lab):
    """RFC 8460 §4.4, and §3: sessions of reports, which decline TLS, are not in the next report."""
    await lab.internet.mail_server("xn--bcher-kva.test")
    sessions = []
    transport = lab.transport(report_session=sessions.append)
    await transport.deliver(envelope("x@b\xfccher.test"), MESSAGE)
    await transport.deliver(envelope("x@b\xfccher.test", ignore_tls_policy=True), MESSAGE)
    assert [(session.domain, session.policy.domain) for session in sessions] == [("xn--bcher-kva.test",) * 2]


def test_hostile_certificates_match_nothing():
    record = TlsaRecord(2, 0, 0, b"\x30\x03\x02\x01\x01")
    assert dane_error([record], ["mx.b.test"], datetime.now(UTC), [b"", b"\x30\x00"]) is not None
    assert dane_error([TlsaRecord(3, 1, 1, b"0" * 32)], ["mx.b.test"], datetime.now(UTC), [b"x" * 99]) is not None
    assert dane_error([record], ["mx.b.test"], datetime.now(UTC), []) is not None


# Failures that a message or a policy causes, and not the destination --------------------------------------------------

MANY = 5
"""More failures in a row than open a circuit breaker."""


@pytest.mark.parametrize("fault", ["no starttls", "invalid certificate"])
async def test_messages_that_require_tls_are_rejected_however_many_there_are(lab, authority, fault):
    """RFC 8689 §4.2.1. Other mail goes on."""
    tls = None if fault == "no starttls" else server_context("mx.b.test")
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=tls))
    lab.policies["b.test"] = msgspec.structs.replace(ENFORCED, mode="testing")
    transport = lab.transport(context=authority.client_context())
    outcomes = [await transport.deliver(envelope(require_tls=True), MESSAGE) for _ in range(MANY)]
    assert [codes(outcome) for outcome in outcomes] == [[("Rejected", 550, "5.7.10")]] * MANY
    assert codes(await transport.deliver(envelope(), MESSAGE)) == [("Accepted", 250, "2.0.0")]
    assert len(sink.messages) == 1


async def test_a_domain_whose_policy_fails_keeps_the_reason_and_delays_no_other(lab, authority):
    """Both domains have the same servers. The one without a policy gets its mail; the other one learns what is wrong,
    and gets its mail as soon as the certificate is valid."""
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=server_context("mx.b.test")))
    lab.zone.add("plain.test", "MX", "10 mx.b.test.")
    lab.policies["b.test"] = ENFORCED
    transport = lab.transport(context=authority.client_context())
    for _ in range(MANY):
        outcome = await transport.deliver(envelope("x@b.test", "y@plain.test"), MESSAGE)
        assert codes(outcome) == [("Deferred", 0, "4.7.5"), ("Accepted", 250, "2.0.0")]
        assert "certificate" in outcome.results[0].text
    sink.behaviour.tls = authority.server("mx.b.test")[0]
    assert codes(await transport.deliver(envelope("x@b.test"), MESSAGE)) == [("Accepted", 250, "2.0.0")]


async def test_a_server_that_matches_no_tlsa_record_keeps_the_reason(lab, authority):
    await lab.internet.mail_server("b.test", Behaviour(tls=authority.server("mx.b.test")[0]))
    publish_tlsa(lab, "3 1 1 " + "00" * 32)
    transport = lab.transport(resolver=validating(lab))
    outcomes = [await transport.deliver(envelope(), MESSAGE) for _ in range(MANY)]
    assert {"TLSA" in outcome.results[0].text for outcome in outcomes} == {True}, outcomes[-1].results[0].text


async def test_a_domain_with_an_unsigned_name_never_uses_the_connections_of_a_signed_one(lab, authority):
    """RFC 8689 §4.2.1: the servers of both are the same, but only those of b.test are authenticated, by DNSSEC."""
    tls = authority.server("mx.b.test")[0]
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=tls, require_tls=True))
    lab.zone.is_authenticated = True
    lab.zone.add("c.test", "MX", "10 mx.b.test.")
    lab.zone.unsigned.add("c.test")
    transport = lab.transport(resolver=validating(lab), context=authority.client_context())
    for _ in range(MANY):
        outcome = await transport.deliver(envelope("x@b.test", "y@c.test", require_tls=True), MESSAGE)
        assert codes(outcome) == [("Accepted", 250, "2.0.0"), ("Rejected", 550, "5.7.10")]
    assert codes(await transport.deliver(envelope("y@c.test", require_tls=True), MESSAGE))[0][0] == "Rejected"
    assert {message.recipients for message in sink.messages} == {("x@b.test",)}


@pytest.mark.parametrize(
    ("behaviour", "fields", "enhanced"),
    [
        (Behaviour(size=20), {}, "5.3.4"),
        (Behaviour(smtputf8=False), {"needs_smtputf8": True}, "5.6.7"),
        (Behaviour(replies={"MAIL": b"552 5.3.4 Too big"}), {}, "5.3.4"),
        (Behaviour(), {"recipients": ("no address@b.test",)}, "5.1.3"),
    ],
)
async def test_faults_of_a_message_are_not_those_of_the_destination(lab, behaviour, fields, enhanced):
    await lab.internet.mail_server("b.test", behaviour)
    transport = lab.transport()
    for _ in range(MANY):
        outcome = await transport.deliver(msgspec.structs.replace(envelope(), **fields), MESSAGE)
        assert (type(outcome.results[0]), outcome.results[0].enhanced) == (Rejected, enhanced)
    behaviour.size, behaviour.replies = 0, {}
    assert codes(await transport.deliver(envelope(), b"A: b\r\n\r\nshort")) == [("Accepted", 250, "2.0.0")]


async def test_a_destination_with_a_failing_policy_that_cannot_be_reached_is_still_left_alone(lab, authority):
    """Failures to connect count, whatever the policy: trying them again costs time and connections."""
    sink = await lab.internet.mail_server("b.test", Behaviour(tls=authority.server("mx.b.test")[0]))
    lab.policies["b.test"] = ENFORCED
    await sink.aclose()
    transport = lab.transport(context=authority.client_context())
    outcomes = [await transport.deliver(envelope(), MESSAGE) for _ in range(MANY)]
    assert "several times in a row" in outcomes[-1].results[0].text
