"""One-time codes of authenticator apps (TOTP, RFC 6238) and recovery codes.

Pure functions: the caller stores the encrypted secret, the last used time step, and keyed hashes of recovery codes.
"""

import base64
import hmac
import os
import secrets
from datetime import datetime
from urllib.parse import quote, urlencode

SECRET_BYTES = 20
"""160 bits, as RFC 4226 §4 recommends."""
STEP_SECONDS = 30
DIGITS = 6
ALLOWED_STEPS = 1
"""Allowed clock difference: one step back or ahead (RFC 6238 §5.2)."""

RECOVERY_CODES = 10
RECOVERY_ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Digits and letters, except those that look alike."""
RECOVERY_LENGTH = 12
"""Characters of a recovery code: 59 bits of entropy, so a fast keyed hash is sufficient for storage."""


def new_totp_secret() -> bytes:
    """Return a new random secret. Store it encrypted."""
    return os.urandom(SECRET_BYTES)


def totp_key(secret: bytes) -> str:
    """The secret in base32 without padding, for entering it in an app by hand."""
    return base64.b32encode(secret).decode().rstrip("=")


def totp_uri(secret: bytes, *, issuer: str, account: str) -> str:
    """The `otpauth://` URI that apps read from a QR code."""
    label = quote(f"{issuer}:{account}", safe="")
    parameters = {
        "secret": totp_key(secret),
        "issuer": issuer,
        "algorithm": "SHA1",
        "digits": DIGITS,
        "period": STEP_SECONDS,
    }
    return f"otpauth://totp/{label}?{urlencode(parameters, quote_via=quote)}"


def step_of(now: datetime) -> int:
    """The number of the 30-second time step at `now` (RFC 6238 §4.2)."""
    return int(now.timestamp()) // STEP_SECONDS


def code_at(secret: bytes, step: int) -> str:
    """The code of a time step (RFC 4226 §5.3)."""
    mac = hmac.digest(secret, step.to_bytes(8, "big"), "sha1")
    offset = mac[-1] & 0x0F
    number = int.from_bytes(mac[offset : offset + 4], "big") & 0x7FFF_FFFF
    return str(number % 10**DIGITS).zfill(DIGITS)


def matching_step(secret: bytes, code: str, now: datetime, *, used: int | None = None) -> int | None:
    """Return the time step of a valid code; None if the code is invalid at `now`, or was used already.

    `used` is the last accepted step: its code and older ones are invalid (ASVS 6.5.1). Store the returned step
    atomically, only if it is greater than the stored one, so that a code that is used twice concurrently works once.
    Takes the same time for every code.
    """
    entered = "".join(code.split()).encode()
    matching = None
    for step in range(step_of(now) - ALLOWED_STEPS, step_of(now) + ALLOWED_STEPS + 1):
        is_right = hmac.compare_digest(code_at(secret, step).encode(), entered)
        if is_right and (used is None or step > used):
            matching = step
    return matching


def new_recovery_codes() -> list[str]:
    """Return ten new codes of the form `XXXX-XXXX-XXXX`, each of which replaces the app's code once."""
    return [
        _grouped("".join(secrets.choice(RECOVERY_ALPHABET) for _ in range(RECOVERY_LENGTH)))
        for _ in range(RECOVERY_CODES)
    ]


def plain_recovery_code(text: str) -> str:
    """Convert a typed recovery code to the form that is hashed: upper case, without separators."""
    return "".join(character for character in text.upper() if character.isalnum())


def looks_like_recovery_code(text: str) -> bool:
    """Whether a text has as many letters and digits as a recovery code; codes of apps are shorter."""
    return len(plain_recovery_code(text)) == RECOVERY_LENGTH


def _grouped(text: str) -> str:
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))
