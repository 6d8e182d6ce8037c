"""Password hashes imported from other systems: accepted schemes, limits of their cost parameters, and checking.

Cost parameters are limited, because they determine how much processor time and memory each sign-in attempt takes.

A digest such as MD5 or SHA-256 of a password and a salt is not stored: argon2id hashes the digest first, so that a copy
of the database does not reveal it (`$wrapped-md5$…`). A check computes the digest of the password, then argon2id.

Checking an imported hash takes longer or shorter than checking a hash that this server made, so the response time of a
failed sign-in would reveal which addresses have accounts. In a project with imported hashes, every failed sign-in
therefore takes at least twice as long as a check of the slowest of them (`refusal_seconds`). The request sleeps for the
rest of that time: computing the slowest hash for every attempt would let anybody exhaust the processor.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import math
import os
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import bcrypt
from argon2 import extract_parameters
from argon2.exceptions import InvalidHashError
from argon2.low_level import Type, hash_secret_raw

from postern.identity.customers.crypt_hashes import (
    DIGESTS,
    SHA_CRYPT_ROUNDS_MIN,
    firebase_scrypt,
    phpass,
    salted_digest,
    sha_crypt,
)
from postern.identity.customers.hash_formats import as_stored
from postern.identity.customers.model import HashRefused
from postern.kernel.http.scheduling import computing_request
from postern.security.passwords import OWN_SCHEME, PASSWORD_MAX

BCRYPT_COST_MAX = 14
ARGON2_MEMORY_KIB_MAX = 131_072
ARGON2_TIME_MAX = 10
SCRYPT_LOG_N_MAX = 17
SCRYPT_R_MAX = 16
SCRYPT_P_MAX = 4
PBKDF2_ROUNDS_MAX = 2_000_000
SHA_CRYPT_ROUNDS_MAX = 50_000
"""Python computes SHA-crypt and phpass, and holds its lock meanwhile. At these limits, a check of the longest password
takes some 150 ms."""
PHPASS_LOG_ROUNDS_MAX = 16
WRAPPING_COSTS = (19_456, 2, 1)
"""Memory in KiB, passes and lanes of the argon2id that wraps a weak digest: those of this server's own hashes."""
SALT_MAX = 256
"""Maximum size of a salt, in bytes."""
HASH_BYTES = range(16, 129)
"""Accepted sizes of a hash without its salt, in bytes."""
REFUSAL_FACTOR = 2
"""How long a failed sign-in takes, as a multiple of the time to check the slowest hash. On a busy machine, a check may
take twice as long as measured."""

# The 22nd character of a salt of bcrypt has two bits, and the library raises for others.
_BCRYPT = re.compile(r"^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{31}$")
_SCRYPT = re.compile(r"^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+)$")
_PBKDF2 = re.compile(r"^\$pbkdf2-(sha1|sha256|sha512)\$(?:i=)?(\d{1,8})\$([A-Za-z0-9+/=.]+)\$([A-Za-z0-9+/=.]+)$")
_BCRYPT_SHA256 = re.compile(r"^\$bcrypt-sha256\$(\d\d)\$([./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{31})$")
_FIREBASE = re.compile(
    r"^\$firebase-scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})"
    r"\$([A-Za-z0-9+/=]*)\$([A-Za-z0-9+/=]*)\$([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+)$"
)
_SHA_CRYPT = re.compile(r"^\$([56])\$rounds=(\d{1,9})\$([^$\s:]{0,16})\$([./A-Za-z0-9]{43,86})$")
_PHPASS = re.compile(r"^\$phpass\$ln=(\d{1,2})\$([./A-Za-z0-9]{8})\$([./A-Za-z0-9]{22})$")
_SALTED = re.compile(r"^\$salted-(md5|sha1|sha256|sha512)\$(prefix|suffix)\$([A-Za-z0-9+/=]*)\$([A-Za-z0-9+/=]+)$")
_WRAPPED = re.compile(
    r"^\$wrapped-(md5|sha1|sha256|sha512)\$m=(\d+),t=(\d+),p=(\d+)\$(prefix|suffix)"
    r"\$([A-Za-z0-9+/=]*)\$([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+)$"
)
_SCHEME = re.compile(r"^\$([a-z0-9-]+)\$(?:v=\d+\$)?([^$]+)")
_threads = ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2), thread_name_prefix="imported-password")


