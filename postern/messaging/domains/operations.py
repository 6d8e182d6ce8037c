"""Sending domains: adding, verifying and removing them; and the door for whoever sends."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, before_id, linked_list
from postern.kernel.values import Deleted, new_id, to_plain
from postern.messaging.domains import store
from postern.messaging.domains.blocklists import watched
from postern.messaging.domains.keys import GeneratedKey, keep, new_keys, signers
from postern.messaging.domains.model import (
    DOMAINS_PER_PROJECT,
    WAITING_COUNTED,
    BlocklistEntry,
    Domain,
    DomainExists,
    DomainHasWaitingSends,
    DomainInUse,
    DomainMissing,
    NewDomain,
    NextKeyUnpublished,
    SendingDomain,
    StoredDomain,
    TooManyDomains,
)
from postern.messaging.domains.rules import PublishedRecords, as_domain, may_rotate, records_of, rotated
from postern.messaging.domains.verification import check_domain, published_by, record_check
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.platform.projects import usage

__all__ = ["sending_domain", "sending_domains", "signers"]

Force = Annotated[bool, msgspec.Meta(description="Delete it although messages wait to be sent from it.")]


if TYPE_CHECKING:
    from postern.world import World


@get("/projects/{project_id}/domains", needs="domains:read")
async def list_domains(call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None) -> LinkedList[Domain]:
    """The project's sending domains, newest first, each with its records and what was last seen of them."""
    rows = await store.list_domains(
        call.db, project_id=call.project_id, before=before_id(call, "domains", cursor), limit=limit + 1
    )
    published = await _published(call)
    return linked_list(call, "domains", [_shown(row, published) for row in rows], limit)


@post(
    "/projects/{project_id}/domains",
    needs="domains:write",
    status=201,
    problems=(DomainExists, TooManyDomains),
    example={"domain": "example.com"},
)
async def create_domain(call: Call, data: NewDomain) -> Domain:
    """Add a domain to send from.

    The answer's `records` are to be published in the DNS of the domain. They are looked for every minute for
    ten minutes, every ten minutes for three hours, then hourly for 30 days; `verify` looks at once. The
    domain is VERIFIED when its required record is seen: the DKIM key, which nobody but the owner of the
    domain can publish.
    """
    name = as_domain(data.domain)
    if await store.sending(call.db, project_id=call.project_id, domain=name):
        raise DomainExists
    keys = await new_keys(call.now)
    async with call.db.transaction() as tx:
        await tx.lock_quota("domains", call.project_id)
        if await store.count_domains(tx, project_id=call.project_id) >= DOMAINS_PER_PROJECT:
            raise TooManyDomains
        row = await _insert(tx, call, name, keys)
        await events.record(tx, call, "domain.created", row.id, domain=name)
        await audit.record(tx, call, "domain.created", "Domain", row.id, domain=name)
        tx.makes_due("domains")
        tx.makes_due("blocklist_watches")
    return _shown(row, await _published(call))


async def _insert(tx: Transaction, call: Call, name: str, keys: Sequence[GeneratedKey]) -> StoredDomain:
    """The domain with its sealed keys, and with the blocklists that will be asked about it."""
    project_id, domain_id, now = call.project_id, new_id(), call.now
    public = Jsonb(to_plain([key.public for key in keys]))
    row = await store.insert_domain(tx, project_id=project_id, id=domain_id, domain=name, keys=public, now=now)
    if row is None:
        raise DomainExists
    for key in keys:
        await keep(tx, call.world.secrets, project_id, domain_id, key)
    pairs = watched(call.world.blocklists.zones, call.world.settings.sending_addresses, name)
    await store.insert_entries(
        tx,
        project_id=project_id,
        domain_id=domain_id,
        id=[new_id() for _ in pairs],
        list_name=[list_name for list_name, _ in pairs],
        subject_value=[subject for _, subject in pairs],
    )
    await store.insert_blocklist_watch(tx, project_id=project_id, domain_id=domain_id, now=now)
    return row


