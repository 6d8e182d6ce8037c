"""The SES transport against an HTTP server that fails as a test says; moto is in the conformance tests."""

import asyncio
import json
from base64 import b64decode
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from postern.protocols.aws.signature import AwsCredentials
from postern.protocols.mail.smtp_replies import classify, counts_towards_suppression, suppresses
from postern.protocols.mail.transports.relay import FAILURES_TO_OPEN
from postern.protocols.mail.transports.ses import KEPT_OCTETS, SesAccount, SesTransport, is_region
from postern.protocols.mail.transports.transport import Accepted, Deferred, DeliveryHooks, Envelope, Rejected
from tests.peers.ports import reserved_port

MESSAGE = b"From: Acme <b@a.test>\r\nSubject: Hello\r\n\r\nHello\r\n"
ACCEPTED = b'HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n{"MessageId": "abc-1"}'


def reply(status, error="", message="", headers=""):
    body = json.dumps({"message": message}).encode()
    head = f"HTTP/1.1 {status} Reply\r\nContent-Length: {len(body)}\r\nx-amzn-ErrorType: {error}\r\n{headers}\r\n"
    return head.encode() + body


class SesFaults:
    """Replies to each request with the octets of `replies`; the last one is repeated.

    None means: close the connection after the request. `reads_body = False`: do so after the head of the request.
    """

    def __init__(self):
        self.replies: list[bytes | None] = [ACCEPTED]
        self.reads_body = True
        self.hold = asyncio.Event()
        self.hold.set()
        self.heads: list[str] = []
        self.bodies: list[dict] = []
        self.connections = 0
        self.writers = []

    def drop(self):
        """Close all connections after what was written."""
        for writer in self.writers:
            writer.close()

    async def serve(self, reader, writer):
        self.connections += 1
        self.writers.append(writer)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                self.heads.append(head)
                if self.reads_body:
                    length = int(head.lower().partition("content-length: ")[2].partition("\r\n")[0])
                    self.bodies.append(json.loads(await reader.readexactly(length)))
                await self.hold.wait()
                text = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
                if text is None:
                    break
                writer.write(text)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.transport.abort()


@pytest.fixture
async def faults():
    server_state = SesFaults()
    server = await asyncio.start_server(server_state.serve, "127.0.0.1", 0, limit=2**20)
    server_state.port = server.sockets[0].getsockname()[1]
    yield server_state
    server_state.hold.set()
    server.close()


@asynccontextmanager
async def transport_to(port, **more):
    account = {key: more.pop(key) for key in ("configuration_set", "forward_feedback") if key in more}
    transport = SesTransport(
        SesAccount(
            credentials=AwsCredentials(access_key_id="AKIDEXAMPLE", secret_access_key="topsecret"),
            region="eu-central-1",
            endpoint=f"http://127.0.0.1:{port}",
            **account,
        ),
        now=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        **more,
    )
    try:
        yield transport
    finally:
        await transport.aclose()


def envelope(*recipients, **more):
    return Envelope(mail_from="r@a.test", recipients=recipients or ("x@b.test",), message_id="<1@a.test>", **more)


async def deliver(port, *args, hooks=None, **more):
    async with transport_to(port, **more) as transport:
        return await transport.deliver(args[0] if args else envelope(), MESSAGE, hooks or DeliveryHooks())


async def test_the_request_names_exactly_the_recipients_of_the_envelope(faults):
    sent_to = envelope("x@b.test", "hidden@müller.test", reference="ref-1")
    outcome = await deliver(faults.port, sent_to, configuration_set="events", forward_feedback=True)
    assert [type(result) for result in outcome.results] == [Accepted, Accepted]
    assert not any(result.delivered for result in outcome.results)
    assert outcome.results[0].text.endswith("abc-1")
    (body,) = faults.bodies
    assert b64decode(body.pop("Content")["Raw"]["Data"]) == b"X-Postern-Send: ref-1\r\n" + MESSAGE
    assert body == {
        "Destination": {"ToAddresses": ["x@b.test", "hidden@xn--mller-kva.test"]},
        "FromEmailAddress": "Acme <b@a.test>",
        "ConfigurationSetName": "events",
        "FeedbackForwardingEmailAddress": "r@a.test",
        "EmailTags": [{"Name": "postern-send", "Value": "ref-1"}],
    }
    (head,) = faults.heads
    assert "Credential=AKIDEXAMPLE/20260102/eu-central-1/ses/aws4_request" in head


