"""Redaction of mail with a one-time code or link: the secret is neither displayed nor stored unencrypted.

The complete content is stored encrypted until the send is settled, that is, has its final status. A captured message
(kept on this server instead of being sent) is stored twice: redacted, and complete but encrypted. Only callers with the
permission `customers:impersonate` can read the complete one.
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
    """A subject contains a one-time secret. Subjects are stored unencrypted and shown in the e-mail log."""


def redact(text: str, secrets: Sequence[str]) -> str:
    """`text` with each secret replaced by REMOVED, also in its HTML-escaped and its percent-encoded form."""
    for secret in secrets:
        for form in {secret, html.escape(secret), quote(secret, safe="")}:
            text = text.replace(form, REMOVED)
    return text


def redacted_body(body: SendBody) -> SendBody:
    """The content to store unencrypted: without the one-time secrets. Raises SecretInSubject."""
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
    """Encrypt the complete content with the master key; it can be decrypted for this send only."""
    return world.secrets.seal(msgspec.json.encode(body), f"send-body:{send_id}")


def open_body(world: "World", send_id: UUID, body: SendBody, sealed: bytes | None) -> SendBody | None:
    """The complete content of a stored message: `body` if nothing in it was redacted, otherwise `sealed`, decrypted.

    None if the encrypted copy was erased, or was encrypted with another master key.
    """
    if not body.redacted:
        return body
    if sealed is None:
        return None
    try:
        return msgspec.json.decode(world.secrets.open(sealed, f"send-body:{send_id}"), type=SendBody)
    except SealBroken:
        return None


def redact_outcome(outcome: DeliveryOutcome, secrets: Sequence[str]) -> DeliveryOutcome:
    """The outcome with secrets redacted in the server's replies (`results`) and in the SMTP dialogue (`exchange`),
    because some servers quote rejected content."""
    replace = msgspec.structs.replace
    return replace(
        outcome,
        results=tuple(replace(result, text=redact(result.text, secrets)) for result in outcome.results),
        exchange=tuple(
            (side, redact(line.decode("latin-1"), secrets).encode("latin-1")) for side, line in outcome.exchange
        ),
    )


def seal_captured(world: "World", send_id: UUID, message: bytes) -> bytes:
    """Encrypt a captured message with the master key; it can be decrypted for this send only."""
    return world.secrets.seal(message, f"captured-message:{send_id}")


def open_captured(world: "World", send_id: UUID, sealed: bytes) -> bytes:
    """Decrypt a captured message. Raises SealBroken if it was encrypted for another send or with another key."""
    return world.secrets.open(sealed, f"captured-message:{send_id}")
