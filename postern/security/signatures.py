"""Signatures on what we send, as Standard Webhooks 1.0.0 defines them (symmetric, `v1`).

The receiver computes HMAC-SHA256 over `id.timestamp.body` with the shared secret and compares. During a
rotation the header carries one signature per live secret, so the receiver may know either.
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
    """A fresh secret, `whsec_` and 32 random bytes in base64."""
    return SECRET_PREFIX + base64.b64encode(os.urandom(SECRET_BYTES)).decode()


def webhook_headers(id: str, at: datetime, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
    """The three headers that let the receiver check `body`.

    `id` is the same on every attempt, `at` is the moment of this one, `secrets` are those alive now, the
    newest first.
    """
    if "." in id or not secrets:
        raise ValueError("A webhook id has no dot, and at least one secret signs.")
    seconds = int(at.timestamp())
    signed = b"%s.%d.%s" % (id.encode(), seconds, body)
    return {
        "webhook-id": id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(f"v1,{_signature(secret, signed)}" for secret in secrets),
    }


def _signature(secret: str, signed: bytes) -> str:
    text = secret.removeprefix(SECRET_PREFIX)
    # Some libraries hand out secrets without the padding that base64 asks for.
    key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    return base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
