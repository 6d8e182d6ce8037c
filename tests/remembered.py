"""Results of slow cryptography that a process computes once, since thousands of tests ask for the same.

A tenth of the processor time of the tests went into hashes of the same few passwords, and as much into RSA keys.
What is computed and stored is unchanged: real hashes with the parameters of the service, real keys of 2048 bits.
A client of httpx takes 24 ms to parse the certificates of all public authorities, and a test that waits for a server
makes one for each request. A third of the time of a test on the database went into reading and planning the same
statements again.
"""

import os
import ssl
from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from typing import Any

import httpx
from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from psycopg import AsyncConnection
from psycopg._preparing import Prepare, PrepareManager
from psycopg.pq.abc import PGresult
from psycopg_pool import AsyncConnectionPool

RSA_KEYS = 8
"""How many different RSA keys a process has. Those that are taken one after the other differ."""
_taken = count()


class RememberingHasher(PasswordHasher):
    """Hashes a password once, and checks a password against a hash once. Hashes of one password are equal.

    Tests of how long, how often or at which time the service hashes use the fixture `computed_hashes` instead.
    """

    def __init__(self, hasher: PasswordHasher) -> None:
        super().__init__(
            time_cost=hasher.time_cost,
            memory_cost=hasher.memory_cost,
            parallelism=hasher.parallelism,
            hash_len=hasher.hash_len,
            salt_len=hasher.salt_len,
            type=hasher.type,
        )
        self._hashes: dict[str | bytes, str] = {}
        self._matches: dict[tuple[str | bytes, str | bytes], bool] = {}

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        if salt is not None:
            return super().hash(password, salt=salt)
        if password not in self._hashes:
            self._hashes[password] = super().hash(password)
        return self._hashes[password]

    def verify(self, hash: str | bytes, password: str | bytes) -> Any:
        if (hash, password) not in self._matches:
            try:
                self._matches[hash, password] = bool(super().verify(hash, password))
            except VerifyMismatchError:
                self._matches[hash, password] = False
        if not self._matches[hash, password]:
            raise VerifyMismatchError
        return True


@cache
def _rsa_key(_: int) -> RSAPrivateKey:
    return generate_private_key(public_exponent=65_537, key_size=2_048)


def rsa_key() -> RSAPrivateKey:
    """An RSA key of 2048 bits, another one than the last seven calls returned."""
    return _rsa_key(next(_taken) % RSA_KEYS)


def with_key(function: Callable[[RSAPrivateKey], bytes]) -> Callable[[], bytes]:
    """A function that applies `function` to the next key, and remembers the results."""
    remembered = cache(function)
    return lambda: remembered(rsa_key())


@cache
def _context(_: tuple[str | None, ...], **options: Any) -> ssl.SSLContext:
    return httpx.create_ssl_context(**options)


def ssl_context(**options: Any) -> ssl.SSLContext:
    """What `httpx.create_ssl_context` returns for these options and the present environment, made once."""
    return _context(tuple(map(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR"))), **options)


STATEMENTS = 2_000
"""How many statements a connection has prepared, of the thousand that the service has."""


class RememberedStatements(PrepareManager):
    """Prepares a statement when it is executed first, and keeps it after a rollback.

    psycopg deallocates all statements of a connection after each rollback, because one may undo the creation of a
    table. PostgreSQL checks by itself whether a plan still fits, and tests create no tables on these connections.
    """

    prepare_threshold = 0
    prepared_max = STATEMENTS

    def _should_discard(self, prep: Prepare, results: Sequence[PGresult], *_: Any) -> bool:
        return False


async def remember_statements(pool: AsyncConnectionPool[Any]) -> None:
    """Let the connections of a pool that has just been opened keep prepared statements."""

    async def configure(connection: AsyncConnection[Any]) -> None:
        connection._prepared = RememberedStatements()

    await pool.wait()
    pool._configure = configure
    for connection in pool._pool:
        await configure(connection)
