"""The forms in which other systems write password hashes, converted to the forms that `imported_hashes` checks.

Each stored form begins with the scheme and its costs (`$pbkdf2-sha256$600000$`), from which the duration of a check
follows. A salt or a key is therefore never the second part.
"""

import base64
import binascii
import re
import struct

from postern.identity.customers.crypt_hashes import DIGESTS, ITOA64

_DJANGO = re.compile(r"^(pbkdf2_sha256|pbkdf2_sha1|pbkdf2_sha512)\$(\d{1,8})\$([^$]{1,256})\$([A-Za-z0-9+/=]+)$")
_DJANGO_SCRYPT = re.compile(r"^scrypt\$(\d{1,8})\$([^$]{1,256})\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9+/=]+)$")
_DJANGO_DIGEST = re.compile(r"^(md5|sha1)\$([^$]{0,256})\$([0-9a-f]{32}|[0-9a-f]{40})$")
_LDAP = re.compile(r"^\{(S?)(SHA|SHA256|SHA384|SHA512|MD5)\}([A-Za-z0-9+/]+={0,2})$", re.IGNORECASE)
_SHA_CRYPT = re.compile(r"^\$([56])\$(?:rounds=(\d{1,9})\$)?([^$\s:]{0,16})\$([./A-Za-z0-9]{43}|[./A-Za-z0-9]{86})$")
_PHPASS = re.compile(r"^\$[PH]\$([./A-Za-z0-9])([./A-Za-z0-9]{8})([./A-Za-z0-9]{22})$")
SHA_CRYPT_DEFAULT_ROUNDS = 5_000
_ASPNET_V2_SIZE = 1 + 16 + 32
_ASPNET_V2_ROUNDS = 1_000
_ASPNET_PRFS = ("sha1", "sha256", "sha512")


def as_stored(text: str) -> str:
    """Convert a password hash to the form that is stored; a hash in an unknown form is returned as it is.

    Converts hashes of Django, ASP.NET Identity (versions 2 and 3), LDAP (`{SSHA}` and others), SHA-crypt and phpass.
    Weak digests become `$salted-…`, which must be wrapped before they are stored.
    """
    if text[:7].upper() == "{CRYPT}":
        text = text[7:]
    if text.startswith("bcrypt$$2"):
        return text[7:]
    if text.startswith("bcrypt_sha256$$2") and re.match(r"^\$2[ab]\$\d\d\$", text[14:]):
        return f"$bcrypt-sha256${text[18:]}"
    if text.startswith("argon2$argon2"):
        return text[6:]
    if match := _DJANGO.match(text):
        return f"${match[1].replace('_', '-')}${int(match[2])}${_base64(match[3].encode())}${match[4]}"
    if match := _DJANGO_SCRYPT.match(text):
        n, salt = int(match[1]), _base64(match[2].encode())
        if n >= 2 and n & (n - 1) == 0:
            return f"$scrypt$ln={n.bit_length() - 1},r={int(match[3])},p={int(match[4])}${salt}${match[5]}"
    if match := _DJANGO_DIGEST.match(text):
        return salted(match[1], match[2].encode(), "prefix", bytes.fromhex(match[3]))
    if match := _LDAP.match(text):
        return _ldap(match[2].lower(), match[3], is_salted=bool(match[1])) or text
    if match := _SHA_CRYPT.match(text):
        rounds = int(match[2] or SHA_CRYPT_DEFAULT_ROUNDS)
        return f"${match[1]}$rounds={rounds}${match[3]}${match[4]}"
    if match := _PHPASS.match(text):
        return f"$phpass$ln={ITOA64.index(match[1])}${match[2]}${match[3]}"
    return _aspnet(text) or text


def salted(algorithm: str, salt: bytes, position: str, digest: bytes) -> str:
    """A digest of a password and a salt in the form of the API; `position` of the salt is `prefix` or `suffix`."""
    return f"$salted-{algorithm}${position}${_base64(salt)}${_base64(digest)}"


def pbkdf2(digest: str, rounds: int, salt: bytes, value: bytes) -> str:
    """A PBKDF2 hash in the form of the API; `digest` is `sha1`, `sha256` or `sha512`."""
    return f"$pbkdf2-{digest}${rounds}${_base64(salt)}${_base64(value)}"


def _ldap(algorithm: str, text: str, *, is_salted: bool) -> str | None:
    """A hash in the form of RFC 3112 and OpenLDAP: the digest of password and salt, followed by the salt."""
    algorithm = "sha1" if algorithm == "sha" else algorithm
    size, data = DIGESTS.get(algorithm), _decoded(text)
    if size is None or data is None or (len(data) <= size if is_salted else len(data) != size):
        return None
    return salted(algorithm, data[size:], "suffix", data[:size])


def _aspnet(text: str) -> str | None:
    """A hash of ASP.NET Core Identity's PasswordHasher in base64; None if it is something else.

    Version 2 is a zero byte, 16 bytes of salt and 32 bytes of PBKDF2 with SHA-1 and 1,000 rounds. Version 3 is a byte
    1, then function, rounds and size of the salt as 32-bit numbers, salt and value.
    """
    data = None if "$" in text or len(text) > 400 else _decoded(text)
    if data is None:
        return None
    if len(data) == _ASPNET_V2_SIZE and data[0] == 0:
        return pbkdf2("sha1", _ASPNET_V2_ROUNDS, data[1:17], data[17:])
    if len(data) < 13 or data[0] != 1:
        return None
    function, rounds, salt_size = struct.unpack(">III", data[1:13])
    salt, value = data[13 : 13 + salt_size], data[13 + salt_size :]
    if function >= len(_ASPNET_PRFS) or salt_size < 8 or len(value) < 16:
        return None
    return pbkdf2(_ASPNET_PRFS[function], rounds, salt, value)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode().rstrip("=")


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
