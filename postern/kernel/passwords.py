"""Passwords: argon2id at OWASP's minimum, computed beside the event loop by a bounded number of threads."""

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import Type

PASSWORD_MIN, PASSWORD_MAX = 8, 256
"""Characters (ASVS 5.0 6.2.1, 6.2.9); no rules about their kinds (6.2.5)."""

_hasher = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1, type=Type.ID)
_threads = ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2), thread_name_prefix="password")
_of_nobody = _hasher.hash(os.urandom(16).hex())


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


def is_outdated(hashed: str) -> bool:
    """Whether the hash was made with other parameters and should be made anew at the next sign-in."""
    try:
        return _hasher.check_needs_rehash(hashed)
    except InvalidHashError:
        return True
