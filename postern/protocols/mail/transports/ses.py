"""The SES transport: the API of Amazon Simple Email Service, version 2 (`SendEmail` with a raw message)."""

import asyncio
import random
import re
import ssl
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from postern.kernel.untrusted_json import JsonRefused, read_untrusted_json
from postern.protocols.aws.signature import AwsCredentials, signed_headers
from postern.protocols.mail.mime import message_problem
from postern.protocols.mail.smtp import SmtpConnection, Unreachable, encode_address
from postern.protocols.mail.transports.relay import ConnectionPool, PoolLimits
from postern.protocols.mail.transports.shaping import SiteControls
from postern.protocols.mail.transports.transport import (
    NO_HOOKS,
    NO_TIME,
    Accepted,
    Deferred,
    DeliveryHooks,
    DeliveryOutcome,
    Envelope,
    Rejected,
    Result,
    defer_all,
    reject_all,
    same_results,
)

if TYPE_CHECKING:
    import httpx

LARGEST_REQUEST = 40 * 1024 * 1024
"""Maximum octets of a message in base64; SES accepts 40 MB."""
LARGE_MESSAGE = 256 * 1024
"""Messages with more octets are encoded and signed in a thread, so that other tasks do not wait for it."""
CHUNK = 65_536
"""Octets of the request's body that are passed to the connection at a time."""
KEPT_OCTETS = 8_192
"""Maximum octets of a response's body that are read; SES replies with less than 1 kB."""
REPLY_CHARACTERS = 500
"""Maximum characters of an error message of SES that a result contains."""
MESSAGE_ID_CHARACTERS = 200
"""How much of the id of a message is kept. SES uses 60 characters."""
CONNECT_SECONDS = 10.0
STEP_SECONDS = 30.0
"""Time limit for a part of the request or the response."""
TOTAL_SECONDS = 120.0
"""Time limit of one request, until the status of the response is known."""
KEEP_ALIVE_SECONDS = 5.0
"""An idle connection is used again for this long. If SES closes a connection while a message is being written, it is
unknown whether the message was accepted, so the time is shorter than SES keeps connections open."""
SEND_PATH = "/v2/email/outbound-emails"
SEND_TAG, SEND_HEADER = "postern-send", "X-Postern-Send"
"""The names of the message tag and of the header field that have the `reference` of the envelope. Published events have
the tags, and the older feedback notifications the header fields."""
REWRITTEN_HEADERS = ("date", "message-id")
"""SES replaces these header fields, so a DKIM signature must not cover them."""

REJECTED_ERRORS = frozenset(
    {
        "BadRequestException",
        "InvalidParameterValue",
        "MailFromDomainNotVerified",
        "MailFromDomainNotVerifiedException",
        "MessageRejected",
        "ValidationException",
    }
)
"""Errors that repeat with every attempt. Their cause is the message or the sender and never a recipient."""
RATE_ERRORS = frozenset({"Throttling", "ThrottlingException", "TooManyRequestsException", "RequestLimitExceeded"})
QUOTA_ERRORS = frozenset(
    {
        "AccountSendingPausedException",
        "AccountSuspendedException",
        "ConfigurationSetSendingPausedException",
        "LimitExceeded",
        "LimitExceededException",
        "SendingPausedException",
    }
)
DAILY_QUOTA = "daily message quota"
"""If the error message has this text, in any letter case, an error of RATE_ERRORS is about the quota of 24 hours."""
PAUSE_AFTER_RATE_ERROR, PAUSE_AFTER_QUOTA_ERROR = timedelta(seconds=5), timedelta(minutes=10)
"""How long no message is sent, unless SES says how long."""
LONGEST_RETRY_AFTER = timedelta(hours=1)
"""Longer values of the header `Retry-After` are reduced to this."""

# The enhanced codes (RFC 3463) are those whose meaning does not depend on the text: see `smtp_replies.classify`.
TOO_MANY_CODE, CREDENTIALS_CODE, SENDER_CODE, SERVER_CODE = "4.7.28", "4.7.8", "5.1.8", "4.3.0"

