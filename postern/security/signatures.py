"""Signatures of webhook requests as Standard Webhooks 1.0.0 defines them (symmetric, `v1`).

The receiver computes the HMAC-SHA256 of `id.timestamp.body` with the shared secret and compares. During a rotation the
header contains a signature for each valid secret, so the receiver may use either.
"""

import base64
import hashlib
import hmac
import os
from collections.abc import Sequence
from datetime import datetime

SECRET_PREFIX = "whsec_"  # noqa: S105 - a label, not a secret
SECRET_BYTES = 32


def new_webhook_secret() -> str:
    """Return a new secret: `whsec_` and 32 random bytes in base64."""
    return SECRET_PREFIX + base64.b64encode(os.urandom(SECRET_BYTES)).decode()


def webhook_headers(
    id: str, at: datetime, body: bytes, secrets: Sequence[str], *, prefix: str = "webhook"
) -> dict[str, str]:
    """Return the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` of a request with `body`.

    `prefix` replaces `webhook` in their names.

    `id` is the same for all attempts, `at` is the time of this attempt, and `secrets` are all valid ones, the newest
    first. Raises ValueError if `id` contains a dot or there is no secret.
    """
    if "." in id or not secrets:
        raise ValueError("A webhook id must not contain a dot, and at least one secret is required.")
    seconds = int(at.timestamp())
    signed = b"%s.%d.%s" % (id.encode(), seconds, body)
    return {
        f"{prefix}-id": id,
        f"{prefix}-timestamp": str(seconds),
        f"{prefix}-signature": " ".join(f"v1,{_signature(secret, signed)}" for secret in secrets),
    }


def _signature(secret: str, signed: bytes) -> str:
    text = secret.removeprefix(SECRET_PREFIX)
    # Some libraries omit the padding of base64 in secrets.
    key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    return base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
