"""The handler of the SMTP server for mail that comes back (RFC 5321): it knows the signed addresses of sends only.

An unknown recipient is refused in the dialogue, so that this server never sends bounces itself. The reply 250 to a
message follows the commit of everything that it changes.
"""

from typing import TYPE_CHECKING, Final

import structlog
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.messaging.emails.signals import SendInTransmission
from postern.messaging.inbound import rules
from postern.messaging.inbound.receiving import NoSendNamed, receive
from postern.protocols.mail.smtp import SmtpReply
from postern.protocols.mail.smtp_server.session import SmtpSession

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

NO_AUTH: Final = SmtpReply(503, "5.5.1", "This server takes mail without authentication.")
ACCEPTED_SENDER: Final = SmtpReply(250, "2.1.0", "OK")
ACCEPTED_RECIPIENT: Final = SmtpReply(250, "2.1.5", "OK")
UNKNOWN_RECIPIENT: Final = SmtpReply(550, "5.1.1", "There is no such mailbox here.")
ACCEPTED: Final = SmtpReply(250, "2.0.0", "Thank you.")
REPEAT: Final = SmtpReply(451, "4.3.0", "The message cannot be processed at present; try again later.")
NOT_ABOUT_US: Final = SmtpReply(550, "5.6.0", "The message is no report about mail of this server.")


class InboundHandler:
    """Receives bounces, complaints and requests to unsubscribe."""

    def __init__(self, world: "World") -> None:
        self._world = world

    async def authenticate(self, session: SmtpSession, user: str, password: str) -> SmtpReply:
        """Refuse: there is nothing to log in to."""
        return NO_AUTH

    async def mail(self, session: SmtpSession, address: str, parameters: dict[str, str]) -> SmtpReply:
        """Accept any sender. Reports have the null reverse-path, requests to unsubscribe that of a person."""
        return ACCEPTED_SENDER

    async def recipient(self, session: SmtpSession, address: str, parameters: dict[str, str]) -> SmtpReply:
        """Accept signed addresses of sends, and the mailboxes for reports."""
        return ACCEPTED_RECIPIENT if rules.takes_mail(self._world, address) else UNKNOWN_RECIPIENT

    async def message(self, session: SmtpSession, content: bytes) -> SmtpReply:
        """Process a message; 250 after everything is committed."""
        try:
            await receive(self._world, session.recipients, content)
        except NoSendNamed:
            return NOT_ABOUT_US
        except SendInTransmission:
            return REPEAT
        except (OperationalError, PoolTimeout) as error:
            log.warning("inbound_message_deferred", error=str(error).strip()[:200])
            return REPEAT
        return ACCEPTED
