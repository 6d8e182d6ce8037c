"""Sending the reports about TLS with recipients' mail servers to their domains (RFC 8460).

The first result of a day creates the row of its report, which becomes due after the day. A domain gets reports if its
TLSRPT record says where to send them. This server sends them if the operator has set POSTERN_TLS_REPORT_CONTACT.
"""

import asyncio
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

import structlog

from postern.kernel.due import Work, for_each_row
from postern.kernel.outbound.client import OutboundRefused, OutboundResponse
from postern.kernel.values import Moment
from postern.messaging.domains import sending as domains
from postern.messaging.emails import tls_report_store as store
from postern.messaging.emails.rules import storable
from postern.messaging.emails.system_mail import sender_of
from postern.messaging.emails.tls_report_store import DueTlsReport, ReportStatus
from postern.messaging.emails.transports import direct_transport
from postern.protocols.mail.address import AddressInvalid, parse_address
from postern.protocols.mail.dkim import sign
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord
from postern.protocols.mail.public_suffixes import registered_domain
from postern.protocols.mail.tls_report import (
    TlsReport,
    compose_report,
    encode_report,
    mail_recipient,
    report_addresses,
)
from postern.protocols.mail.transports.transport import Deferred, Envelope, Rejected

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

KEPT_FOR = timedelta(days=30)
"""How long results and reports are kept."""
GIVE_UP_AFTER = timedelta(hours=28)
"""How long after its day a report is tried (RFC 8460 §5.5): 24 hours after the latest first attempt."""
FIRST_RETRY = timedelta(minutes=15)
"""The delay of the second attempt; each further one is twice as long, up to LONGEST_RETRY."""
LONGEST_RETRY = timedelta(hours=4)
LEASE = timedelta(minutes=15)
MEDIA_TYPE = "application/tlsrpt+gzip"
RETRIED_STATUSES = frozenset((408, 425, 429))
"""Statuses 4xx after which a request is repeated."""
REPORTS_PER_REGISTERED_DOMAIN = 20
"""How many reports about a day are sent for a registered domain and all domains below it together. Without this limit,
the owner of a DNS zone could flood the mailbox of another person: by naming it as the address for the reports in any
number of subdomains."""
NOTE_CHARACTERS = 500
"""Longer notes about failures are cut."""


class SendingResult(Enum):
    """What became of a report at one of the addresses (`mailto:` or `https:` URIs) that its domain names."""

    SENT = auto()
    REFUSED = auto()
    FAILED = auto()
    """It is tried again."""


async def send_report(world: "World", due: DueTlsReport) -> None:
    """Send a report to each of its addresses that has not got it, and settle the attempt.

    The result of each address is committed before the next address is tried. So if the process is killed, at most one
    address gets the report twice, with the same report id.
    """
    if not (world.settings.offers_direct and world.settings.tls_report_contact):
        await _settle(world, due, "OFF", "This server sends no reports: POSTERN_TLS_REPORT_CONTACT is not set.")
        return
    if world.clock() >= _end_of(due.day) + GIVE_UP_AFTER:
        await _settle(world, due, "SENT" if due.sent_to else "FAILED", "The report could not be sent in time.")
        return
    try:
        records = await world.resolver.txt(f"_smtp._tls.{due.domain}")
    except NoSuchRecord:
        records = []
    except DnsUnavailable as error:
        await _retry(world, due, str(error))
        return
    addresses = report_addresses(records)
    if not addresses:
        note = "The domain publishes no valid TLS-RPT record." if records else ""
        await _settle(world, due, "NOT_WANTED", note)
        return
    # Loading the list of public suffixes takes long the first time.
    registered = await asyncio.to_thread(registered_domain, due.domain)
    earlier = await store.count_earlier(world.db, id=due.id, day=due.day, registered=registered)
    if earlier >= REPORTS_PER_REGISTERED_DOMAIN:
        note = f"At most {REPORTS_PER_REGISTERED_DOMAIN} reports a day are sent about {registered} and below it."
        await _settle(world, due, "OFF", note)
        return
    report = TlsReport(
        id=str(due.id),
        domain=due.domain,
        day=due.day,
        submitter=parse_address(world.settings.tls_report_contact).domain,
        contact=world.settings.tls_report_contact,
        results=await store.results_of(world.db, day=due.day, domain=due.domain),
    )
    content = await asyncio.to_thread(encode_report, report)
    sent, refused, notes = list(due.sent_to), list(due.refused_by), list[str]()
    for address in addresses:
        if address in sent or address in refused:
            continue
        result, note = await _send_to(world, report, content, address)
        if note:
            notes.append(f"{address[:100]}: {note}")
        if result is SendingResult.FAILED:
            continue
        (sent if result is SendingResult.SENT else refused).append(address)
        if not await store.record_addresses(world.db, id=due.id, attempt=due.attempt, sent_to=sent, refused_by=refused):
            return  # The lease has ended, and another process continues.
    note = "; ".join(notes)
    if set(addresses) <= {*sent, *refused}:
        await _settle(world, due, "SENT" if sent else "FAILED", note)
    else:
        await _retry(world, due, note, is_sent=bool(sent))


