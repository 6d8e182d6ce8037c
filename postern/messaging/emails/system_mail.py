"""The server's own way out: letters to developers, which belong to no project and appear in no project's log."""

import asyncio
import email
import email.policy
import re
from email.message import EmailMessage
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID

import structlog

from postern.kernel.clock import Moment
from postern.kernel.values import NO_ID
from postern.messaging.emails.redaction import redact_outcome
from postern.messaging.emails.transports import NoSmartHost, transport_of
from postern.platform.accounts.mailer import AccountMailRequest
from postern.platform.projects.model import ProjectSettings
from postern.protocols.mail import mime
from postern.protocols.mail.address import Address, parse_address
from postern.protocols.mail.transports.transport import Deferred, Envelope
from postern.web.mails import RenderedMail, render_mail

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

FALLBACK_HOST = "postern.invalid"
"""Where the server has no name of its own (RFC 6761 §6.4): good enough for a file, refused by every real host."""


async def deliver_system_mail(world: "World", id: UUID, letter: AccountMailRequest) -> bool:
    """Hand a letter to the instance's smart hosts, or, where mail is captured, to an encrypted file in the data folder.

    Returns False when it should be tried again; what is refused for good is logged and counts as done.
    """
    sender = sender_of(world)
    mail = render_mail(letter.template, app="Postern", **letter.values)
    message = compose_system_mail(mail, letter.to, sender, id, world.clock())
    if world.settings.transport == "capture":
        file = world.settings.data / "mail" / f"{id}.sealed"
        await asyncio.to_thread(_keep, file, world.secrets.seal(message, captured_context(id)))
        log.info("letter_captured", id=str(id), to=letter.to, subject=mail.subject)
        return True
    try:
        transport = transport_of(world, NO_ID, ProjectSettings())
    except NoSmartHost as gone:
        log.warning("letter_waits", id=str(id), reason=gone.detail)
        return False
    envelope = Envelope(mail_from=sender.spec, recipients=(letter.to,), message_id=f"<{id}@{sender.domain}>")
    outcome = await transport.deliver(envelope, message)
    if mail.secrets:
        outcome = redact_outcome(outcome, mail.secrets)
    (result,) = outcome.results
    if outcome.ambiguous or isinstance(result, Deferred):
        log.warning("letter_deferred", id=str(id), host=result.host, reply=result.text)
        return False
    log.info("letter_handed_over", id=str(id), host=result.host, result=type(result).__name__, reply=result.text)
    return True


def captured_system_mail(world: "World", to: str | None = None) -> list[EmailMessage]:
    """The letters to developers that the server captured in its data folder, oldest first; `to` narrows to an address.

    They carry one-time links, so each file is encrypted with the master key: this is for the operator alone.
    """
    found: list[EmailMessage] = []
    for file in sorted((world.settings.data / "mail").glob("*.sealed")):
        raw = world.secrets.open(file.read_bytes(), captured_context(file.stem))
        message = email.message_from_bytes(raw, policy=email.policy.default)
        if to is None or to.lower() in str(message["To"]).lower():
            found.append(message)
    return found


def captured_context(id: UUID | str) -> str:
    """What the file of a captured letter is encrypted for."""
    return f"captured-letter:{id}"


def sender_of(world: "World") -> Address:
    """Who writes to developers: POSTERN_MAIL_FROM, or `postern@` the server's own name."""
    if world.settings.mail_from:
        return parse_address(world.settings.mail_from)
    host = urlsplit(world.settings.public_url).hostname or ""
    named = re.fullmatch(r"([a-z0-9-]+\.)+[a-z][a-z0-9-]*", host)
    domain = host if named else FALLBACK_HOST
    return Address(name="Postern", local="postern", domain=domain, spec=f"postern@{domain}")


def compose_system_mail(mail: RenderedMail, to: str, sender: Address, id: UUID, now: Moment) -> bytes:
    """The message as it goes on the wire: plain text and the same in HTML."""
    return mime.compose(
        mime.Message(
            from_=sender,
            to=[parse_address(to)],
            subject=mail.subject,
            date=now,
            message_id=f"<{id}@{sender.domain}>",
            own_headers=[("Auto-Submitted", "auto-generated")],  # RFC 3834 §5: no vacation note in return.
            text=mail.text,
            html=mail.html,
        )
    )


def _keep(file: Path, message: bytes) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_bytes(message)
