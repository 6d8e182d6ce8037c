"""DKIM keys of domains: generate, encrypt, store and load them."""

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

import msgspec

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction
from postern.messaging.domains import store
from postern.messaging.domains.model import Algorithm, PublicKey, Role, SealedKey, SendingDomain
from postern.protocols.mail.dkim import Signer, generate_ed25519, generate_rsa, key_record
from postern.security.secrets import Secrets

if TYPE_CHECKING:
    from postern.world import World

SELECTOR_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
SELECTOR_LENGTH = 20
"""20 letters of 5 bits each: 100 random bits make a selector unique in the service's zone."""
MAX_CACHED_DOMAINS = 10_000
"""Maximum number of domains whose signers a process caches."""


class GeneratedKey(NamedTuple):
    """A generated key pair; `pem` is the private key."""

    public: PublicKey
    pem: bytes


async def new_keys(now: Moment) -> list[GeneratedKey]:
    """Generate the three keys of a new domain. An RSA key takes about 0.1 s, so this runs in threads."""
    return list(
        await asyncio.gather(
            asyncio.to_thread(_new_key, "rsa-sha256", "CURRENT", now),
            asyncio.to_thread(_new_key, "rsa-sha256", "NEXT", now),
            asyncio.to_thread(_new_key, "ed25519-sha256", "ED25519", now),
        )
    )


async def next_key(selector: str, now: Moment) -> GeneratedKey:
    """Generate a new NEXT key for a selector that is published already."""
    key = await asyncio.to_thread(_new_key, "rsa-sha256", "NEXT", now)
    return key._replace(public=msgspec.structs.replace(key.public, selector=selector))


def _new_key(algorithm: Algorithm, role: Role, now: Moment) -> GeneratedKey:
    pem = generate_rsa() if algorithm == "rsa-sha256" else generate_ed25519()
    selector = "".join(secrets.choice(SELECTOR_LETTERS) for _ in range(SELECTOR_LENGTH))
    _, _, public_key = key_record(pem).partition("p=")
    return GeneratedKey(
        PublicKey(selector=selector, algorithm=algorithm, role=role, public_key=public_key, since=now), pem
    )


async def save_key(tx: Transaction, cipher: Secrets, project_id: UUID, domain_id: UUID, key: GeneratedKey) -> None:
    """Store a private key, encrypted with `cipher`. Replaces the domain's key with the same selector, if any."""
    selector = key.public.selector
    await store.upsert_key(
        tx,
        project_id=project_id,
        domain_id=domain_id,
        selector=selector,
        private_key=cipher.seal(key.pem, seal_context(project_id, domain_id, selector)),
        now=Moment.of(key.public.since),
    )


def seal_context(project_id: UUID, domain_id: UUID, selector: str) -> str:
    """The associated data of a key's encryption: it can be decrypted for this domain and selector only."""
    return f"dkim:{project_id}:{domain_id}:{selector}"


class SignerCache(OrderedDict[tuple[UUID, tuple[str, ...]], list[Signer]]):
    """Signers by domain id and public keys. After a rotation the public keys differ, so that no entry is ever stale."""


async def signers(world: "World", domain: SendingDomain, db: Queries | None = None) -> list[Signer]:
    """The signers of a domain: its current RSA key, and its Ed25519 key once its DNS record was verified.

    Decrypting and parsing a key takes about 26 ms, so signers are cached per process. Within a transaction, `db` is
    that transaction; otherwise the keys are read through `world.db`.
    """
    keys = [key for key in domain.keys if key.role == "CURRENT" or (key.role == "ED25519" and domain.ed25519_verified)]
    cache_key = (domain.id, tuple(key.public_key for key in keys))
    signer_cache = world.db.cache(SignerCache)
    cached = signer_cache.get(cache_key)
    if cached is None:
        sealed = await store.private_keys(db or world.db, project_id=domain.project_id, domain_id=domain.id)
        cached = await asyncio.to_thread(_load_signers, world, domain, [key.selector for key in keys], sealed)
        signer_cache[cache_key] = cached
        if len(signer_cache) > MAX_CACHED_DOMAINS:
            signer_cache.popitem(last=False)
    else:
        signer_cache.move_to_end(cache_key)
    return cached


def _load_signers(
    world: "World", domain: SendingDomain, selectors: Sequence[str], sealed: Sequence[SealedKey]
) -> list[Signer]:
    """Decrypt and parse the keys with these selectors; selectors without a stored key are omitted."""
    sealed_keys = {key.selector: key.private_key for key in sealed}
    return [
        Signer.load(
            domain.domain,
            selector,
            world.secrets.open(sealed_keys[selector], seal_context(domain.project_id, domain.id, selector)),
        )
        for selector in selectors
        if selector in sealed_keys
    ]
