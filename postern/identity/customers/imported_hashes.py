"""Password hashes of other systems: which we take, within which cost, and how they are checked.

Costs have ceilings, because whoever imports a hash decides what each try at it costs us.

A check of an imported hash takes another time than one of ours, so the time of a refusal would tell which addresses
have accounts. In a project that has imported hashes every refusal therefore takes at least twice as long as a check of
the slowest of them (`refusal_seconds`). It waits for that time and does not compute: equal work would let anybody
spend the processor at the price of the dearest hash.
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
from postern.security.passwords import OWN_SCHEME, check_password

BCRYPT_COST_MAX = 14
ARGON2_MEMORY_KIB_MAX = 131_072
ARGON2_TIME_MAX = 10
SCRYPT_LOG_N_MAX = 17
SCRYPT_R_MAX = 16
SCRYPT_P_MAX = 4
PBKDF2_ROUNDS_MAX = 2_000_000
SALT_MAX = 256
HASH_BYTES = range(16, 129)
REFUSAL_FACTOR = 2
"""How many times a check of the slowest hash a refusal takes: a busy machine may need twice the usual time."""

_BCRYPT = re.compile(r"^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$")
_SCRYPT = re.compile(r"^\$scrypt\$ln=(\d{1,2}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+)$")
_PBKDF2 = re.compile(r"^\$pbkdf2-(sha1|sha256|sha512)\$(?:i=)?(\d{1,8})\$([A-Za-z0-9+/=.]+)\$([A-Za-z0-9+/=.]+)$")
_SCHEME = re.compile(r"^\$([a-z0-9-]+)\$(?:v=\d+\$)?([^$]+)")
_threads = ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2), thread_name_prefix="imported-password")


def check_hash(hashed: str) -> str:
    """The hash itself, if it is of a kind and cost that we take. Raises HashRefused saying what is wrong."""
    if hashed.startswith("$argon2"):
        _check_argon2(hashed)
    elif found := _BCRYPT.match(hashed):
        if not 4 <= int(found[1]) <= BCRYPT_COST_MAX:
            raise HashRefused.of_value("/passwordHash", f"A bcrypt hash has a cost of 4 to {BCRYPT_COST_MAX}.")
    elif found := _SCRYPT.match(hashed):
        log_n, r, p = (int(found[number]) for number in (1, 2, 3))
        if not (1 <= log_n <= SCRYPT_LOG_N_MAX and 1 <= r <= SCRYPT_R_MAX and 1 <= p <= SCRYPT_P_MAX):
            raise HashRefused.of_value(
                "/passwordHash", f"A scrypt hash has at most ln={SCRYPT_LOG_N_MAX}, r={SCRYPT_R_MAX}, p={SCRYPT_P_MAX}."
            )
        _check_bytes(found[4], found[5])
    elif found := _PBKDF2.match(hashed):
        if not 1 <= int(found[2]) <= PBKDF2_ROUNDS_MAX:
            raise HashRefused.of_value("/passwordHash", f"A PBKDF2 hash has at most {PBKDF2_ROUNDS_MAX:,} rounds.")
        _check_bytes(found[3], found[4])
    else:
        raise HashRefused.of_value(
            "/passwordHash", "Send a hash as `$argon2id$…`, `$2b$…`, `$scrypt$ln=…` or `$pbkdf2-sha256$…`."
        )
    return hashed


async def check_any_password(password: str, hashed: str | None) -> bool:
    """Whether the password is right, whoever made the hash. Takes as long for nobody as for one of our own hashes."""
    if hashed is None or hashed.startswith("$argon2"):
        return await check_password(password, hashed)
    # These are rare: each is replaced by one of ours the first time it is right.
    return await asyncio.get_running_loop().run_in_executor(_threads, _check_foreign, password, hashed)


async def refusal_seconds(schemes: Sequence[str]) -> float:
    """How long a refused password takes in a project with imported hashes of these schemes (`$2b$12`); 0 without any.

    Computed from the costs that the schemes name and from what the first call measures in some 50 ms.
    """
    if not schemes:
        return 0
    return await asyncio.get_running_loop().run_in_executor(_threads, _refusal_seconds, [OWN_SCHEME, *schemes])


def _refusal_seconds(schemes: Sequence[str]) -> float:
    return REFUSAL_FACTOR * max(_check_seconds(scheme) for scheme in schemes)


def _check_seconds(scheme: str) -> float:
    """How long a check of a hash of this scheme takes. Schemes that `check_hash` refuses take no time."""
    found = _SCHEME.match(scheme)
    if found is None:
        return 0
    kind = _KINDS.get(found[1], found[1])
    costs = [int(cost) for cost in re.findall(r"\d+", found[2])]
    if kind == "bcrypt":
        costs = [2 ** costs[0]]
    elif kind == "scrypt":
        costs[0] = 2 ** costs[0]
    elif kind == "argon2":
        costs = costs[:2]  # Memory and passes; its lanes run side by side.
    return _seconds_per_unit(kind) * math.prod(costs) if kind in _UNITS else 0


_KINDS = {
    "2a": "bcrypt", "2b": "bcrypt", "2y": "bcrypt", "argon2id": "argon2", "argon2i": "argon2", "argon2d": "argon2"
}  # fmt: skip
"""Names in hashes of what is one computation."""


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
"""For each kind of hash an affordable number of units of its cost, and the computation that has it."""


@cache
def _seconds_per_unit(kind: str) -> float:
    units, compute = _UNITS[kind]
    began = time.perf_counter()
    compute()
    return (time.perf_counter() - began) / units


def _check_foreign(password: str, hashed: str) -> bool:
    secret = password.encode()
    if hashed.startswith("$2"):
        # bcrypt reads 72 bytes (and its library refuses more), as the system that made the hash did.
        return bcrypt.checkpw(secret[:72], hashed.encode())
    if found := _SCRYPT.match(hashed):
        log_n, r, p = (int(found[number]) for number in (1, 2, 3))
        expected = _decoded(found[5])
        n = 1 << log_n
        made = hashlib.scrypt(
            secret, salt=_decoded(found[4]), n=n, r=r, p=p, dklen=len(expected), maxmem=129 * r * (n + p + 2)
        )
        return hmac.compare_digest(made, expected)
    if found := _PBKDF2.match(hashed):
        expected = _decoded(found[4])
        made = hashlib.pbkdf2_hmac(found[1], secret, _decoded(found[3]), int(found[2]), len(expected))
        return hmac.compare_digest(made, expected)
    return False


def _check_argon2(hashed: str) -> None:
    try:
        given = extract_parameters(hashed)
    except (InvalidHashError, ValueError):
        raise HashRefused.of_value("/passwordHash", "This is not an argon2 hash in PHC form.") from None
    if given.memory_cost > ARGON2_MEMORY_KIB_MAX or given.time_cost > ARGON2_TIME_MAX or given.parallelism > 16:
        raise HashRefused.of_value(
            "/passwordHash", f"An argon2 hash has at most m={ARGON2_MEMORY_KIB_MAX}, t={ARGON2_TIME_MAX}, p=16."
        )


def _check_bytes(salt: str, made: str) -> None:
    try:
        salt_bytes, made_bytes = _decoded(salt), _decoded(made)
    except binascii.Error:
        raise HashRefused.of_value("/passwordHash", "Salt and hash are base64.") from None
    if len(salt_bytes) > SALT_MAX or len(made_bytes) not in HASH_BYTES:
        raise HashRefused.of_value("/passwordHash", "The salt has at most 256 bytes, the hash 16 to 128.")


def _decoded(text: str) -> bytes:
    """Base64, padded or not; `.` for `+` as passlib writes it."""
    plain = text.rstrip("=").replace(".", "+")
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
