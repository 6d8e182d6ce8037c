"""Mail with a one-time code or link: what is stored and shown of it never contains the secret.

The complete content is stored encrypted until the send is settled. A message that is captured instead of sent is
kept encrypted as a whole for callers with the permission `customers:impersonate`; all others get the redacted one.
"""

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import UUID

import msgspec

from postern.messaging.emails.model import SendBody
from postern.protocols.mail.transports.transport import DeliveryOutcome
from postern.security.secrets import SealBroken

if TYPE_CHECKING:
    from postern.world import World

REMOVED = "[removed]"
"""Replaces a code or token."""


class SecretInSubject(ValueError):
    """A one-time secret was about to be written into a subject, which is stored and shown everywhere."""


def redact(text: str, secrets: Sequence[str]) -> str:
    """`text` without the secrets, also where they stand escaped in HTML or in a URL."""
    for secret in secrets:
        for written in {secret, html.escape(secret), quote(secret, safe="")}:
            text = text.replace(written, REMOVED)
    return text


def redacted_body(body: SendBody) -> SendBody:
    """What is stored in clear of a message with one-time secrets. Raises SecretInSubject."""
    if redact(body.subject, body.secrets) != body.subject:
        raise SecretInSubject
    return msgspec.structs.replace(
        body,
        html=body.html and redact(body.html, body.secrets),
        text=body.text and redact(body.text, body.secrets),
        secrets=[],
        redacted=True,
    )


def seal_body(world: "World", send_id: UUID, body: SendBody) -> bytes:
    """The complete content, encrypted with the master key for this one send."""
    return world.secrets.seal(msgspec.json.encode(body), f"send-body:{send_id}")


def open_body(world: "World", send_id: UUID, body: SendBody, sealed: bytes | None) -> SendBody | None:
    """The complete content of a stored message; None if it had one-time secrets and they have been erased."""
    if not body.redacted:
        return body
    if sealed is None:
        return None
    try:
        return msgspec.json.decode(world.secrets.open(sealed, f"send-body:{send_id}"), type=SendBody)
    except SealBroken:  # The master key is another one: what it encrypted is lost.
        return None


def redact_outcome(outcome: DeliveryOutcome, secrets: Sequence[str]) -> DeliveryOutcome:
    """Redact the replies and the dialogue of an outcome, because some servers quote rejected content."""
    replace = msgspec.structs.replace
    return replace(
        outcome,
        results=tuple(replace(result, text=redact(result.text, secrets)) for result in outcome.results),
        exchange=tuple(
            (who, redact(line.decode("latin-1"), secrets).encode("latin-1")) for who, line in outcome.exchange
        ),
    )


def seal_captured(world: "World", send_id: UUID, message: bytes) -> bytes:
    """A captured message, encrypted with the master key."""
    return world.secrets.seal(message, f"captured-message:{send_id}")


def open_captured(world: "World", send_id: UUID, sealed: bytes) -> bytes:
    """A captured message as it was composed. Raises SealBroken."""
    return world.secrets.open(sealed, f"captured-message:{send_id}")
