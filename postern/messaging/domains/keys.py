"""DKIM keys of domains: made, sealed, opened and kept ready to sign."""

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
from postern.protocols.mail.dkim import Signer, generate_ed25519, generate_rsa, public_txt
from postern.security.secrets import Secrets

if TYPE_CHECKING:
    from postern.world import World

SELECTOR_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
SELECTOR_LENGTH = 20
"""Letters of five bits: 100 bits, so that a selector is unique in the service's zone."""
DOMAINS_KEPT_READY = 10_000


class GeneratedKey(NamedTuple):
    """A key with its private half, as PEM."""

    public: PublicKey
    pem: bytes


async def new_keys(now: Moment) -> list[GeneratedKey]:
    """The keys of a new domain. RSA takes a tenth of a second each, so they are made in threads."""
    return list(
        await asyncio.gather(
            asyncio.to_thread(_new_key, "rsa-sha256", "CURRENT", now),
            asyncio.to_thread(_new_key, "rsa-sha256", "NEXT", now),
            asyncio.to_thread(_new_key, "ed25519-sha256", "ED25519", now),
        )
    )


async def next_key(selector: str, now: Moment) -> GeneratedKey:
    """A new next key under a selector that is published already."""
    made = await asyncio.to_thread(_new_key, "rsa-sha256", "NEXT", now)
    return made._replace(public=msgspec.structs.replace(made.public, selector=selector))


def _new_key(algorithm: Algorithm, role: Role, now: Moment) -> GeneratedKey:
    pem = generate_rsa() if algorithm == "rsa-sha256" else generate_ed25519()
    selector = "".join(secrets.choice(SELECTOR_LETTERS) for _ in range(SELECTOR_LENGTH))
    _, _, public_key = public_txt(pem).partition("p=")
    return GeneratedKey(
        PublicKey(selector=selector, algorithm=algorithm, role=role, public_key=public_key, since=now), pem
    )


async def keep(tx: Transaction, box: Secrets, project_id: UUID, domain_id: UUID, key: GeneratedKey) -> None:
    """Keep the private half of a key, sealed, in place of any other under its selector."""
    selector = key.public.selector
    await store.keep_key(
        tx,
        project_id=project_id,
        domain_id=domain_id,
        selector=selector,
        private_key=box.seal(key.pem, seal_context(project_id, domain_id, selector)),
        now=Moment.of(key.public.since),
    )


def seal_context(project_id: UUID, domain_id: UUID, selector: str) -> str:
    """Where a sealed key belongs: it opens nowhere else."""
    return f"dkim:{project_id}:{domain_id}:{selector}"


class LoadedKeys(OrderedDict[tuple[UUID, tuple[str, ...]], list[Signer]]):
    """Loaded keys by domain and public halves, so that nothing here goes stale."""


async def signers(world: "World", domain: SendingDomain, db: Queries | None = None) -> list[Signer]:
    """Who signs for a domain: its current RSA key, and its Ed25519 key once that is seen in the DNS.

    Keys are opened and loaded once for each version of the domain in a process (loading one costs 26 ms).
    """
    keys = [key for key in domain.keys if key.role == "CURRENT" or (key.role == "ED25519" and domain.ed25519_verified)]
    wanted = (domain.id, tuple(key.public_key for key in keys))
    loaded = world.db.cache(LoadedKeys)
    ready = loaded.get(wanted)
    if ready is None:
        sealed = await store.private_keys(db or world.db, project_id=domain.project_id, domain_id=domain.id)
        ready = await asyncio.to_thread(_open, world, domain, [key.selector for key in keys], sealed)
        loaded[wanted] = ready
        if len(loaded) > DOMAINS_KEPT_READY:
            loaded.popitem(last=False)
    else:
        loaded.move_to_end(wanted)
    return ready


def _open(world: "World", domain: SendingDomain, selectors: Sequence[str], sealed: Sequence[SealedKey]) -> list[Signer]:
    boxes = {each.selector: each.private_key for each in sealed}
    return [
        Signer.load(
            domain.domain,
            selector,
            world.secrets.open(boxes[selector], seal_context(domain.project_id, domain.id, selector)),
        )
        for selector in selectors
        if selector in boxes
    ]
