"""Passwords: argon2id with OWASP's minimum parameters, computed in a bounded number of threads beside the event loop.

The most common passwords of at least the shortest length are refused (ASVS 5.0 6.2.4). Their list is the union of the
frequency lists of zxcvbn (MIT) and Django (BSD-3-Clause), in lower case.
"""

import asyncio
import gzip
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import Type

from postern.kernel.http.problems import BadRequest
from postern.security.breaches import require_unbreached

if TYPE_CHECKING:
    from postern.world import World

PASSWORD_MIN, PASSWORD_MAX = 8, 256
"""Characters (ASVS 5.0 6.2.1, 6.2.9); no rules about their kinds (6.2.5)."""
SHORTEST_WORD = 4
REHASHES = 3
"""How often a sign-in looks again at a hash that others replace at the same moment."""

OWN_SCHEME = "$argon2id$v=19$m=19456,t=2,p=1"
"""How our own hashes begin. The index `customers_imported_hashes` has those that begin otherwise."""

_hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1, type=Type.ID)
_threads = ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2), thread_name_prefix="password")
_of_nobody = _hasher.hash(os.urandom(16).hex())


class PasswordCommon(BadRequest):
    """This password is among the most common ones; choose another."""


async def hash_password(password: str) -> str:
    """The argon2id hash to keep."""
    return await asyncio.get_running_loop().run_in_executor(_threads, _hasher.hash, password)


async def check_password(password: str, hashed: str | None) -> bool:
    """Whether the password is right. Takes as long for nobody (`hashed` None) as for somebody."""

    def check() -> bool:
        try:
            return _hasher.verify(hashed or _of_nobody, password) and hashed is not None
        except (VerificationError, InvalidHashError):
            return False

    return await asyncio.get_running_loop().run_in_executor(_threads, check)


async def check_and_rehash(
    password: str,
    hashed: str | None,
    *,
    check: Callable[[str, str | None], Awaitable[bool]],
    replace: Callable[[str, str], Awaitable[bool]],
    read: Callable[[], Awaitable[str | None]],
) -> str | None:
    """The stored hash of a right password, renewed if it is outdated; None if the password is wrong.

    Whoever acts on it locks the person's row and compares: a hash that is another one by then was changed, or reset.
    `replace` takes the hash that was checked and the new one, and stores the new one only where the first is still
    stored. Where it is not, a sign-in at the same moment renewed it, or somebody chose another password: `read` says
    which hash is stored now, and that one is checked. Takes as long for nobody (`hashed` None) as for somebody.
    """
    for _ in range(REHASHES):
        if not await check(password, hashed) or hashed is None:
            return None
        if not is_outdated(hashed):
            return hashed
        renewed = await hash_password(password)
        if await replace(hashed, renewed):
            return renewed
        hashed = await read()
    return None


def is_outdated(hashed: str) -> bool:
    """Whether the hash was made with other parameters and should be made anew at the next sign-in."""
    try:
        return _hasher.check_needs_rehash(hashed)
    except InvalidHashError:
        return True


@cache
def common_passwords() -> frozenset[str]:
    """Some 16,000 passwords that everybody tries first."""
    packed = files("postern.security").joinpath("common_passwords.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode().splitlines())


async def require_acceptable(world: "World", password: str, *words: str | None, path: str = "/password") -> None:
    """What is asked of every new password: raises PasswordCommon (see `require_uncommon`) and PasswordBreached."""
    require_uncommon(password, *words, path=path)
    await require_unbreached(world, password, path=path)


def require_uncommon(password: str, *words: str | None, path: str = "/password") -> None:
    """Raises PasswordCommon; also for what is just one of `words` (an address, the app's name) with digits around.

    `path` is the JSON pointer of the password in the body.
    """
    if password.casefold() in common_passwords():
        raise PasswordCommon.of_value(path)
    bare = _letters(password)
    if len(bare) >= SHORTEST_WORD and bare in {_letters(part) for word in words if word for part in _parts(word)}:
        raise PasswordCommon.of_value(path, "This password is the address or the name of this app; choose another.")


def _parts(word: str) -> list[str]:
    """What people make passwords of: an address, the part before its `@`, the domain, a name."""
    local, _, domain = word.partition("@")
    return [word, local, domain, domain.partition(".")[0]]


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalpha())
