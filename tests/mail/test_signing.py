"""The process that signs: the same signatures, whatever happens to it."""

import asyncio
import os
import signal
from contextlib import asynccontextmanager
from hashlib import sha256

import pytest

from postern.mail import signing
from postern.mail.dkim import generate_ed25519, generate_rsa, load_key, make_signature
from postern.mail.signing import SigningAway, SigningProcess

RSA, EDWARDS = load_key(generate_rsa()), load_key(generate_ed25519())
WANTED = [(key, sha256(f"{number}".encode()).digest()) for number in range(50) for key in (RSA, EDWARDS)]
HERE = [make_signature(key, digest) for key, digest in WANTED]


@asynccontextmanager
async def open_signing():
    process = SigningProcess()
    try:
        yield process
    finally:
        await process.aclose()


async def test_it_signs_as_this_process_does_and_learns_keys_as_they_come():
    other = load_key(generate_ed25519())
    digest = b"d" * 32
    async with open_signing() as apart:
        assert await apart.sign(WANTED[:1]) == HERE[:1]
        assert await asyncio.gather(apart.sign(WANTED), apart.sign(WANTED[:7])) == [HERE, HERE[:7]]
        assert await apart.sign([(other, digest), *WANTED[:2]]) == [make_signature(other, digest), *HERE[:2]]


async def test_beyond_the_limit_of_keys_it_begins_anew(monkeypatch):
    monkeypatch.setattr(signing, "KEYS_LIMIT", 3)
    keys = [load_key(generate_ed25519()) for _ in range(5)]
    async with open_signing() as apart:
        for key in [*keys, *keys]:
            assert await apart.sign([(key, b"d" * 32)]) == [make_signature(key, b"d" * 32)]


async def test_a_killed_process_is_said_so_and_the_next_one_signs():
    async with open_signing() as apart:
        await apart.sign(WANTED[:1])
        os.kill(apart._process.pid, signal.SIGKILL)
        await apart._process.wait()
        with pytest.raises(SigningAway):
            await apart.sign(WANTED)
        assert await apart.sign(WANTED) == HERE


async def test_who_gives_up_in_the_middle_leaves_nothing_behind_for_the_next():
    async with open_signing() as apart:
        await apart.sign(WANTED[:1])
        given_up = asyncio.create_task(apart.sign(WANTED))
        await asyncio.sleep(0)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        assert await apart.sign(WANTED[2:4]) == HERE[2:4]


async def test_it_ends_when_who_started_it_has_gone():
    apart = SigningProcess()
    await apart.sign(WANTED[:1])
    process = apart._process
    process.stdin.close()  # As the kernel does for a process that is killed.
    assert await asyncio.wait_for(process.wait(), 60) == 0
    await apart.aclose()