@get("/projects/{project_id}/domains/{id}", needs="domains:read")
async def get_domain(call: Call, id: UUID) -> Domain:
    """One sending domain with its records and what was last seen of them."""
    row = await store.get_domain(call.db, project_id=call.project_id, id=id)
    if row is None:
        raise DomainMissing
    return _shown(row, await _published(call))


@post(
    "/projects/{project_id}/domains/{id}/verify",
    needs="domains:write",
    shows={
        "status": "VERIFIED",
        "spfVerified": True,
        "dkimVerified": True,
        "dmarcVerified": True,
        "verifiedAt": "2026-01-31T12:00:00.000Z",
        "records": {"status": "VERIFIED", "found": ["v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA…"]},
    },
)
async def verify_domain(call: Call, id: UUID) -> Domain:
    """Look at the DNS of a domain now, instead of waiting for the periodic check.

    What is missing is no error: the answer says what was seen. Records that could not be looked up have the
    status UNKNOWN and change nothing. For a FAILED domain, the periodic checks begin anew.
    """
    domain = await store.get_domain(call.db, project_id=call.project_id, id=id)
    if domain is None:
        raise DomainMissing
    seen = await check_domain(call.world, domain, fresh=True)
    async with call.db.transaction() as tx:
        domain = await store.lock_domain(tx, project_id=call.project_id, id=id)
        if domain is None:
            raise DomainMissing
        row, event = await record_check(tx, domain, seen, call.now, asked=True)
        if event:
            await events.record(tx, call, event, id, domain=row.domain)
        await audit.record(tx, call, "domain.checked", "Domain", id, domain=row.domain, status=row.status)
    return _shown(row, await _published(call))


@post("/projects/{project_id}/domains/{id}/rotate-keys", needs="domains:write", problems=(NextKeyUnpublished,))
async def rotate_domain_keys(call: Call, id: UUID) -> Domain:
    """Sign with the next DKIM key from now on.

    It must be seen in the DNS at this moment (409 if not). The key that signed so far has to stay published
    for mail on its way; after seven days a new next key takes its place under the same selector. Where records
    are aliases into the service's zone, all this happens by itself every 180 days.
    """
    domain = await store.get_domain(call.db, project_id=call.project_id, id=id)
    if domain is None:
        raise DomainMissing
    if not may_rotate(domain.keys):
        raise NextKeyUnpublished("The keys were rotated less than seven days ago; there is no next key yet.")
    seen = await check_domain(call.world, domain, fresh=True)
    if not seen.verdict("DKIM_NEXT"):
        raise NextKeyUnpublished
    async with call.db.transaction() as tx:
        current = await store.lock_domain(tx, project_id=call.project_id, id=id)
        if current is None:
            raise DomainMissing
        if current.keys != domain.keys:
            raise NextKeyUnpublished("The keys were rotated at the same moment.")
        keys = Jsonb(to_plain(rotated(current.keys, call.now)))
        row = await store.set_keys(tx, project_id=call.project_id, id=id, keys=keys, now=call.now)
        await audit.record(tx, call, "domain.keys_rotated", "Domain", id, domain=row.domain)
    return _shown(row, await _published(call))


@delete("/projects/{project_id}/domains/{id}", needs="domains:write", problems=(DomainHasWaitingSends, DomainInUse))
async def delete_domain(call: Call, id: UUID, force: Force = False) -> Deleted:
    """Remove a sending domain and its keys. Mail can no longer be sent from it, whatever its records say.

    409 lists who needs it: active automations and those with runs under way, and scheduled campaigns.

    Messages that wait to be sent from it (scheduled, queued or delayed) would fail without it: a 409 says how many they
    are. `force=true` deletes the domain all the same; they fail when their time comes, with that reason.
    """
    async with call.db.transaction() as tx:
        known = await store.get_domain(tx, project_id=call.project_id, id=id)
        if known and (users := await usage.users_of(tx, call.project_id, id, domain=known.domain)):
            raise DomainInUse(usage.in_use("sending domain", users), errors=users)
        if not force:
            await _require_nothing_waiting(tx, call, id)
        row = await store.delete_domain(tx, project_id=call.project_id, id=id)
        if row is None:
            raise DomainMissing
        call.require_match(row.updated_at)
        await events.record(tx, call, "domain.deleted", id, domain=row.domain)
        await audit.record(tx, call, "domain.deleted", "Domain", id, domain=row.domain)
    return Deleted()