async def import_hash(text: str) -> str:
    """Return the form of a hash of another system that is stored. Raises HashRefused with the reason.

    A weak digest is wrapped, which takes as long as hashing a password.
    """
    password_hash = check_hash(text)
    if match := _SALTED.match(password_hash):
        return await asyncio.get_running_loop().run_in_executor(_threads, _wrap, match)
    return password_hash


def check_hash(text: str) -> str:
    """Return a hash in the form of `hash_formats.as_stored` if its scheme and costs are accepted, without wrapping it.
    Raises HashRefused with the reason."""
    password_hash = as_stored(text) if text.isascii() and text.isprintable() else ""
    if password_hash.startswith("$argon2"):
        _check_argon2(password_hash)
    elif match := _BCRYPT.match(password_hash) or _BCRYPT_SHA256.match(password_hash):
        if not 4 <= int(match[1]) <= BCRYPT_COST_MAX:
            raise _refused(f"The cost of a bcrypt hash must be 4 to {BCRYPT_COST_MAX}.")
    elif match := _SCRYPT.match(password_hash):
        _check_scrypt(match)
        _check_bytes(match[4], match[5])
    elif match := _FIREBASE.match(password_hash):
        _check_scrypt(match)
        _check_bytes(match[4], match[7])
        _check_bytes(match[5], match[6])
    elif match := _PBKDF2.match(password_hash):
        if not 1 <= int(match[2]) <= PBKDF2_ROUNDS_MAX:
            raise _refused(f"A PBKDF2 hash may have at most {PBKDF2_ROUNDS_MAX:,} rounds.")
        _check_bytes(match[3], match[4])
    elif match := _SHA_CRYPT.match(password_hash):
        if not SHA_CRYPT_ROUNDS_MIN <= int(match[2]) <= SHA_CRYPT_ROUNDS_MAX:
            raise _refused(f"A SHA-crypt hash may have {SHA_CRYPT_ROUNDS_MIN:,} to {SHA_CRYPT_ROUNDS_MAX:,} rounds.")
    elif match := _PHPASS.match(password_hash):
        if not 7 <= int(match[1]) <= PHPASS_LOG_ROUNDS_MAX:
            raise _refused(f"A phpass hash may have 2^7 to 2^{PHPASS_LOG_ROUNDS_MAX} rounds.")
    elif match := _SALTED.match(password_hash):
        _check_bytes(match[3], match[4])
        if len(_decoded(match[4])) != DIGESTS[match[1]]:
            raise _refused(f"A digest of {match[1]} has {DIGESTS[match[1]]} bytes.")
    else:
        raise _refused(
            "This is not a password hash in an accepted form, such as `$argon2id$…`, `$2b$…`, `$scrypt$ln=…`, "
            "`$pbkdf2-sha256$…`, `$firebase-scrypt$…`, `$6$…`, `$P$…` or `$salted-sha256$…`."
        )
    return password_hash


def _refused(reason: str) -> HashRefused:
    return HashRefused.of_value("/passwordHash", reason)


def _check_scrypt(match: re.Match[str]) -> None:
    log_n, r, p = (int(match[number]) for number in (1, 2, 3))
    if not (1 <= log_n <= SCRYPT_LOG_N_MAX and 1 <= r <= SCRYPT_R_MAX and 1 <= p <= SCRYPT_P_MAX):
        raise _refused(f"A scrypt hash may have at most ln={SCRYPT_LOG_N_MAX}, r={SCRYPT_R_MAX}, p={SCRYPT_P_MAX}.")
    if log_n >= 16 * r:
        raise _refused("The ln of a scrypt hash must be smaller than 16 times r (RFC 7914 §2).")


async def check_imported(password: str, password_hash: str) -> bool:
    """Whether the password matches a hash of an accepted scheme other than argon2."""
    # Imported hashes are rare: the first successful sign-in replaces each by a hash of this server's scheme.
    async with computing_request():
        return await asyncio.get_running_loop().run_in_executor(_threads, _check_imported, password, password_hash)


