"""System mail: mail of the server to developers. It belongs to no project, so no e-mail log contains it."""

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

from postern.kernel.values import NO_ID, Moment
from postern.messaging.emails.redaction import redact_outcome
from postern.messaging.emails.transports import NoSmartHost, transport_of
from postern.platform.accounts.mailer import AccountMailRequest
from postern.platform.projects.model import ProjectSettings
from postern.protocols.mail import mime
from postern.protocols.mail.address import Address, parse_address
from postern.protocols.mail.transports.transport import Deferred, Envelope
from postern.web.mails import DEFAULT_THEME, RenderedMail, render_mail

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

FALLBACK_HOST = "postern.invalid"
"""The sender's domain if the server has no domain name (RFC 6761 §6.4). It only works for captured mail."""


async def deliver_system_mail(world: "World", id: UUID, request: AccountMailRequest) -> bool:
    """Send a mail through the server's transport or, with the transport `capture`, write it to an encrypted file.

    `id` becomes the Message-ID and the name of the file. Returns False if the caller must retry: the mail was deferred,
    the reply was not received (the retry may then deliver the mail twice), or no transport is configured. A permanent
    rejection is logged and returns True. Raises AddressInvalid if `request.to` is not an address.
    """
    sender = sender_of(world)
    mail = render_mail(request.template, app="Postern", theme=DEFAULT_THEME, **request.values)
    message = compose_system_mail(mail, request.to, sender, id, world.clock())
    if world.settings.transport == "capture":
        file = world.settings.data / "mail" / f"{id}.sealed"
        await asyncio.to_thread(_write_file, file, world.secrets.seal(message, captured_context(id)))
        log.info("system_mail_captured", id=str(id), to=request.to, subject=mail.subject)
        return True
    try:
        transport = transport_of(world, NO_ID, ProjectSettings())
    except NoSmartHost as error:
        log.warning("system_mail_waits", id=str(id), reason=error.detail)
        return False
    envelope = Envelope(mail_from=sender.spec, recipients=(request.to,), message_id=f"<{id}@{sender.domain}>")
    outcome = await transport.deliver(envelope, message)
    if mail.secrets:
        outcome = redact_outcome(outcome, mail.secrets)
    (result,) = outcome.results
    if outcome.ambiguous or isinstance(result, Deferred):
        log.warning("system_mail_deferred", id=str(id), host=result.host, reply=result.text)
        return False
    log.info("system_mail_sent", id=str(id), host=result.host, result=type(result).__name__, reply=result.text)
    return True


def captured_system_mail(world: "World", to: str | None = None) -> list[EmailMessage]:
    """The captured mails in the data folder, oldest first; with `to`, only those whose recipient contains that text.

    Mails contain one-time links, so each file is encrypted with the master key, and only the operator can read it.
    Raises SealBroken for a file that was encrypted with another master key.
    """
    messages: list[EmailMessage] = []
    for file in sorted((world.settings.data / "mail").glob("*.sealed")):
        raw = world.secrets.open(file.read_bytes(), captured_context(file.stem))
        message = email.message_from_bytes(raw, policy=email.policy.default)
        if to is None or to.lower() in str(message["To"]).lower():
            messages.append(message)
    return messages


def captured_context(id: UUID | str) -> str:
    """The encryption context of a captured mail: the file can be decrypted with this id only."""
    # With another name, mail that was captured before could not be decrypted any more.
    return f"captured-letter:{id}"


def sender_of(world: "World") -> Address:
    """The sender of system mail: POSTERN_MAIL_FROM, or `postern@` and the host of the base URL if that is a domain
    name, or else `postern@` and FALLBACK_HOST. Raises AddressInvalid."""
    if world.settings.mail_from:
        return parse_address(world.settings.mail_from)
    host = urlsplit(world.settings.public_url).hostname or ""
    is_domain = re.fullmatch(r"([a-z0-9-]+\.)+[a-z][a-z0-9-]*", host)
    domain = host if is_domain else FALLBACK_HOST
    return Address(name="Postern", local="postern", domain=domain, spec=f"postern@{domain}")


def compose_system_mail(mail: RenderedMail, to: str, sender: Address, id: UUID, now: Moment) -> bytes:
    """The message (RFC 5322) with plain text and HTML; `id` becomes its Message-ID. Raises AddressInvalid."""
    return mime.compose(
        mime.Message(
            from_=sender,
            to=[parse_address(to)],
            subject=mail.subject,
            date=now,
            message_id=f"<{id}@{sender.domain}>",
            own_headers=[("Auto-Submitted", "auto-generated")],  # RFC 3834 §5: suppresses automatic replies.
            text=mail.text,
            html=mail.html,
        )
    )


def _write_file(file: Path, message: bytes) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_bytes(message)