async def test_the_log_has_request_and_response_but_no_credentials(faults):
    outcome = await deliver(faults.port)
    text = b"".join(octets for _, octets in outcome.exchange)
    assert [side for side, _ in outcome.exchange] == ["C", "S"]
    assert text.startswith(b"POST /v2/email/outbound-emails HTTP/1.1\r\n")
    assert text.endswith(b'{"MessageId": "abc-1"}')
    for secret in (b"AKID", b"topsecret", b"Authorization", b"Signature"):
        assert secret not in text


async def test_connections_are_used_again(faults):
    async with transport_to(faults.port) as transport:
        for _ in range(3):
            assert isinstance((await transport.deliver(envelope(), MESSAGE)).results[0], Accepted)
    assert faults.connections == 1
    assert len(faults.bodies) == 3


@pytest.mark.parametrize(
    ("answer", "code", "retry_after"),
    [
        (reply(429, "TooManyRequestsException", "Maximum sending rate exceeded."), 421, timedelta(seconds=5)),
        (reply(400, "ThrottlingException:http://internal/", "Rate exceeded"), 421, timedelta(seconds=5)),
        (reply(400, "LimitExceededException", "Daily message quota exceeded"), 451, timedelta(minutes=10)),
        (reply(400, "SendingPausedException", "Your account is suspended"), 451, timedelta(minutes=10)),
        (reply(429, "TooManyRequestsException", "Daily message quota exceeded."), 451, timedelta(minutes=10)),
        (reply(400, "AccountSuspendedException", "Suspended"), 451, timedelta(minutes=10)),
        (reply(429, "", "", "Retry-After: 30\r\n"), 421, timedelta(seconds=30)),
        (reply(429, "", "", "Retry-After: 999999\r\n"), 421, timedelta(hours=1)),
        (reply(429, "", "", "Retry-After: ²\r\n"), 421, timedelta(seconds=5)),
        (reply(403, "AccessDeniedException", "User arn:aws:x is not known, mailbox disabled"), 454, None),
        (reply(404, "NotFoundException", "Configuration set <x> does not exist."), 454, None),
        (reply(500, "InternalServiceErrorException", "no such user"), 451, None),
        (reply(503, "", "", "Retry-After: 7\r\n"), 451, timedelta(seconds=7)),
        (reply(302, "", "", "Location: http://127.0.0.1:1/\r\n"), 451, None),
        (b"HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\n\xff{", 451, None),
        (reply(500, "MessageRejected", ""), 451, None),
    ],
)
async def test_temporary_failures_are_deferred(faults, answer, code, retry_after):
    faults.replies = [answer]
    outcome = await deliver(faults.port)
    (result,) = outcome.results
    assert isinstance(result, Deferred)
    assert (result.code, outcome.retry_after, outcome.ambiguous) == (code, retry_after, False)
    assert outcome.exchange
    verdict = classify(result.code, result.enhanced, result.text)
    assert not suppresses(verdict)
    assert not counts_towards_suppression(verdict)


@pytest.mark.parametrize(
    ("status", "error", "message"),
    [
        (400, "MessageRejected", "Email address is not verified. The following identities failed the check: x@b.test"),
        (400, "MailFromDomainNotVerifiedException", "no such domain"),
        (400, "BadRequestException", "Mailbox unavailable, user unknown, address does not exist"),
        (413, "", ""),
    ],
)
async def test_rejections_never_suppress_the_recipient(faults, status, error, message):
    faults.replies = [reply(status, error, message)]
    (result,) = (await deliver(faults.port)).results
    assert isinstance(result, Rejected)
    assert message in result.text
    verdict = classify(result.code, result.enhanced, result.text)
    assert not suppresses(verdict)
    assert not counts_towards_suppression(verdict)


async def test_a_message_is_ambiguous_if_it_was_sent_completely_and_no_reply_came(faults):
    faults.replies = [None]
    outcome = await deliver(faults.port)
    assert isinstance(outcome.results[0], Deferred)
    assert outcome.ambiguous
    assert [side for side, _ in outcome.exchange] == ["C"]


async def test_a_slow_server_leaves_the_message_ambiguous(faults):
    faults.hold.clear()
    outcome = await deliver(faults.port, total_seconds=0.3)
    assert isinstance(outcome.results[0], Deferred)
    assert outcome.ambiguous


@pytest.mark.parametrize("answer", [None, reply(413)])
async def test_a_connection_that_ends_before_the_last_octets_is_not_ambiguous(faults, answer):
    faults.reads_body, faults.replies = False, [answer, None]

    async def before_dot():
        raise AssertionError("the buffers of the connection cannot hold the whole message")

    async with transport_to(faults.port) as transport:
        large = MESSAGE + b"x" * 20_000_000 + b"\r\n"
        outcome = await transport.deliver(envelope(), large, DeliveryHooks(before_dot=before_dot))
    assert isinstance(outcome.results[0], Deferred | Rejected)
    assert not outcome.ambiguous
    assert outcome.exchange


