"""One-time codes of authenticator apps (TOTP, RFC 6238), and the recovery codes for a lost phone.

Pure: who keeps the secret (sealed), the last step used and the recovery codes (as keyed hashes) is the caller.
"""

import base64
import hmac
import os
import secrets
from datetime import datetime
from urllib.parse import quote, urlencode

SECRET_BYTES = 20
"""As long as the hash, as RFC 4226 §4 recommends."""
STEP_SECONDS = 30
DIGITS = 6
STEPS_APART = 1
"""How far a phone's clock may be off: one step back or ahead (RFC 6238 §5.2)."""

RECOVERY_CODES = 10
RECOVERY_ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Characters that nobody mistakes for one another on paper."""
RECOVERY_LENGTH = 12
"""Characters of a recovery code: 59 bits, so that a keyed hash is enough to keep."""


def new_totp_secret() -> bytes:
    """A secret for one person; keep it sealed."""
    return os.urandom(SECRET_BYTES)


def totp_key(secret: bytes) -> str:
    """The secret as people type it into an app: base32 without padding."""
    return base64.b32encode(secret).decode().rstrip("=")


def totp_uri(secret: bytes, *, issuer: str, account: str) -> str:
    """The `otpauth://` address that apps read from a QR code."""
    label = quote(f"{issuer}:{account}", safe="")
    asked = {
        "secret": totp_key(secret),
        "issuer": issuer,
        "algorithm": "SHA1",
        "digits": DIGITS,
        "period": STEP_SECONDS,
    }
    return f"otpauth://totp/{label}?{urlencode(asked, quote_via=quote)}"


def step_of(now: datetime) -> int:
    """Which step of 30 seconds a moment is in."""
    return int(now.timestamp()) // STEP_SECONDS


def code_at(secret: bytes, step: int) -> str:
    """The code of one step (RFC 4226 §5.3)."""
    mac = hmac.digest(secret, step.to_bytes(8, "big"), "sha1")
    offset = mac[-1] & 0x0F
    number = int.from_bytes(mac[offset : offset + 4], "big") & 0x7FFF_FFFF
    return str(number % 10**DIGITS).zfill(DIGITS)


def matching_step(secret: bytes, code: str, now: datetime, *, used: int | None = None) -> int | None:
    """The step whose code this is, or None.

    `used` is the last step that was accepted: that code and older ones are worth nothing any more (ASVS 6.5.1).
    Write the step down atomically (`… where used_step is null or used_step < step`), so that one code used twice
    at the same moment works once. Takes the same time for every code.
    """
    given = "".join(code.split()).encode()
    found = None
    for step in range(step_of(now) - STEPS_APART, step_of(now) + STEPS_APART + 1):
        is_right = hmac.compare_digest(code_at(secret, step).encode(), given)
        if is_right and (used is None or step > used):
            found = step
    return found


def new_recovery_codes() -> list[str]:
    """Ten codes of the form `XXXX-XXXX-XXXX`, each for one sign-in without the app; shown once."""
    return [
        _grouped("".join(secrets.choice(RECOVERY_ALPHABET) for _ in range(RECOVERY_LENGTH)))
        for _ in range(RECOVERY_CODES)
    ]


def plain_recovery_code(text: str) -> str:
    """A recovery code however it was typed, in the one form that is hashed."""
    return "".join(character for character in text.upper() if character.isalnum())


def looks_like_recovery_code(text: str) -> bool:
    """Whether a person means a recovery code, not one of an app."""
    return len(plain_recovery_code(text)) == RECOVERY_LENGTH


def _grouped(text: str) -> str:
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))