async def refusal_seconds(schemes: Sequence[str]) -> float:
    """Seconds that a failed sign-in takes in a project with imported hashes of these schemes (`$2b$12`); 0 without any.

    Computed from the cost parameters in the schemes and from a measurement of some 50 ms on the first call.
    """
    if not schemes:
        return 0
    return await asyncio.get_running_loop().run_in_executor(_threads, _refusal_seconds, [OWN_SCHEME, *schemes])


def _refusal_seconds(schemes: Sequence[str]) -> float:
    return REFUSAL_FACTOR * max(_check_seconds(scheme) for scheme in schemes)


def _check_seconds(scheme: str) -> float:
    """Seconds that checking a hash of this scheme takes; 0 for schemes that `check_hash` refuses."""
    match = _SCHEME.match(scheme)
    if match is None:
        return 0
    kind = "argon2" if match[1].startswith("wrapped-") else _KINDS.get(match[1], match[1])
    costs = [int(cost) for cost in re.findall(r"\d+", match[2])]
    if kind == "bcrypt":
        costs = [2 ** costs[0]]
    elif kind in ("scrypt", "phpass"):
        costs[0] = 2 ** costs[0]
    elif kind == "argon2":
        costs = costs[:2]  # Memory and passes; the lanes run in parallel.
    return _seconds_per_unit(kind) * math.prod(costs) if kind in _UNITS else 0


_KINDS = {
    "2a": "bcrypt", "2b": "bcrypt", "2y": "bcrypt", "argon2id": "argon2", "argon2i": "argon2", "argon2d": "argon2",
    "bcrypt-sha256": "bcrypt", "firebase-scrypt": "scrypt", "5": "sha256-crypt", "6": "sha512-crypt"
}  # fmt: skip
"""The algorithm for each scheme identifier, where they differ."""


LONGEST_PASSWORD = b"\xf0" * 4 * PASSWORD_MAX
"""As many bytes as the longest password has in UTF-8."""


def _pbkdf2(digest: str) -> tuple[int, Callable[[], object]]:
    return 20_000, lambda: hashlib.pbkdf2_hmac(digest, b"password", b"salt and pepper", 20_000)


_UNITS: dict[str, tuple[int, Callable[[], object]]] = {
    "bcrypt": (2**7, lambda: bcrypt.hashpw(b"password", bcrypt.gensalt(7))),
    "scrypt": (2**14 * 8, lambda: hashlib.scrypt(b"password", salt=b"salt", n=2**14, r=8, p=1, maxmem=2**26)),
    "argon2": (
        19_456,
        lambda: hash_secret_raw(b"password", b"salt and pepper", 1, 19_456, 1, 32, Type.ID),
    ),
    "pbkdf2-sha1": _pbkdf2("sha1"),
    "pbkdf2-sha256": _pbkdf2("sha256"),
    "pbkdf2-sha512": _pbkdf2("sha512"),
    "sha256-crypt": (1_000, lambda: sha_crypt(LONGEST_PASSWORD, b"salt and pepper", 1_000, "sha256")),
    "sha512-crypt": (1_000, lambda: sha_crypt(LONGEST_PASSWORD, b"salt and pepper", 1_000, "sha512")),
    "phpass": (2**10, lambda: phpass(LONGEST_PASSWORD, b"saltsalt", 10)),
}
"""For each algorithm: a number of cost units, and a computation of that many units whose duration is measured.

SHA-crypt and phpass hash the password in each round, so the longest password is measured."""


@cache
def _seconds_per_unit(kind: str) -> float:
    """Seconds for one cost unit of an algorithm, measured on the first call."""
    units, compute = _UNITS[kind]
    began = time.perf_counter()
    compute()
    return (time.perf_counter() - began) / units


