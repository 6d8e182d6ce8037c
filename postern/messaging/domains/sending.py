"""Functions for features that send mail: look up domains by name or id, and get signers with their DKIM keys."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from postern.kernel.database.statements import Queries
from postern.messaging.domains import store
from postern.messaging.domains.dns_check import DnsCheckResult
from postern.messaging.domains.keys import seal_context
from postern.messaging.domains.model import SealedKey, SendingDomain
from postern.messaging.domains.verification import check_domain
from postern.protocols.mail.dkim import Signer

if TYPE_CHECKING:
    from postern.world import World

MAX_CACHED_DOMAINS = 10_000
"""Maximum number of domains whose signers a process caches."""


async def sending_domain(db: Queries, project_id: UUID, name: str) -> SendingDomain | None:
    """The sending domain with this name (A-labels, case-insensitive), whatever its status; None if there is none."""
    return await store.get_sending_domain(db, project_id=project_id, domain=name.rstrip(".").lower())


async def domains_of_project(db: Queries, project_id: UUID) -> list[SendingDomain]:
    """All sending domains of a project, newest first."""
    return await store.list_sending_domains(db, project_id=project_id)


async def check_now(world: "World", project_id: UUID, id: UUID) -> DnsCheckResult | None:
    """Look up and check the DNS records of a sending domain now; stores nothing. None if it does not exist."""
    row = await store.get_domain(world.db, project_id=project_id, id=id)
    return await check_domain(world, row) if row else None


async def sending_domains_all(world: "World", pairs: list[tuple[UUID, str]]) -> list[SendingDomain | None]:
    """The sending domains for pairs of project id and domain name, by one query; in the order of the pairs.

    None for a pair without a domain. Names are A-labels, case-insensitive.
    """
    names = sorted({(project_id, name.rstrip(".").lower()) for project_id, name in pairs})
    rows = await store.sending_domains_by_name(
        world.db, project_id=[project_id for project_id, _ in names], domains=[name for _, name in names]
    )
    by_name = {(row.project_id, row.domain): row for row in rows}
    return [by_name.get((project_id, name.rstrip(".").lower())) for project_id, name in pairs]


async def sending_domains(db: Queries, project_id: UUID, ids: Sequence[UUID]) -> list[SendingDomain]:
    """The sending domains with these ids; unknown ids are left out."""
    return await store.sending_domains_by_id(db, project_id=project_id, ids=list(ids))


class SignerCache(OrderedDict[tuple[UUID, tuple[str, ...]], list[Signer]]):
    """Signers, keyed by domain id and public keys. A rotation changes the public keys, so no entry becomes outdated."""


async def signers(world: "World", domain: SendingDomain, db: Queries | None = None) -> list[Signer]:
    """The signers of a domain: its current RSA key, and its Ed25519 key once the record of that key was verified,
    unless `POSTERN_DKIM` excludes them.

    Decrypting and parsing a key takes about 26 ms, so signers are cached per process. Within a transaction, `db` is
    that transaction; otherwise the keys are read through `world.db`.
    """
    algorithms = world.settings.dkim.split("+")
    keys = [
        key
        for key in domain.keys
        if (key.role == "CURRENT" and "rsa" in algorithms)
        or (key.role == "ED25519" and domain.ed25519_verified and "ed25519" in algorithms)
    ]
    if not keys:
        return []
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


async def is_listed(db: Queries, address: str) -> bool:
    """Whether an IP address from which the server sends is on a blocklist, by the last checks of all domains."""
    return await store.is_listed(db, subject_value=address)


async def signers_of_verified(world: "World", name: str) -> list[Signer]:
    """The signers for mail of the server itself from this domain.

    They use the keys of the oldest verified domain of this name, of any project, because those are published. Empty if
    there is none.
    """
    domain = await store.verified_domain_of_any_project(world.db, domain=name.lower())
    return await signers(world, domain) if domain else []


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
