"""Storing a received message for the projects that have routes for its recipients."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec
import structlog
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Caller
from postern.kernel.http.problems import Problem
from postern.kernel.values import Moment, new_id, to_json
from postern.messaging.domains import sending
from postern.messaging.domains.dmarc_reports import ReportSender, ingest_dmarc_message, sender_of
from postern.messaging.emails import engagement
from postern.messaging.inbound import message_store as store
from postern.messaging.inbound.model import (
    AUTHENTICATION_TIMEOUT,
    EVENT_TEXT_OCTETS,
    HOPS_LIMIT,
    InboundMessageLoops,
    InboundRecipient,
    InboundRowWithMessage,
    MessageSource,
)
from postern.messaging.inbound.receiving import keep_message
from postern.messaging.inbound.routing import RouteMatch
from postern.platform.events import operations as events
from postern.platform.events.model import EventRow
from postern.protocols.mail.dkim_verification import DkimVerdict
from postern.protocols.mail.message_authentication import MessageAuthentication, authenticate, unchecked
from postern.protocols.mail.received_content import ReceivedContent, read_content
from postern.protocols.mail.spam_hints import spam_hints
from postern.protocols.mail.transports.ses import ses_message_id

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

STORED_TOGETHER, STORED_TOGETHER_OCTETS = 64, 65_536
"""Maximum number of messages that are stored in one transaction, and maximum octets of each of them. They are stored
together, because each transaction updates the usage row of its projects (`inbound_usage`), and so the transactions of a
project wait for one another."""
EVENT_ADDRESSES = 20
"""Maximum number of addresses of To that an event contains."""
_SEND_ID = re.compile(r"<([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})@[^>]+>", re.IGNORECASE)
_DMARC_REPORT = re.compile(
    r"[^!]{1,255}!([A-Za-z0-9.-]{1,253})!\d{1,20}!\d{1,20}(?:![^!]{1,255})?\.(?:xml|xml\.gz|zip)"
)
"""The name of the file with an aggregate report of DMARC (RFC 9990): receiver, policy domain, begin and end."""


class Arrival(msgspec.Struct, frozen=True, kw_only=True):
    """A message with its envelope (RFC 5321)."""

    source: MessageSource
    sender: str
    """The envelope sender; empty for the null reverse-path."""
    client_ip: str | None
    client_name: str | None
    """The name in EHLO."""
    content: bytes
    """The message; all its lines end with CRLF."""


class InboundStored(msgspec.Struct, frozen=True):
    """The result of storing a message for one project."""

    project_id: UUID
    id: UUID
    is_duplicate: bool
    """Whether the project had the message before; then `id` is that of the earlier one."""


class MessageChecks:
    """Checks SPF, DKIM and DMARC of received messages, with its own limit of concurrent DNS lookups."""

    def __init__(self, world: "World") -> None:
        self._world = world
        # With a cache, because many messages come from the same domains.
        self._resolver = world.resolver.separate(cache=True)

    async def check(self, arrival: Arrival) -> MessageAuthentication:
        """The results for a message. If the DNS does not respond in time, they are temporary errors; nothing is
        raised."""
        ehlo = arrival.client_name or ""
        try:
            async with asyncio.timeout(AUTHENTICATION_TIMEOUT.total_seconds()):
                return await authenticate(
                    self._resolver,
                    arrival.content,
                    address=arrival.client_ip,
                    ehlo=ehlo,
                    mail_from=arrival.sender,
                    now=int(self._world.clock().timestamp()),
                )
        except TimeoutError:
            return unchecked("The lookups took too long.", mail_from=arrival.sender, ehlo=ehlo)

    async def aclose(self) -> None:
        """Nothing to close."""


class _CheckedMessage(msgspec.Struct, frozen=True):
    """A parsed and authenticated message that is not stored yet."""

    arrival: Arrival
    routes: Mapping[str, Sequence[RouteMatch]]
    content: ReceivedContent
    authentication: MessageAuthentication
    caller: Caller | None

    @property
    def project_ids(self) -> set[UUID]:
        """The projects that have a route for one of the recipients."""
        return {match.project_id for matches in self.routes.values() for match in matches}


async def store_message(
    world: "World", arrival: Arrival, routes: Mapping[str, Sequence[RouteMatch]], caller: Caller | None = None
) -> list[InboundStored]:
    """Store a message for each project that has a route for one of its recipients, all in one transaction.

    `routes` are the routes of each recipient, keyed by address; `caller` is the actor of the events, by default the
    system. All changes are committed before this returns. Storing the same message again changes nothing. Raises
    InboundMessageLoops.
    """
    content = await asyncio.to_thread(read_content, arrival.content)
    if content.hops > HOPS_LIMIT:
        raise InboundMessageLoops
    checks: MessageChecks = world.resources[MessageChecks]
    message = _CheckedMessage(arrival, routes, content, _storable(await checks.check(arrival)), caller)
    if len(arrival.content) <= STORED_TOGETHER_OCTETS:
        batcher = world.batcher(store_messages, max_batch_size=STORED_TOGETHER, max_concurrent=2, by=id)
        stored: list[InboundStored] = await batcher(message)
    else:
        (stored,) = await _store(world, [message])
    for received in stored:
        log.info(
            "message_received", project=str(received.project_id), id=str(received.id), duplicate=received.is_duplicate
        )
        sender = sender_of(message.authentication, [author.email for author in content.from_])
        await _ingest_dmarc_report(world, received.project_id, content, arrival, sender)
    return stored


async def store_messages(world: "World", messages: list[_CheckedMessage]) -> list[list[InboundStored] | BaseException]:
    """Store messages in one transaction or, if that fails, each in a transaction of its own, so that a faulty one does
    not prevent the others.

    Returns for each message the results of `_store`, or the exception. Raises OperationalError or PoolTimeout if the
    database is not available.
    """
    try:
        return [*await _store(world, messages)]
    except (OperationalError, PoolTimeout):
        raise
    except Exception as error:
        if len(messages) == 1:
            return [error]
        log.exception("messages_not_stored_together", messages=len(messages))
    return [result for message in messages for result in await store_messages(world, [message])]


async def _store(world: "World", messages: list[_CheckedMessage]) -> list[list[InboundStored]]:
    """Store messages in one transaction; returns for each message a result for each of its projects."""
    now = world.clock()
    stored: list[list[InboundStored]] = [[] for _ in messages]
    async with world.db.transaction() as tx:
        replied_sends = await _replied_sends(tx, messages)
        rows = [
            (number, _row(project_id, message, replied_sends[number].get(project_id), now))
            for number, message in enumerate(messages)
            for project_id in message.project_ids
        ]
        # All transactions insert, and lock the usage of projects, in the same order, to avoid deadlocks.
        rows.sort(key=lambda item: (item[1].project_id, item[1].fingerprint))
        inserted = set(await _insert(tx, [row for _, row in rows]))
        new_events: list[EventRow] = []
        for number, row in rows:
            if row.id in inserted:
                new_events.append(_event(row, messages[number].content, messages[number].caller))
                stored[number].append(InboundStored(row.project_id, row.id, is_duplicate=False))
            else:
                earlier_id = await store.id_with_fingerprint(tx, project_id=row.project_id, fingerprint=row.fingerprint)
                stored[number].append(InboundStored(row.project_id, earlier_id or row.id, is_duplicate=True))
        await events.record_all(tx, new_events)
    return stored


async def _insert(tx: Transaction, rows: list[InboundRowWithMessage]) -> list[UUID]:
    """Insert messages, except those that their project has already; returns the ids of the inserted messages."""
    if len(rows) > 1:
        return await store.insert_messages(tx, rows)
    # A single message can be large, so it is not sent as an item of an array.
    return [row.id for row in rows if await store.insert_message(tx, row)]


async def _replied_sends(tx: Transaction, messages: Sequence[_CheckedMessage]) -> list[dict[UUID, UUID]]:
    """For each message, the sends to which it replies: at most one of each project, keyed by project id.

    If a message refers to several sends of a project, the last one in its references counts.
    """
    references = {reference for message in messages for reference in message.content.references}
    send_ids = {reference: UUID(match[1]) for reference in references if (match := _SEND_ID.fullmatch(reference))}
    sends = await engagement.tracked_sends(tx, [*send_ids.values()]) if send_ids else []
    projects = {send.id: send.project_id for send in sends}
    # Amazon SES replaces the Message-ID of a send, so a reply refers to the id that SES gave it.
    provider_ids = {reference: id_ for reference in references if (id_ := ses_message_id(reference))}
    project_ids = sorted({project_id for message in messages for project_id in message.project_ids})
    sends_by_provider_id = (
        await engagement.sends_with_provider_ids(tx, project_ids, [*provider_ids.values()]) if provider_ids else {}
    )
    replied_sends: list[dict[UUID, UUID]] = []
    for message in messages:
        by_project: dict[UUID, UUID] = {}
        for reference in message.content.references:
            send_id = send_ids.get(reference)
            if send_id is not None and send_id in projects:
                by_project[projects[send_id]] = send_id
            for send in sends_by_provider_id.get(provider_ids.get(reference, ""), ()):
                by_project[send.project_id] = send.send_id
        replied_sends.append(by_project)
    return replied_sends


def _row(project_id: UUID, message: _CheckedMessage, send_id: UUID | None, now: Moment) -> InboundRowWithMessage:
    arrival, content, authentication = message.arrival, message.content, message.authentication
    recipients = [
        InboundRecipient(address=address, route_id=match.route_id, tag=match.tag)
        for address, matches in message.routes.items()
        for match in matches
        if match.project_id == project_id
    ]
    addresses = sorted({recipient.address.lower() for recipient in recipients})
    author = content.from_[0] if content.from_ else None
    return InboundRowWithMessage(
        project_id=project_id,
        id=new_id(),
        source=arrival.source,
        sender=arrival.sender,
        recipients=recipients,
        addresses=addresses,
        client_ip=arrival.client_ip,
        client_name=arrival.client_name,
        from_name=author.name if author else "",
        from_email=author.email if author else "",
        to_addresses=content.to,
        subject=content.subject,
        message_id=content.message_id,
        send_id=send_id,
        size=len(arrival.content),
        attachments=len(content.attachments),
        automatic=content.is_automatic or (arrival.source == "smtp" and not arrival.sender),
        authentication=authentication,
        hints=spam_hints(content, authentication, client_name=arrival.client_name, received_at=now),
        fingerprint=sha256("\n".join(addresses).encode() + b"\0" + arrival.content).digest(),
        message=arrival.content,
        received_at=now,
    )


def _storable(authentication: MessageAuthentication) -> MessageAuthentication:
    """The results without NUL, which a DNS record can have and PostgreSQL cannot store."""
    encoded = to_json(authentication).replace(rb"\u0000", rb"\ufffd")
    return msgspec.json.decode(encoded, type=MessageAuthentication)


def dkim_summary(authentication: MessageAuthentication) -> Any:
    """The DKIM results of all signatures as one: `pass` if one passes, `none` without signatures."""
    verdicts = {result.verdict for result in authentication.dkim}
    for verdict in (DkimVerdict.PASS, DkimVerdict.TEMPERROR):
        if verdict in verdicts:
            return verdict.value
    return "fail" if verdicts else "none"


def _event(row: InboundRowWithMessage, content: ReceivedContent, caller: Caller | None) -> EventRow:
    data, subject = _event_data(row, content), (row.project_id, "inbound.received", row.id, row.received_at)
    return events.make_event_by(caller, *subject, **data) if caller else events.make_event(*subject, **data)


def _event_data(row: InboundRowWithMessage, content: ReceivedContent) -> dict[str, Any]:
    """The data of `inbound.received`. A text is null if it would make the texts larger than EVENT_TEXT_OCTETS."""
    remaining = EVENT_TEXT_OCTETS
    texts: dict[str, str | None] = {}
    for name, text in (("replyText", content.reply_text), ("text", content.text), ("html", content.html)):
        size = len(to_json(text))
        texts[name] = text if size <= remaining else None
        remaining -= size if size <= remaining else 0
    return {
        "messageId": row.message_id,
        "emailId": row.send_id and str(row.send_id),
        "from": row.from_email,
        "fromName": row.from_name,
        "to": [contact.email for contact in row.to_addresses[:EVENT_ADDRESSES]],
        "recipients": row.addresses,
        "routeIds": sorted({str(recipient.route_id) for recipient in row.recipients}),
        "tag": next((recipient.tag for recipient in row.recipients if recipient.tag), None),
        "subject": row.subject,
        "size": row.size,
        "attachmentCount": row.attachments,
        "automatic": row.automatic,
        "spf": row.authentication.spf.verdict.value,
        "dkim": dkim_summary(row.authentication),
        "dmarc": row.authentication.dmarc.verdict,
        "hints": [hint.code for hint in row.hints],
        **texts,
    }


async def _ingest_dmarc_report(
    world: "World", project_id: UUID, content: ReceivedContent, arrival: Arrival, sender: ReportSender
) -> None:
    """If the message has a DMARC aggregate report about a sending domain of the project, add it to those of the domain.

    A report that cannot be added is kept like a message that was not understood.
    """
    names = [match[1] for attached in content.attachments if (match := _DMARC_REPORT.fullmatch(attached.filename))]
    if not names:
        return
    labels = names[0].lower().split(".")
    parents = [".".join(labels[start:]) for start in range(len(labels) - 1)][:4]
    sending_domains = await sending.sending_domains_all(world, [(project_id, name) for name in parents])
    domain = next((domain for domain in sending_domains if domain is not None), None)
    if domain is None:
        return
    try:
        result = await ingest_dmarc_message(world, project_id, domain.id, arrival.content, sender)
    except Problem as problem:
        log.info("dmarc_report_not_added", project=str(project_id), domain=domain.domain, reason=str(problem))
        reason = f"The DMARC report was not added to {domain.domain}. {problem.detail}"
        async with world.db.transaction() as tx:
            await keep_message(
                tx, project_id, None, reason, arrival.content, source=arrival.source, now=world.clock(), kind="dmarc"
            )
        return
    log.info(
        "dmarc_report_added" if sender.is_authenticated else "dmarc_report_not_authenticated",
        project=str(project_id),
        domain=domain.domain,
        messages=result.messages,
        reporter=sender.reporter,
    )
