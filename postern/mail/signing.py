"""Signing in a process of its own, for those who sign by the hundred.

RSA is the largest part of what a message costs. In threads it would hold the interpreter lock at every begin and end,
and every other thread up with it. The process gets keys and digests over its standard input and answers with
signatures; it ends when its input does, so it never outlives who started it, however that one ends.
"""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import msgspec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from postern.mail.dkim import PrivateKey, load_key, make_signature

KEYS_LIMIT: Final = 1_000
"""Keys that the process holds; with more it begins anew."""
HEAD: Final = 4
"""Octets that say how long a frame is."""


class SigningAway(Exception):
    """The process ended, or could not be started; what was asked of it is not signed."""


class Wanted(msgspec.Struct, frozen=True, array_like=True):
    """A frame of the input: keys to add (after forgetting all others, maybe), and digests with the key for each."""

    forget: bool
    keys: list[bytes]
    digests: list[tuple[int, bytes]]


class SigningProcess:
    """The process, started when it is first needed and again when it has died. One request at a time."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._known: dict[int, tuple[int, PrivateKey]] = {}
        """The keys that it has, by identity (held, so that an identity keeps its meaning), and their numbers there."""
        self._turn = asyncio.Lock()

    async def sign(self, wanted: Sequence[tuple[PrivateKey, bytes]]) -> list[bytes]:
        """The signatures of SHA-256 digests, in their order. Raises SigningAway."""
        async with self._turn:
            try:
                return await self._ask(wanted)
            except (OSError, asyncio.IncompleteReadError) as error:
                await self._end()
                raise SigningAway(str(error)) from None
            except BaseException:  # Given up in the middle of a frame, nobody could tell where the next one begins.
                await self._end()
                raise

    async def _ask(self, wanted: Sequence[tuple[PrivateKey, bytes]]) -> list[bytes]:
        process = self._process or await self._start()
        assert process.stdin
        assert process.stdout
        forget = len(self._known) > KEYS_LIMIT
        if forget:
            self._known.clear()
        new: list[bytes] = []
        digests: list[tuple[int, bytes]] = []
        for key, digest in wanted:
            if id(key) not in self._known:
                self._known[id(key)] = len(self._known), key
                new.append(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
            digests.append((self._known[id(key)][0], digest))
        process.stdin.write(_frame(Wanted(forget, new, digests)))
        await process.stdin.drain()
        size = int.from_bytes(await process.stdout.readexactly(HEAD))
        return msgspec.msgpack.decode(await process.stdout.readexactly(size), type=list[bytes])

    async def _start(self) -> asyncio.subprocess.Process:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            __name__,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # A session of its own: Ctrl-C in the terminal reaches us alone, and what is in hand is still signed.
            start_new_session=True,
        )
        return self._process

    async def _end(self) -> None:
        process, self._process = self._process, None
        self._known.clear()
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def aclose(self) -> None:
        """End the process."""
        async with self._turn:
            await self._end()


def _frame(content: object) -> bytes:
    encoded = msgspec.msgpack.encode(content)
    return len(encoded).to_bytes(HEAD) + encoded


def main() -> None:
    """Sign what comes in until nothing does."""
    keys: list[PrivateKey] = []
    while head := sys.stdin.buffer.read(HEAD):
        wanted = msgspec.msgpack.decode(sys.stdin.buffer.read(int.from_bytes(head)), type=Wanted)
        if wanted.forget:
            keys.clear()
        keys += [load_key(pem) for pem in wanted.keys]
        sys.stdout.buffer.write(_frame([make_signature(keys[number], digest) for number, digest in wanted.digests]))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