async def _send_to(world: "World", report: TlsReport, content: bytes, address: str) -> tuple[SendingResult, str]:
    if address.startswith("mailto:"):
        return await _mail(world, report, content, address)
    outcome = await world.outbound.post(address, content, headers={"Content-Type": MEDIA_TYPE})
    if isinstance(outcome, OutboundRefused):
        return SendingResult.REFUSED, outcome.reason
    if not isinstance(outcome, OutboundResponse):
        return SendingResult.FAILED, outcome.reason
    if 200 <= outcome.status < 300:
        return SendingResult.SENT, ""
    is_final = 400 <= outcome.status < 500 and outcome.status not in RETRIED_STATUSES
    return SendingResult.REFUSED if is_final else SendingResult.FAILED, f"The server replied {outcome.status}."


async def _mail(world: "World", report: TlsReport, content: bytes, address: str) -> tuple[SendingResult, str]:
    """Mail a report. It must have a DKIM signature of the reporting domain (RFC 8460 §3): that of the contact, or else
    that of system mail."""
    sender, now = parse_address(world.settings.tls_report_contact or ""), world.clock()
    signers = await domains.signers_of_verified(world, sender.domain)
    if not signers:
        sender = sender_of(world)
        signers = await domains.signers_of_verified(world, sender.domain)
    if not signers:
        return SendingResult.REFUSED, f"{sender.domain} is no verified sending domain, whose key could sign the mail."
    try:
        recipient = mail_recipient(address)
    except AddressInvalid as error:
        return SendingResult.REFUSED, error.detail
    message = sign(compose_report(report, content, sender, recipient, now), signers, now=int(now.timestamp()))
    envelope = Envelope(
        mail_from=sender.spec,
        recipients=(recipient.spec,),
        message_id=f"<{report.id}@{sender.domain}>",
        # A report about failing TLS must not be stopped by failing TLS.
        ignore_tls_policy=True,
    )
    (result,) = (await direct_transport(world).deliver(envelope, message)).results
    if isinstance(result, Rejected):
        return SendingResult.REFUSED, f"{result.code} {result.text}"
    if isinstance(result, Deferred):
        return SendingResult.FAILED, f"{result.code} {result.text}"
    return SendingResult.SENT, ""


async def _retry(world: "World", due: DueTlsReport, note: str, *, is_sent: bool = False) -> None:
    """Try again later, or give up GIVE_UP_AFTER the day."""
    now = world.clock()
    retry_at = now + min(LONGEST_RETRY, FIRST_RETRY * 2 ** min(due.attempt - 1, 10))
    if retry_at >= _end_of(due.day) + GIVE_UP_AFTER:
        await _settle(world, due, "SENT" if is_sent else "FAILED", note)
        return
    await store.settle_report(
        world.db,
        id=due.id,
        attempt=due.attempt,
        status="WAITING",
        note=storable(note)[:NOTE_CHARACTERS],
        due_at=Moment.of(retry_at),
        finished_at=None,
    )


async def _settle(world: "World", due: DueTlsReport, status: ReportStatus, note: str) -> None:
    await store.settle_report(
        world.db,
        id=due.id,
        attempt=due.attempt,
        status=status,
        note=storable(note)[:NOTE_CHARACTERS],
        due_at=None,
        finished_at=world.clock(),
    )
    if status in ("SENT", "FAILED"):
        log.info("tls_report_finished", domain=due.domain, day=str(due.day), status=status, note=note[:NOTE_CHARACTERS])


def _end_of(day: date) -> datetime:
    return datetime.combine(day + timedelta(days=1), time(), UTC)


WORK: list[Work[Any]] = [
    Work(
        "emails.tls_reports",
        "tls_reports",
        DueTlsReport,
        LEASE,
        for_each_row(send_report),
        claim_size=20,
        partition_column="instance_id",
    )
]
