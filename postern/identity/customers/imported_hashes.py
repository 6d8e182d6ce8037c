"""Password hashes imported from other systems: accepted schemes, limits of their cost parameters, and checking.

Cost parameters are limited, because they determine how much processor time and memory each sign-in attempt takes.

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

from postern.identity.customers.model import HashRefused
from postern.security.passwords import OWN_SCHEME

BCRYPT_COST_MAX = 14
ARGON2_MEMORY_KIB_MAX = 131_072
ARGON2_TIME_MAX = 10
SCRYPT_LOG_N_MAX = 17
SCRYPT_R_MAX = 16
SCRYPT_P_MAX = 4
PBKDF2_ROUNDS_MAX = 2_000_000
SALT_MAX = 256
"""Maximum size of a salt, in bytes."""
HASH_BYTES = range(16, 129)
"""Accepted sizes of a hash without its salt, in bytes."""
REFUSAL_FACTOR = 2
"""How long a failed sign-in takes, as a multiple of the time to check the slowest hash. On a busy machine, a check may
take twice as long as measured."""

_BCRYPT = re.compile(r"^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$")
_SCRYPT = re.compile(r"^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+)$")
_PBKDF2 = re.compile(r"^\$pbkdf2-(sha1|sha256|sha512)\$(?:i=)?(\d{1,8})\$([A-Za-z0-9+/=.]+)\$([A-Za-z0-9+/=.]+)$")
_SCHEME = re.compile(r"^\$([a-z0-9-]+)\$(?:v=\d+\$)?([^$]+)")
_threads = ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2), thread_name_prefix="imported-password")


def check_hash(password_hash: str) -> str:
    """Return the hash if its scheme and cost are accepted. Raises HashRefused with the reason."""
    if password_hash.startswith("$argon2"):
        _check_argon2(password_hash)
    elif match := _BCRYPT.match(password_hash):
        if not 4 <= int(match[1]) <= BCRYPT_COST_MAX:
            raise HashRefused.of_value("/passwordHash", f"The cost of a bcrypt hash must be 4 to {BCRYPT_COST_MAX}.")
    elif match := _SCRYPT.match(password_hash):
        log_n, r, p = (int(match[number]) for number in (1, 2, 3))
        if not (1 <= log_n <= SCRYPT_LOG_N_MAX and 1 <= r <= SCRYPT_R_MAX and 1 <= p <= SCRYPT_P_MAX):
            raise HashRefused.of_value(
                "/passwordHash",
                f"A scrypt hash may have at most ln={SCRYPT_LOG_N_MAX}, r={SCRYPT_R_MAX}, p={SCRYPT_P_MAX}.",
            )
        _check_bytes(match[4], match[5])
    elif match := _PBKDF2.match(password_hash):
        if not 1 <= int(match[2]) <= PBKDF2_ROUNDS_MAX:
            raise HashRefused.of_value("/passwordHash", f"A PBKDF2 hash may have at most {PBKDF2_ROUNDS_MAX:,} rounds.")
        _check_bytes(match[3], match[4])
    else:
        raise HashRefused.of_value(
            "/passwordHash", "Send a hash as `$argon2id$…`, `$2b$…`, `$scrypt$ln=…` or `$pbkdf2-sha256$…`."
        )
    return password_hash


async def check_imported(password: str, password_hash: str) -> bool:
    """Whether the password matches a hash of an accepted scheme other than argon2."""
    # Imported hashes are rare: the first successful sign-in replaces each by a hash of this server's scheme.
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
    kind = _KINDS.get(match[1], match[1])
    costs = [int(cost) for cost in re.findall(r"\d+", match[2])]
    if kind == "bcrypt":
        costs = [2 ** costs[0]]
    elif kind == "scrypt":
        costs[0] = 2 ** costs[0]
    elif kind == "argon2":
        costs = costs[:2]  # Memory and passes; the lanes run in parallel.
    return _seconds_per_unit(kind) * math.prod(costs) if kind in _UNITS else 0


_KINDS = {
    "2a": "bcrypt", "2b": "bcrypt", "2y": "bcrypt", "argon2id": "argon2", "argon2i": "argon2", "argon2d": "argon2"
}  # fmt: skip
"""The algorithm for each scheme identifier, where they differ."""


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
}
"""For each algorithm: a number of cost units, and a computation of that many units whose duration is measured."""


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
    if match := _SCRYPT.match(password_hash):
        log_n, r, p = (int(match[number]) for number in (1, 2, 3))
        expected = _decoded(match[5])
        n = 1 << log_n
        computed = hashlib.scrypt(
            secret, salt=_decoded(match[4]), n=n, r=r, p=p, dklen=len(expected), maxmem=129 * r * (n + p + 2)
        )
        return hmac.compare_digest(computed, expected)
    if match := _PBKDF2.match(password_hash):
        expected = _decoded(match[4])
        computed = hashlib.pbkdf2_hmac(match[1], secret, _decoded(match[3]), int(match[2]), len(expected))
        return hmac.compare_digest(computed, expected)
    return False


def _check_argon2(password_hash: str) -> None:
    try:
        parameters = extract_parameters(password_hash)
    except (InvalidHashError, ValueError):
        raise HashRefused.of_value("/passwordHash", "This is not an argon2 hash in PHC string format.") from None
    if (
        parameters.memory_cost > ARGON2_MEMORY_KIB_MAX
        or parameters.time_cost > ARGON2_TIME_MAX
        or parameters.parallelism > 16
    ):
        raise HashRefused.of_value(
            "/passwordHash", f"An argon2 hash may have at most m={ARGON2_MEMORY_KIB_MAX}, t={ARGON2_TIME_MAX}, p=16."
        )


def _check_bytes(salt: str, digest: str) -> None:
    try:
        salt_bytes, digest_bytes = _decoded(salt), _decoded(digest)
    except binascii.Error:
        raise HashRefused.of_value("/passwordHash", "Salt and hash must be base64.") from None
    if len(salt_bytes) > SALT_MAX or len(digest_bytes) not in HASH_BYTES:
        raise HashRefused.of_value("/passwordHash", "The salt must have at most 256 bytes, the hash 16 to 128 bytes.")


def _decoded(text: str) -> bytes:
    """Decode base64, with or without padding; passlib writes `.` for `+`. Raises binascii.Error."""
    plain = text.rstrip("=").replace(".", "+")
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