async def test_the_octets_of_a_response_are_limited(faults):
    faults.replies = [b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + b"x" * 1_000_000]
    outcome = await deliver(faults.port)
    assert isinstance(outcome.results[0], Accepted)
    assert sum(len(octets) for _, octets in outcome.exchange) < KEPT_OCTETS + 1_000


async def test_the_status_counts_if_the_rest_of_the_response_does_not_come(faults):
    faults.replies = [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", None]
    async with transport_to(faults.port) as transport:
        sending = asyncio.create_task(transport.deliver(envelope(), MESSAGE))
        while not faults.bodies:
            await asyncio.sleep(0.01)
        faults.drop()
        outcome = await sending
    assert isinstance(outcome.results[0], Accepted)
    assert not outcome.ambiguous


async def test_closing_does_not_interrupt_running_requests(faults):
    faults.hold.clear()
    async with transport_to(faults.port) as transport:
        sending = asyncio.create_task(transport.deliver(envelope(), MESSAGE))
        while not faults.bodies:
            await asyncio.sleep(0.01)
        await transport.aclose()
        faults.hold.set()
        assert isinstance((await sending).results[0], Accepted)
        assert transport._queue._client.is_closed
        # A message that waited while the transport was closed is sent, too.
        assert isinstance((await transport.deliver(envelope(), MESSAGE)).results[0], Accepted)
        assert transport._queue._client.is_closed


@pytest.mark.parametrize("answer", [b"220 mail ESMTP\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000, b"\0" * 100])
async def test_a_reply_that_is_not_http_leaves_the_message_ambiguous(faults, answer):
    faults.replies = [answer, None]
    outcome = await deliver(faults.port, total_seconds=5)
    assert isinstance(outcome.results[0], Deferred)
    assert outcome.ambiguous


async def test_the_circuit_opens_if_the_server_cannot_be_reached():
    with reserved_port() as closed:
        async with transport_to(closed.getsockname()[1]) as transport:
            for _ in range(FAILURES_TO_OPEN):
                outcome = await transport.deliver(envelope(), MESSAGE)
                assert isinstance(outcome.results[0], Deferred)
                assert (outcome.ambiguous, outcome.exchange, outcome.no_server_contacted) == (False, (), False)
            assert transport.circuit_open
            assert (await transport.deliver(envelope(), MESSAGE)).no_server_contacted


async def test_the_rate_is_reduced_when_ses_throttles(faults):
    async with transport_to(faults.port) as transport:
        before = transport._queue.shaper.connections
        faults.replies = [reply(429, "TooManyRequestsException")]
        await transport.deliver(envelope(), MESSAGE)
        assert transport._queue.shaper.connections < before


async def test_an_error_of_admit_sends_nothing(faults):
    async def admit():
        raise LookupError("the send was cancelled")

    async with transport_to(faults.port) as transport:
        with pytest.raises(LookupError):
            await transport.deliver(envelope(), MESSAGE, DeliveryHooks(admit=admit))
        assert isinstance((await transport.deliver(envelope(), MESSAGE)).results[0], Accepted)
    assert len(faults.bodies) == 1


@pytest.mark.parametrize("name", [b"X-SES-MESSAGE-TAGS", b"x-ses-configuration-set"])
async def test_instructions_to_ses_in_header_fields_are_rejected(faults, name):
    async with transport_to(faults.port) as transport:
        outcome = await transport.deliver(envelope(), name + b": a=b\r\n" + MESSAGE)
        assert isinstance(outcome.results[0], Rejected)
        quoted = MESSAGE + name + b": a=b\r\n"
        assert isinstance((await transport.deliver(envelope(), quoted)).results[0], Accepted)
    assert len(faults.bodies) == 1


async def test_a_message_that_is_too_large_is_rejected_without_a_request(faults):
    async with transport_to(faults.port) as transport:
        outcome = await transport.deliver(envelope(), MESSAGE + b"x" * 32_000_000 + b"\r\n")
    assert (outcome.results[0].code, faults.heads) == (552, [])


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("eu-central-1", True),
        ("us-gov-west-1", True),
        ("ap-southeast-2", True),
        ("eu-central-1.evil.example", False),
        ("eu-central-1\n", False),
        ("evil.example/", False),
        ("", False),
    ],
)
def test_names_of_regions(text, valid):
    assert is_region(text) is valid
