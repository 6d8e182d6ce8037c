"""Verification of webhook deliveries (Standard Webhooks). Needs no `Postern` client and no API key."""

import binascii
import hmac
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from postern_sdk._record import UnknownEvent
from postern_sdk.errors import WebhookVerificationError

if TYPE_CHECKING:
    from postern_sdk.events import Event

TOLERANCE_SECONDS = 300.0
"""How much the time of a delivery may differ from the present one, in both directions."""

TIMESTAMP_DIGITS = 12
"""Maximum number of digits of `webhook-timestamp`, in seconds since 1970."""


def verify(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance: float = TOLERANCE_SECONDS,
) -> "Event":
    """Verify the signature of a webhook delivery and return its event.

    Args:
        body: The body exactly as it was received.
        headers: The request's headers, with names in upper or lower case; those of Svix (`svix-id` …) are accepted.
        secret: The webhook's secret (`whsec_…`), or several while it is rotated.
        tolerance: Seconds by which the delivery's time may differ from the present one.

    Raises:
        WebhookVerificationError: no signature matches a secret, a header is missing or malformed, the delivery's time
            is more than `tolerance` in the past or in the future, a secret is malformed, or the body is no event.

    An event of an unknown type, or whose data does not fit its class, is returned as `UnknownEvent`.
    """
    content = body.encode() if isinstance(body, str) else bytes(body)
    values = {name.lower(): value for name, value in headers.items()}
    event_id, timestamp, signatures = (_header(values, name) for name in ("id", "timestamp", "signature"))
    if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) <= TIMESTAMP_DIGITS):
        raise WebhookVerificationError("The header webhook-timestamp is not a number of seconds.")
    difference = time.time() - int(timestamp)
    if abs(difference) > tolerance:
        direction = "old" if difference > 0 else "in the future"
        raise WebhookVerificationError(
            f"The delivery is {abs(difference):.0f} s {direction}; {tolerance:g} s are allowed."
        )
    signed = f"{event_id}.{timestamp}.".encode() + content
    secrets = [secret] if isinstance(secret, str) else list(secret)
    expected = [b64encode(hmac.digest(_key(each), signed, "sha256")) for each in secrets]
    received = [each.removeprefix("v1,").encode() for each in signatures.split() if each.startswith("v1,")]
    if not received:
        raise WebhookVerificationError("The header webhook-signature has no signature of the version v1.")
    # The list compares every pair, so that the time does not tell which of them matched.
    if not any([hmac.compare_digest(ours, theirs) for ours in expected for theirs in received]):  # noqa: C419
        raise WebhookVerificationError(
            "No signature fits the secret and the body. The body must be as it was received."
        )
    return _event(event_id, content)


def sign(body: bytes | str, secret: str, *, id: str, timestamp: int | None = None) -> dict[str, str]:
    """The headers that Postern would send with a body, for tests of an endpoint. `timestamp` is in seconds since 1970.

    Raises WebhookVerificationError if the secret is malformed.
    """
    at = int(time.time()) if timestamp is None else timestamp
    content = body.encode() if isinstance(body, str) else body
    digest = hmac.digest(_key(secret), f"{id}.{at}.".encode() + content, "sha256")
    return {
        "webhook-id": id,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{b64encode(digest).decode()}",
    }


def _header(values: Mapping[str, str], name: str) -> str:
    value = values.get(f"webhook-{name}") or values.get(f"svix-{name}")
    if not value:
        raise WebhookVerificationError(f"The header webhook-{name} is missing.")
    return value


def _key(secret: str) -> bytes:
    try:
        key = b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise WebhookVerificationError("The secret must be that of a webhook: `whsec_`, followed by base64.")
    return key


def _event(event_id: str, content: bytes) -> "Event":
    from postern_sdk.events import BY_TYPE

    try:
        document: Any = msgspec.json.decode(content)
        if not isinstance(document, dict):
            raise msgspec.ValidationError("it is not an object")
        known = BY_TYPE.get(str(document.get("type")))
        # An event whose data does not fit its class, for example because it was truncated, is an UnknownEvent.
        for class_ in [UnknownEvent] if known is None else [known, UnknownEvent]:
            try:
                return msgspec.convert({**document, "id": event_id}, class_, strict=False)  # pyright: ignore[reportReturnType]
            except msgspec.ValidationError:
                if class_ is UnknownEvent:
                    raise
        raise AssertionError
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise WebhookVerificationError(f"The body is signed, but is no event: {error}.") from error