_REGION = re.compile(r"[a-z]{2}(-[a-z]{2,12}){1,3}-[0-9]{1,2}")
_SES_MESSAGE_ID = re.compile(
    rf"<([0-9a-z-]{{1,{MESSAGE_ID_CHARACTERS}}})@[0-9a-z-]+\.amazonses\.com(?:\.cn)?>", re.IGNORECASE
)
_SES_HEADER = re.compile(rb"^x-ses-[^\r\n:]*", re.IGNORECASE | re.MULTILINE)
_FROM = re.compile(rb"^from:((?:[^\r\n]|\r\n[ \t])*)", re.IGNORECASE | re.MULTILINE)


class SesAccount(msgspec.Struct, frozen=True, kw_only=True):
    """An AWS account with which mail is sent, in one region."""

    credentials: AwsCredentials
    region: str
    configuration_set: str | None = None
    endpoint: str | None = None
    """The URL of the API without path; None for the region's."""
    forward_feedback: bool = False
    """Whether SES also mails bounces and complaints to the return path, whose domain must be verified in SES."""
    limits: PoolLimits = PoolLimits()

    @property
    def url(self) -> str:
        """The URL of the API, without a trailing slash."""
        return (self.endpoint or f"https://email.{self.region}.amazonaws.com").rstrip("/")


def is_region(text: str) -> bool:
    """Whether the text has the form of the name of an AWS region, such as `eu-central-1`."""
    return _REGION.fullmatch(text) is not None


