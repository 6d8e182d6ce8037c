"""The handler of the SMTP server for received mail (RFC 5321).

It accepts mail to the signed addresses of sends, to the mailboxes for reports, and to the addresses of routes.

An unknown recipient is refused in the reply to RCPT, so that this server never sends bounces itself. The reply 250 to a
message is sent after everything that the message changes is committed.
"""

from typing import TYPE_CHECKING, Final, cast

import structlog
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.messaging.emails.signals import SendInTransmission
from postern.messaging.inbound import rules
from postern.messaging.inbound.model import MAX_REPORT_OCTETS, InboundMessageLoops
from postern.messaging.inbound.receiving import NoSendNamed, receive
from postern.messaging.inbound.routing import RouteMatch, routes_of_each
from postern.messaging.inbound.storing import Arrival, store_message
from postern.protocols.mail.smtp import SmtpReply
from postern.protocols.mail.smtp_server.session import SmtpSession

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

NO_AUTH: Final = SmtpReply(503, "5.5.1", "This server takes mail without authentication.")
ACCEPTED_SENDER: Final = SmtpReply(250, "2.1.0", "OK")
ACCEPTED_RECIPIENT: Final = SmtpReply(250, "2.1.5", "OK")
UNKNOWN_RECIPIENT: Final = SmtpReply(550, "5.1.1", "There is no such mailbox here.")
MAILBOX_FULL: Final = SmtpReply(452, "4.2.2", "The mailbox is full; try again later.")
RECIPIENT_DEFERRED: Final = SmtpReply(451, "4.3.0", "The recipient cannot be checked at present; try again later.")
ACCEPTED: Final = SmtpReply(250, "2.0.0", "Thank you.")
MESSAGE_DEFERRED: Final = SmtpReply(451, "4.3.0", "The message cannot be processed at present; try again later.")
NO_REPORT: Final = SmtpReply(550, "5.6.0", "The message is not a report about mail of this server.")
REPORT_TOO_LARGE: Final = SmtpReply(552, "5.3.4", f"A report can have at most {MAX_REPORT_OCTETS:,} octets.")
LOOP: Final = SmtpReply(554, "5.4.6", "The message has passed too many servers (mail loop).")

Routes = dict[str, list[RouteMatch]]
"""The routes of the recipients of an SMTP transaction, keyed by address."""


class InboundHandler:
    """Receives bounces, complaints and requests to unsubscribe, and mail to the addresses of routes."""

    def __init__(self, world: "World") -> None:
        self._world = world

    async def authenticate(self, session: SmtpSession, user: str, password: str) -> SmtpReply:
        """Refuse: this server accepts mail without authentication."""
        return NO_AUTH

    async def mail(self, session: SmtpSession, address: str, parameters: dict[str, str]) -> SmtpReply:
        """Accept any sender. Reports have the null reverse-path, other mail that of its sender."""
        session.state = Routes()
        return ACCEPTED_SENDER

    async def recipient(self, session: SmtpSession, address: str, parameters: dict[str, str]) -> SmtpReply:
        """Accept signed addresses of sends, the mailboxes for reports, and addresses that have a route."""
        if rules.is_own_address(self._world, address):
            return ACCEPTED_RECIPIENT
        try:
            matches = await self._world.batcher(routes_of_each, max_concurrent=2)(address)
        except (OperationalError, PoolTimeout) as error:
            log.warning("inbound_recipient_deferred", error=str(error).strip()[:200])
            return RECIPIENT_DEFERRED
        if not matches:
            return UNKNOWN_RECIPIENT
        # Projects whose storage is not full receive the message, even if that of another project is full.
        receiving = [match for match in matches if not match.is_full]
        if not receiving:
            return MAILBOX_FULL
        cast(Routes, session.state)[address] = receiving
        return ACCEPTED_RECIPIENT

    async def message(self, session: SmtpSession, content: bytes) -> SmtpReply:
        """Process a message; 250 after everything is committed.

        A message to report mailboxes that names no send is refused, unless it was stored for other recipients, which
        have routes.
        """
        routes = {address: matches for address, matches in _routes_of(session).items() if address in session.recipients}
        reporting = [address for address in session.recipients if address not in routes]
        if reporting and len(content) > MAX_REPORT_OCTETS:
            return REPORT_TOO_LARGE
        try:
            if routes:
                await store_message(self._world, _arrival(session, content), routes)
            if reporting:
                await receive(self._world, reporting, content)
        except NoSendNamed:
            return ACCEPTED if routes else NO_REPORT
        except InboundMessageLoops:
            return LOOP
        except SendInTransmission:
            return MESSAGE_DEFERRED
        except (OperationalError, PoolTimeout) as error:
            log.warning("inbound_message_deferred", error=str(error).strip()[:200])
            return MESSAGE_DEFERRED
        return ACCEPTED


def _routes_of(session: SmtpSession) -> Routes:
    return session.state or Routes()


def _arrival(session: SmtpSession, content: bytes) -> Arrival:
    return Arrival(
        source="smtp",
        sender=session.sender or "",
        client_ip=session.peer.partition("%")[0],
        client_name=session.hello,
        content=content,
    )