async def _require_nothing_waiting(tx: Transaction, call: Call, id: UUID) -> None:
    """Raises DomainHasWaitingSends with their number."""
    limit = WAITING_COUNTED
    waiting = await store.count_waiting_sends(tx, project_id=call.project_id, id=id, limit=limit)
    if waiting:
        number = f"{waiting:,}" if waiting < limit else f"{limit:,} or more"
        what = "message waits" if waiting == 1 else "messages wait"
        raise DomainHasWaitingSends(
            f"{number} {what} to be sent from this domain, and would fail without it. Cancel them, wait for them, or"
            " delete the domain with `force=true`."
        )


@get("/projects/{project_id}/domains/{id}/blocklist-status", needs="domains:read")
async def get_domain_blocklist_status(call: Call, id: UUID) -> list[BlocklistEntry]:
    """The standing of the domain, and of the addresses that mail leaves from, on each blocklist.

    Looked at every six hours. A list that refuses, fails its health check (RFC 5782) or does not answer is
    UNKNOWN, and what it said before stays; `lastCheckedAt` is null until the first look.
    """
    if await store.get_domain(call.db, project_id=call.project_id, id=id) is None:
        raise DomainMissing
    return await store.entries(call.db, project_id=call.project_id, domain_id=id)


async def sending_domain(db: Queries, project_id: UUID, name: str) -> SendingDomain | None:
    """The sending domain of exactly that name (A-labels, any case), in whatever state it is."""
    return await store.sending(db, project_id=project_id, domain=name.rstrip(".").lower())


async def domains_of_project(db: Queries, project_id: UUID) -> list[SendingDomain]:
    """All sending domains of a project, newest first."""
    return await store.sending_of_project(db, project_id=project_id)


async def sending_domains_all(world: "World", wanted: list[tuple[UUID, str]]) -> list[SendingDomain | None]:
    """The sending domains of many (project, name) pairs, read together for the requests that come together."""
    names = sorted({(project_id, name.rstrip(".").lower()) for project_id, name in wanted})
    rows = await store.sending_all(
        world.db, project_id=[project_id for project_id, _ in names], domain=[name for _, name in names]
    )
    found = {(row.project_id, row.domain): row for row in rows}
    return [found.get((project_id, name.rstrip(".").lower())) for project_id, name in wanted]


async def sending_domains(db: Queries, project_id: UUID, ids: Sequence[UUID]) -> list[SendingDomain]:
    """The sending domains with these identifiers; unknown ones are left out."""
    return await store.sending_by_id(db, project_id=project_id, ids=list(ids))


async def _published(call: Call) -> PublishedRecords:
    """What the owners of this project's domains are told to publish."""
    known = getattr(call.caller.project, "settings", None)
    settings = known or (await projects.require_project(call.db, call.project_id)).settings
    return published_by(call.world.settings, settings.relays)


def _shown(row: StoredDomain, published: PublishedRecords) -> Domain:
    return Domain(
        id=row.id,
        domain=row.domain,
        status=row.status,
        dkim_tokens=[
            *(key.selector for key in row.keys if key.role == "CURRENT"),
            *(key.selector for key in row.keys if key.role in ("NEXT", "RETIRED")),
        ],
        spf_verified=row.spf_verified,
        dkim_verified=row.dkim_verified,
        dmarc_verified=row.dmarc_verified,
        records=records_of(row.domain, row.keys, row.checks, published),
        verified_at=row.verified_at,
        failing_since=row.failing_since,
        last_checked_at=row.last_checked_at,
        next_check_at=row.due_at,
        app_id=row.project_id,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