class SesTransport:
    """Sends each message by one request to SES. Recipients that SES cannot mail to are rejected without a request."""

    def __init__(
        self,
        account: SesAccount,
        *,
        now: Callable[[], datetime],
        context: ssl.SSLContext | bool = True,
        total_seconds: float = TOTAL_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
        controls: SiteControls | None = None,
        scope: str = "",
    ) -> None:
        """`now` is the time in UTC for signatures; `context` replaces the system's CAs; `chance` gives 0 ≤ x < 1.

        `controls` shares the limits of the account, as the replies of SES show them, with other processes; the key of
        its site gets the `scope` (see SiteKey).
        """
        self._queue = RequestQueue(
            account,
            now=now,
            context=context,
            total_seconds=total_seconds,
            clock=clock,
            chance=chance,
            controls=controls,
            scope=scope,
        )

    @property
    def circuit_open(self) -> bool:
        """Whether SES cannot be reached at present."""
        return self._queue.circuit_open

    async def deliver(self, envelope: Envelope, message: bytes, hooks: DeliveryHooks = NO_HOOKS) -> DeliveryOutcome:
        """See `Transport.deliver`."""
        refused = _refusal(envelope, message, self._queue.label)
        if refused:
            return refused
        rejected = {recipient: result for recipient in envelope.recipients if (result := self._rejection(recipient))}
        remaining = tuple(recipient for recipient in envelope.recipients if recipient not in rejected)
        if not remaining:
            return DeliveryOutcome(results=tuple(rejected.values()), host=self._queue.label, duration=NO_TIME)
        outcome = await self._queue.deliver(msgspec.structs.replace(envelope, recipients=remaining), message, hooks)
        if not rejected:
            return outcome
        results: dict[str, Result] = {**rejected, **{result.recipient: result for result in outcome.results}}
        ordered = tuple(results[recipient] for recipient in envelope.recipients)
        return msgspec.structs.replace(outcome, results=ordered)

    def _rejection(self, recipient: str) -> Rejected | None:
        """The result for an address that is invalid, or that SES does not support; None for any other."""
        try:
            encoded = encode_address(recipient, smtputf8=False)
        except ValueError:
            enhanced, text = "5.1.3", "This is not a valid e-mail address."
        else:
            if encoded is not None:
                return None
            enhanced, text = "5.6.7", "Amazon SES does not support non-ASCII characters before the @ of an address."
        return Rejected(
            recipient=recipient, code=553, enhanced=enhanced, text=text, host=self._queue.label, duration=NO_TIME
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._queue.aclose()


def _refusal(envelope: Envelope, message: bytes, host: str) -> DeliveryOutcome | None:
    """The outcome of a message that must not be passed to SES; None for any other."""
    problem = None if envelope.has_safe_lines else message_problem(message)
    if problem:
        return reject_all(envelope, 554, "5.6.0", problem, host)
    if len(message) * 4 // 3 > LARGEST_REQUEST:
        return reject_all(envelope, 552, "5.3.4", "The message is larger than Amazon SES accepts.", host)
    head = message.partition(b"\r\n\r\n")[0]
    instruction = _SES_HEADER.search(head)
    if instruction:
        # SES takes these fields as instructions, by which one project could change settings of the shared account.
        name = instruction[0].decode("ascii", "replace")
        return reject_all(envelope, 554, "5.6.0", f"Header fields like {name} are not allowed: SES obeys them.", host)
    if envelope.needs_smtputf8:
        return reject_all(envelope, 553, "5.6.7", "Amazon SES does not support non-ASCII header fields.", host)
    if envelope.require_tls:
        return reject_all(envelope, 550, "5.7.30", "Amazon SES does not support REQUIRETLS.", host)
    return None


class RequestQueue(ConnectionPool):
    """The requests to SES. A ConnectionPool limits their rate and number and has the circuit breaker, but its slots are
    for requests: httpx keeps the connections."""

    def __init__(
        self,
        account: SesAccount,
        *,
        now: Callable[[], datetime],
        context: ssl.SSLContext | bool,
        total_seconds: float,
        clock: Callable[[], float],
        chance: Callable[[], float],
        controls: SiteControls | None,
        scope: str,
    ) -> None:
        """See SesTransport."""
        import httpx

        url = httpx.URL(account.url)
        port = url.port or (443 if url.scheme == "https" else 80)
        label = f"{url.host}:{port}"
        control = controls.of_ses(url.host, label, scope) if controls else None
        super().__init__(label, _no_smtp, account.limits, clock=clock, chance=chance, control=control)
        self._account = account
        self._now = now
        self._context = context
        self._total_seconds = total_seconds
        self._client = self._new_client()
        self._requests = 0
        """The number of running requests."""
        self._closed = False

    def _new_client(self) -> "httpx.AsyncClient":
        import httpx

        return httpx.AsyncClient(
            verify=self._context,
            trust_env=False,  # The outbound client reads no proxy settings either.
            timeout=httpx.Timeout(STEP_SECONDS, connect=CONNECT_SECONDS, pool=None),
            limits=httpx.Limits(
                max_connections=None,  # ConnectionPool limits them.
                max_keepalive_connections=self._account.limits.max_connections,
                keepalive_expiry=KEEP_ALIVE_SECONDS,
            ),
        )

    async def aclose(self) -> None:
        """Close all idle connections. The others are closed when the last running request has ended."""
        await super().aclose()
        self._closed = True
        if not self._requests:
            await self._client.aclose()

    async def _attempt(self, envelope: Envelope, message: bytes, hooks: DeliveryHooks) -> DeliveryOutcome:
        if self._client.is_closed:  # The message waited while the transport was closed.
            self._client = self._new_client()
        self._requests += 1
        self._count_in_use(1)
        try:
            return await self._send(envelope, message, hooks)
        finally:
            self._count_in_use(-1)
            self._requests -= 1
            if self._closed and not self._requests:
                await self._client.aclose()

    async def _send(self, envelope: Envelope, message: bytes, hooks: DeliveryHooks) -> DeliveryOutcome:
        import httpx

        started = time.perf_counter()
        body = RequestBody(await self._encode(envelope, message), hooks)
        response: SesResponse | None = None
        failure = ""
        try:
            response = await self._post(body)
        except TimeoutError:
            failure = f"{self.label} did not reply within {self._total_seconds:g} s."
        except httpx.HTTPError as error:
            failure = f"{self.label}: {_describe(error)}"
        spent = timedelta(seconds=time.perf_counter() - started)
        if response is not None:
            return self._report_outcome(_outcome_of(response, body, envelope, self.label, spent))
        self.shaper.failed(self._clock())
        outcome = defer_all(envelope, failure, self.label, duration=spent, enhanced="4.4.2" if body.begun else "4.4.1")
        return msgspec.structs.replace(
            outcome, ambiguous=body.complete, exchange=(("C", body.request_line),) if body.begun else ()
        )

    async def _encode(self, envelope: Envelope, message: bytes) -> "SignedRequest":
        if len(message) > LARGE_MESSAGE:
            return await asyncio.to_thread(_signed_request, self._account, envelope, message, self._now())
        return _signed_request(self._account, envelope, message, self._now())

    async def _post(self, body: "RequestBody") -> "SesResponse":
        import httpx

        request = self._client.build_request(
            "POST", self._account.url + SEND_PATH, headers=body.request.headers, content=body.chunks()
        )
        async with asyncio.timeout(self._total_seconds):
            response = await self._client.send(request, stream=True)
        kept = bytearray()
        try:
            async with asyncio.timeout(STEP_SECONDS):
                async for part in response.aiter_raw():
                    kept += part[: KEPT_OCTETS - len(kept)]
                    if len(kept) >= KEPT_OCTETS:
                        break
        except (TimeoutError, httpx.HTTPError):
            pass  # The status alone says what happened.
        finally:
            await response.aclose()
        return SesResponse(
            status=response.status_code,
            reason=response.reason_phrase[:100],
            error=response.headers.get("x-amzn-errortype", ""),
            request_id=response.headers.get("x-amzn-requestid", "")[:100],
            retry_after=response.headers.get("retry-after", ""),
            body=bytes(kept),
        )


async def _no_smtp(_tenant: str | None) -> SmtpConnection:
    raise Unreachable("SES is used over HTTP only.")


class SignedRequest(msgspec.Struct, frozen=True):
    """A request to SES."""

    headers: dict[str, str]
    body: bytes


class RequestBody:
    """The body of a request, and how much of it was passed to the connection."""

    def __init__(self, request: SignedRequest, hooks: DeliveryHooks) -> None:
        self.request = request
        self._hooks = hooks
        self.begun = False
        """Whether a connection was established, so that the server has the head of the request."""
        self.complete = False
        """Whether all octets were passed to the connection, so that SES may have accepted the message."""
        self.request_line = f"POST {SEND_PATH} HTTP/1.1\r\nHost: {request.headers['Host']}\r\n".encode()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The octets of the body. `admit` is awaited before the first ones, and `before_dot` before the last ones,
        without which SES cannot process the request."""
        body = self.request.body
        self.begun = True
        if self._hooks.admit:
            await self._hooks.admit()
        for start in range(0, len(body) - CHUNK, CHUNK):
            yield body[start : start + CHUNK]
        if self._hooks.before_dot:
            await self._hooks.before_dot()
        self.complete = True
        yield body[(len(body) - 1) // CHUNK * CHUNK :]


class SesResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a response that are used."""

    status: int
    reason: str
    error: str
    """The header `x-amzn-ErrorType`."""
    request_id: str
    retry_after: str
    body: bytes

    def fields(self) -> dict[str, Any]:
        """The body as a JSON object; empty if it is none."""
        try:
            document = read_untrusted_json(self.body)
        except JsonRefused:
            return {}
        return document if isinstance(document, dict) else {}

    def transcript(self) -> bytes:
        """The response as the attempt log shows it."""
        lines = [f"HTTP/1.1 {self.status} {self.reason}"]
        lines += [f"x-amzn-RequestId: {self.request_id}"] if self.request_id else []
        lines += [f"x-amzn-ErrorType: {self.error[:REPLY_CHARACTERS]}"] if self.error else []
        return "\r\n".join([*lines, "", ""]).encode() + self.body


def _signed_request(account: SesAccount, envelope: Envelope, message: bytes, now: datetime) -> SignedRequest:
    if envelope.reference:
        message = f"{SEND_HEADER}: {envelope.reference}\r\n".encode() + message
    recipients = [encode_address(recipient, smtputf8=False) or b"" for recipient in envelope.recipients]
    content: dict[str, Any] = {
        "Destination": {"ToAddresses": [recipient.decode() for recipient in recipients]},
        "Content": {"Raw": {"Data": b64encode(message).decode()}},
    }
    sender = _FROM.search(message.partition(b"\r\n\r\n")[0])
    if sender or envelope.mail_from:
        # The field as it is in the message, with the display name.
        content["FromEmailAddress"] = (
            " ".join(sender[1].decode("utf-8", "replace").split()) if sender else envelope.mail_from
        )
    if account.configuration_set:
        content["ConfigurationSetName"] = account.configuration_set
    if account.forward_feedback and envelope.mail_from:
        content["FeedbackForwardingEmailAddress"] = envelope.mail_from
    if envelope.reference:
        content["EmailTags"] = [{"Name": SEND_TAG, "Value": envelope.reference}]
    body = msgspec.json.encode(content)
    headers = signed_headers(
        account.credentials,
        method="POST",
        url=account.url + SEND_PATH,
        headers={"Content-Type": "application/json", "Content-Length": str(len(body))},
        body=body,
        region=account.region,
        service="ses",
        now=now,
    )
    return SignedRequest(headers, body)


def _outcome_of(
    response: SesResponse, body: RequestBody, envelope: Envelope, host: str, spent: timedelta
) -> DeliveryOutcome:
    """The outcome for all recipients, which is the same for each."""
    fields = response.fields()
    error = (response.error or str(fields.get("__type") or fields.get("code") or "")).split(":")[0].rpartition("#")[2]
    message = " ".join(str(fields.get("message") or fields.get("Message") or "").split())[:REPLY_CHARACTERS]
    reply = f"{error[:100]}: {message}" if error and message else error[:100] or message
    kind: type[Accepted | Deferred | Rejected] = Deferred
    retry_after: timedelta | None = None
    is_throttled = response.status == 429 or error in RATE_ERRORS
    message_id = str(fields.get("MessageId", ""))[:MESSAGE_ID_CHARACTERS]
    if response.status == 200 and body.complete:
        kind, code, enhanced = Accepted, 250, "2.0.0"
        text = f"Accepted by Amazon SES, message id {message_id or 'unknown'}"
    elif error in QUOTA_ERRORS or (is_throttled and DAILY_QUOTA in message.lower()):
        code, enhanced, text = 451, TOO_MANY_CODE, reply
        retry_after = _retry_after(response, PAUSE_AFTER_QUOTA_ERROR)
    elif is_throttled:
        code, enhanced, text = 421, TOO_MANY_CODE, reply
        retry_after = _retry_after(response, PAUSE_AFTER_RATE_ERROR)
    elif response.status == 413 or (error in REJECTED_ERRORS and response.status < 500):
        kind, code, enhanced, text = Rejected, 554, SENDER_CODE, reply or "The message is too large."
    elif 400 <= response.status < 500:
        # The access key, its permissions or the configuration set: the operator has to act.
        code, enhanced, text = 454, CREDENTIALS_CODE, reply or f"HTTP status {response.status}"
    else:
        # The server's text is left out, so that it is not classified as a reply about the recipient.
        code, enhanced, text = 451, SERVER_CODE, f"Amazon SES replied with HTTP status {response.status}."
        retry_after = _retry_after(response, None)
    return DeliveryOutcome(
        results=same_results(kind, envelope, code, enhanced, text, host, spent),
        host=host,
        duration=spent,
        retry_after=retry_after,
        provider_id=message_id.lower() if kind is Accepted else "",
        exchange=(("C", body.request_line), ("S", response.transcript())),
    )


def ses_message_id(header: str) -> str | None:
    """The id that SES gave to a message, in lower case, from its `Message-ID` field; None if SES did not write it.

    SES replaces the field by `<id@region.amazonses.com>`, and by `<id@email.amazonses.com>` in the region us-east-1.
    """
    match = _SES_MESSAGE_ID.fullmatch(header)
    return match[1].lower() if match else None


def _retry_after(response: SesResponse, default: timedelta | None) -> timedelta | None:
    """The header `Retry-After` in seconds (RFC 9110 §10.2.3), at most LONGEST_RETRY_AFTER; `default` without it."""
    text = response.retry_after
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        return default
    return min(timedelta(seconds=int(text)), LONGEST_RETRY_AFTER)


def _describe(error: "httpx.HTTPError") -> str:
    """What happened to the connection, in words."""
    import httpx

    if isinstance(error, httpx.ConnectTimeout):
        return "The connection was not made in time."
    if isinstance(error, httpx.TimeoutException):
        return "The server did not reply in time."
    if isinstance(error, httpx.ConnectError):
        return f"The connection could not be made: {str(error)[:200] or 'no reason given'}."
    return f"The connection ended before the reply: {str(error)[:200] or type(error).__name__}."