def _check_imported(password: str, password_hash: str) -> bool:
    secret = password.encode()
    if password_hash.startswith("$2"):
        # bcrypt uses the first 72 bytes, and the library refuses longer passwords.
        return bcrypt.checkpw(secret[:72], password_hash.encode())
    if match := _BCRYPT_SHA256.match(password_hash):
        return bcrypt.checkpw(hashlib.sha256(secret).hexdigest().encode(), f"$2b${match[1]}${match[2]}".encode())
    if match := _SCRYPT.match(password_hash):
        log_n, r, p = (int(match[number]) for number in (1, 2, 3))
        expected = _decoded(match[5])
        n = 1 << log_n
        computed = hashlib.scrypt(
            secret, salt=_decoded(match[4]), n=n, r=r, p=p, dklen=len(expected), maxmem=129 * r * (n + p + 2)
        )
        return hmac.compare_digest(computed, expected)
    if match := _FIREBASE.match(password_hash):
        log_n, r, p = (int(match[number]) for number in (1, 2, 3))
        salt, separator, signer_key, expected = (_decoded(match[number]) for number in (4, 5, 6, 7))
        computed = firebase_scrypt(secret, salt, separator, signer_key, log_n=log_n, r=r, p=p)
        return hmac.compare_digest(computed, expected)
    if match := _PBKDF2.match(password_hash):
        expected = _decoded(match[4])
        computed = hashlib.pbkdf2_hmac(match[1], secret, _decoded(match[3]), int(match[2]), len(expected))
        return hmac.compare_digest(computed, expected)
    return _check_crypt(secret, password_hash)


def _check_crypt(secret: bytes, password_hash: str) -> bool:
    if match := _SHA_CRYPT.match(password_hash):
        algorithm = "sha256" if match[1] == "5" else "sha512"
        return hmac.compare_digest(sha_crypt(secret, match[3].encode(), int(match[2]), algorithm), match[4])
    if match := _PHPASS.match(password_hash):
        return hmac.compare_digest(phpass(secret, match[2].encode(), int(match[1])), match[3])
    if match := _WRAPPED.match(password_hash):
        digest = salted_digest(secret, _decoded(match[6]), match[5], match[1])
        costs = int(match[2]), int(match[3]), int(match[4])
        return hmac.compare_digest(_wrapped(digest, _decoded(match[7]), costs), _decoded(match[8]))
    return False


def _wrap(match: re.Match[str]) -> str:
    """The stored form of a weak digest, which `_SALTED` has matched."""
    salt, costs = os.urandom(16), WRAPPING_COSTS
    value = _wrapped(_decoded(match[4]), salt, costs)
    parameters = f"m={costs[0]},t={costs[1]},p={costs[2]}"
    encoded_salt, encoded = (base64.b64encode(data).decode().rstrip("=") for data in (salt, value))
    return f"$wrapped-{match[1]}${parameters}${match[2]}${match[3]}${encoded_salt}${encoded}"


def _wrapped(digest: bytes, salt: bytes, costs: tuple[int, int, int]) -> bytes:
    memory_kib, passes, lanes = costs
    return hash_secret_raw(digest, salt, passes, memory_kib, lanes, 32, Type.ID)


def _check_argon2(password_hash: str) -> None:
    try:
        parameters = extract_parameters(password_hash)
    except (InvalidHashError, ValueError):
        raise _refused("This is not an argon2 hash in PHC string format.") from None
    if (
        parameters.memory_cost > ARGON2_MEMORY_KIB_MAX
        or parameters.time_cost > ARGON2_TIME_MAX
        or parameters.parallelism > 16
    ):
        raise _refused(f"An argon2 hash may have at most m={ARGON2_MEMORY_KIB_MAX}, t={ARGON2_TIME_MAX}, p=16.")


def _check_bytes(salt: str, digest: str) -> None:
    try:
        salt_bytes, digest_bytes = _decoded(salt), _decoded(digest)
    except binascii.Error:
        raise _refused("Salt and hash must be base64.") from None
    if len(salt_bytes) > SALT_MAX or len(digest_bytes) not in HASH_BYTES:
        raise _refused("The salt must have at most 256 bytes, the hash 16 to 128 bytes.")


def _decoded(text: str) -> bytes:
    """Decode base64, with or without padding; passlib writes `.` for `+`. Raises binascii.Error."""
    plain = text.rstrip("=").replace(".", "+")
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
