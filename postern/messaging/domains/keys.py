"""DKIM keys of domains: generate, encrypt and store them."""

import asyncio
import secrets
from typing import NamedTuple
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Transaction
from postern.kernel.values import Moment
from postern.messaging.domains import store
from postern.messaging.domains.model import Algorithm, PublicKey, Role
from postern.protocols.mail.dkim import generate_ed25519, generate_rsa, key_record
from postern.security.secrets import Secrets

SELECTOR_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
SELECTOR_LENGTH = 20
"""20 letters of 5 bits each: 100 random bits make a selector unique in the service's zone."""


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
        created_at=Moment.of(key.public.since),
    )


def seal_context(project_id: UUID, domain_id: UUID, selector: str) -> str:
    """The associated data of a key's encryption: it can be decrypted for this domain and selector only."""
    return f"dkim:{project_id}:{domain_id}:{selector}"
