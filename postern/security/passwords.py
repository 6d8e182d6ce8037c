"""Passwords: hashing with argon2id and OWASP's minimum parameters, in a thread pool, and rejection of common passwords.

The list of common passwords (ASVS 5.0 6.2.4) is the union of the frequency lists of zxcvbn (MIT) and Django
(BSD-3-Clause) with at least PASSWORD_MIN characters, in lower case.
"""

import asyncio
import ctypes
import gzip
import mmap
import os
from base64 import b64encode
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import Type

from postern.kernel.http.problems import BadRequest
from postern.kernel.http.scheduling import computing_request
from postern.security.breaches import require_unbreached

if TYPE_CHECKING:
    from postern.world import World

PASSWORD_MIN, PASSWORD_MAX = 8, 256
"""Characters of a password (ASVS 5.0 6.2.1, 6.2.9). There are no composition rules (6.2.5)."""
MIN_WORD_LETTERS = 4
"""A password whose letters spell the e-mail address or the app's name is refused only if it has at least this many
letters."""
MAX_HASH_CHECKS = 3
"""Maximum number of hashes that one sign-in checks: if a concurrent request has replaced the hash, the new one is
checked."""

OWN_SCHEME = "$argon2id$v=19$m=19456,t=2,p=1"
"""Prefix of the hashes that Postern creates. The index `customers_imported_hashes` contains all other hashes."""

ARENA_SIZE = 64 << 20
"""Size and alignment, in bytes, of the memory that glibc's malloc reserves for a thread (HEAP_MAX_SIZE in
malloc/arena.c of glibc)."""


def _use_huge_pages() -> None:
    """Ask Linux for huge pages in the memory that malloc has reserved for this thread. Does nothing elsewhere.

    Hashing reads 19 MiB in random order, so that with pages of 4 KiB the processor must often look up addresses. The
    memory of a thread is used again for its next hash. This is only advice (madvise(2)): a wrong address has no effect.
    """
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if advice is None:
        return
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    libc.free.argtypes = (ctypes.c_void_p,)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    address = libc.malloc(64)
    if address is not None:
        libc.madvise(address & -ARENA_SIZE, ARENA_SIZE, advice)
        libc.free(address)


_hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1, type=Type.ID)
_threads = ThreadPoolExecutor(
    max_workers=max(2, os.cpu_count() or 2), thread_name_prefix="password", initializer=_use_huge_pages
)
# Checked if there is no account, so that the response takes as long as for an existing account. The salt and the result
# are random, because computing a hash would delay every start.
_dummy_hash = "$".join(
    (OWN_SCHEME, *(b64encode(os.urandom(size)).decode().rstrip("=") for size in (_hasher.salt_len, _hasher.hash_len)))
)


class PasswordCommon(BadRequest):
    """This password is among the most common ones. Choose another one."""


async def hash_password(password: str) -> str:
    """Return the argon2id hash of a password."""
    async with computing_request():
        return await asyncio.get_running_loop().run_in_executor(_threads, _hasher.hash, password)


async def check_password(password: str, hashed: str | None) -> bool:
    """Whether the password matches the hash. Without an account (`hashed` is None), returns False after the same
    time."""

    def check() -> bool:
        try:
            return _hasher.verify(hashed or _dummy_hash, password) and hashed is not None
        except (VerificationError, InvalidHashError):
            return False

    async with computing_request():
        return await asyncio.get_running_loop().run_in_executor(_threads, check)


async def check_and_rehash(
    password: str,
    hashed: str | None,
    *,
    check_imported: Callable[[str, str], Awaitable[bool]] | None = None,
    replace: Callable[[str, str], Awaitable[bool]],
    read: Callable[[], Awaitable[str | None]],
) -> str | None:
    """Check a password against `hashed`. Returns the stored hash, or None if the password is wrong.
    Also returns None if concurrent requests replaced the hash MAX_HASH_CHECKS times.

    An outdated hash is replaced: `replace(old, new)` stores a new one and returns True if `old` is still stored. If a
    concurrent request has replaced it, the hash that `read` returns is checked instead. `check_imported` checks hashes
    other than argon2. Without an account (`hashed` is None), returns None after the same time.

    Before the caller acts on the result, it must lock the subject's row and compare the result with the stored hash,
    which differs if the password was changed in between.
    """
    for _ in range(MAX_HASH_CHECKS):
        if hashed is None or check_imported is None or hashed.startswith("$argon2"):
            is_right = await check_password(password, hashed)
        else:
            is_right = await check_imported(password, hashed)
        if not is_right or hashed is None:
            return None
        if not is_outdated(hashed):
            return hashed
        new_hash = await hash_password(password)
        if await replace(hashed, new_hash):
            return new_hash
        hashed = await read()
    return None


def is_outdated(hashed: str) -> bool:
    """Whether the hash has other parameters than new ones, and should be replaced at the next sign-in."""
    try:
        return _hasher.check_needs_rehash(hashed)
    except InvalidHashError:
        return True


@cache
def common_passwords() -> frozenset[str]:
    """The list of about 16,000 common passwords, in lower case."""
    packed = files("postern.security").joinpath("common_passwords.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode().splitlines())


async def require_acceptable(world: "World", password: str, *words: str | None, path: str = "/password") -> None:
    """Check a new password. Raises PasswordCommon or PasswordBreached. For the parameters see `require_uncommon`."""
    require_uncommon(password, *words, path=path)
    await require_unbreached(world, password, path=path)


def require_uncommon(password: str, *words: str | None, path: str = "/password") -> None:
    """Raise PasswordCommon if a password is common, or has the same letters as one of `words` (an address, the app's
    name).

    Of an address, the local part, the domain and the first label of the domain are compared too. This comparison
    ignores case, digits and punctuation, and passwords with fewer than MIN_WORD_LETTERS letters.

    `path` is the JSON pointer of the password in the body.
    """
    if password.casefold() in common_passwords():
        raise PasswordCommon.of_value(path)
    letters = _alphabetic(password)
    if len(letters) >= MIN_WORD_LETTERS and letters in {
        _alphabetic(part) for word in words if word for part in _guessable_parts(word)
    }:
        message = "This password is the email address, a part of it, or the name of this app. Choose another one."
        raise PasswordCommon.of_value(path, message)


def _guessable_parts(word: str) -> list[str]:
    """A name or address and its guessable parts: local part, domain, first label of the domain."""
    local, _, domain = word.partition("@")
    return [word, local, domain, domain.partition(".")[0]]


def _alphabetic(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalpha())
