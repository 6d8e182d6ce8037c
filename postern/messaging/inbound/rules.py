"""Which sends a received message refers to by its addresses, and which signals (`DeliverySignal`) a report about a send
contains. Pure functions.

A signed address (see `emails/return_addresses.py`) contains the id of its send.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from postern.kernel.values import Moment
from postern.messaging.emails.model import SignalKind
from postern.messaging.emails.return_addresses import AddressKind, verify_address
from postern.messaging.emails.signals import DeliverySignal
from postern.protocols.mail.arf import ComplaintReport
from postern.protocols.mail.dsn import DeliveryReport, ReportAction
from postern.protocols.mail.reports import sender_addresses

if TYPE_CHECKING:
    from postern.world import World

REPORT_MAILBOXES = frozenset(("abuse", "fbl", "postmaster"))
"""Local parts at the return-path domain that receive reports. Their address names no send, but the original message in
the report does. `fbl` is for the feedback loops of mailbox providers."""

_KINDS: dict[ReportAction, SignalKind] = {
    "failed": "BOUNCED",
    "delayed": "DELAYED",
    "delivered": "DELIVERED",
    "expanded": "DELIVERED",
}
"""The kind of signal for each action. There is none for `relayed`, after which no result is known (RFC 3464 §2.3.3)."""


def signals_of(
    project_id: UUID, send_id: UUID, report: DeliveryReport | ComplaintReport, now: Moment
) -> list[DeliverySignal]:
    """The signals of a report about a send."""
    occurred_at = Moment.of(report.occurred_at) if report.occurred_at else now
    if isinstance(report, ComplaintReport):
        if not report.is_complaint:
            return []
        return [
            DeliverySignal(
                project_id=project_id,
                send_id=send_id,
                kind="COMPLAINED",
                recipient=recipient,
                source="arf",
                host=report.reporting_host,
                feedback_type=report.feedback_type,
                occurred_at=now,
            )
            for recipient in report.recipients or (None,)
        ]
    return [
        DeliverySignal(
            project_id=project_id,
            send_id=send_id,
            kind=_KINDS[recipient.action],
            recipient=recipient.address or recipient.final_address or None,
            code=recipient.code,
            enhanced=recipient.enhanced,
            text=recipient.text,
            source=report.form,
            host=recipient.remote_host or report.reporting_host,
            occurred_at=occurred_at,
        )
        for recipient in report.recipients
        if recipient.action in _KINDS
    ]


def named_sends(world: "World", addresses: Sequence[str]) -> list[UUID]:
    """The sends of the signed addresses among `addresses`, each once."""
    verified = [verify_address(world, address) for address in addresses]
    return list(dict.fromkeys(address.send_id for address in verified if address is not None))


def sends_of_original(world: "World", report: DeliveryReport | ComplaintReport) -> list[UUID]:
    """The sends whose signed addresses are in the original message of a report."""
    return named_sends(world, sender_addresses(report))


def is_report_mailbox(world: "World", address: str) -> bool:
    """Whether an address is one of REPORT_MAILBOXES at the return-path domain."""
    local_part, _, domain = address.lower().rpartition("@")
    return local_part in REPORT_MAILBOXES and domain == (world.settings.bounce_domain or "").lower()


def is_own_address(world: "World", address: str) -> bool:
    """Whether an address is a signed address of a send, or a report mailbox."""
    return verify_address(world, address) is not None or is_report_mailbox(world, address)


def unsubscribed_send(world: "World", address: str) -> UUID | None:
    """The send to whose unsubscribe address (signed) a message was sent; None for other addresses."""
    verified = verify_address(world, address)
    return verified.send_id if verified is not None and verified.kind is AddressKind.UNSUBSCRIBE else None


def reported_send(world: "World", address: str) -> UUID | None:
    """The send whose reports go to this signed address; None for other addresses."""
    verified = verify_address(world, address)
    return verified.send_id if verified is not None and verified.kind is AddressKind.REPORTS else None
